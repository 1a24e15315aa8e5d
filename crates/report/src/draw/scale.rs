//! Scales: from a value to its place on an axis, and the ticks a reader expects there.

use crate::number::{self, TIME_UNITS};

/// What the numbers of an axis are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Permits, requests.
    Amount,
    /// Shares from 0 to 1, shown in percent.
    Percent,
    /// Nanoseconds, shown in the unit that suits the range.
    Time,
}

/// An axis: its range, whether it is logarithmic, and its unit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    lo: f64,
    hi: f64,
    log: bool,
    unit: Unit,
}

impl Scale {
    /// A linear axis over `values` and zero, with a little room at the end that is not zero. Without values it runs
    /// from 0 to 1.
    pub fn from_zero(values: impl IntoIterator<Item = f64>, unit: Unit) -> Self {
        let (lo, hi) = range(values).unwrap_or((0.0, 1.0));
        let (lo, hi) = (lo.min(0.0), hi.max(0.0));
        let room = (hi - lo) * 0.04;
        Self::linear(if lo < 0.0 { lo - room } else { lo }, if hi > 0.0 { hi + room } else { hi }, unit)
    }

    /// A linear axis from `lo` to `hi`; at least something wide.
    pub fn linear(lo: f64, hi: f64, unit: Unit) -> Self {
        let least: f64 = if unit == Unit::Percent { 0.01 } else { 1.0 };
        Self { lo, hi: if hi - lo > lo.abs() * 1e-9 { hi } else { lo + least.max(lo.abs() * 1e-3) }, log: false, unit }
    }

    /// A logarithmic axis over the positive `values`; from 1 to 10 without any.
    pub fn log(values: impl IntoIterator<Item = f64>, unit: Unit) -> Self {
        let (lo, hi) = range(values.into_iter().filter(|value| *value > 0.0)).unwrap_or((1.0, 10.0));
        let (lo, hi) = if hi / lo < 1.5 { (lo / 2.0, hi * 2.0) } else { (lo, hi) };
        // Some room, so that neither end lies on the frame.
        let room = (hi / lo).powf(0.03);
        Self { lo: lo / room, hi: hi * room, log: true, unit }
    }

    /// Where `value` is, from 0 at the low end to 1 at the high end; beyond the ends it stays at the end.
    pub fn at(&self, value: f64) -> f64 {
        let part = if self.log {
            (value.max(self.lo) / self.lo).ln() / (self.hi / self.lo).ln()
        } else {
            (value - self.lo) / (self.hi - self.lo)
        };
        part.clamp(0.0, 1.0)
    }

    /// Whether the axis is logarithmic.
    pub fn is_log(&self) -> bool {
        self.log
    }

    /// The unit the tick labels leave to the axis's name: "s", "min"; nothing where they carry it themselves.
    pub fn tick_unit(&self) -> Option<&'static str> {
        (self.unit == Unit::Time && !self.log).then(|| self.time_unit().0)
    }

    /// About `wanted` ticks: place and label.
    pub fn ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let wanted = wanted.max(2);
        if self.log {
            return self.log_ticks(wanted);
        }
        // A step may be too long for either side of zero to reach it: then a shorter one.
        (wanted..wanted + 4)
            .map(|wanted| self.linear_ticks(wanted))
            .find(|ticks| ticks.len() > 2)
            .unwrap_or_else(|| self.linear_ticks(wanted))
    }

    fn time_unit(&self) -> (&'static str, f64) {
        let reach = self.hi.abs().max(self.lo.abs());
        // A unit serves until the next one would count past 3, except that seconds serve until five minutes and so on.
        let serves = |&&(name, size): &&(&str, f64)| {
            let up_to = match name {
                "ns" | "µs" | "ms" => 1_000.0,
                "s" | "min" => 301.0,
                "h" => 73.0,
                _ => f64::INFINITY,
            };
            reach < size * up_to
        };
        *TIME_UNITS.iter().find(serves).unwrap_or(&TIME_UNITS[0])
    }

    fn linear_ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let (unit_name, size) = match self.unit {
            Unit::Amount => ("", 1.0),
            Unit::Percent => ("%", 0.01),
            Unit::Time => self.time_unit(),
        };
        let (lo, hi) = (self.lo / size, self.hi / size);
        let step = self.step((hi - lo) / wanted as f64, unit_name);
        let mut ticks = Vec::new();
        let mut k = (lo / step - 1e-9).ceil();
        while k * step <= hi + step * 1e-9 && ticks.len() < 4 * wanted {
            // Adding nothing turns -0 into 0.
            let value = k * step + 0.0;
            let text = match self.unit {
                Unit::Amount => number::short(value),
                Unit::Percent => format!("{} %", number::significant(value)),
                Unit::Time => number::short(value),
            };
            ticks.push((value * size, text));
            k += 1.0;
        }
        ticks
    }

    /// A step near `raw` that people count in, rather too small than too large.
    fn step(&self, raw: f64, unit: &str) -> f64 {
        let raw = raw * 0.7;
        let round: &[f64] = match unit {
            "s" | "min" => &[1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 60.0, 120.0],
            "h" => &[1.0, 2.0, 3.0, 6.0, 12.0, 24.0],
            _ => &[],
        };
        if raw > 0.5
            && let Some(step) = round.iter().find(|step| **step >= raw)
        {
            return *step;
        }
        let power = 10f64.powf(raw.max(f64::MIN_POSITIVE).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|step| *step >= raw * (1.0 - 1e-9));
        // Half a permit is nothing to count in.
        step.unwrap_or(10.0 * power).max(if self.unit == Unit::Amount { 1.0 } else { 0.0 })
    }

    fn log_ticks(&self, wanted: usize) -> Vec<(f64, String)> {
        let mut all: Vec<(f64, String)> = match self.unit {
            Unit::Time => TIME_DECADES.iter().map(|&(ns, text)| (ns, text.to_owned())).collect(),
            Unit::Percent => (-6..=0).map(|p| 10f64.powi(p)).map(|v| (v, number::percent(v))).collect(),
            Unit::Amount => (-3..20).map(|p| 10f64.powi(p)).map(|v| (v, number::short(v))).collect(),
        };
        let inside = |value: f64| value >= self.lo * (1.0 - 1e-9) && value <= self.hi * (1.0 + 1e-9);
        all.retain(|(value, _)| inside(*value));
        if all.len() * 3 <= wanted.max(3) && self.unit == Unit::Amount {
            // Few decades: count in 1, 2, 5.
            let halves = (-3..20).flat_map(|p| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(p)));
            all = halves.filter(|value| inside(*value)).map(|value| (value, number::short(value))).collect();
        }
        let every = all.len().div_ceil(wanted).max(1);
        all.into_iter().step_by(every).collect()
    }
}

