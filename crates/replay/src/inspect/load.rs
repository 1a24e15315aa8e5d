//! A recorded file in memory, as everything that looks at one before any limiter runs needs it.

use limiters::{Batch, Meter, Nanos};
use traffic::spec::Trace;
use traffic::traces::{self, Clock, Reading, Recorded};
use traffic::{Note, Source, TrafficError};

/// All requests of a recorded file in time order, and what was seen while reading it.
pub struct Loaded {
    /// The file as it was named.
    pub path: String,
    /// Name of its format.
    pub format: &'static str,
    /// Absolute time from which times are counted: the first instant of a wall-clock file, else 0.
    pub start: Nanos,
    /// What its times count from.
    pub clock: Clock,
    /// From `start` to the last request.
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
    /// The requests; times never go back.
    pub requests: Batch,
    /// Names of the keys, by number.
    pub names: Vec<String>,
    /// Whether requests say how many tokens they have, and what they cost.
    pub has: (bool, bool),
}

/// Reads a file to its end. A trace that is repeated is loaded as often. `watch` hears how far it was read.
///
/// # Errors
/// See [`traces::open`].
pub fn load(spec: &Trace, watch: &mut dyn FnMut(Reading)) -> Result<Loaded, TrafficError> {
    let recorded = traces::open_watched(spec, watch)?;
    let Recorded { skipped, span, resolution, largest_burst, bytes_read: bytes, .. } = recorded;
    let (keys, duration) = (recorded.keys, recorded.duration());
    let clock = if recorded.start.is_some() { Clock::Wall } else { Clock::Relative };
    let start = recorded.start.unwrap_or(0);
    let backward = (recorded.backward_steps, recorded.largest_backward_step);
    let refused = (recorded.too_many, recorded.unavailable);
    let (format, notes) = (recorded.format.name, recorded.notes.clone());
    let (mut source, _) = recorded.into_source(start, duration)?;
    let mut requests = Batch::default();
    while source.fill(&mut requests, usize::MAX)? > 0 {}
    let mut latest = 0;
    for at in &mut requests.at {
        // Rows that stay out of order are clamped, as they would be in front of a limiter.
        latest = latest.max(*at);
        *at = latest;
    }
    Ok(Loaded {
        path: spec.path.display().to_string(),
        format,
        start,
        clock,
        span,
        skipped,
        backward,
        resolution,
        largest_burst,
        refused,
        bytes,
        notes,
        names: (0..keys).map(|key| source.key_name(key)).collect(),
        has: (source.has_tokens(), source.has_prices()),
        requests,
    })
}

impl Loaded {
    /// The requests, to be read once.
    pub fn source(&self) -> impl Source + '_ {
        Played { file: self, next: 0 }
    }

    /// The amount that `meter` counts, for each request.
    ///
    /// # Errors
    /// When the file does not say how much that is.
    pub fn amounts(&self, meter: Meter) -> Result<Vec<u64>, String> {
        let (tokens, prices) = self.has;
        let (known, what) = match meter {
            Meter::Requests => (true, ""),
            Meter::Spend => (prices, "what a request costs; name a column with --column price=…"),
            _ => (tokens, "how many tokens a request has; name columns with --column input-tokens=…"),
        };
        if !known {
            return Err(format!("{}: nothing in the file says {what}", self.path));
        }
        let mut scratch = Vec::new();
        Ok(self.requests.amounts(meter, &mut scratch).to_vec())
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

/// A loaded file as a source.
struct Played<'a> {
    file: &'a Loaded,
    next: usize,
}

impl Source for Played<'_> {
    fn fill(&mut self, batch: &mut Batch, max: usize) -> Result<usize, TrafficError> {
        let end = self.file.requests.len().min(self.next.saturating_add(max));
        (self.next..end).for_each(|index| batch.push(&self.file.requests.get(index)));
        let count = end - self.next;
        self.next = end;
        Ok(count)
    }

    fn key_name(&self, key: u64) -> String {
        self.file.names.get(key as usize).cloned().unwrap_or_default()
    }

    fn has_tokens(&self) -> bool {
        self.file.has.0
    }

    fn has_prices(&self) -> bool {
        self.file.has.1
    }
}
