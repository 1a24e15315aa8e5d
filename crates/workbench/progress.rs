//! The progress bar: on standard error, only on a terminal, and only when there is something to wait for.

use crate::problem::Problem;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use replay::inspect::{self, Loaded};
use std::io::IsTerminal;
use traffic::spec::Trace;
use traffic::traces::Reading;

/// The style of a spinner that counts requests.
const SPINNER: &str = "{msg} {spinner} {human_pos} requests, {elapsed}";
/// The prefix while a recorded file is read.
const READING: &str = "reading";

/// A spinner that counts requests until [`expect`] makes it a bar. Hidden when quiet or not on a terminal.
pub fn bar(name: &str, quiet: bool) -> ProgressBar {
    let target = if quiet || !std::io::stderr().is_terminal() {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(10)
    };
    let bar = ProgressBar::with_draw_target(None, target).with_message(name.to_owned());
    styled(&bar, SPINNER);
    bar
}

/// Tells the bar how far a recorded file was read: of a file with the time that is left, of a pipe with the rate.
pub fn reading(bar: &ProgressBar, Reading { bytes, of }: Reading) {
    if bar.prefix() != READING || bar.length() != of {
        bar.set_prefix(READING);
        match of {
            Some(of) => {
                bar.set_length(of);
                styled(bar, "{msg} {prefix} {wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left");
            }
            None => {
                bar.unset_length();
                styled(bar, "{msg} {prefix} {spinner} {bytes}, {bytes_per_sec}, {elapsed}");
            }
        }
    }
    bar.set_position(bytes);
}

/// Loads a recorded file behind a bar of its bytes.
pub fn load(trace: &Trace) -> Result<Loaded, Problem> {
    let bar = bar(&trace.path.display().to_string(), false);
    let loaded = inspect::load(trace, &mut |now| reading(&bar, now));
    bar.finish_and_clear();
    loaded.map_err(|error| Problem::input(format!("error: {error}")))
}

/// Tells the bar that requests are replayed now, and about how many there are, if that is known.
pub fn expect(bar: &ProgressBar, total: Option<u64>) {
    if bar.prefix() == READING {
        bar.set_prefix("");
        bar.unset_length();
        bar.reset();
        styled(bar, SPINNER);
    }
    if let Some(total) = total {
        bar.set_length(total);
        styled(bar, "{msg} {wide_bar} {human_pos} of about {human_len} requests, {eta} left");
    }
}

fn styled(bar: &ProgressBar, template: &str) {
    // A template that does not parse leaves the plain style: nothing a run should fail for.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_first_then_requests() {
        let bar = bar("test", true);
        let read = |bytes, of| {
            reading(&bar, Reading { bytes, of });
            (bar.position(), bar.length())
        };
        assert_eq!(read(10, Some(30)), (10, Some(30)));
        assert_eq!(read(30, Some(30)), (30, Some(30)));
        assert_eq!(read(5, None), (5, None));
        expect(&bar, Some(7));
        assert_eq!((bar.position(), bar.length(), bar.prefix()), (0, Some(7), String::new()));
        reading(&bar, Reading { bytes: 3, of: Some(9) });
        expect(&bar, None);
        assert_eq!((bar.position(), bar.length()), (0, None));
    }
}
