//! Units of numeric times, by name and by magnitude.

use limiters::Nanos;

/// Names of units with their length in nanoseconds as a power of ten.
const UNITS: [(&[&str], i32, &str); 4] = [
    (&["ns", "nano", "nanos", "nanoseconds", "nanosecond", "unixnano"], 0, "nanoseconds"),
    (&["us", "µs", "micro", "micros", "microseconds", "microsecond"], 3, "microseconds"),
    (&["ms", "milli", "millis", "msec", "milliseconds", "millisecond"], 6, "milliseconds"),
    (&["s", "sec", "secs", "second", "seconds"], 9, "seconds"),
];

/// The smallest number that is taken for a time since 1970 by its magnitude: 1973 in seconds. Each unit's range spans a
/// factor of a thousand, so that no time from 1973 to 5138 fits two.
pub(super) const EPOCH: u64 = 100_000_000;

/// A unit of numeric times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    /// The unit in nanoseconds as a power of ten.
    pub power: i32,
    /// Its name in full.
    pub name: &'static str,
}

impl Unit {
    pub const NS: Unit = Unit { power: 0, name: UNITS[0].2 };
    pub const MS: Unit = Unit { power: 6, name: UNITS[2].2 };

    /// The unit of that name: `ns`, `us`, `ms`, `s` or a longer spelling.
    pub fn named(name: &str) -> Option<Unit> {
        UNITS.iter().find(|(names, ..)| names.contains(&name)).map(|&(_, power, name)| Unit { power, name })
    }

    /// The unit that a column's name ends in: `t_ms`, `at_ns`, `timestamp (ms)`, `startTimeUnixNano`.
    pub fn of_column(name: &str) -> Option<Unit> {
        if name.ends_with("UnixNano") {
            return Some(Unit::NS);
        }
        let last = name.trim_end_matches([')', ']']).rsplit(['_', ' ', '(', '[', '-', '.']).next()?;
        if last.len() == name.len() { None } else { Unit::named(&last.to_lowercase()) }
    }

    /// Nanoseconds of one unit.
    #[inline]
    pub fn length(self) -> Nanos {
        // Read for every row, where a power would be a loop.
        match self.power {
            0 => 1,
            3 => 1_000,
            6 => 1_000_000,
            _ => 1_000_000_000,
        }
    }

    /// The unit in which a number is a time since 1970; `None` below 1973.
    pub fn of_magnitude(number: u64) -> Option<Unit> {
        let (_, power, name) = match number / EPOCH {
            0 => return None,
            1..1_000 => UNITS[3],
            1_000..1_000_000 => UNITS[2],
            1_000_000..1_000_000_000 => UNITS[1],
            _ => UNITS[0],
        };
        Some(Unit { power, name })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_come_from_names_and_magnitudes() {
        for (name, unit) in [
            ("t_ms", "ms"),
            ("at_ns", "ns"),
            ("timestamp (ms)", "ms"),
            ("startTimeUnixNano", "ns"),
            ("time.sec", "s"),
            ("arrival-us", "us"),
        ] {
            assert_eq!(Unit::of_column(name), Unit::named(unit), "{name}");
        }
        assert_eq!((Unit::of_column("timestamp"), Unit::of_column("items"), Unit::of_column("s")), (None, None, None));
    }
}
