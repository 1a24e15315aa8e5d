//! Poisson: many independent callers, none of whom knows of the others.
//!
//! Gaps are independent and exponential with mean 1/rate: P(gap > x) = e^(−rate·x), drawn by the ziggurat method. The number in
//! an interval of length τ has mean and variance rate · τ.
//!
//! ```text
//!  r │
//!    ├──────────────────────
//!    │ ╷╷   ╷ ╷  ╷    ╷╷╷  ╷
//!    └─┴┴───┴─┴──┴────┴┴┴──┴▶ t
//! ```

use super::time::{Clock, renew};
use super::{ArrivalPattern, Arrivals, Span};
use crate::draw::{Stream, Streams};
use limiters::{Nanos, Rate};
use rand_distr::{Distribution, Exp1};

pub(super) const PATTERN: ArrivalPattern = ArrivalPattern {
    name: "poisson",
    summary: "Independent callers: exponential gaps with mean 1/rate.",
    equation: "P(gap > x) = exp(−rate · x)",
    keys: &["rate", "start", "end"],
};

pub(crate) struct Poisson {
    clock: Clock,
    until: Nanos,
    mean: f64,
    rng: Stream,
    expected: u64,
}

impl Poisson {
    pub fn new(rate: Rate, span: Span, streams: Streams) -> Poisson {
        let mean = rate.per() as f64 / rate.permits() as f64;
        let clock = Clock::new(span.from);
        Poisson { clock, until: span.until, mean, rng: streams.of("gaps"), expected: span.expect(rate) }
    }
}

impl Arrivals for Poisson {
    fn fill(&mut self, at: &mut Vec<Nanos>, max: usize) -> usize {
        let (mut rng, mean) = (self.rng.clone(), self.mean);
        let made = renew(&mut self.clock, self.until, at, max, || {
            let gap: f64 = Exp1.sample(&mut rng);
            gap * mean
        });
        self.rng = rng;
        made
    }

    fn expected(&self) -> u64 {
        self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SECOND, all, rate, span, streams};
    use super::*;

    #[test]
    fn counts_have_mean_and_variance_rate_times_time() {
        let at = all(Poisson::new(rate(1000, 1), span(0, 0, 1000 * SECOND), streams(1, "poisson")));
        let n = at.len() as f64;
        assert!((n - 1e6).abs() < 5.0 * 1e3, "{n} is within five standard deviations of a million");
        let mut bins = vec![0f64; 10_000]; // of 100 ms, 100 requests each on average
        for t in &at {
            bins[(t / 100_000_001) as usize] += 1.0;
        }
        let mean = bins.iter().sum::<f64>() / 1e4;
        let variance = bins.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / 1e4;
        // The index of dispersion of 10,000 Poisson bins has standard deviation sqrt(2/10,000).
        assert!((variance / mean - 1.0).abs() < 5.0 * (2e-4f64).sqrt(), "{variance} / {mean}");
    }

    /// Fixed for a target: a change here changes every scenario's figures.
    #[test]
    fn golden() {
        let at = all(Poisson::new(rate(2, 1), span(1_000, 0, 4 * SECOND), streams(42, "poisson")));
        assert_eq!(at, [1_105_791_656, 3_087_260_271, 3_870_775_268]);
    }
}
