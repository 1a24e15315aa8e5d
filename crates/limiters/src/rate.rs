//! An exact rate: so many permits per so many nanoseconds.

use crate::Nanos;
use std::fmt;

/// Permits per nanoseconds, in lowest terms. Both parts are at least 1, so a rate is never zero, negative or infinite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Rate {
    permits: u64,
    per: Nanos,
}

impl Rate {
    /// `permits` per `per` nanoseconds, reduced; `None` when either is 0.
    pub fn new(permits: u64, per: Nanos) -> Option<Rate> {
        if permits == 0 || per == 0 {
            return None;
        }
        let divisor = gcd(permits, per);
        Some(Rate { permits: permits / divisor, per: per / divisor })
    }

    /// Permits per [`per`](Rate::per), in lowest terms (R).
    pub fn permits(self) -> u64 {
        self.permits
    }

    /// Nanoseconds, in lowest terms (P).
    pub fn per(self) -> Nanos {
        self.per
    }

    /// Whole permits that accrue in `tau` nanoseconds, rounded down: floor(tau · R / P).
    pub fn in_time(self, tau: Nanos) -> u128 {
        u128::from(tau) * u128::from(self.permits) / u128::from(self.per)
    }

    /// Permits per second, for a label; not used in any decision.
    pub fn per_second(self) -> f64 {
        self.permits as f64 * 1e9 / self.per as f64
    }
}

impl fmt::Display for Rate {
    /// A whole form: `2/s`, `100/min`, `10/13s`, `1/d`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMED: [(&str, u64); 3] = [("s", 1_000_000_000), ("min", 60_000_000_000), ("h", 3_600_000_000_000)];
        for (name, unit) in NAMED {
            if unit % self.per == 0
                && let Some(permits) = self.permits.checked_mul(unit / self.per)
            {
                return write!(f, "{permits}/{name}");
            }
        }
        const LONG: [(&str, u64); 3] = [("d", 86_400_000_000_000), ("h", 3_600_000_000_000), ("s", 1_000_000_000)];
        for (name, unit) in LONG {
            // A period that becomes whole in this unit after few repetitions reads best: 1 per 1.3 s is 10/13s.
            let times = unit / gcd(unit, self.per);
            if name != "s" && (times > 1_000 || self.per < unit) {
                continue;
            }
            if let (Some(permits), Some(per)) = (self.permits.checked_mul(times), self.per.checked_mul(times)) {
                return match per / unit {
                    1 => write!(f, "{permits}/{name}"),
                    count => write!(f, "{permits}/{count}{name}"),
                };
            }
        }
        write!(f, "{}/{}ns", self.permits, self.per)
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

    #[test]
    fn reduced_and_printed() {
        let rate = |p, n| Rate::new(p, n).unwrap();
        assert_eq!(rate(100, 60_000_000_000), rate(1, 600_000_000));
        assert_eq!(rate(120, 60_000_000_000).to_string(), "2/s");
        assert_eq!(rate(100, 60_000_000_000).to_string(), "100/min");
        assert_eq!(rate(10, 13_000_000_000).to_string(), "10/13s");
        assert_eq!(rate(1, 86_400_000_000_000).to_string(), "1/d");
        assert_eq!(rate(4000, 1_000_000_000).to_string(), "4000/s");
        assert!(Rate::new(0, 1).is_none() && Rate::new(1, 0).is_none());
        assert_eq!(rate(1, 3).in_time(u64::MAX), u128::from(u64::MAX / 3));
    }
}
