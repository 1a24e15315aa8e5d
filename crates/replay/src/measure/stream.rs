//! What the stream of starts looks like: the bucket it obeys, how even it is, and how it differs from the exact answer.

use super::unit_log::UnitLog;
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
    /// Stands in for `exact` while every start is one permit of one key.
    unit: Option<UnitLog>,
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
            unit: (!per_key).then(|| UnitLog::new(quota.limit, quota.window)),
            over_admitted: 0,
            scratch: Vec::new(),
        }
    }

    /// Takes starts in time order.
    pub fn observe(&mut self, at: &[Nanos], key: &[u64], cost: &[u64]) {
        self.shape(at, cost.iter().copied());
        if let Some(unit) = self.unit.take() {
            // The log goes on from where its stand-in was; it admits these as that did.
            let ones = vec![1; unit.admitted().len()];
            self.run_exact(unit.admitted(), &vec![0; ones.len()], &ones);
        }
        self.over_admitted += self.run_exact(at, key, cost);
    }

    /// Takes starts of one permit of one key each, in time order.
    pub fn observe_unit(&mut self, at: &[Nanos]) {
        match &mut self.unit {
            Some(unit) => {
                self.over_admitted += unit.refused(at);
                self.shape(at, std::iter::repeat_n(1, at.len()));
            }
            None => self.observe(at, &vec![0; at.len()], &vec![1; at.len()]),
        }
    }

    /// Permits that the exact log refuses.
    fn run_exact(&mut self, at: &[Nanos], key: &[u64], cost: &[u64]) -> u64 {
        self.scratch.resize(at.len(), Outcome::Refused);
        self.exact.run(key, at, cost, &mut self.scratch);
        let refused = |(outcome, cost): (&Outcome, &u64)| if outcome.passes() { 0 } else { *cost };
        self.scratch.iter().zip(cost).map(refused).sum()
    }

    /// Gaps and backlog.
    fn shape(&mut self, at: &[Nanos], cost: impl ExactSizeIterator<Item = u64> + Clone) {
        let (Some(&first), Some(&newest)) = (at.first(), at.last()) else { return };
        if self.first.is_none() {
            self.first = Some(first);
            self.last = first;
        }
        self.starts += at.len() as u64;
        let (permits, per) = (self.rate.permits(), self.rate.per());
        // No sum of this block passes 64 bits when these do not: squares of gaps sum to less than the square of their sum.
        let total = cost.clone().try_fold(0u64, u64::checked_add).and_then(|total| total.checked_mul(per));
        let ends = total.and_then(|total| u64::try_from(self.backlog).ok()?.checked_add(total));
        if ends.is_some() && newest - self.last <= u32::MAX.into() && permits <= u32::MAX.into() {
            let (mut backlog, mut most, mut last, mut squares) = (self.backlog as u64, 0, self.last, 0);
            for (&at, cost) in at.iter().zip(cost) {
                let gap = at - last;
                squares += gap * gap;
                backlog = backlog.saturating_sub(gap * permits) + cost * per;
                most = most.max(backlog);
                last = at;
            }
            self.backlog = backlog.into();
            self.backlog_max = self.backlog_max.max(most.into());
            self.squares += u128::from(squares);
        } else {
            let (permits, per) = (u128::from(permits), u128::from(per));
            for (&at, cost) in at.iter().zip(cost) {
                let gap = u128::from(at - self.last);
                self.squares += gap * gap;
                self.backlog = self.backlog.saturating_sub(gap * permits) + u128::from(cost) * per;
                self.backlog_max = self.backlog_max.max(self.backlog);
                self.last = at;
            }
        }
        self.last = newest;
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
