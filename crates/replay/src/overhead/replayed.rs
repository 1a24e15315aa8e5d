//! How fast a replay is: decisions alone, and decisions with everything measured, traffic generation apart.

use super::drive::poisson_traffic;
use super::threads::Timed;
use crate::engine::BATCH;
use crate::entry::Entry;
use crate::lane::Lane;
use crate::measure::Setup;
use limiters::{Batch, Nanos, Outcome, Quota, Rate};
use std::time::Instant;
use traffic::Source;

/// What a replay cost one limiter.
#[derive(Clone, Debug)]
pub struct Replayed {
    /// Its label.
    pub limiter: String,
    /// Decisions alone.
    pub bare: Timed,
    /// Decisions with every measurement.
    pub measured: Timed,
}

/// Batches that are generated at once.
const AHEAD: usize = 16;

/// Sends `requests` Poisson arrivals at twice the quota through every entry, twice: bare and measured. The entries take
/// turns at each batch of 16,384. Returns what each cost, and the nanoseconds a request that generating took.
pub fn replayed(entries: &[Entry], quota: Quota, taus: &[Nanos], requests: u64, start: Nanos) -> (Vec<Replayed>, f64) {
    let mut lanes: Vec<_> = entries.iter().map(|entry| lane(entry, quota, taus, requests, start)).collect();
    let mut gates: Vec<_> = entries.iter().map(|entry| (entry.make)()).collect();
    let name =
        |entry: &Entry| Replayed { limiter: entry.label.clone(), bare: Timed::default(), measured: Timed::default() };
    let mut replayed: Vec<Replayed> = entries.iter().map(name).collect();
    let twice = quota.limit.checked_mul(2).and_then(|limit| Rate::new(limit, quota.window));
    let Some(mut traffic) = twice.and_then(|rate| poisson_traffic(rate, start)) else { return (replayed, 0.0) };
    let mut out = vec![Outcome::Refused; BATCH];
    let (mut made, mut generating) = (0, Timed::default());
    let mut batches = vec![Batch::default(); AHEAD];
    while made < requests {
        for batch in &mut batches {
            batch.clear();
            let begun = Instant::now();
            let wanted = (requests - made).min(BATCH as u64) as usize;
            let Ok(count @ 1..) = traffic.fill(batch, wanted) else { break };
            generating.add(begun.elapsed().as_nanos() as f64, count as u64, 0);
            made += count as u64;
        }
        for batch in batches.iter().filter(|batch| !batch.is_empty()) {
            let count = batch.len();
            for ((gate, lane), replayed) in gates.iter_mut().zip(&mut lanes).zip(&mut replayed) {
                let begun = Instant::now();
                gate.run(batch, &batch.requests, 0..count, &mut out[..count]);
                let nanos = begun.elapsed().as_nanos() as f64;
                let admitted = out[..count].iter().filter(|outcome| outcome.passes()).count() as u64;
                replayed.bare.add(nanos, count as u64, admitted);
                let before = lane.measure.admitted;
                let begun = Instant::now();
                lane.feed(batch, |_, _, _, _| {});
                let nanos = begun.elapsed().as_nanos() as f64;
                replayed.measured.add(nanos, count as u64, lane.measure.admitted - before);
            }
        }
    }
    (replayed, generating.percentile(0.5))
}

/// A lane with every measurement, as a run of this length would have it.
fn lane(entry: &Entry, quota: Quota, taus: &[Nanos], requests: u64, start: Nanos) -> Lane {
    let duration = u128::from(requests) * u128::from(quota.window) / (2 * u128::from(quota.limit));
    let duration = Nanos::try_from(duration).unwrap_or(Nanos::MAX).max(1);
    let bin = crate::measure::round_width(duration);
    let setup = Setup {
        quota: entry.quota,
        taus,
        start,
        bin,
        bins: duration.div_ceil(bin).try_into().unwrap_or(usize::MAX),
        per_key: entry.per_key,
        many_keys: entry.per_key,
        shaper: entry.delays,
        budget: usize::MAX,
    };
    Lane::new((entry.make)(), entry.meter, None, &setup)
}
