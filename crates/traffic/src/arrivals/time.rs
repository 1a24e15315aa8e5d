//! Time without drift: exact steps, a clock that keeps fractions, and a search for the first nanosecond of something.

use limiters::Nanos;

/// The differences of ceil(k · time / count) for k = 1, 2 …, one addition and one comparison each, exact for ever.
#[derive(Clone, Debug)]
pub(crate) struct Steps {
    whole: u64,
    part: u64,
    count: u64,
    /// (k · time − 1) mod count, what the ceiling has not yet used.
    carry: u64,
}

impl Steps {
    /// `count` is at least 1.
    pub fn new(time: Nanos, count: u64) -> Steps {
        Steps { whole: time / count, part: time % count, count, carry: count - 1 }
    }

    #[inline]
    pub fn step(&mut self) -> Nanos {
        let missing = self.count - self.part;
        let over = self.carry >= missing;
        self.carry = if over { self.carry - missing } else { self.carry + self.part };
        self.whole + u64::from(over)
    }
}

/// A time to which real gaps are added without drift: whole nanoseconds and a fraction in units of 2⁻³² ns.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock {
    pub at: Nanos,
    fraction: u64,
}

impl Clock {
    pub fn new(at: Nanos) -> Clock {
        Clock { at, fraction: 0 }
    }

    /// Gaps above 2⁶² ns (146 years) count as that much, so that nothing overflows.
    #[inline]
    pub fn add(&mut self, gap: f64) {
        let gap = gap.min((1u64 << 62) as f64);
        let whole = gap as i64;
        let fraction = self.fraction + ((gap - whole as f64) * 4_294_967_296.0) as i64 as u64;
        self.at = self.at.saturating_add(whole as u64 + (fraction >> 32));
        self.fraction = fraction & 0xffff_ffff;
    }
}

/// Appends the running sum of gaps until `max` times or `until`; then the clock stands at or after `until` for good.
#[inline]
pub(crate) fn renew(
    clock: &mut Clock,
    until: Nanos,
    at: &mut Vec<Nanos>,
    max: usize,
    mut gap: impl FnMut() -> f64,
) -> usize {
    if clock.at >= until {
        return 0;
    }
    let before = at.len();
    at.resize(before + max, 0);
    let mut now = *clock;
    let mut made = 0;
    for slot in &mut at[before..] {
        now.add(gap());
        if now.at >= until {
            break;
        }
        *slot = now.at;
        made += 1;
    }
    *clock = now;
    at.truncate(before + made);
    made
}

/// The least x in [low, high] for which `holds`, which stays true once true and is true at `high`. Steps of 1, 2, 4 … from
/// `guess`, then halves, so that a good guess costs two calls.
#[inline]
pub(crate) fn first(low: u64, high: u64, guess: u64, holds: impl Fn(u64) -> bool) -> u64 {
    let guess = guess.clamp(low, high);
    let mut step = 1u64;
    let (mut no, mut yes) = (guess, guess);
    if holds(guess) {
        loop {
            if yes == low {
                return low;
            }
            no = yes.saturating_sub(step).max(low);
            if !holds(no) {
                break;
            }
            yes = no;
            step = step.saturating_mul(2);
        }
    } else {
        loop {
            if no == high {
                return high;
            }
            yes = no.saturating_add(step).min(high);
            if holds(yes) {
                break;
            }
            no = yes;
            step = step.saturating_mul(2);
        }
    }
    while yes - no > 1 {
        let middle = no + (yes - no) / 2;
        if holds(middle) {
            yes = middle;
        } else {
            no = middle;
        }
    }
    yes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn steps_are_the_ceiling(time in 0..1u64 << 50, count in 1..1u64 << 50) {
            let (mut steps, mut sum) = (Steps::new(time, count), 0u128);
            for k in 1..200u128 {
                sum += u128::from(steps.step());
                prop_assert_eq!(sum, (k * u128::from(time)).div_ceil(count.into()));
            }
        }

        #[test]
        fn first_is_the_threshold(low in 0..100u64, width in 0..1000u64, guess: u64, threshold in 0..1100u64) {
            let high = low + width;
            prop_assume!(threshold <= high);
            prop_assert_eq!(first(low, high, guess % 1200, |x| x >= threshold), threshold.max(low));
        }
    }

    #[test]
    fn a_clock_keeps_fractions_and_survives_the_infinite() {
        let mut clock = Clock::new(0);
        for _ in 0..4_000_000 {
            clock.add(0.25);
        }
        assert_eq!(clock.at, 1_000_000);
        for _ in 0..10 {
            clock.add(f64::INFINITY);
        }
        assert_eq!(clock.at, u64::MAX);
    }
}
