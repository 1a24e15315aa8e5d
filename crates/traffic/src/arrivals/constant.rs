//! Constant: one request every 1/rate, exactly.
//!
//! r(t) = rate, so request k comes at start + ⌈k · P / R⌉ nanoseconds for a rate of R permits per P nanoseconds: the first at
//! start + 1/rate, and one at `end` when k/rate falls on it. In lowest terms over integers, so that 3/s makes 3,000,000 requests
//! in 10⁶ s and not one fewer.
//!
//! ```text
//!  r │
//!    ├──────────────────────
//!    │  ╷  ╷  ╷  ╷  ╷  ╷  ╷
//!    └──┴──┴──┴──┴──┴──┴──┴─▶ t
//!     start                end
//! ```

use super::time::Steps;
use super::{ArrivalPattern, Arrivals, Span, count};
use limiters::{Nanos, Rate};

pub(super) const PATTERN: ArrivalPattern = ArrivalPattern {
    name: "constant",
    summary: "One request every 1/rate, exactly.",
    equation: "t(k) = start + ceil(k / rate), k = 1, 2 … up to and including end",
    keys: &["rate", "start", "end"],
};

pub(crate) struct Constant {
    at: Nanos,
    steps: Steps,
    left: u64,
    total: u64,
}

impl Constant {
    pub fn new(rate: Rate, span: Span) -> Constant {
        let total = span.last().map_or(0, |last| count(rate.in_time(last)));
        Constant { at: span.from, steps: Steps::new(rate.per(), rate.permits()), left: total, total }
    }
}

impl Arrivals for Constant {
    fn fill(&mut self, at: &mut Vec<Nanos>, max: usize) -> usize {
        let take = self.left.min(max as u64) as usize;
        let (mut now, mut steps) = (self.at, self.steps.clone());
        at.extend((0..take).map(|_| {
            now += steps.step();
            now
        }));
        (self.at, self.steps) = (now, steps);
        self.left -= take as u64;
        take
    }

    fn expected(&self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SECOND, all, rate, span};
    use super::*;

    #[test]
    fn thirds_round_up_and_never_drift() {
        let at = all(Constant::new(rate(3, 1), span(0, 0, SECOND)));
        assert_eq!(at, [333_333_334, 666_666_667, 1_000_000_000]);
        let at = all(Constant::new(rate(3, 1), span(7, 5, 5 + 1_000_000 * SECOND)));
        assert_eq!(at.len(), 3_000_000);
        assert_eq!(*at.last().unwrap(), 7 + 5 + 1_000_000 * SECOND);
    }

    #[test]
    fn end_is_included_and_start_is_not() {
        let at = all(Constant::new(rate(20, 1), span(0, 0, 60 * SECOND)));
        assert_eq!((at.len(), at[0], at[1199]), (1200, SECOND / 20, 60 * SECOND));
        assert_eq!(all(Constant::new(rate(20, 1), span(0, 0, 60 * SECOND - 1))).len(), 1199);
        assert!(all(Constant::new(rate(20, 1), span(0, 9, 9))).is_empty());
    }

    #[test]
    fn rates_above_one_a_nanosecond() {
        let fast = Rate::new(5, 2).unwrap();
        assert_eq!(all(Constant::new(fast, span(10, 0, 3))), [11, 11, 12, 12, 12, 13, 13]);
    }

    #[test]
    fn at_the_end_of_time() {
        let slow = Rate::new(1, u64::MAX).unwrap();
        assert!(all(Constant::new(slow, span(0, 0, u64::MAX - 1))).is_empty());
    }
}
