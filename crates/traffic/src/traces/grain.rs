//! How the times of a file lie: their grain, and the minutes of their hours. Both are gathered time by time, in memory
//! that does not grow.

use limiters::Nanos;
use std::ops::Range;

const MINUTE: Nanos = 60_000_000_000;

/// How the times of a file lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Grain {
    /// The largest length of which all distances between times are multiples; 0 when all are equal.
    pub unit: Nanos,
    /// The distance that 99 % of the distances between times which are not equal reach; 0 when all are equal.
    pub step: Nanos,
    /// Requests that have the same time as the one before them.
    pub shared: u64,
    /// Most requests at one time.
    pub largest: u64,
}

impl Grain {
    /// The length below which times say nothing. Where a tenth of all requests share a time, it is the usual step even if
    /// times are no exact multiples of it (2.999 s, 3 s, 3.001 s).
    pub fn resolution(self, rows: u64) -> Nanos {
        if self.shared >= rows.div_ceil(10).max(1) { self.unit.max(self.step) } else { self.unit }
    }
}

/// In which minutes of their hours times lie.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Minutes {
    /// Times.
    pub rows: u64,
    /// A bit for each minute.
    pub minutes: u64,
    /// How often a time lay in another hour than the one before.
    pub hours: u64,
}

/// Hears the times of a file in the order in which they are played.
#[derive(Clone, Debug)]
pub(super) struct Times {
    grain: Grain,
    previous: Option<Nanos>,
    /// Times that were equal to the last one, and it.
    run: u64,
    /// Steps by their power of two: how many, and the smallest.
    steps: [(u64, Nanos); 64],
    minutes: Minutes,
    /// The minute of the last time, and its hour.
    minute: Range<Nanos>,
    hour: Option<Nanos>,
}

impl Default for Times {
    fn default() -> Times {
        Times {
            grain: Grain::default(),
            previous: None,
            run: 0,
            steps: [(0, Nanos::MAX); 64],
            minutes: Minutes::default(),
            minute: 0..0,
            hour: None,
        }
    }
}

impl Times {
    /// The next times.
    pub fn hear(&mut self, times: &[Nanos]) {
        for &at in times {
            self.step(at);
            if !self.minute.contains(&at) {
                self.new_minute(at);
            }
        }
        self.minutes.rows += times.len() as u64;
    }

    #[inline]
    fn step(&mut self, at: Nanos) {
        let step = self.previous.map_or(0, |previous| at.abs_diff(previous));
        let grain = &mut self.grain;
        match step.checked_ilog2() {
            None => {
                grain.shared += u64::from(self.previous.is_some());
                self.run += 1;
            }
            Some(power) => {
                self.run = 1;
                let (count, smallest) = &mut self.steps[power as usize];
                (*count, *smallest) = (*count + 1, step.min(*smallest));
                // Nearly all steps are multiples of 1, or of what the steps before have in common.
                if grain.unit != 1 && (grain.unit == 0 || !step.is_multiple_of(grain.unit)) {
                    grain.unit = gcd(step, grain.unit);
                }
            }
        }
        grain.largest = grain.largest.max(self.run);
        self.previous = Some(at);
    }

    #[cold]
    fn new_minute(&mut self, at: Nanos) {
        let minute = at / MINUTE;
        self.minute = minute * MINUTE..(minute * MINUTE).saturating_add(MINUTE);
        self.minutes.minutes |= 1 << (minute % 60);
        if self.hour != Some(minute / 60) {
            self.hour = Some(minute / 60);
            self.minutes.hours += 1;
        }
    }

    /// The grain of all times so far.
    pub fn grain(&self) -> Grain {
        let mut few = self.minutes.rows.saturating_sub(1 + self.grain.shared) / 100;
        let usual = self.steps.iter().find(|(count, _)| {
            let found = *count > few;
            few = few.saturating_sub(*count);
            found
        });
        Grain { step: usual.map_or(0, |(_, smallest)| *smallest), ..self.grain }
    }

    /// The minutes of all times so far.
    pub fn minutes(&self) -> Minutes {
        self.minutes
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grain(times: &[Nanos]) -> Grain {
        let mut heard = Times::default();
        times.chunks(3).for_each(|some| heard.hear(some));
        heard.grain()
    }

    #[test]
    fn grain_of_times() {
        assert_eq!(grain(&[]), Grain::default());
        assert_eq!(grain(&[5, 5, 5]), Grain { unit: 0, step: 0, shared: 2, largest: 3 });
        assert_eq!(grain(&[1, 7, 7, 16]), Grain { unit: 3, step: 6, shared: 1, largest: 2 });
        let jitter: Vec<Nanos> = (0..300).flat_map(|n| [n * 3000 + n % 2; 4]).collect();
        assert_eq!(grain(&jitter), Grain { unit: 1, step: 2999, shared: 900, largest: 4 });
        assert_eq!(grain(&jitter).resolution(1200), 2999);
        let one_early: Vec<Nanos> = [1].into_iter().chain((0..300).map(|n| 2 + n * 3000)).collect();
        assert_eq!(grain(&one_early).step, 3000);
    }

    #[test]
    fn minutes_of_hours() {
        let mut times = Times::default();
        times.hear(&[0, 59 * MINUTE + 1, 60 * MINUTE, 60 * MINUTE, 61 * MINUTE, 2 * MINUTE, u64::MAX]);
        let bits = 1 << 59 | 1 << 1 | 1 << 2 | 1 | 1 << (u64::MAX / MINUTE % 60);
        assert_eq!(times.minutes(), Minutes { rows: 7, minutes: bits, hours: 4 });
    }
}