/// Where a logarithmic axis of time has its ticks: powers of ten up to seconds, then what people count in.
const TIME_DECADES: &[(f64, &str)] = &[
    (1.0, "1 ns"),
    (1e1, "10 ns"),
    (1e2, "100 ns"),
    (1e3, "1 µs"),
    (1e4, "10 µs"),
    (1e5, "100 µs"),
    (1e6, "1 ms"),
    (1e7, "10 ms"),
    (1e8, "100 ms"),
    (1e9, "1 s"),
    (1e10, "10 s"),
    (6e10, "1 min"),
    (6e11, "10 min"),
    (3.6e12, "1 h"),
    (3.6e13, "10 h"),
    (8.64e14, "10 d"),
    (8.64e15, "100 d"),
];

fn range(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    values.into_iter().filter(|value| value.is_finite()).fold(None, |range, value| match range {
        None => Some((value, value)),
        Some((lo, hi)) => Some((f64::min(lo, value), f64::max(hi, value))),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(scale: Scale, wanted: usize) -> Vec<String> {
        scale.ticks(wanted).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_what_people_count_in() {
        let minutes = Scale::linear(0.0, 180e9, Unit::Time);
        assert_eq!(
            (labels(minutes, 6).join(" "), minutes.tick_unit()),
            ("0 30 60 90 120 150 180".to_owned(), Some("s"))
        );
        assert_eq!(labels(Scale::linear(0.0, 100.0, Unit::Amount), 3), ["0", "50", "100"]);
        assert_eq!(labels(Scale::linear(0.0, 1.0, Unit::Percent), 5), ["0 %", "20 %", "40 %", "60 %", "80 %", "100 %"]);
        assert_eq!(
            labels(Scale::log([1e7, 6e11], Unit::Time), 6),
            ["10 ms", "100 ms", "1 s", "10 s", "1 min", "10 min"]
        );
        assert_eq!(labels(Scale::log([1.0, 1e5], Unit::Amount), 9), ["1", "10", "100", "1,000", "10 k", "100 k"]);
    }

    #[test]
    fn nothing_flat_and_huge_still_make_an_axis() {
        for scale in [
            Scale::from_zero([], Unit::Amount),
            Scale::from_zero([0.0, 0.0], Unit::Percent),
            Scale::from_zero([7.0], Unit::Time),
            Scale::from_zero([f64::NAN, 1e19], Unit::Amount),
            Scale::from_zero([-5.0], Unit::Amount),
            Scale::linear(3.0, 3.0, Unit::Time),
            Scale::linear(1e19, 1e19, Unit::Time),
            Scale::log([], Unit::Time),
            Scale::log([0.0, 5.0], Unit::Amount),
            Scale::log([1.0, 1e19], Unit::Amount),
        ] {
            let ticks = scale.ticks(5);
            assert!(!ticks.is_empty() && ticks.len() <= 20, "{scale:?}: {ticks:?}");
            for value in [0.0, 1.0, -1.0, 1e19, f64::MAX] {
                assert!((0.0..=1.0).contains(&scale.at(value)), "{scale:?} at {value}");
            }
        }
    }
}
