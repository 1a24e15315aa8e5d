//! Sine: a rate that swings, such as day and night.
//!
//! r(t) = mean + amplitude · sin(2π (t + phase) / period), t counted from t = 0, so that several patterns with different starts
//! keep step. By x after the start s,
//!
//! N = mean · x + amplitude · period / 2π · [cos(2π (s + phase) / period) − cos(2π (s + x + phase) / period)].
//!
//! The first term is compared with k in exact integers; only the second, which repeats every period, is floating point, so error
//! does not grow with time: it stays near 10⁻¹⁶ of the requests of one period, and whole periods count exactly.
//!
//! ```text
//!  r │    _──_            _──_
//!    │  ╱      ╲        ╱      ╲
//!    ├─╱────────╲──────╱────────╲─  mean
//!    │           ╲    ╱          ╲
//!    │╷ ╷╷╷╷╷╷ ╷  ╲__╱ ╷ ╷╷╷╷╷╷ ╷ ╲_
//!    └┴─┴┴┴┴┴┴─┴───────┴─┴┴┴┴┴┴─┴───▶ t
//! ```

use super::{ArrivalPattern, Arrivals, Span, first};
use crate::TrafficError;
use limiters::{Nanos, Rate};
use std::f64::consts::TAU;

pub(super) const PATTERN: ArrivalPattern = ArrivalPattern {
    name: "sine",
    summary: "A rate that swings around a mean, such as day and night.",
    equation: "r(t) = mean + amplitude · sin(2π · (t + phase) / period); request k when ∫r reaches k",
    keys: &["mean", "amplitude", "period", "phase", "start", "end"],
};

pub(crate) struct Sine {
    mean: Rate,
    /// Requests per nanosecond.
    mean_rate: f64,
    amplitude: f64,
    period: Nanos,
    /// Phase at the start, below `period`, and the cosine there.
    phase: Nanos,
    cosine: f64,
    from: Nanos,
    /// The last x that counts, `None` after the last request.
    last: Option<Nanos>,
    /// x and k of the last request.
    x: Nanos,
    k: u64,
    expected: u64,
}

impl Sine {
    pub fn new(
        mean: Rate,
        amplitude: Option<Rate>,
        period: Nanos,
        phase: Nanos,
        span: Span,
    ) -> Result<Sine, TrafficError> {
        if period == 0 {
            return Err(TrafficError::new("`period` of sine is 0; it must be at least 1 ns"));
        }
        let cross = |a: Rate, b: Rate| u128::from(a.permits()) * u128::from(b.per());
        if let Some(amplitude) = amplitude
            && cross(amplitude, mean) > cross(mean, amplitude)
        {
            return Err(TrafficError::new(format!(
                "`amplitude` of sine is {amplitude}; it must be at most `mean` ({mean}), or the rate would be negative"
            )));
        }
        let fits = |most: Nanos| {
            i128::from(mean.permits()).checked_mul(4 * i128::from(most.max(1)))?.checked_add(mean.per().into())
        };
        if fits(span.until - span.from).is_none() {
            return Err(TrafficError::new(format!("`mean` of sine is {mean}, more requests than can be counted")));
        }
        let each = |rate: Rate| rate.permits() as f64 / rate.per() as f64;
        let since = u128::from(span.from - span.zero) + u128::from(phase);
        let phase = (since % u128::from(period)) as u64;
        Ok(Sine {
            mean,
            mean_rate: each(mean),
            amplitude: amplitude.map_or(0.0, each),
            period,
            phase,
            cosine: angle(phase, period).cos(),
            from: span.from,
            last: span.last(),
            x: 0,
            k: 0,
            expected: span.expect(mean),
        })
    }

    /// N(x) − k, and r(x).
    #[inline]
    fn ahead(&self, x: Nanos, k: u64) -> (f64, f64) {
        let turned = ((u128::from(x) + u128::from(self.phase)) % u128::from(self.period)) as u64;
        let (sin, cos) = angle(turned, self.period).sin_cos();
        let swing = self.amplitude * (self.period as f64 / TAU) * (self.cosine - cos);
        let exact = i128::from(self.mean.permits()) * i128::from(x) - i128::from(k) * i128::from(self.mean.per());
        (exact as f64 / self.mean.per() as f64 + swing, self.mean_rate + self.amplitude * sin)
    }

