//! The engine: traffic in batches, every lane over every batch, lanes spread over threads.
//!
//! Lanes share nothing, so the number of threads cannot change a result: each lane sees every batch in order.

use crate::lane::Lane;
use limiters::{Batch, Outcome};
use rayon::prelude::*;
use std::ops::Range;
use traffic::{Source, TrafficError};

/// Requests in a batch: small enough for a core's cache, large enough that handing it out costs nothing.
pub const BATCH: usize = 16_384;

/// Takes each block of a lane with its decisions.
pub trait Sink: Send {
    /// `range` of `batch` was decided as `out`, at these costs.
    fn block(&mut self, batch: &Batch, cost: &[u64], range: Range<usize>, out: &[Outcome]);
}

/// A sink that forgets.
pub struct NoSink;

impl Sink for NoSink {
    fn block(&mut self, _: &Batch, _: &[u64], _: Range<usize>, _: &[Outcome]) {}
}

/// Reads up to `requests` requests into batches.
pub fn read_ahead(source: &mut dyn Source, requests: usize) -> Result<Vec<Batch>, TrafficError> {
    let mut batches = Vec::new();
    let mut read = 0;
    while read < requests {
        let mut batch = Batch::default();
        match source.fill(&mut batch, BATCH.min(requests - read))? {
            0 => break,
            count => read += count,
        }
        batches.push(batch);
    }
    Ok(batches)
}

/// Feeds `ahead` and then the rest of `source` to every lane, each with its sink, on the threads of the current rayon
/// pool. `progress` hears how many more requests every lane has seen. Returns how many requests there were.
pub fn replay<S: Sink>(
    lanes: &mut [(Lane, S)],
    ahead: &[Batch],
    source: &mut dyn Source,
    progress: &(dyn Fn(u64) + Sync),
) -> Result<u64, TrafficError> {
    let feed = |lanes: &mut [(Lane, S)], batch: &Batch| {
        lanes.par_iter_mut().for_each(|(lane, sink)| {
            lane.feed(batch, |batch, cost, range, out| sink.block(batch, cost, range, out));
        });
        progress(batch.len() as u64);
    };
    let mut total = 0;
    for batch in ahead {
        feed(lanes, batch);
        total += batch.len() as u64;
    }
    let (mut current, mut next) = (Batch::default(), Batch::default());
    source.fill(&mut current, BATCH)?;
    while !current.is_empty() {
        total += current.len() as u64;
        next.clear();
        // The next batch is made while the lanes work on this one.
        let (filled, ()) = rayon::join(|| source.fill(&mut next, BATCH), || feed(lanes, &current));
        filled?;
        std::mem::swap(&mut current, &mut next);
    }
    Ok(total)
}
