//! What a recorded file holds, before any limiter runs: its keys, its busiest windows, its gaps.

mod busiest;
mod gaps;
mod load;

pub use busiest::{Busiest, aligned, sliding};
pub use gaps::{GapRow, Gaps};
pub use load::{Loaded, load};

use limiters::{Meter, Nanos};
use serde::Serialize;
use traffic::traces::Clock;

/// What is known of a recorded file.
#[derive(Clone, Debug, Serialize)]
pub struct Inspection {
    /// The file as it was named.
    pub file: String,
    /// Name of its format.
    pub format: &'static str,
    /// Bytes, before decompression.
    pub bytes: u64,
    /// Rows that are requests.
    pub rows: u64,
    /// Rows left out.
    pub skipped: u64,
    /// First instant in words; `None` where times do not tell the time of day.
    pub first: Option<String>,
    /// From the first instant (or the file's zero) to the last request.
    pub span_ns: Nanos,
    /// The length below which times say nothing; 0 when all are equal.
    pub resolution_ns: Nanos,
    /// Most requests at one time.
    pub largest_burst: u64,
    /// Rows earlier than the row before.
    pub backward_steps: u64,
    /// How much earlier at most.
    pub largest_backward_step_ns: Nanos,
    /// Requests answered with 429.
    pub status_429: u64,
    /// Requests answered with 503.
    pub status_503: u64,
    /// Different keys.
    pub keys: u64,
    /// The keys with most requests.
    pub top_keys: Vec<TopKey>,
    /// Sums, and busiest windows, of everything the file counts.
    pub amounts: Vec<Amount>,
    /// Times between one request and the next.
    pub gaps: Gaps,
    /// What was assumed, left out and distrusted.
    pub notes: Vec<Said>,
}

/// A note in words.
#[derive(Clone, Debug, Serialize)]
pub struct Said {
    /// `guess`, `skipped` or `warning`.
    pub kind: &'static str,
    /// The note.
    pub text: String,
}

/// A key with its share of the requests.
#[derive(Clone, Debug, Serialize)]
pub struct TopKey {
    /// Its name.
    pub key: String,
    /// How many are its.
    pub requests: u64,
    /// Of all, from 0 to 1.
    pub share: f64,
}

/// One thing that a file counts.
#[derive(Clone, Debug, Serialize)]
pub struct Amount {
    /// What is counted: a meter's name.
    pub meter: &'static str,
    /// The sum.
    pub total: u64,
    /// The largest of one request.
    pub largest: u64,
    /// Busiest windows, shortest first.
    pub windows: Vec<Window>,
}

/// The busiest window of a length.
#[derive(Clone, Debug, Serialize)]
pub struct Window {
    /// Length.
    pub window_ns: Nanos,
    /// Most in any half-open window of that length.
    pub sliding: u64,
    /// Where it begins, from the file's start.
    pub sliding_from_ns: Nanos,
    /// Most in a window of the wall clock.
    pub aligned: u64,
    /// Most of one key in any such window; equal to `sliding` where there is one key.
    pub one_key: u64,
    /// Whose that is.
    pub busiest_key: String,
}

/// Looks at a loaded file, at windows of the given lengths and at the `top` keys.
pub fn inspect(file: &Loaded, windows: &[Nanos], top: usize) -> Inspection {
    let by_key = ByKey::new(file);
    let mut counts: Vec<(u64, usize)> = by_key.counts().enumerate().map(|(key, count)| (count, key)).collect();
    counts.sort_by_key(|&(count, key)| (std::cmp::Reverse(count), key));
    let rows = file.requests.len() as u64;
    let top_keys = counts.iter().take(top).map(|&(requests, key)| TopKey {
        key: file.names[key].clone(),
        requests,
        share: crate::rows::ratio(requests, rows).unwrap_or(0.0),
    });
    let amounts = file.meters().map(|meter| amount(file, &by_key, meter, windows));
    Inspection {
        file: file.path.clone(),
        format: file.format,
        bytes: file.bytes,
        rows,
        skipped: file.skipped,
        first: (file.clock == Clock::Wall).then(|| instant(file.start)),
        span_ns: file.span,
        resolution_ns: file.resolution,
        largest_burst: file.largest_burst,
        backward_steps: file.backward.0,
        largest_backward_step_ns: file.backward.1,
        status_429: file.refused.0,
        status_503: file.refused.1,
        keys: file.names.len() as u64,
        top_keys: top_keys.collect(),
        amounts: amounts.collect(),
        gaps: Gaps::of(&file.requests.at),
        notes: file
            .notes
            .iter()
            .map(|note| Said { kind: crate::rows::kind(note.kind), text: note.text.clone() })
            .collect(),
    }
}

fn amount(file: &Loaded, by_key: &ByKey, meter: Meter, windows: &[Nanos]) -> Amount {
    let mut scratch = Vec::new();
    let amounts = file.requests.amounts(meter, &mut scratch);
    let requests = || file.requests.at.iter().copied().zip(amounts.iter().copied());
    let window = |&window_ns: &Nanos| {
        let busiest = sliding(requests(), window_ns);
        let one = (0..by_key.keys()).map(|key| {
            let own = by_key.of(key).iter().map(|&index| (file.requests.at[index as usize], amounts[index as usize]));
            (sliding(own, window_ns).amount, std::cmp::Reverse(key))
        });
        let (one_key, key) = one.max().map_or((0, 0), |(amount, key)| (amount, key.0));
        Window {
            window_ns,
            sliding: busiest.amount,
            sliding_from_ns: busiest.from.saturating_sub(file.start),
            aligned: aligned(requests(), window_ns).amount,
            one_key,
            busiest_key: file.names.get(key).cloned().unwrap_or_default(),
        }
    };
    Amount {
        meter: meter.name(),
        total: amounts.iter().fold(0, |sum, amount| sum.saturating_add(*amount)),
        largest: amounts.iter().copied().max().unwrap_or(0),
        windows: windows.iter().map(window).collect(),
    }
}

/// An instant in words, to the nanosecond where it has one.
pub fn instant(at: Nanos) -> String {
    jiff::Timestamp::from_nanosecond(at.into()).map_or_else(|_| format!("{at} ns"), |at| at.to_string())
}

/// The requests of each key, in time order.
pub struct ByKey {
    /// Where each key's requests begin in `order`, and the end.
    first: Vec<usize>,
    order: Vec<u32>,
}

impl ByKey {
    /// Groups the requests of a file. Files of more than 2³² requests do not fit memory before they fail here.
    pub fn new(file: &Loaded) -> ByKey {
        let keys = &file.requests.key;
        let mut first = vec![0; file.names.len() + 1];
        keys.iter().for_each(|&key| first[key as usize + 1] += 1);
        for key in 1..first.len() {
            first[key] += first[key - 1];
        }
        let (mut next, mut order) = (first.clone(), vec![0; keys.len()]);
        for (index, &key) in keys.iter().enumerate() {
            order[next[key as usize]] = index as u32;
            next[key as usize] += 1;
        }
        ByKey { first, order }
    }

    /// How many keys there are.
    pub fn keys(&self) -> usize {
        self.first.len() - 1
    }

    /// The requests of `key`, by their place in the file.
    pub fn of(&self, key: usize) -> &[u32] {
        &self.order[self.first[key]..self.first[key + 1]]
    }

    /// How many requests each key has.
    pub fn counts(&self) -> impl Iterator<Item = u64> + '_ {
        self.first.windows(2).map(|pair| (pair[1] - pair[0]) as u64)
    }
}
