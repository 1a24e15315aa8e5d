//! A whole recorded file, packed and in order of time, with what is known about it.

use super::checks;
use super::format::{Clock, Format, Notes};
use super::grain::Times;
use super::keys::Keys;
use super::packed::{Limits, Merge, Packed, Packing};
use super::parse::parse;
use super::playback::Playback;
use super::stream::Stream;
use crate::spec::Trace;
use crate::{Note, TrafficError};
use limiters::Nanos;
use std::path::PathBuf;
use std::sync::Arc;

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
    /// From `start`, or from the scenario's start, to the first request: 0 where the file tells the time of day.
    pub first: Nanos,
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
    pub(super) packed: Packed,
    pub(super) scale: Scale,
    pub(super) names: Keys,
    pub(super) repeat: u64,
    pub(super) sorted: bool,
}

/// How far reading has come, in bytes before decompression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// So many were read.
    pub bytes: u64,
    /// Of so many, where that is known: of a pipe it is not.
    pub of: Option<u64>,
}

/// Gaps between times made longer or shorter.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scale {
    /// What stays where it is.
    base: Nanos,
    multiply: u64,
    divide: u64,
}

impl Scale {
    fn new(ratio: Option<(u64, u64)>, base: Nanos) -> Scale {
        let (multiply, divide) = ratio.unwrap_or((1, 1));
        Scale { base, multiply, divide: divide.max(1) }
    }

    /// A time no earlier than the base, scaled; `None` beyond 64 bits. Later times are never scaled to earlier ones.
    fn checked(self, at: Nanos) -> Option<Nanos> {
        let scaled = u128::from(at - self.base) * u128::from(self.multiply) / u128::from(self.divide);
        self.base.checked_add(u64::try_from(scaled).ok()?)
    }

    /// The same of a time that is no later than one which was [checked](Scale::checked).
    #[inline]
    pub fn of(self, at: Nanos) -> Nanos {
        if self.multiply == self.divide {
            return at;
        }
        let scaled = u128::from(at - self.base) * u128::from(self.multiply) / u128::from(self.divide);
        self.base + scaled as u64
    }

    /// Whether times stay as they are.
    pub fn keeps(self) -> bool {
        self.multiply == self.divide
    }

    /// The earliest time that is scaled to `scaled` or later; `None` when no time is.
    pub fn least(self, scaled: Nanos) -> Option<Nanos> {
        if self.multiply == self.divide || scaled <= self.base {
            return Some(scaled);
        }
        let length = u128::from(scaled - self.base) * u128::from(self.divide);
        let length = length.div_ceil(u128::from(self.multiply.max(1)));
        self.base.checked_add(u64::try_from(length).ok().filter(|_| self.multiply > 0)?)
    }
}

/// Reads a recorded file to its end.
///
/// Two threads do it: one parses, this one numbers keys, packs rows and looks for what is doubtful. Memory: a few bytes a
/// row up to 128 MiB, the rest in a temporary file; some 25 bytes and its name for each key; 20 to 90 MB more for a file that
/// is not in order of time.
///
/// # Errors
/// When it cannot be read, is no log, has a bad row (unless these are skipped), or none at all; when there is no room for
/// its rows.
pub fn open(spec: &Trace) -> Result<Recorded, TrafficError> {
    open_watched(spec, &mut |_| {})
}

/// The same; `watch` hears every few thousand rows how far reading has come.
///
/// # Errors
/// As [`open`].
pub fn open_watched(spec: &Trace, watch: &mut dyn FnMut(Reading)) -> Result<Recorded, TrafficError> {
    let of = std::fs::metadata(&spec.path).ok().filter(std::fs::Metadata::is_file).map(|file| file.len());
    let stream = Stream::open(spec)?;
    read_within(spec, stream, &Limits::default(), &mut |bytes| watch(Reading { bytes, of }))
}

/// Reads a stream at its beginning to its end; `spec` is the one it was opened with.
///
/// # Errors
/// As [`open`].
pub fn read(spec: &Trace, stream: Stream) -> Result<Recorded, TrafficError> {
    read_within(spec, stream, &Limits::default(), &mut |_| {})
}

/// What is gathered row by row, in the order of the file.
#[derive(Default)]
struct Seen {
    times: Times,
    previous: Nanos,
    earliest: Option<Nanos>,
    latest: Nanos,
    backward_steps: u64,
    largest_backward_step: Nanos,
    /// How far a row lies behind the latest row before it, at most.
    furthest: Nanos,
}

