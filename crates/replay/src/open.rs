//! A scenario's traffic, opened: recorded files read, start and duration settled.

use crate::scenario::Scenario;
use limiters::{Meter, Nanos, Span};
use traffic::spec::{Pattern, Shape, Trace};
use traffic::traces::{self, Reading, Recorded};
use traffic::{Note, NoteKind, Settings, Source, Traffic, TrafficError};

/// Traffic that is ready to run.
pub struct Opened {
    /// All requests, with absolute times.
    pub traffic: Traffic,
    /// Absolute time of t = 0.
    pub start: Nanos,
    /// Length of the run; half-open.
    pub duration: Nanos,
    /// What was assumed, left out and distrusted.
    pub notes: Vec<Note>,
    /// What was read from each recorded file.
    pub files: Vec<FileRead>,
}

/// What was read from a recorded file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRead {
    /// The file.
    pub path: std::path::PathBuf,
    /// Name of its format.
    pub format: &'static str,
    /// Rows that are requests.
    pub rows: u64,
    /// Rows left out.
    pub skipped: u64,
    /// Rows that were earlier than the row before them.
    pub backward_steps: u64,
    /// Bytes, before decompression.
    pub bytes: u64,
}

/// Opens the traffic of `scenario` with the draws of `seed`; `watch` hears how far each recorded file was read.
///
/// # Errors
/// When a recorded file cannot be read, or lies outside the run.
pub fn open(scenario: &Scenario, seed: u64, watch: &dyn Fn(Reading)) -> Result<Opened, TrafficError> {
    let mut recorded: Vec<Option<Recorded>> = Vec::new();
    for pattern in &scenario.patterns {
        recorded.push(match &pattern.shape {
            Shape::Trace(trace) => Some(traces::open_watched(trace, &mut |reading| watch(reading))?),
            _ => None,
        });
    }
    let left_out = |pattern: &Pattern| match &pattern.shape {
        Shape::Trace(trace) => trace.left_out.as_ref().map_or(0, |rows| rows.len() as u64),
        _ => 0,
    };
    let read = recorded.iter().zip(&scenario.patterns);
    let files: Vec<FileRead> =
        read.filter_map(|(file, pattern)| Some(file_read(file.as_ref()?, left_out(pattern)))).collect();
    let several = files.len() > 1;
    let mut notes: Vec<Note> = Vec::new();
    for file in recorded.iter().flatten() {
        // Of several files, a note says which one it is about.
        let place = if several { format!("{}: ", file.path.display()) } else { String::new() };
        notes.extend(file.notes.iter().map(|note| Note { text: format!("{place}{}", note.text), ..note.clone() }));
    }
    let scripts = || scenario.clients.iter().filter_map(|client| client.scripts.as_deref());
    let firsts = recorded.iter().flatten().filter_map(|file| file.start);
    let first = firsts.chain(scripts().filter_map(|scripts| scripts.origin)).min();
    let start = scenario.start.or(first).unwrap_or(0);
    let ends =
        recorded.iter().flatten().map(|file| file.start.unwrap_or(start).saturating_sub(start) + file.duration());
    let ends = ends.chain(scripts().map(|scripts| {
        let origin = scripts.origin.unwrap_or(start);
        origin.saturating_sub(start).saturating_add(scripts.length)
    }));
    let duration = scenario.duration.or_else(|| ends.max()).unwrap_or(1);
    if let Some(before) = scripts().filter_map(|scripts| scripts.origin).filter(|origin| *origin < start).min() {
        let early = Span(start - before);
        return Err(TrafficError::new(format!(
            "recorded calls lie before the scenario's start, the first by {early}; set start to the trace's first instant or \
             leave it out"
        )));
    }
    let tokens = scenario.limiters.iter().flat_map(|limiter| limiter.parts()).any(|part| counts_tokens(part.meter));
    let settings = Settings { seed, start, duration, tokens };
    let mut left = recorded.into_iter().flatten();
    let open_trace = |trace: &Trace, _: &Pattern| -> Result<Box<dyn Source>, TrafficError> {
        // Traces are asked for in the order of the patterns, which is the order they were read in.
        let file = left.next().ok_or_else(|| message(trace, "was not read"))?;
        let (playback, after) = file.into_source(start, duration)?;
        if after > 0 {
            let text = format!("{}: {after} requests lie at or after the end of the run", trace.path.display());
            notes.push(Note { kind: NoteKind::Skipped, text });
        }
        Ok(Box::new(playback))
    };
    let traffic = Traffic::open(&scenario.patterns, &settings, open_trace)?;
    if tokens && !traffic.has_tokens() {
        let text = "the traffic does not say how many tokens a request has: its cost stands for input tokens";
        notes.push(Note { kind: NoteKind::Guess, text: text.into() });
    }
    Ok(Opened { traffic, start, duration, notes, files })
}

fn counts_tokens(meter: Meter) -> bool {
    matches!(meter, Meter::InputTokens | Meter::OutputTokens | Meter::Tokens)
}

fn file_read(file: &Recorded, left_out: u64) -> FileRead {
    FileRead {
        path: file.path.clone(),
        format: file.format.name,
        // Those that clients play were read too.
        rows: file.rows + left_out,
        skipped: file.skipped,
        backward_steps: file.backward_steps,
        bytes: file.bytes_read,
    }
}

fn message(trace: &Trace, message: &str) -> TrafficError {
    TrafficError::of_file(&trace.path, message)
}
