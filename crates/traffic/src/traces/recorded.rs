//! A whole recorded file in compact columns, in order of time, with what is known about it.

use super::checks::{self, grain};
use super::format::{Clock, Format, Notes};
use super::keys::Keys;
use super::playback::Playback;
use super::row::Row;
use super::stream::Stream;
use crate::spec::Trace;
use crate::{Note, TrafficError};
use limiters::Nanos;
use std::path::PathBuf;

/// A file that was read to its end.
#[derive(Debug)]
pub struct Recorded {
    /// The file.
    pub path: PathBuf,
    /// The format it was read as.
    pub format: &'static Format,
    /// Rows that are requests.
    pub rows: u64,
    /// Rows that were left out.
    pub skipped: u64,
    /// Different keys.
    pub keys: u64,
    /// First instant, where the file tells the time of day; `None` where its times count from the scenario's start.
    pub start: Option<Nanos>,
    /// From `start`, or from the scenario's start, to the last request of one playing; a trace plays for
    /// [`duration`](Recorded::duration).
    pub span: Nanos,
    /// Rows that are earlier than the row before them in the file.
    pub backward_steps: u64,
    /// How much earlier at most.
    pub largest_backward_step: Nanos,
    /// The length below which times say nothing: the one of which all distances between times are multiples or, where
    /// many requests share a time, the usual distance between those that do not. 0 when all times are equal.
    pub resolution: Nanos,
    /// Most requests at one time.
    pub largest_burst: u64,
    /// Requests answered with 429.
    pub too_many: u64,
    /// Requests answered with 503.
    pub unavailable: u64,
    /// Bytes of the file, before decompression.
    pub bytes_read: u64,
    /// What was assumed, left out and distrusted.
    pub notes: Vec<Note>,
    pub(super) columns: Columns,
    pub(super) names: Keys,
    pub(super) repeat: u64,
    pub(super) sorted: bool,
}

/// Values that are mostly the same: nothing is kept until one differs.
#[derive(Debug)]
pub(super) struct Sparse {
    usual: u64,
    values: Vec<u64>,
}

impl Sparse {
    fn new(usual: u64) -> Sparse {
        Sparse { usual, values: Vec::new() }
    }

    #[inline]
    fn push(&mut self, value: u64, before: usize) {
        if value != self.usual || !self.values.is_empty() {
            self.values.resize(before, self.usual);
            self.values.push(value);
        }
    }

    pub fn get(&self, index: usize) -> u64 {
        self.values.get(index).copied().unwrap_or(self.usual)
    }

    pub fn is_usual(&self) -> bool {
        self.values.is_empty()
    }
}

/// The rows of a file by column.
#[derive(Debug)]
pub(super) struct Columns {
    pub at: Vec<Nanos>,
    pub key: Vec<u32>,
    pub cost: Sparse,
    pub input_tokens: Sparse,
    pub output_tokens: Sparse,
    pub microusd: Sparse,
}

impl Columns {
    fn new() -> Columns {
        let sparse = Sparse::new;
        Columns {
            at: Vec::new(),
            key: Vec::new(),
            cost: sparse(1),
            input_tokens: sparse(0),
            output_tokens: sparse(0),
            microusd: sparse(0),
        }
    }

    #[inline]
    fn push(&mut self, row: &Row, key: u32) {
        let before = self.at.len();
        self.at.push(row.at);
        self.key.push(key);
        self.cost.push(row.cost, before);
        self.input_tokens.push(row.input_tokens, before);
        self.output_tokens.push(row.output_tokens, before);
        self.microusd.push(row.microusd, before);
    }

    /// Orders rows by time; equal times stay in file order.
    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.at.len()).collect();
        order.sort_by_key(|index| self.at[*index]);
        self.at = order.iter().map(|index| self.at[*index]).collect();
        self.key = order.iter().map(|index| self.key[*index]).collect();
        for column in [&mut self.cost, &mut self.input_tokens, &mut self.output_tokens, &mut self.microusd] {
            if !column.is_usual() {
                column.values =
                    order.iter().map(|index| column.values.get(*index).copied().unwrap_or(column.usual)).collect();
            }
        }
    }
}

/// Reads a recorded file to its end.
///
/// # Errors
/// When it cannot be read, is no log, has a bad row (unless these are skipped), or none at all.
pub fn open(spec: &Trace) -> Result<Recorded, TrafficError> {
    read(spec, Stream::open(spec)?)
}