impl Seen {
    /// The next times; whether none of them lies before one that was heard.
    fn hear(&mut self, times: &[Nanos]) -> bool {
        let steps = self.backward_steps;
        for &at in times {
            if at < self.previous {
                self.backward_steps += 1;
                self.largest_backward_step = self.largest_backward_step.max(self.previous - at);
            }
            self.furthest = self.furthest.max(self.latest.max(at) - at);
            (self.previous, self.latest) = (at, self.latest.max(at));
            self.earliest = Some(self.earliest.map_or(at, |earliest| earliest.min(at)));
        }
        self.times.hear(times);
        self.backward_steps == steps
    }
}

/// As [`read`], within these limits; `watch` hears every few thousand rows how many bytes were read.
///
/// # Errors
/// As [`open`].
pub fn read_within(
    spec: &Trace,
    stream: Stream,
    limits: &Limits,
    watch: &mut dyn FnMut(u64),
) -> Result<Recorded, TrafficError> {
    let failed = |message: String| TrafficError::of_file(&spec.path, message);
    let mut names = Keys::new(spec.key_normalise, spec.key_prefix, spec.joins_keys());
    let mut packing = Packing::new(limits, !spec.as_is);
    let (mut seen, mut numbers) = (Seen::default(), Vec::new());
    let [mut too_many, mut unavailable] = [0, 0];
    let stream = parse(stream, limits.chunk, |chunk| {
        numbers.clear();
        let numbered = names.number_all(chunk.keys(), &mut numbers);
        numbered.ok_or_else(|| failed("more than 2^32 − 1 different keys".to_owned()))?;
        let in_order = seen.hear(&chunk.at);
        packing.push(chunk, &numbers, in_order).map_err(failed)?;
        too_many += chunk.refused[0];
        unavailable += chunk.refused[1];
        watch(chunk.bytes_read);
        Ok(())
    })?;
    let (format, clock, rows) = (stream.format(), stream.clock(), stream.rows());
    let (skipped, bytes_read) = (stream.skipped(), stream.bytes_read());
    let mut notes = Notes(stream.into_notes());
    let packed = packing.finish().map_err(failed)?;

    let Seen { backward_steps, largest_backward_step, furthest, latest, earliest, .. } = seen;
    let sorted = backward_steps == 0 || !spec.as_is;
    if backward_steps > 0 && sorted {
        // What was heard is not the order in which rows are played.
        seen.times = played(&packed).map_err(|error| failed(unreadable(&error)))?;
    }
    let times = seen.times;
    checks::warn_of_order(backward_steps, largest_backward_step, furthest, rows, spec.as_is, &mut notes);
    let grain = times.grain();
    checks::warn_of_grain(grain, rows, &mut notes);
    checks::warn_of_minutes(times.minutes(), clock, &mut notes);
    checks::warn_of_refusals(too_many, unavailable, rows, &mut notes);
    checks::warn_of_keys(names.len() as u64, rows, &mut notes);
    if packed.varies(OUTPUT_TOKENS) {
        checks::warn_of_output(&mut notes);
    }
    if names.written() > names.len() {
        let (written, keys) = (names.written(), names.len());
        notes.guess(format!("{written} spellings of keys are {keys} keys, as key-normalise and key-prefix ask"));
    }

    let base = if clock == Clock::Wall { earliest.unwrap_or(0) } else { 0 };
    let scale = Scale::new(spec.time_scale, base);
    let latest = scale.checked(latest);
    let latest = latest.ok_or_else(|| failed("time-scale takes times beyond the year 2554".to_owned()))?;
    let span = latest - base;
    let first = earliest.map_or(base, |earliest| scale.of(earliest)) - base;
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
        first,
        backward_steps,
        largest_backward_step,
        resolution: grain.resolution(rows),
        largest_burst: grain.largest,
        too_many,
        unavailable,
        bytes_read,
        notes: notes.0,
        packed,
        scale,
        names,
        repeat,
        sorted,
    })
}

/// The places of amounts in packed rows.
pub(super) const COST: usize = 0;
pub(super) const INPUT_TOKENS: usize = 1;
pub(super) const OUTPUT_TOKENS: usize = 2;
pub(super) const MICROUSD: usize = 3;

/// The times of packed rows in the order in which they are played.
fn played(packed: &Packed) -> std::io::Result<Times> {
    let (mut times, mut merge) = (Times::default(), Merge::new(packed));
    while let Some((block, range)) = merge.next(packed, usize::MAX)? {
        times.hear(&block.at[range]);
    }
    Ok(times)
}

/// What is said when the temporary file cannot be read back.
pub(super) fn unreadable(error: &std::io::Error) -> String {
    format!("the temporary file in {} with its rows cannot be read back ({error})", std::env::temp_dir().display())
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
        Playback::new(Arc::new(self), start, duration)
    }
}
