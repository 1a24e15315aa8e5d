//! A scenario file with the chosen limits, whose expectations are what sizing found.

use super::family::Sizable;
use super::value::{permits, span, text};
use limiters::{Meter, Quota};
use std::fmt::Write;
use traffic::spec::{KeyNormalise, Trace};

/// What the file is to say.
pub struct Written<'a> {
    /// How the trace is read; its path as the scenario is to name it.
    pub trace: &'a Trace,
    /// What runs.
    pub sized: &'a Sizable,
    /// Under which quota.
    pub quota: Quota,
    /// What it counts.
    pub meter: Meter,
    /// Whether each key has its own limit.
    pub per_key: bool,
    /// Requests in all, and those that are admitted.
    pub requests: u64,
    #[allow(missing_docs)]
    pub admitted: u64,
    /// The command that made it.
    pub command: &'a str,
    /// What is known of the choice, in Markdown.
    pub analysis: &'a str,
}

/// The text of the file.
pub fn scenario(written: &Written<'_>) -> String {
    let Quota { limit, window, burst } = written.quota;
    let name = written.sized.algorithm.name;
    let file = written.trace.path.file_name().unwrap_or_default().to_string_lossy();
    let mut out = format!("summary = {}\n", text(&format!("A {name} sized for {file}.")));
    let analysis = format!("{}\n\nMade by `{}`.", written.analysis.trim(), written.command);
    let plain = !analysis.contains("'''") && analysis.chars().all(|letter| letter == '\n' || !letter.is_control());
    let _ = match plain {
        true => writeln!(out, "analysis = '''\n{analysis}\n'''"),
        false => writeln!(out, "analysis = {}", text(&analysis)),
    };
    let _ = writeln!(out, "limiters = [\"unlimited\", {}]\n", text(name));
    let _ = writeln!(out, "[quota]\nlimit = {}\nwindow = {}", permits(limit, written.meter), span(window));
    if burst != limit {
        let _ = writeln!(out, "burst = {}", permits(burst, written.meter));
    }
    let _ = writeln!(
        out,
        "key = \"{}\"\nmeter = \"{}\"\n",
        if written.per_key { "per-key" } else { "global" },
        written.meter.name()
    );
    out.push_str(&trace(written.trace));
    let _ = writeln!(out, "\n[[expect]]\nlimiter = \"unlimited\"\nrequests = {}", written.requests);
    let _ = writeln!(out, "[[expect]]\nlimiter = \"{name}\"\nadmitted = {}", written.admitted);
    out
}

fn trace(trace: &Trace) -> String {
    let mut out = format!("[[traffic.trace]]\npath = {}\n", text(&trace.path.display().to_string()));
    let mut line = |key: &str, value: String| {
        let _ = writeln!(out, "{key} = {value}");
    };
    if let Some(format) = &trace.format {
        line("format", text(format));
    }
    if !trace.columns.is_empty() {
        let list = |names: &[String]| names.iter().map(|name| text(name)).collect::<Vec<_>>().join(", ");
        let roles = trace.columns.iter().map(|(role, names)| format!("{role} = [{}]", list(names)));
        line("columns", format!("{{ {} }}", roles.collect::<Vec<_>>().join(", ")));
    }
    if let Some(filter) = &trace.filter {
        line("where", text(filter));
    }
    if !trace.key_by.is_empty() {
        line("key-by", format!("[{}]", trace.key_by.iter().map(|name| text(name)).collect::<Vec<_>>().join(", ")));
    }
    if let Some(spread) = trace.spread {
        line("spread", trace.spread_over.map_or(spread.to_string(), |over| over.to_string()));
    }
    if !trace.prices.is_empty() {
        let each = trace.prices.iter().map(|(model, price)| format!("{} = {}", text(model), text(price)));
        line("prices", format!("{{ {} }}", each.collect::<Vec<_>>().join(", ")));
    }
    if let Some(unit) = &trace.time_unit {
        line("time-unit", text(unit));
    }
    if trace.key_normalise == KeyNormalise::Address {
        line("key-normalise", text("address"));
    }
    if trace.skip_bad_rows {
        line("skip-bad-rows", "true".into());
    }
    if let Some(most) = trace.max_bad_rows {
        line("max-bad-rows", most.to_string());
    }
    out
}