/// The same from a stream at its beginning; `spec` is the one it was opened with.
///
/// # Errors
/// As [`open`].
pub fn read(spec: &Trace, mut stream: Stream) -> Result<Recorded, TrafficError> {
    let failed = |message: String| TrafficError {
        path: Some(spec.path.clone()),
        line: None,
        column: None,
        value: None,
        message,
    };
    let mut row = Row::default();
    let mut columns = Columns::new();
    let joined = spec.columns.iter().any(|(role, columns)| role == "key" && columns.len() > 1);
    let mut names = Keys::new(spec.key_normalise, spec.key_prefix, joined);
    let (mut latest, mut previous) = (0, 0);
    let (mut backward_steps, mut largest_backward_step, mut furthest) = (0, 0, 0);
    let (mut too_many, mut unavailable) = (0, 0);
    while stream.next(&mut row)? {
        let key = names.number(&row.key).ok_or_else(|| failed("more than 2^32 different keys".to_owned()))?;
        columns.push(&row, key);
        if row.at < previous {
            backward_steps += 1;
            largest_backward_step = largest_backward_step.max(previous - row.at);
        }
        furthest = furthest.max(latest.max(row.at) - row.at);
        (previous, latest) = (row.at, latest.max(row.at));
        too_many += u64::from(row.status == 429);
        unavailable += u64::from(row.status == 503);
    }
    let (format, clock, rows) = (stream.format(), stream.clock(), stream.rows());
    let (skipped, bytes_read) = (stream.skipped(), stream.bytes_read());
    let mut notes = Notes(stream.into_notes());

    let sorted = backward_steps == 0 || !spec.as_is;
    if backward_steps > 0 && sorted {
        columns.sort();
    }
    checks::warn_of_order(backward_steps, largest_backward_step, furthest, rows, spec.as_is, &mut notes);
    let grain = grain(&columns.at);
    checks::warn_of_grain(grain, rows, &mut notes);
    checks::warn_of_minutes(&columns.at, clock, &mut notes);
    checks::warn_of_refusals(too_many, unavailable, rows, &mut notes);
    checks::warn_of_keys(names.len() as u64, rows, &mut notes);
    if !columns.output_tokens.is_usual() {
        checks::warn_of_output(&mut notes);
    }
    if names.written() > names.len() {
        let (written, keys) = (names.written(), names.len());
        notes.guess(format!("{written} spellings of keys are {keys} keys, as key-normalise and key-prefix ask"));
    }

    let earliest = columns.at.iter().copied().min().unwrap_or(0);
    let base = if clock == Clock::Wall { earliest } else { 0 };
    if let Some((multiply, divide)) = spec.time_scale.filter(|(multiply, divide)| multiply != divide) {
        for at in &mut columns.at {
            let scaled = u128::from(*at - base) * u128::from(multiply) / u128::from(divide.max(1));
            let scaled = u64::try_from(scaled).ok().and_then(|scaled| base.checked_add(scaled));
            *at = scaled.ok_or_else(|| failed("time-scale takes times beyond the year 2554".to_owned()))?;
        }
        latest = columns.at.iter().copied().max().unwrap_or(base);
    }
    let span = latest - base;
    let repeat = spec.repeat.max(1);
    if (u128::from(span) + 1) * u128::from(repeat) + u128::from(base) > u128::from(u64::MAX) {
        return Err(failed(format!("repeat = {repeat} takes times beyond the year 2554")));
    }
    Ok(Recorded {
        path: spec.path.clone(),
        format,
        rows,
        skipped,
        keys: names.len() as u64,
        start: (clock == Clock::Wall).then_some(base),
        span,
        backward_steps,
        largest_backward_step,
        resolution: grain.resolution(rows),
        largest_burst: grain.largest,
        too_many,
        unavailable,
        bytes_read,
        notes: notes.0,
        columns,
        names,
        repeat,
        sorted,
    })
}

impl Recorded {
    /// How long the trace plays: its span and 1 ns, as often as it is repeated. Every request lies within.
    pub fn duration(&self) -> Nanos {
        (self.span + 1) * self.repeat
    }

    /// The name of a key.
    pub fn key_name(&self, key: u64) -> String {
        self.names.name(key)
    }

    /// The requests, as a scenario that begins at `start` and lasts `duration` sees them, and how many of them lie at or
    /// after its end and are left out.
    ///
    /// # Errors
    /// When a row lies before `start`, or none before its end.
    pub fn into_source(self, start: Nanos, duration: Nanos) -> Result<(Playback, u64), TrafficError> {
        Playback::new(self, start, duration)
    }
}
