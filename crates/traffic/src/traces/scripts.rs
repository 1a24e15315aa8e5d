//! Sessions of a recorded file as scripts: what closed-loop clients play.

use super::format::Clock;
use super::keys::Keys;
use super::row::Row;
use super::stream::Stream;
use super::tracelab;
use crate::clients::{Script, Scripts, Step};
use crate::spec::Trace;
use crate::{Note, TrafficError};
use limiters::Nanos;

/// A file of sessions that was read to its end.
#[derive(Debug)]
pub struct Sessions {
    /// Its sessions, one script each.
    pub scripts: Scripts,
    /// Rows that are rounds.
    pub rows: u64,
    /// Rows that were left out.
    pub skipped: u64,
    /// Bytes of the file, before decompression.
    pub bytes_read: u64,
    /// Rounds whose answer's time is not known.
    pub unknown: u64,
    /// What was assumed and left out.
    pub notes: Vec<Note>,
}

/// Whether a file holds sessions that must be replayed in a closed loop.
///
/// # Errors
/// When its format has to be recognised and cannot be.
pub fn is_closed_loop(spec: &Trace) -> Result<bool, TrafficError> {
    match &spec.format {
        Some(name) => Ok(name == tracelab::FORMAT.name),
        None => Ok(Stream::open(spec)?.format().name == tracelab::FORMAT.name),
    }
}

/// Reads a file of sessions to its end. `answer` is how long an answer is taken to be, for the length of the run alone, where
/// the file does not say.
///
/// Takes memory for every round, 72 bytes each once it is read.
///
/// # Errors
/// As [`open`](super::open()).
pub fn sessions(spec: &Trace, answer: Nanos) -> Result<Sessions, TrafficError> {
    read_sessions(spec, Stream::open(spec)?, answer)
}

/// The same from a stream at its beginning; `spec` is the one it was opened with.
///
/// # Errors
/// As [`open`](super::open()).
pub fn read_sessions(spec: &Trace, mut stream: Stream, answer: Nanos) -> Result<Sessions, TrafficError> {
    let failed = |message: &str| TrafficError { path: Some(spec.path.clone()), ..TrafficError::new(message) };
    let mut names = keys(spec);
    let mut rounds: Vec<(u32, Nanos, Step)> = Vec::new();
    let mut row = Row::default();
    while stream.next(&mut row)? {
        let key = number(&mut names, &row.key).ok_or_else(|| failed("more than 2^32 different keys"))?;
        rounds.push((row.session, row.at, Step { takes: row.takes, ..step(&row, key) }));
    }
    let (rows, skipped, bytes_read) = (stream.rows(), stream.skipped(), stream.bytes_read());
    let wall = stream.clock() == Clock::Wall;
    let notes = stream.into_notes();
    if rounds.len() > u32::MAX as usize {
        return Err(failed("more than 2^32 rounds"));
    }
    let base = if wall { rounds.iter().map(|(_, at, _)| *at).min().unwrap_or(0) } else { 0 };
    let too_late = || failed("time-scale or repeat takes times beyond the year 2554");
    if let Some((multiply, divide)) = spec.time_scale {
        let scaled = |length: Nanos| -> Option<Nanos> {
            (u128::from(length) * u128::from(multiply) / u128::from(divide.max(1))).try_into().ok()
        };
        for (_, at, step) in &mut rounds {
            *at = scaled(*at - base).and_then(|at| at.checked_add(base)).ok_or_else(too_late)?;
            step.takes = step.takes.map(|takes| scaled(takes).ok_or_else(too_late)).transpose()?;
        }
    }
    let span = rounds.iter().map(|(_, at, _)| *at - base).max().unwrap_or(0);
    // Rows come in order of time, so this keeps the rounds of a session in theirs.
    rounds.sort_by_key(|(session, ..)| *session);
    let mut scripts: Vec<Script> = Vec::new();
    let (mut longest, mut unknown) = (0u64, 0);
    for chunk in rounds.chunk_by_mut(|a, b| a.0 == b.0) {
        let start = chunk[0].1 - base;
        let mut lasts = start;
        for at in 0..chunk.len() {
            let (_, asked, step) = chunk[at];
            // A round that a filter left out leaves its waits to the round before it.
            let next = chunk.get(at + 1).map_or(asked, |next| next.1);
            let wait = (next - asked).saturating_sub(step.takes.unwrap_or(0));
            chunk[at].2.wait = wait;
            unknown += u64::from(step.takes.is_none());
            lasts = lasts.saturating_add(step.takes.unwrap_or(answer)).saturating_add(wait);
        }
        longest = longest.max(lasts);
        let first = scripts.last().map_or(0, |last| last.first + last.steps);
        scripts.push(Script { start, first, steps: chunk.len() as u32 });
    }
    scripts.sort_by_key(|script| script.start);
    let repeat = spec.repeat.max(1);
    let period = span.checked_add(1).ok_or_else(too_late)?;
    let last = period.checked_mul(repeat - 1).and_then(|last| last.checked_add(base)?.checked_add(span));
    last.ok_or_else(too_late)?;
    let first = scripts.clone();
    for playing in 1..repeat {
        scripts.extend(first.iter().map(|script| Script { start: script.start + playing * period, ..*script }));
    }
    // Sessions of one playing may start behind those of the next.
    scripts.sort_by_key(|script| script.start);
    if scripts.len() > u32::MAX as usize {
        return Err(failed("more than 2^32 sessions"));
    }
    // Half as much again for what a limit delays, which the file knows nothing about.
    const SECOND: Nanos = 1_000_000_000;
    let once = longest.max(span);
    let length = once.saturating_add(once / 2).saturating_add(period * (repeat - 1));
    let length = (length / SECOND + 1).saturating_mul(SECOND);
    let scripts = Scripts {
        keys: (0..names.len() as u64).map(|key| names.name(key)).collect(),
        scripts,
        steps: rounds.into_iter().map(|(.., step)| step).collect(),
        origin: wall.then_some(base),
        length,
    };
    Ok(Sessions { scripts, rows, skipped, bytes_read, unknown, notes })
}

/// Keys as the scenario makes them equal.
pub(super) fn keys(spec: &Trace) -> Keys {
    Keys::new(spec.key_normalise, spec.key_prefix, spec.joins_keys())
}

/// The number of one key; `None` when there are more keys than numbers.
pub(super) fn number(names: &mut Keys, key: &[u8]) -> Option<u32> {
    let mut numbers = Vec::with_capacity(1);
    names.number_all(std::iter::once(key), &mut numbers)?;
    numbers.first().copied()
}

/// The call of a row.
pub(super) fn step(row: &Row, key: u32) -> Step {
    Step {
        key,
        wait: 0,
        takes: None,
        cost: row.cost,
        tokens: [row.input_tokens, row.output_tokens, row.cache_read_tokens, row.cache_write_tokens],
        microusd: row.microusd,
    }
}
