//! Numbers as people read them: 1,234, 49.5 %, 12.3 ms.

pub use replay::words::count;

/// Micro-dollars as dollars and cents; below a dollar with up to four decimals.
pub fn dollars(micro: u64) -> String {
    if micro < 1_000_000 && !micro.is_multiple_of(10_000) {
        return format!("${:.4}", micro as f64 / 1e6);
    }
    let cents = (u128::from(micro) + 5_000) / 10_000;
    format!("${}.{:02}", count((cents / 100) as u64), cents % 100)
}

/// An amount of what `meter` counts: dollars for money, which is counted in micro-dollars, else a whole number.
pub fn amount(value: u64, meter: &str) -> String {
    if meter == "spend" { dollars(value) } else { count(value) }
}

/// Share of a whole as a percentage. One decimal; what is not quite none or all never reads 0 % or 100 %.
pub fn percent(ratio: f64) -> String {
    let value = ratio * 100.0;
    let text = format!("{value:.1}");
    match text.as_str() {
        "0.0" if value > 0.0 => "<0.1 %".to_owned(),
        "100.0" if value < 100.0 => ">99.9 %".to_owned(),
        "0.0" => "0 %".to_owned(),
        "100.0" => "100 %".to_owned(),
        _ => format!("{text} %"),
    }
}

/// `part` of `whole` as a percentage; empty where there is no whole.
pub fn share(part: u64, whole: u64) -> String {
    if whole == 0 { String::new() } else { percent(part as f64 / whole as f64) }
}

/// Units of time, in nanoseconds, from small to large.
pub const TIME_UNITS: &[(&str, f64)] =
    &[("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 6e10), ("h", 3.6e12), ("d", 8.64e13)];

/// Length of time with three significant digits in its largest fitting unit: 12.3 ms, 1 min, 1.5 h.
pub fn duration(ns: f64) -> String {
    if ns <= 0.0 {
        return "0".to_owned();
    }
    let fitting = TIME_UNITS.iter().rev().find(|(_, size)| ns >= size * 0.9995).unwrap_or(&TIME_UNITS[0]);
    // 90 s reads better than 1.5 min, and 36 h better than 1.5 d.
    let index = TIME_UNITS.iter().position(|unit| unit == fitting).unwrap_or(0);
    let (unit, size) = match index {
        4.. if ns / fitting.1 < 2.0 && (ns / fitting.1).fract() != 0.0 => TIME_UNITS[index - 1],
        _ => *fitting,
    };
    format!("{} {unit}", significant(ns / size))
}

/// Events a second, of a number above 0 that is given as such; slow ones by the hour or day, or as the time for one.
pub fn rate(per_second: f64) -> String {
    match per_second {
        v if v >= 0.01 => format!("{}/s", significant(v)),
        v if v * 3600.0 >= 1.0 => format!("{}/h", significant(v * 3600.0)),
        v if v * 86_400.0 >= 1.0 => format!("{}/d", significant(v * 86_400.0)),
        v => format!("one in {}", duration(1e9 / v)),
    }
}

/// Three significant digits without trailing zeros after the point.
pub fn significant(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 99.95 => 0,
        v if v >= 9.995 => 1,
        v if v >= 0.9995 || v == 0.0 => 2,
        v if v >= 0.09995 => 3,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    if !text.contains('.') {
        return if value >= 1000.0 { count(value.round() as u64) } else { text };
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Whole number in little space: in full below 100,000, above with three digits and k, M, G.
pub fn brief(value: u64) -> String {
    if value < 100_000 { count(value) } else { short(value as f64) }
}

/// Nanoseconds of a decision: one decimal, so that digits stand under digits.
pub fn nanoseconds(ns: f64) -> String {
    if ns < 99_999.95 { format!("{ns:.1}") } else { short(ns) }
}

/// Amount for an axis: below 10,000 in full, above with k, M, G, T, P, E, Z.
pub fn short(value: f64) -> String {
    if value < 0.0 {
        return format!("-{}", short(-value));
    }
    let (size, unit) = match value {
        v if v >= 0.9995e21 => (1e21, " Z"),
        v if v >= 0.9995e18 => (1e18, " E"),
        v if v >= 0.9995e15 => (1e15, " P"),
        v if v >= 0.9995e12 => (1e12, " T"),
        v if v >= 0.9995e9 => (1e9, " G"),
        v if v >= 0.9995e6 => (1e6, " M"),
        v if v >= 9_999.5 => (1e3, " k"),
        v if v >= 1_000.0 => return count(v.round() as u64),
        _ => (1.0, ""),
    };
    format!("{}{unit}", significant(value / size))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        let counts: Vec<_> = [0, 7, 999, 1_000, 1_234_567, u64::MAX].map(count).into();
        assert_eq!(counts, ["0", "7", "999", "1,000", "1,234,567", "18,446,744,073,709,551,615"]);
        let percents: Vec<_> = [0.0, 0.000_1, 0.495, 0.999_9, 1.0].map(percent).into();
        assert_eq!(percents, ["0 %", "<0.1 %", "49.5 %", ">99.9 %", "100 %"]);
        let times: Vec<_> =
            [0.0, 2.14, 12_345_678.0, 1e9, 6e10, 9e10, 5.4e12, 1.8e12, 8.64e13, 1e20].map(duration).into();
        assert_eq!(
            times,
            ["0", "2.14 ns", "12.3 ms", "1 s", "1 min", "90 s", "90 min", "30 min", "1 d", "1,157,407 d"]
        );
        let shorts: Vec<_> = [0.0, 0.25, 5.0, 1_500.0, 10_000.0, 2_500_000.0, 1e18, -2_000.0].map(short).into();
        assert_eq!(shorts, ["0", "0.25", "5", "1,500", "10 k", "2.5 M", "1 E", "-2,000"]);
        let rates: Vec<_> = [1234.0, 0.5, 0.01, 0.009, 2.0 / 86_400.0, 1.0 / 864_000.0].map(rate).into();
        assert_eq!(rates, ["1,234/s", "0.5/s", "0.01/s", "32.4/h", "2/d", "one in 10 d"]);
        assert_eq!(share(1, 0), "");
    }
}
