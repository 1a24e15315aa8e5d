//! What the stream of starts looks like: the bucket it obeys, how even it is, and how it differs from the exact answer.

use limiters::{Nanos, Outcome, Quota, Rate, Settings, Store, algorithm};

/// Accumulators over starts in time order; all integers.
pub struct Stream {
    rate: Rate,
    /// Backlog of a bucket that leaks at the quota's rate, in 1/P permits, and its largest value: sigma.
    backlog: u128,
    backlog_max: u128,
    first: Option<Nanos>,
    last: Nanos,
    starts: u64,
    /// Sum of squared gaps, ns².
    squares: u128,
    exact: Box<dyn Store + Send>,
    over_admitted: u64,
    scratch: Vec<Outcome>,
}

impl Stream {
    /// An empty stream, compared with an exact sliding log of the quota: one for all, or one per key.
    pub fn new(quota: Quota, per_key: bool) -> Stream {
        let exact = algorithm("sliding-window-log")
            .and_then(|log| (log.build)(&Settings::new(quota)).ok())
            .expect("the exact log takes every quota")
            .store(per_key);
        let rate = Rate::new(quota.limit, quota.window).expect("a scenario's limit and window are above zero");
        Stream {
            rate,
            backlog: 0,
            backlog_max: 0,
            first: None,
            last: 0,
            starts: 0,
            squares: 0,
            exact,
            over_admitted: 0,
            scratch: Vec::new(),
        }
    }

    /// Takes starts in time order.
    pub fn observe(&mut self, at: &[Nanos], key: &[u64], cost: &[u64]) {
        let Some(&first) = at.first() else { return };
        if self.first.is_none() {
            self.first = Some(first);
            self.last = first;
        }
        let (permits, per) = (u128::from(self.rate.permits()), u128::from(self.rate.per()));
        let (mut backlog, mut most, mut last, mut squares) = (self.backlog, self.backlog_max, self.last, self.squares);
        for (&at, &cost) in at.iter().zip(cost) {
            let gap = u128::from(at - last);
            squares += gap * gap;
            backlog = backlog.saturating_sub(gap * permits) + u128::from(cost) * per;
            most = most.max(backlog);
            last = at;
        }
        (self.backlog, self.backlog_max, self.last, self.squares) = (backlog, most, last, squares);
        self.starts += at.len() as u64;
        self.scratch.resize(at.len(), Outcome::Refused);
        self.exact.run(key, at, cost, &mut self.scratch);
        let refused = |(outcome, cost): (&Outcome, &u64)| if outcome.passes() { 0 } else { *cost };
        self.over_admitted += self.scratch.iter().zip(cost).map(refused).sum::<u64>();
    }

    /// Least capacity of a bucket refilled at limit per window that the stream obeys, in whole permits.
    pub fn sigma(&self) -> u64 {
        self.backlog_max.div_ceil(self.rate.per().into()).try_into().unwrap_or(u64::MAX)
    }

    /// Permits that the exact log refuses when it replays the stream.
    pub fn over_admitted(&self) -> u64 {
        self.over_admitted
    }

    /// Coefficient of variation of the gaps between starts: sqrt(n·S2 − S1²) / S1. `None` with fewer than two gaps or when
    /// all starts are at one instant.
    pub fn gap_cv(&self) -> Option<f64> {
        let gaps = u128::from(self.starts.checked_sub(1)?);
        let sum = u128::from(self.last - self.first?);
        if gaps < 2 || sum == 0 {
            return None;
        }
        // In floating point from here on: the integers are exact, the ratio is for reading.
        let mean_square = self.squares as f64 / gaps as f64;
        let mean = sum as f64 / gaps as f64;
        Some((mean_square - mean * mean).max(0.0).sqrt() / mean)
    }
}
