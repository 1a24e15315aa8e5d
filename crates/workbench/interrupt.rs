//! What an interruption leaves behind: nothing that is half-written.

use crate::problem::Problem;

/// Exit status of a process that was interrupted: 128 and the number of the signal.
const INTERRUPTED: i32 = 130;

/// From now on a signal that ends the process removes what is being written.
pub fn leave_nothing() -> Result<(), Problem> {
    let watched = ctrlc::set_handler(|| {
        report::discard_unfinished();
        std::process::exit(INTERRUPTED);
    });
    watched.map_err(|error| Problem::input(format!("error: signals cannot be handled: {error}")))
}
