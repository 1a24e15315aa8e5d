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

use super::time::first;
use super::{ArrivalPattern, Arrivals, Span};
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
    /// Below this many requests per nanosecond, rounding may hide which nanosecond is the first.
    flat: f64,
    from: Nanos,
    /// The last x that counts.
    last: Nanos,
    /// x and k of the last request, and where the curve stood then.
    x: Nanos,
    k: u64,
    then: Curve,
    total: u64,
}

/// N(x) − k, its slope r(x), and the slope of that.
#[derive(Clone, Copy)]
struct Curve {
    ahead: f64,
    rate: f64,
    bend: f64,
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
        let last = span.last().unwrap_or(0);
        // No request count exceeds twice the mean times the time, as the amplitude is at most the mean.
        if mean.in_time(last) >= u128::from(u64::MAX / 4) {
            return Err(TrafficError::new(format!("`mean` of sine is {mean}, more requests than can be counted")));
        }
        let each = |rate: Rate| rate.permits() as f64 / rate.per() as f64;
        let since = u128::from(span.from - span.zero) + u128::from(phase);
        let phase = (since % u128::from(period)) as u64;
        let amplitude = amplitude.map_or(0.0, each);
        let mut sine = Sine {
            mean,
            mean_rate: each(mean),
            amplitude,
            period,
            phase,
            cosine: angle(phase, period).cos(),
            flat: 1e-12 * (1.0 + amplitude * period as f64),
            from: span.from,
            last,
            x: 0,
            k: 0,
            then: Curve { ahead: 0.0, rate: 0.0, bend: 0.0 },
            total: 0,
        };
        sine.then = sine.curve(0, 0);
        // Counted by the same comparison that places requests, around a guess that is off by rounding only.
        let guess = sine.curve(last, 0).ahead as u64;
        let reached = |k: u64| sine.curve(last, k).ahead >= 0.0;
        sine.total = (guess.saturating_sub(1)..=guess + 1).rev().find(|k| reached(*k)).unwrap_or(0);
        Ok(sine)
    }

    #[inline]
    fn curve(&self, x: Nanos, k: u64) -> Curve {
        let turned = match x.checked_add(self.phase) {
            Some(sum) if sum < self.period => sum,
            Some(sum) => sum % self.period,
            None => ((u128::from(x) + u128::from(self.phase)) % u128::from(self.period)) as u64,
        };
        let (sin, cos) = angle(turned, self.period).sin_cos();
        let swing = self.amplitude * (self.period as f64 / TAU) * (self.cosine - cos);
        let exact = i128::from(self.mean.permits()) * i128::from(x) - i128::from(k) * i128::from(self.mean.per());
        Curve {
            ahead: exact as f64 / self.mean.per() as f64 + swing,
            rate: self.mean_rate + self.amplitude * sin,
            bend: self.amplitude * (TAU / self.period as f64) * cos,
        }
    }

    fn step(&mut self) -> Nanos {
        self.k += 1;
        // Where a parabola through the last request reaches this one; then Newton's steps, for requests far apart.
        let (then, need) = (self.then, 1.0 - self.then.ahead);
        let inside = then.rate * then.rate + 2.0 * then.bend * need;
        let far = 2.0 * need / (then.rate + inside.max(0.0).sqrt());
        let place = |x: f64| (x.ceil() as u64).clamp(self.x, self.last);
        let mut guess = place(self.x as f64 + far);
        for _ in 0..4 {
            let here = self.curve(guess, self.k);
            if here.rate > self.flat && here.ahead >= 0.0 && here.ahead < 0.99 * here.rate {
                // One nanosecond earlier N was clearly short of k.
                (self.x, self.then) = (guess, here);
                return self.from + guess;
            }
            guess = place(guess as f64 - here.ahead / here.rate.max(self.mean_rate * 1e-3));
        }
        self.x = first(self.x, self.last, guess, |x| self.curve(x, self.k).ahead >= 0.0);
        self.then = self.curve(self.x, self.k);
        self.from + self.x
    }
}

fn angle(turned: Nanos, period: Nanos) -> f64 {
    TAU * (turned as f64 / period as f64)
}

impl Arrivals for Sine {
    fn fill(&mut self, at: &mut Vec<Nanos>, max: usize) -> usize {
        let take = (self.total - self.k).min(max as u64) as usize;
        at.extend((0..take).map(|_| self.step()));
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
    use proptest::prelude::*;

    proptest! {
        /// Placed against the curve itself, whichever way the guess took: dense, sparse, along crests and through troughs.
        #[test]
        fn every_time_is_the_first_that_reaches_its_request(
            permits in 1..2000u64, seconds in 1..50u64, share in 0..=10u64, period in 1..100u64, phase: u32, start in 0..99u64,
        ) {
            let mean = rate(permits * 10, seconds * 10);
            let swing = Rate::new(permits * share, seconds * 10 * SECOND);
            let span = span(5, start * SECOND, (start + 30) * SECOND);
            let mut sine = Sine::new(mean, swing, period * SECOND / 7, phase.into(), span).unwrap();
            let mut before = 0;
            for k in 1..=sine.total.min(3000) {
                let x = sine.step() - span.from;
                prop_assert!(x >= before && x <= sine.last);
                prop_assert!(sine.curve(x, k).ahead >= 0.0);
                prop_assert!(x == 0 || sine.curve(x - 1, k).ahead < 0.0);
                before = x;
            }
            prop_assert!(sine.curve(sine.last, sine.total + 1).ahead < 0.0);
        }
    }

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
