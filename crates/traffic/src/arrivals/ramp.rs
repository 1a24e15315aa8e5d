//! Ramp: a rate that grows or falls in a straight line.
//!
//! r(t) = from + (to − from) · (t − start) / T with T = end − start, so N(t) = from · x + (to − from) · x² / (2T) requests have
//! come by x = t − start. Over the common denominator D of both rates, with A = from · D and B = to · D,
//!
//! G(x) = 2TA · x + (B − A) · x²  and  N(x) ≥ k  ⟺  G(x) ≥ k · 2TD:
//!
//! all integers. The root of the quadratic is guessed in floating point from the request before, then moved to the
//! exact nanosecond with integer comparisons, so no float decides a time.
//!
//! ```text
//!  r │                  ___──  to
//!    │          ___───▔▔
//!    │  ___──▔▔▔
//!    ├──  ╷    ╷   ╷  ╷ ╷ ╷ ╷
//!    └────┴────┴───┴──┴─┴─┴─┴▶ t
//!   from
//! ```

use super::time::first;
use super::{ArrivalPattern, Arrivals, Span, count};
use crate::TrafficError;
use limiters::{Nanos, Rate};

pub(super) const PATTERN: ArrivalPattern = ArrivalPattern {
    name: "ramp",
    summary: "A rate that goes in a straight line from one value to another.",
    equation: "r(t) = from + (to − from) · (t − start) / (end − start); request k when ∫r reaches k",
    keys: &["from", "to", "start", "end"],
};

pub(crate) struct Ramp {
    zero: Nanos,
    /// The last x that counts.
    last: Nanos,
    /// 2TA, B − A and 2TD of the definition.
    linear: i128,
    square: i128,
    each: i128,
    /// x of the last request, G(x), and k · 2TD for it.
    x: Nanos,
    grown: i128,
    due: i128,
    left: u64,
    total: u64,
}

impl Ramp {
    pub fn new(from: Option<Rate>, to: Option<Rate>, span: Span) -> Result<Ramp, TrafficError> {
        let length = span.length;
        let last = span.last().unwrap_or(0).min(length);
        Ramp::exact(from, to, span.from, length, last).ok_or_else(|| {
            TrafficError::new(format!(
                "`from` and `to` of ramp cannot be represented exactly over {length} ns; use rates with a common period, \
                 or a shorter ramp"
            ))
        })
    }

    fn exact(from: Option<Rate>, to: Option<Rate>, zero: Nanos, length: Nanos, last: Nanos) -> Option<Ramp> {
        let per = |rate: Option<Rate>| rate.map_or(1, |rate| i128::from(rate.per()));
        let common = lcm(per(from), per(to))?;
        let scaled = |rate: Option<Rate>| {
            rate.map_or(Some(0), |rate| i128::from(rate.permits()).checked_mul(common / i128::from(rate.per())))
        };
        let (a, b) = (scaled(from)?, scaled(to)?);
        let twice = 2 * i128::from(length);
        let (linear, each) = (twice.checked_mul(a)?, twice.checked_mul(common)?);
        // Nothing below exceeds the larger rate over the whole length, doubled, and one request more.
        twice.checked_mul(a.max(b))?.checked_mul(twice)?.checked_add(each)?;
        let mut ramp = Ramp { zero, last, linear, square: b - a, each, x: 0, grown: 0, due: 0, left: 0, total: 0 };
        if length > 0 {
            ramp.total = count((ramp.growth(0, last) / each) as u128);
            ramp.left = ramp.total;
        }
        Some(ramp)
    }

    /// G(x + dx) − G(x).
    #[inline]
    fn growth(&self, x: Nanos, dx: Nanos) -> i128 {
        i128::from(dx) * (self.linear + self.square * (2 * i128::from(x) + i128::from(dx)))
    }

