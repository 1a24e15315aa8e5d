//! Burst: many requests at once, perhaps spread a little, perhaps again and again.
//!
//! Request j = 0 … requests − 1 of burst i = 0, 1 … comes at at + i · every + ⌈j · spread / requests⌉: the first at the instant
//! itself, and spread = every is a constant rate. `every` is not below `spread`, so bursts do not overlap.
//!
//! ```text
//!  N │          ┌───────────
//!    │          │
//!    │ ┌────────┘
//!    └─┴────────┴───────────▶ t
//!      at    at + every
//! ```

use super::time::Steps;
use super::{ArrivalPattern, Arrivals, Span, count};
use crate::TrafficError;
use limiters::Nanos;

pub(super) const PATTERN: ArrivalPattern = ArrivalPattern {
    name: "burst",
    summary: "Many requests at one instant or evenly over a spread, once or every so often.",
    equation: "t(i, j) = at + i · every + ceil(j · spread / requests), j = 0 … requests − 1",
    keys: &["at", "requests", "spread", "every"],
};

pub(crate) struct Burst {
    requests: u64,
    spread: Nanos,
    every: Option<Nanos>,
    until: Nanos,
    /// When the burst under way began; `None` after the last.
    begin: Option<Nanos>,
    /// The last time handed out, steps to the next, and how many are left in this burst.
    at: Nanos,
    steps: Steps,
    left: u64,
    expected: u64,
}

impl Burst {
    pub fn new(requests: u64, spread: Nanos, every: Option<Nanos>, span: Span) -> Result<Burst, TrafficError> {
        if requests == 0 {
            return Err(TrafficError::new("`requests` of burst is 0; it must be at least 1"));
        }
        if let Some(every) = every
            && every < spread.max(1)
        {
            return Err(TrafficError::new(format!(
                "`every` of burst is {every} ns; it must be at least 1 ns and at least its `spread` ({spread} ns)"
            )));
        }
        let bursts = span.last().map_or(0, |last| every.map_or(0, |every| last / every) + 1);
        let mut burst = Burst {
            requests,
            spread,
            every,
            until: span.until,
            begin: None,
            at: span.from,
            steps: Steps::new(0, 1),
            left: 0,
            expected: bursts.saturating_mul(requests),
        };
        burst.begin_at(span.from);
        Ok(burst)
    }

    fn begin_at(&mut self, begin: Nanos) {
        self.begin = (begin < self.until).then_some(begin);
        self.at = begin;
        self.steps = Steps::new(self.spread, self.requests);
        self.left = match self.until.checked_sub(1).and_then(|last| last.checked_sub(begin)) {
            None => 0,
            // j with ceil(j · spread / requests) ≤ last are those with j ≤ last · requests / spread.
            Some(last) if last < self.spread => {
                count(u128::from(last) * u128::from(self.requests) / u128::from(self.spread) + 1).min(self.requests)
            }
            Some(_) => self.requests,
        };
    }
}

impl Arrivals for Burst {
    fn fill(&mut self, at: &mut Vec<Nanos>, max: usize) -> usize {
        let mut made = 0;
        while let Some(begin) = self.begin
            && made < max
        {
            let take = self.left.min((max - made) as u64) as usize;
            if self.spread == 0 {
                at.resize(at.len() + take, begin);
            } else {
                let (mut now, mut steps) = (self.at, self.steps.clone());
                at.extend((0..take).map(|_| {
                    let this = now;
                    now = now.saturating_add(steps.step());
                    this
                }));
                (self.at, self.steps) = (now, steps);
            }
            made += take;
            self.left -= take as u64;
            if self.left == 0 {
                match self.every.and_then(|every| begin.checked_add(every)) {
                    Some(next) => self.begin_at(next),
                    None => self.begin = None,
                }
            }
        }
        made
    }

    fn expected(&self) -> u64 {
        self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SECOND, all, span};
    use super::*;

    fn burst(requests: u64, spread: Nanos, every: Option<Nanos>, span: Span) -> Vec<Nanos> {
        all(Burst::new(requests, spread, every, span).unwrap())
    }

    #[test]
    fn at_once_spread_and_again() {
        assert_eq!(burst(3, 0, None, span(100, 7, 50)), [107; 3]);
        assert_eq!(burst(3, 10, None, span(100, 0, 50)), [100, 104, 107]);
        assert_eq!(burst(2, 10, Some(20), span(0, 5, 45)), [5, 10, 25, 30, 45]);
        assert_eq!(burst(3, 0, Some(1), span(0, 0, 2)), [0, 0, 0, 1, 1, 1, 2, 2, 2]);
        assert_eq!(burst(5, 1, None, span(0, 0, 9)), [0, 1, 1, 1, 1]);
    }

    #[test]
    fn cut_inside_a_burst() {
        for end in 0..40 {
            let full = burst(7, 20, Some(20), span(0, 0, 100));
            let cut = burst(7, 20, Some(20), span(0, 0, end));
            let right: Vec<u64> = full.into_iter().filter(|t| *t <= end).collect();
            assert_eq!(cut, right, "end {end}");
        }
    }

    #[test]
    fn spread_over_the_period_is_a_constant_rate() {
        let at = burst(3, SECOND, Some(SECOND), span(0, 0, 1000 * SECOND - 1));
        let right: Vec<u64> = (0..3000u64).map(|k| (k * SECOND).div_ceil(3)).collect();
        assert_eq!(at, right);
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for (requests, spread, every) in [(0, 0, None), (1, 0, Some(0)), (1, 10, Some(9))] {
            assert!(Burst::new(requests, spread, every, span(0, 0, 99)).is_err());
        }
    }
}