    /// The next x, or `None` when it is after `last`.
    fn step(&mut self, last: Nanos) -> Option<Nanos> {
        let k = self.k + 1;
        if self.ahead(last, k).0 < 0.0 {
            return None;
        }
        let mut guess = self.x as f64;
        for _ in 0..4 {
            let (ahead, rate) = self.ahead(guess as u64, k);
            let move_by = ahead / rate.max(self.mean_rate * 1e-3);
            guess = (guess - move_by).clamp(self.x as f64, last as f64);
            if move_by.abs() < 0.5 {
                break;
            }
        }
        self.x = first(self.x, last, guess.ceil() as u64, |x| self.ahead(x, k).0 >= 0.0);
        self.k = k;
        Some(self.x)
    }
}

fn angle(turned: Nanos, period: Nanos) -> f64 {
    TAU * (turned as f64 / period as f64)
}

impl Arrivals for Sine {
    fn fill(&mut self, at: &mut Vec<Nanos>, max: usize) -> usize {
        let mut made = 0;
        while let Some(last) = self.last
            && made < max
        {
            match self.step(last) {
                Some(x) => at.push(self.from + x),
                None => {
                    self.last = None;
                    break;
                }
            }
            made += 1;
        }
        made
    }

    fn expected(&self) -> u64 {
        self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SECOND, all, rate, span};
    use super::*;

    fn sine(mean: Rate, amplitude: Option<Rate>, period: Nanos, phase: Nanos, span: Span) -> Vec<Nanos> {
        all(Sine::new(mean, amplitude, period, phase, span).unwrap())
    }

    #[test]
    fn whole_periods_count_exactly() {
        for phase in [0, 1, SECOND, 7 * SECOND] {
            let at = sine(rate(10, 1), Some(rate(10, 1)), 20 * SECOND, phase, span(3, 0, 20_000 * SECOND));
            assert_eq!(at.len(), 200_000);
            assert!(at.is_sorted());
            assert_eq!(at[199_999], 3 + 20_000 * SECOND);
            // Request 200 i ends period i wherever the phase begins.
            assert!((1..=1000usize).all(|i| at[200 * i - 1] == 3 + 20 * SECOND * i as u64));
        }
    }

    #[test]
    fn the_crest_and_the_trough() {
        // In half a period N = mean · p/2 ± amplitude · p/π: 100 ± 63.66.
        let at = sine(rate(10, 1), Some(rate(10, 1)), 20 * SECOND, 0, span(0, 0, 20 * SECOND));
        assert_eq!(at.iter().filter(|t| **t <= 10 * SECOND).count(), 163);
        let turned = sine(rate(10, 1), Some(rate(10, 1)), 20 * SECOND, 10 * SECOND, span(0, 0, 20 * SECOND));
        assert_eq!(turned.iter().filter(|t| **t <= 10 * SECOND).count(), 36);
        // A later start does not turn the wave.
        let late = sine(rate(10, 1), Some(rate(10, 1)), 20 * SECOND, 0, span(0, 10 * SECOND, 20 * SECOND));
        assert_eq!(late.len(), 36);
    }

    #[test]
    fn without_amplitude_it_is_constant() {
        let at = sine(rate(3, 1), None, SECOND, 0, span(0, 0, 1000 * SECOND));
        let right: Vec<u64> = (1..=3000u64).map(|k| (k * SECOND).div_ceil(3)).collect();
        assert_eq!(at, right);
    }

    #[test]
    fn negative_rates_and_no_period_are_refused() {
        let error = Sine::new(rate(1, 1), Some(rate(2, 1)), SECOND, 0, span(0, 0, 9)).err().unwrap();
        assert!(error.to_string().contains("`amplitude` of sine is 2/s"), "{error}");
        assert!(Sine::new(rate(1, 1), None, 0, 0, span(0, 0, 9)).is_err());
    }
}