    #[inline]
    fn step(&mut self) -> Nanos {
        self.due += self.each;
        let need = self.due - self.grown;
        if need > 0 {
            let rate = (self.linear + self.square * 2 * i128::from(self.x)) as f64;
            let inside = rate * rate + 4.0 * self.square as f64 * need as f64;
            // This form of the root does not cancel when the square term is small.
            let guess = 2.0 * need as f64 / (rate + inside.max(0.0).sqrt());
            let left = self.last - self.x;
            let mut dx = (guess.ceil() as u64).clamp(1, left);
            let mut grown = self.growth(self.x, dx);
            // What the last nanosecond adds; the guess is right when it is this that reaches `need`.
            let last = self.linear + self.square * (2 * (i128::from(self.x) + i128::from(dx)) - 1);
            if grown < need || grown - need >= last {
                dx = first(1, left, dx, |dx| self.growth(self.x, dx) >= need);
                grown = self.growth(self.x, dx);
            }
            self.grown += grown;
            self.x += dx;
        }
        self.zero + self.x
    }
}

fn lcm(a: i128, b: i128) -> Option<i128> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a / x).checked_mul(b)
}

impl Arrivals for Ramp {
    fn fill(&mut self, at: &mut Vec<Nanos>, max: usize) -> usize {
        let take = self.left.min(max as u64) as usize;
        at.extend((0..take).map(|_| self.step()));
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
    use proptest::prelude::*;

    fn ramp(from: Option<Rate>, to: Option<Rate>, span: Span) -> Vec<Nanos> {
        all(Ramp::new(from, to, span).unwrap())
    }

    #[test]
    fn from_nothing_the_integral_is_a_square() {
        // N(x) = x² / 2 for 0 → 10/s over 10 s, in seconds: request k at sqrt(2k).
        let at = ramp(None, Some(rate(10, 1)), span(5, 0, 10 * SECOND));
        assert_eq!(at.len(), 50);
        assert_eq!((at[1], at[7], at[49]), (5 + 2 * SECOND, 5 + 4 * SECOND, 5 + 10 * SECOND));
        assert_eq!(at[0], 5 + 1_414_213_563); // sqrt 2, rounded up
    }

    #[test]
    fn down_to_nothing_mirrors_it() {
        let at = ramp(Some(rate(10, 1)), None, span(0, 0, 10 * SECOND));
        assert_eq!(at.len(), 50);
        assert_eq!(at[49], 10 * SECOND);
        assert_eq!(at[47], 8 * SECOND); // N(8) = 80 − 32 = 48
    }

    #[test]
    fn equal_ends_are_constant() {
        let at = ramp(Some(rate(3, 1)), Some(rate(3, 1)), span(0, 0, 1000 * SECOND));
        let right: Vec<u64> = (1..=3000u64).map(|k| (k * SECOND).div_ceil(3)).collect();
        assert_eq!(at, right);
    }

    #[test]
    fn nothing_and_the_unrepresentable() {
        assert!(ramp(None, None, span(0, 0, SECOND)).is_empty());
        assert!(ramp(Some(rate(1, 1)), None, span(0, 7, 7)).is_empty());
        let odd = |per| Rate::new(u64::MAX, per);
        let error = Ramp::new(odd((1 << 61) - 1), odd((1 << 61) - 3), span(0, 0, u64::MAX / 2)).err().unwrap();
        assert!(error.to_string().contains("`from` and `to`"), "{error}");
    }

    proptest! {
        #[test]
        fn every_time_is_the_first_that_reaches_its_request(
            from in 0..50u64, to in 0..50u64, per in 1..1000u64, end in 1..5000u64,
        ) {
            let (from, to) = (Rate::new(from, per), Rate::new(to, 2 * per + 1));
            let at = ramp(from, to, span(0, 0, end));
            // N(x) ≥ k in integers, straight from the definition.
            let parts = |rate: Option<Rate>| rate.map_or((0, 1), |r| (i128::from(r.permits()), i128::from(r.per())));
            let ((ra, pa), (rb, pb), t) = (parts(from), parts(to), i128::from(end));
            let reached = |x: u64, k: usize| {
                let x = i128::from(x);
                2 * t * ra * pb * x + (rb * pa - ra * pb) * x * x >= 2 * t * k as i128 * pa * pb
            };
            for (i, x) in at.iter().enumerate() {
                prop_assert!(reached(*x, i + 1) && (*x == 0 || !reached(x - 1, i + 1)));
            }
            prop_assert!(!reached(end, at.len() + 1));
        }
    }
}
