//! Pareto: heavy-tailed gaps, so that requests come in clumps with long silences between them.
//!
//! P(gap > x) = (m / x)^shape for x ≥ m, with m = (shape − 1) / (shape · rate) so that the mean is 1/rate. At a shape of 2 or
//! below the variance is infinite and the count converges slowly: a short run may be far from its rate.
//!
//! ```text
//!  r │
//!    │
//!    │╷╷╷╷         ╷╷╷╷╷
//!    └┴┴┴┴─────────┴┴┴┴┴────▶ t
//! ```

use super::time::{Clock, renew};
use super::{ArrivalPattern, Arrivals, Span};
use crate::TrafficError;
use crate::draw::{Stream, Streams};
use limiters::{Nanos, Rate};
use rand_distr::Distribution;

pub(super) const PATTERN: ArrivalPattern = ArrivalPattern {
    name: "pareto",
    summary: "Heavy-tailed gaps with mean 1/rate: clumps and long silences.",
    equation: "P(gap > x) = (m / x)^shape for x ≥ m = (shape − 1) / (shape · rate)",
    keys: &["rate", "shape", "start", "end"],
};

pub(crate) struct Pareto {
    clock: Clock,
    until: Nanos,
    gaps: rand_distr::Pareto<f64>,
    rng: Stream,
    expected: u64,
}

impl Pareto {
    pub fn new(rate: Rate, shape: f64, span: Span, streams: Streams) -> Result<Pareto, TrafficError> {
        let mean = rate.per() as f64 / rate.permits() as f64;
        let gaps = (shape > 1.0 && shape.is_finite())
            .then(|| rand_distr::Pareto::new(mean * (shape - 1.0) / shape, shape).ok())
            .flatten()
            .ok_or_else(|| {
                TrafficError::new(format!("`shape` of pareto is {shape}; it must be finite and above 1 for a mean gap"))
            })?;
        let clock = Clock::new(span.from);
        Ok(Pareto { clock, until: span.until, gaps, rng: streams.of("gaps"), expected: span.expect(rate) })
    }
}

impl Arrivals for Pareto {
    fn fill(&mut self, at: &mut Vec<Nanos>, max: usize) -> usize {
        let (gaps, rng) = (&self.gaps, &mut self.rng);
        renew(&mut self.clock, self.until, at, max, || gaps.sample(rng))
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
    fn gaps_have_the_tail_and_the_mean() {
        let shape = 2.5;
        let at = all(Pareto::new(rate(100, 1), shape, span(0, 0, 10_000 * SECOND), streams(3, "pareto")).unwrap());
        // Gaps of mean 10 ms and coefficient of variation 1/sqrt(shape (shape − 2)) = 0.894.
        assert!((at.len() as f64 - 1e6).abs() < 5.0 * 0.894 * 1e3, "{}", at.len());
        let least = 6_000_000; // (1.5 / 2.5) · 10 ms
        let gaps: Vec<u64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(gaps.iter().all(|gap| *gap >= least - 1));
        for factor in [2.0f64, 5.0, 10.0] {
            let share =
                gaps.iter().filter(|gap| **gap as f64 > least as f64 * factor).count() as f64 / gaps.len() as f64;
            let right = factor.powf(-shape);
            assert!((share - right).abs() < 5.0 * (right / 1e6).sqrt(), "{share} beyond {factor}, not {right}");
        }
    }

    #[test]
    fn a_mean_is_needed() {
        for shape in [1.0, 0.5, -1.0, f64::NAN, f64::INFINITY] {
            let error = Pareto::new(rate(1, 1), shape, span(0, 0, 1), streams(0, "pareto")).err().unwrap();
            assert!(error.to_string().contains("`shape`"), "{error}");
        }
    }

    /// Fixed for a target: a change here changes every scenario's figures.
    #[test]
    fn golden() {
        let at = all(Pareto::new(rate(2, 1), 1.5, span(1_000, 0, 2 * SECOND), streams(42, "pareto")).unwrap());
        assert_eq!(
            at,
            [227_990_695, 684_942_773, 949_171_442, 1_145_268_459, 1_396_827_888, 1_701_140_064, 1_990_630_836]
        );
    }
}
