//! The progress bar: on standard error, only on a terminal, and only when there is something to wait for.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::IsTerminal;

/// A spinner that counts requests until [`expect`] makes it a bar. Hidden when quiet or not on a terminal.
pub fn bar(name: &str, quiet: bool) -> ProgressBar {
    let target = if quiet || !std::io::stderr().is_terminal() {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(10)
    };
    let bar = ProgressBar::with_draw_target(None, target).with_message(name.to_owned());
    styled(&bar, "{msg} {spinner} {human_pos} requests, {elapsed}");
    bar
}

/// Tells the bar about how many requests there are, if that is known.
pub fn expect(bar: &ProgressBar, total: Option<u64>) {
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
