//! A recorded file, as everything that looks at one before any limiter runs needs it.

use limiters::{Meter, Nanos};
use std::sync::Arc;
use traffic::spec::Trace;
use traffic::traces::{self, Clock, Playback, Reading, Recorded};
use traffic::{Note, TrafficError};

/// All requests of a recorded file, packed and in time order, and what was seen while reading it.
pub struct Loaded {
    /// The file as it was named.
    pub path: String,
    /// Name of its format.
    pub format: &'static str,
    /// Absolute time from which times are counted: the first instant of a wall-clock file, else 0.
    pub start: Nanos,
    /// What its times count from.
    pub clock: Clock,
    /// From `start` to the first request.
    pub first: Nanos,
    /// From the first request to the last.
    pub span: Nanos,
    /// Rows left out.
    pub skipped: u64,
    /// Rows earlier than the row before them, and how much earlier at most.
    pub backward: (u64, Nanos),
    /// See [`Recorded::resolution`].
    pub resolution: Nanos,
    /// Most requests at one time.
    pub largest_burst: u64,
    /// Requests answered with 429, and with 503.
    pub refused: (u64, u64),
    /// Bytes of the file, before decompression.
    pub bytes: u64,
    /// What was assumed, left out and distrusted.
    pub notes: Vec<Note>,
    /// Whether requests say how many tokens they have, and what they cost.
    pub has: (bool, bool),
    pub(super) recorded: Arc<Recorded>,
}

/// Reads a file to its end. A trace that is repeated is loaded as often. `watch` hears how far it was read.
///
/// Memory: see [`traces::open`].
///
/// # Errors
/// See [`traces::open`].
pub fn load(spec: &Trace, watch: &mut dyn FnMut(Reading)) -> Result<Loaded, TrafficError> {
    Loaded::new(traces::open_watched(spec, watch)?)
}

impl Loaded {
    /// A file that was read.
    ///
    /// # Errors
    /// When there is no room to bring its rows into order.
    pub fn new(recorded: Recorded) -> Result<Loaded, TrafficError> {
        let recorded = recorded.settled()?;
        Ok(Loaded {
            path: recorded.path.display().to_string(),
            format: recorded.format.name,
            start: recorded.start.unwrap_or(0),
            clock: if recorded.start.is_some() { Clock::Wall } else { Clock::Relative },
            first: recorded.first,
            span: recorded.span - recorded.first,
            skipped: recorded.skipped,
            backward: (recorded.backward_steps, recorded.largest_backward_step),
            resolution: recorded.resolution,
            largest_burst: recorded.largest_burst,
            refused: (recorded.too_many, recorded.unavailable),
            bytes: recorded.bytes_read,
            notes: recorded.notes.clone(),
            has: (recorded.has_tokens(), recorded.has_prices()),
            recorded: Arc::new(recorded),
        })
    }

    /// How many requests there are.
    pub fn rows(&self) -> u64 {
        self.recorded.rows * self.recorded.repeats()
    }

    /// How many keys there are.
    pub fn keys(&self) -> usize {
        self.recorded.keys as usize
    }

    /// The name of a key by its number, which is below [`keys`](Loaded::keys).
    pub fn key_name(&self, key: u64) -> String {
        self.recorded.key_name(key)
    }

    /// The requests, to be read once.
    ///
    /// # Errors
    /// When they cannot be read back.
    pub fn source(&self) -> Result<Playback, TrafficError> {
        self.recorded.source()
    }

    /// The meters that the file has amounts for.
    pub fn meters(&self) -> impl Iterator<Item = Meter> + use<> {
        let (tokens, prices) = self.has;
        Meter::ALL.into_iter().map(|(meter, _)| meter).filter(move |meter| match meter {
            Meter::Requests => true,
            Meter::Spend => prices,
            _ => tokens,
        })
    }
}
