//! Scenario files: what a run is made of, read from TOML with every mistake shown where it stands.

mod amount;
mod answers;
mod client;
mod client_cost;
mod client_keys;
mod client_retry;
mod expects;
mod keys;
mod limiter;
mod limiter_tables;
mod pattern_keys;
mod patterns;
mod read;
mod schema;
mod stack;
mod table;
mod top;
mod upstream;
mod value;
mod variants;
pub mod words;

pub use expects::{Bound, Check, Expect, Number};
pub use limiter::{LimiterSpec, Routing, What};
pub use schema::{key_tables, patterns, schema};

use self::top::Around;
use crate::diagnose::Diagnostic;
use limiters::{Meter, Nanos, Quota};
use std::path::{Path, PathBuf};
use traffic::clients::spec::{Client, Upstream};
use traffic::spec::{Pattern, Trace};
use traffic::{Note, NoteKind};

/// A checked scenario.
#[derive(Clone, Debug)]
pub struct Scenario {
    /// Path without `.toml`, counted from a folder called `scenarios` where there is one: `boundary`.
    pub name: String,
    /// The file, as it was named.
    pub path: PathBuf,
    /// One sentence; may be empty.
    pub summary: String,
    /// What to learn from it, in Markdown; may be empty.
    pub analysis: String,
    /// Wall-clock time of t = 0 in nanoseconds since the Unix epoch. `None`: a wall-clock trace's first instant, else 0.
    pub start: Option<Nanos>,
    /// Requests at or after it do not count. `None`: the traces' span; every pattern is a trace then.
    pub duration: Option<Nanos>,
    /// Every random draw follows from it.
    pub seed: u64,
    /// Width of a timeline step, when the file chooses it.
    pub bin: Option<Nanos>,
    /// A delayed request that would wait longer counts as refused.
    pub patience: Option<Nanos>,
    /// The promise that every algorithm translates.
    pub quota: QuotaSpec,
    /// Traffic, in file order; at least one where there are no clients.
    pub patterns: Vec<Pattern>,
    /// Clients that react to what a limiter says, in file order.
    pub clients: Vec<Client>,
    /// What stands behind the guard.
    pub upstream: Option<Upstream>,
    /// What runs, in the order of tables and files: registered algorithms, then the file's variants. At least one.
    pub limiters: Vec<LimiterSpec>,
    /// What must come out.
    pub expects: Vec<Expect>,
    /// What a reader of the report must know about the scenario itself.
    pub notes: Vec<Note>,
}

/// `[quota]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaSpec {
    /// Limit, window and burst; all at least 1.
    pub quota: Quota,
    /// One limit per key instead of one for everybody.
    pub per_key: bool,
    /// What a permit is.
    pub meter: Meter,
}

impl Scenario {
    /// Reads the file at `path`. Errors: every problem found in it.
    pub fn load(path: &Path) -> Result<Scenario, Vec<Diagnostic>> {
        Scenario::load_as(path, false)
    }

    /// The same of a file that need not have traffic, if it `has_traffic` from elsewhere.
    fn load_as(path: &Path, has_traffic: bool) -> Result<Scenario, Vec<Diagnostic>> {
        let whole = |message: String| {
            vec![Diagnostic { path: path.display().to_string(), place: None, message, notes: Vec::new() }]
        };
        let bytes = std::fs::read(path).map_err(|error| whole(format!("cannot be read: {error}")))?;
        let text = String::from_utf8(bytes).map_err(|error| {
            let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
            whole(format!("line {line} is not UTF-8 text"))
        })?;
        top::parse(path, &text, &Around { is_there: &Path::is_file, has_traffic })
    }

    /// Reads `text` as the file at `path`, against whose folder traces are resolved. Errors: every problem found in it.
    pub fn parse(path: &Path, text: &str) -> Result<Scenario, Vec<Diagnostic>> {
        top::parse(path, text, &Around { is_there: &Path::is_file, has_traffic: false })
    }

    /// The same without a look at the file system: every trace counts as there. For fuzzing and for checks of text alone.
    pub fn parse_text(text: &str) -> Result<Scenario, Vec<Diagnostic>> {
        top::parse(Path::new("scenario.toml"), text, &Around { is_there: &|_| true, has_traffic: false })
    }

    /// Labels of everything that runs, in order.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.limiters.iter().map(|limiter| limiter.label.as_str())
    }

    /// Runs only the limiters with these labels, in the order they had, and drops the expectations on others. A variant
    /// made by a sweep also answers to the label it was made from. Errors: a label that is not there, with the nearest.
    pub fn narrow(&mut self, labels: &[String]) -> Result<(), String> {
        for label in labels {
            if !self.limiters.iter().any(|limiter| limiter.answers_to(label)) {
                let valid: Vec<&str> = self.labels().collect();
                let notes = crate::diagnose::valid_values(label, "labels", &valid).join("; ");
                return Err(format!("no limiter is called `{label}` in {}; {notes}", self.path.display()));
            }
        }
        self.limiters.retain(|limiter| labels.iter().any(|label| limiter.answers_to(label)));
        let kept: Vec<String> = self.labels().map(str::to_string).collect();
        self.expects.retain(|expect| kept.contains(&expect.limiter));
        Ok(())
    }

    /// Replaces traffic, start and duration by a trace's own. Expectations are dropped and a note says so.
    pub fn replace_traffic(&mut self, trace: Trace) {
        let text = format!("traffic comes from {}, so the scenario's expectations are skipped", trace.path.display());
        self.patterns = vec![patterns::of_trace(trace)];
        (self.clients, self.upstream) = (Vec::new(), None);
        (self.start, self.duration, self.bin) = (None, None, None);
        if !std::mem::take(&mut self.expects).is_empty() {
            self.notes.push(Note { kind: NoteKind::Warning, text });
        }
    }

    /// Lengths of the intervals whose peaks the expectations ask about, sorted, each once.
    pub fn asked_intervals(&self) -> Vec<Nanos> {
        let mut all: Vec<Nanos> = self.expects.iter().filter_map(|expect| expect.within).collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

/// Reads several files. Errors: the problems of all of them, file by file.
pub fn load_all(paths: &[PathBuf]) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    load_each(paths, false)
}

/// The same of files that need no traffic of their own, since it is [replaced](Scenario::replace_traffic).
pub fn load_without_traffic(paths: &[PathBuf]) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    load_each(paths, true)
}

fn load_each(paths: &[PathBuf], has_traffic: bool) -> Result<Vec<Scenario>, Vec<Diagnostic>> {
    let mut scenarios = Vec::new();
    let mut problems = Vec::new();
    for path in paths {
        match Scenario::load_as(path, has_traffic) {
            Ok(scenario) => scenarios.push(scenario),
            Err(found) => problems.extend(found),
        }
    }
    if problems.is_empty() { Ok(scenarios) } else { Err(problems) }
}
