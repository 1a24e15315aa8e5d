//! What a recorded file holds, before any limiter runs: its keys, its busiest windows, its gaps.

mod busiest;
mod gaps;
mod load;
mod metered;
mod quantile;
mod slide;

pub use busiest::{Busiest, aligned_each, sliding, sliding_each};
pub use gaps::{GapRow, Gaps};
pub use load::{Loaded, load};
pub use metered::{Block, Metered, Requests, Row};
pub use slide::{Slid, slide, slide_over};

use busiest::{Aligned, Sliding};
use limiters::{Meter, Nanos};
use rayon::prelude::*;
use serde::Serialize;
use std::cmp::Reverse;
use traffic::TrafficError;
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
    /// From the first instant, or the zero that the file's times count from, to the first request.
    pub first_ns: Nanos,
    /// From the first request to the last.
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

/// Looks at a loaded file, at windows of the given lengths, each at least 1, and at the `top` keys.
///
/// Every figure is found by going through the packed rows, so memory is 8 bytes a key for each thread, whatever the windows
/// and the number of rows.
///
/// # Errors
/// When the rows cannot be read back.
pub fn inspect(file: &Loaded, windows: &[Nanos], top: usize) -> Result<Inspection, String> {
    let meters: Vec<Meter> = file.meters().collect();
    let requests = Metered::within(file, Meter::Requests, 0)?;
    let (amounts, (top_keys, gaps)) = rayon::join(
        || meters.par_iter().map(|meter| amount(file, *meter, windows)).collect::<Result<_, String>>(),
        || (top_keys(file, &requests, top), Gaps::of(&requests)),
    );
    let words = |error: TrafficError| error.to_string();
    Ok(Inspection {
        file: file.path.clone(),
        format: file.format,
        bytes: file.bytes,
        rows: file.rows(),
        skipped: file.skipped,
        first: (file.clock == Clock::Wall).then(|| instant(file.start)),
        first_ns: file.first,
        span_ns: file.span,
        resolution_ns: file.resolution,
        largest_burst: file.largest_burst,
        backward_steps: file.backward.0,
        largest_backward_step_ns: file.backward.1,
        status_429: file.refused.0,
        status_503: file.refused.1,
        keys: file.keys() as u64,
        top_keys: top_keys.map_err(words)?,
        amounts: amounts?,
        gaps: gaps.map_err(words)?,
        notes: file
            .notes
            .iter()
            .map(|note| Said { kind: crate::rows::kind(note.kind), text: note.text.clone() })
            .collect(),
    })
}

fn top_keys(file: &Loaded, requests: &Metered, top: usize) -> Result<Vec<TopKey>, TrafficError> {
    let mut counts: Vec<(u64, u64)> = (0..file.keys() as u64).map(|key| (0, key)).collect();
    requests.each(|block| block.key.iter().for_each(|key| counts[*key as usize].0 += 1))?;
    counts.sort_by_key(|&(count, key)| (Reverse(count), key));
    let share = |requests| crate::rows::ratio(requests, file.rows()).unwrap_or(0.0);
    let named = |&(requests, key): &(u64, u64)| TopKey { key: file.key_name(key), requests, share: share(requests) };
    Ok(counts.iter().take(top).map(named).collect())
}

fn amount(file: &Loaded, meter: Meter, windows: &[Nanos]) -> Result<Amount, String> {
    let asked = Metered::within(file, meter, 0)?;
    let windows = windows.par_iter().map(|&length| window(file, &asked, length)).collect::<Result<_, _>>();
    let windows = windows.map_err(|error: TrafficError| error.to_string())?;
    Ok(Amount { meter: meter.name(), total: asked.total(), largest: asked.largest(), windows })
}

fn window(file: &Loaded, asked: &Metered, window_ns: Nanos) -> Result<Window, TrafficError> {
    let (mut all, mut wall) = (Sliding::default(), Aligned::default());
    let mut own = vec![0u64; asked.keys()];
    // The most of one key; of several keys that reach it the first.
    let mut most = (0, Reverse(0));
    slide_over(asked, window_ns, |slid| {
        all.hear(slid);
        match slid {
            Slid::Enters(row) => {
                wall.hear(row, window_ns);
                let own = &mut own[row.key as usize];
                *own = own.saturating_add(row.amount);
            }
            Slid::Leaves(row) => {
                let own = &mut own[row.key as usize];
                *own = own.saturating_sub(row.amount);
            }
            Slid::Stands { last, .. } => most = most.max((own[last.key as usize], Reverse(last.key))),
        }
    })?;
    let (one_key, Reverse(key)) = most;
    Ok(Window {
        window_ns,
        sliding: all.most.amount,
        sliding_from_ns: all.most.from.saturating_sub(file.start),
        aligned: wall.most.amount,
        one_key,
        busiest_key: if file.keys() > 0 { file.key_name(key) } else { String::new() },
    })
}

/// An instant in words, to the nanosecond where it has one.
pub fn instant(at: Nanos) -> String {
    jiff::Timestamp::from_nanosecond(at.into()).map_or_else(|_| format!("{at} ns"), |at| at.to_string())
}
