//! What can go wrong, and the exit status it has.

use std::fmt::Display;
use std::io::{self, Write};
use std::process::ExitCode;

/// Why a command did not succeed.
pub enum Problem {
    /// The input is bad: exit status 2. The text is complete.
    Input(String),
    /// An expectation or a proven bound does not hold: exit status 1. The text is complete.
    Broken(String),
    /// Whoever reads standard output has gone: exit quietly, as `head` expects.
    ClosedPipe,
}

impl Problem {
    /// Bad input.
    pub fn input(text: impl Display) -> Problem {
        Problem::Input(text.to_string())
    }

    /// Standard output could not be written.
    pub fn output(error: io::Error) -> Problem {
        // A CSV writer wraps the error and its kind, but keeps its text.
        let closed = io::Error::from_raw_os_error(32).to_string();
        if error.kind() == io::ErrorKind::BrokenPipe || error.to_string() == closed {
            return Problem::ClosedPipe;
        }
        Problem::Input(format!("error: standard output: {error}"))
    }

    /// Says what is wrong on standard error and gives the exit status.
    pub fn report(self) -> ExitCode {
        let (text, status) = match self {
            Problem::Input(text) => (text, 2),
            Problem::Broken(text) => (text, 1),
            Problem::ClosedPipe => return ExitCode::SUCCESS,
        };
        // If standard error is gone too, the exit status is all that is left to say.
        let _ = writeln!(io::stderr(), "{}", text.trim_end());
        ExitCode::from(status)
    }
}

/// Prints to standard output.
pub fn print(text: &str) -> Result<(), Problem> {
    io::stdout().write_all(text.as_bytes()).map_err(Problem::output)
}
