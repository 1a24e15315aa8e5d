//! What a limiter refused when a log was written, as calls: recorded retries are taken out, so that others can take their
//! place.
//!
//! A key is taken to make one call at a time. A call begins with a refused row (429 or 503) that is part of no call before
//! it. The rows of its key that follow belong to it as long as they are refused, and so does the answered row that ends
//! them; but no row that comes later than a given time after the call's first one. Rows in no call were never refused and
//! stay what they are.

use super::format::Clock;
use super::row::Row;
use super::scripts::{keys, number, step};
use super::stream::Stream;
use crate::clients::{Script, Scripts, Step};
use crate::spec::Trace;
use crate::{Note, TrafficError};
use limiters::Nanos;
use std::ops::Range;
use std::sync::Arc;

/// A log whose refusals were made into calls.
#[derive(Debug)]
pub struct Calls {
    /// A script of one step for each call, first tried when its first row was.
    pub scripts: Scripts,
    /// Rows in calls, by their place among the file's good rows, in order.
    pub folded: Arc<[u64]>,
    /// Good rows of the file.
    pub rows: u64,
    /// Rows answered with 429 or 503; all of them are in calls.
    pub refused: u64,
    /// Rows that say how they were answered.
    pub answered: u64,
    /// Calls that an answered row ends.
    pub ended: u64,
    /// Rows left out.
    pub skipped: u64,
    /// Bytes of the file, before decompression.
    pub bytes_read: u64,
    /// What was assumed and left out.
    pub notes: Vec<Note>,
}

/// A row of a key that was refused at least once.
struct Entry {
    at: Nanos,
    /// Place among the file's good rows.
    place: u64,
    refused: bool,
    step: Step,
}

/// The calls among the rows of one key, given in order of time as (time, refused): places of their rows, each range a call.
pub fn calls(rows: &[(Nanos, bool)], within: Nanos) -> Vec<Range<usize>> {
    let mut calls = Vec::new();
    let mut first = 0;
    while first < rows.len() {
        if !rows[first].1 {
            first += 1;
            continue;
        }
        let near = |place: &usize| rows[*place].0 - rows[first].0 <= within;
        let answered = (first + 1..rows.len()).take_while(near).find(|place| !rows[*place].1);
        let end = match answered {
            Some(place) => place + 1,
            None => first + 1 + (first + 1..rows.len()).take_while(near).count(),
        };
        calls.push(first..end);
        first = end;
    }
    calls
}

/// Reads a log twice and makes its refusals into calls whose rows lie at most `within` behind the first.
///
/// Takes memory for every row of the keys that were refused, 96 bytes each, and for the names of all keys.
///
/// # Errors
/// As [`open`](super::open()).
pub fn retried(spec: &Trace, within: Nanos) -> Result<Calls, TrafficError> {
    let failed = |message: &str| TrafficError { path: Some(spec.path.clone()), ..TrafficError::new(message) };
    let refused = |row: &Row| matches!(row.status, 429 | 503);
    let mut names = keys(spec);
    let mut shaped: Vec<bool> = Vec::new();
    let mut row = Row::default();
    let mut stream = Stream::open(spec)?;
    let (mut count, mut answered, mut earliest) = (0, 0, Nanos::MAX);
    while stream.next(&mut row)? {
        let key = number(&mut names, &row.key).ok_or_else(|| failed("more than 2^32 different keys"))? as usize;
        shaped.resize(shaped.len().max(key + 1), false);
        shaped[key] |= refused(&row);
        count += u64::from(refused(&row));
        answered += u64::from(row.status != 0);
        earliest = earliest.min(row.at);
    }
    let wall = stream.clock() == Clock::Wall;
    let (rows, skipped, bytes_read) = (stream.rows(), stream.skipped(), stream.bytes_read());
    let notes = stream.into_notes();

    let mut entries: Vec<Entry> = Vec::new();
    if count > 0 {
        let mut stream = Stream::open(spec)?;
        let mut place = 0;
        while stream.next(&mut row)? {
            let changed = || failed("the file changed while it was read");
            let key = number(&mut names, &row.key).ok_or_else(changed)?;
            if *shaped.get(key as usize).ok_or_else(changed)? {
                entries.push(Entry { at: row.at, place, refused: refused(&row), step: step(&row, key) });
            }
            place += 1;
        }
    }
    // Keys that were refused, numbered by themselves.
    let mut numbers = vec![0; shaped.len()];
    let used = (0..shaped.len()).filter(|key| shaped[*key]);
    let mut used_names = Vec::new();
    for (key, number) in used.zip(0u32..) {
        numbers[key] = number;
        used_names.push(names.name(key as u64));
    }
    for entry in &mut entries {
        entry.step.key = numbers[entry.step.key as usize];
    }
    entries.sort_by_key(|entry| (entry.step.key, entry.at, entry.place));
    let base = if wall { earliest } else { 0 };
    let mut made: Vec<(Nanos, u64, Step)> = Vec::new();
    let (mut folded, mut ended) = (Vec::new(), 0);
    for rows in entries.chunk_by(|a, b| a.step.key == b.step.key) {
        let plain: Vec<(Nanos, bool)> = rows.iter().map(|row| (row.at, row.refused)).collect();
        for call in calls(&plain, within) {
            let rows = &rows[call];
            ended += u64::from(rows.last().is_some_and(|last| !last.refused));
            folded.extend(rows.iter().map(|row| row.place));
            made.push((
                rows[0].at - base,
                rows[0].place,
                rows.iter().fold(rows[0].step, |step, row| larger(step, &row.step)),
            ));
        }
    }
    folded.sort_unstable();
    // Calls of one time come in the order of the file.
    made.sort_by_key(|(at, place, _)| (*at, *place));
    if made.len() > u32::MAX as usize {
        return Err(failed("more than 2^32 calls"));
    }
    let length = made.last().map_or(0, |(at, ..)| *at).saturating_add(within).saturating_add(1);
    let scripts = Scripts {
        keys: used_names,
        scripts: (0u32..).zip(&made).map(|(first, (at, ..))| Script { start: *at, first, steps: 1 }).collect(),
        steps: made.iter().map(|(.., step)| *step).collect(),
        origin: wall.then_some(base),
        length,
    };
    Ok(Calls { scripts, folded: folded.into(), rows, refused: count, answered, ended, skipped, bytes_read, notes })
}

/// The larger of each amount: a refused row often has no tokens and no price, and the row that was answered has.
fn larger(one: Step, other: &Step) -> Step {
    let mut tokens = one.tokens;
    for (tokens, others) in tokens.iter_mut().zip(other.tokens) {
        *tokens = others.max(*tokens);
    }
    Step { cost: one.cost.max(other.cost), tokens, microusd: one.microusd.max(other.microusd), ..one }
}
