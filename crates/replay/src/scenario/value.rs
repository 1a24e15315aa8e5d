//! Exact readings of the texts a scenario is made of: decimals, durations, rates and money. No float is involved.

use limiters::{Nanos, Rate};

/// Why a value cannot be used, and what could.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub message: String,
    pub notes: Vec<String>,
    /// Where inside the value, when it is not all of it.
    pub span: Option<std::ops::Range<usize>>,
}

impl Problem {
    pub fn new(message: impl Into<String>) -> Problem {
        Problem { message: message.into(), notes: Vec::new(), span: None }
    }

    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Problem {
        self.notes.push(note.into());
        self
    }

    #[must_use]
    pub fn notes(mut self, notes: Vec<String>) -> Problem {
        self.notes.extend(notes);
        self
    }

    #[must_use]
    pub fn at(mut self, span: std::ops::Range<usize>) -> Problem {
        self.span.get_or_insert(span);
        self
    }
}

/// A decimal number as it was written: `digits / 10^scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Decimal {
    pub negative: bool,
    pub digits: u128,
    pub scale: u32,
}

impl Decimal {
    /// `1500`, `1_500`, `-2.5`, `1e3`. `None` for anything else, `nan` and `inf` among it, and beyond 38 digits.
    pub fn parse(text: &str) -> Option<Decimal> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (mantissa, exponent) = match text.split_once(['e', 'E']) {
            Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        if whole.is_empty() || mantissa.ends_with('.') || mantissa.starts_with('_') || mantissa.ends_with('_') {
            return None;
        }
        let mut digits: u128 = 0;
        for digit in whole.chars().chain(fraction.chars()).filter(|&digit| digit != '_') {
            digits = digits.checked_mul(10)?.checked_add(digit.to_digit(10)?.into())?;
        }
        let mut scale = i32::try_from(fraction.chars().filter(char::is_ascii_digit).count()).ok()?;
        scale = scale.checked_sub(exponent)?;
        while scale > 0 && digits.is_multiple_of(10) && digits != 0 {
            digits /= 10;
            scale -= 1;
        }
        while scale < 0 {
            digits = digits.checked_mul(10)?;
            scale = if digits == 0 { 0 } else { scale + 1 };
        }
        let scale = if digits == 0 { 0 } else { scale as u32 };
        10u128.checked_pow(scale)?;
        Some(Decimal { negative, digits, scale })
    }

    pub fn is_zero(self) -> bool {
        self.digits == 0
    }

    /// The value times `unit` as a whole number, or why not.
    pub fn times(self, unit: u64) -> Result<u64, Misfit> {
        if self.negative && self.digits != 0 {
            return Err(Misfit::Negative);
        }
        // `parse` has made sure that the power exists.
        let divisor = 10u128.pow(self.scale);
        let product = self.digits.checked_mul(unit.into()).ok_or(Misfit::TooLarge)?;
        if product % divisor != 0 {
            return Err(Misfit::Fraction);
        }
        u64::try_from(product / divisor).map_err(|_| Misfit::TooLarge)
    }

    /// The value divided by `by`, as numerator and denominator in lowest terms; `None` when either passes 64 bits, or the
    /// value is negative.
    pub fn over(self, by: u64) -> Option<(u64, u64)> {
        if self.negative && self.digits != 0 {
            return None;
        }
        let below = 10u128.checked_pow(self.scale)?.checked_mul(by.into())?;
        let divisor = gcd(self.digits, below).max(1);
        Some((u64::try_from(self.digits / divisor).ok()?, u64::try_from(below / divisor).ok()?))
    }
}

fn gcd(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

/// Why a decimal is not a whole number of some unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Misfit {
    Negative,
    Fraction,
    TooLarge,
}

const UNITS: &[(&[&str], u64)] = &[
    (&["ns", "nanosecond", "nanoseconds"], 1),
    (&["us", "µs", "μs", "microsecond", "microseconds"], 1_000),
    (&["ms", "millisecond", "milliseconds"], 1_000_000),
    (&["s", "sec", "secs", "second", "seconds"], 1_000_000_000),
    (&["min", "mins", "minute", "minutes", "m"], 60_000_000_000),
    (&["h", "hr", "hour", "hours"], 3_600_000_000_000),
    (&["d", "day", "days"], 86_400_000_000_000),
];

const UNITS_NOTE: &str = "units: ns, us, ms, s, min, h, d";

fn unit(word: &str) -> Result<u64, Problem> {
    if let Some((_, nanos)) = UNITS.iter().find(|(names, _)| names.contains(&word)) {
        return Ok(*nanos);
    }
    let problem = match word.to_lowercase().as_str() {
        "month" | "months" | "mo" | "mon" | "mth" => Problem::new("a month has no fixed length")
            .note("write \"30d\" (or another number of days) for what you mean"),
        "year" | "years" | "y" | "yr" | "a" => {
            Problem::new("a year has no fixed length").note("write \"365d\" or \"366d\"")
        }
        "week" | "weeks" | "w" => Problem::new("weeks are written in days").note("one week is \"7d\""),
        "m" => Problem::new("`M` could be minutes or months").note("write `min` for minutes, days for a month"),
        _ => Problem::new(format!("unknown unit of time `{word}`")),
    };
    let near = crate::diagnose::nearest(
        word,
        UNITS.iter().flat_map(|(names, _)| names.iter().copied()).filter(|n| n.len() > 2),
    );
    Err(match near.filter(|_| problem.notes.is_empty()) {
        Some(near) => problem.note(format!("did you mean `{near}`?")).note(UNITS_NOTE),
        None => problem.note(UNITS_NOTE),
    })
}

/// A length of time with its unit: `250ms`, `1.5s`, `1min`, `8h`. Zero is a length too; whole nanoseconds only.
pub(crate) fn duration(text: &str) -> Result<Nanos, Problem> {
    let text = text.trim();
    let split = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '_' | '-' | '+'))).unwrap_or(text.len());
    let (number, word) = (text[..split].trim(), text[split..].trim());
    let example = "write a number and a unit, such as \"60s\" or \"1.5min\"";
    if number.is_empty() {
        return Err(Problem::new(format!("{text:?} is not a length of time")).note(example).note(UNITS_NOTE));
    }
    let Some(decimal) = Decimal::parse(number) else {
        return Err(Problem::new(format!("{number:?} is not a number")).note(example));
    };
    if word.is_empty() {
        return Err(
            Problem::new(format!("{text:?} has no unit")).note(format!("write \"{text}s\" for seconds; {UNITS_NOTE}"))
        );
    }
    decimal.times(unit(word)?).map_err(|misfit| match misfit {
        Misfit::Negative => Problem::new(format!("{text:?} is negative; a length of time is not")),
        Misfit::Fraction => Problem::new(format!("{text:?} is not a whole number of nanoseconds")),
        Misfit::TooLarge => Problem::new(format!("{text:?} is longer than 584 years, the longest time there is here")),
    })
}

const RATE_NOTE: &str = "write permits per time, such as \"2/s\", \"100/min\", \"10/13s\" or \"5 per 3 seconds\"";

/// An amount per length of time as it was written, not yet reduced: `100/min`, `10/13s`, `2.5/s`, `5 per 3 seconds`.
pub(crate) fn per_time(text: &str) -> Result<(Decimal, Nanos), Problem> {
    let text = text.trim();
    let Some((amount, time)) = text.split_once('/').or_else(|| text.split_once(" per ")) else {
        let problem = if Decimal::parse(text).is_some() {
            Problem::new(format!("{text:?} says no time")).note(format!("write \"{text}/s\" for permits per second"))
        } else {
            Problem::new(format!("{text:?} is not a rate"))
        };
        return Err(problem.note(RATE_NOTE));
    };
    let (amount, time) = (amount.trim(), time.trim());
    let Some(decimal) = Decimal::parse(amount) else {
        return Err(Problem::new(format!("{amount:?} is not a number of permits")).note(RATE_NOTE));
    };
    let numbered = time.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+'));
    let per = if numbered { duration(time) } else { unit(time) }.map_err(|problem| problem.note(RATE_NOTE))?;
    if per == 0 {
        return Err(Problem::new(format!("{text:?} is a rate per no time at all")).note(RATE_NOTE));
    }
    Ok((decimal, per))
}

/// The exact rate of an amount per time; `None` for a rate of zero.
pub(crate) fn exact_rate(text: &str, amount: Decimal, per: Nanos) -> Result<Option<Rate>, Problem> {
    if amount.is_zero() {
        return Ok(None);
    }
    if amount.negative {
        return Err(Problem::new(format!("{text} is negative")).note(RATE_NOTE));
    }
    match amount.over(per).and_then(|(permits, per)| Rate::new(permits, per)) {
        Some(rate) => Ok(Some(rate)),
        None => Err(Problem::new(format!("{text} cannot be held as a ratio of 64-bit integers"))),
    }
}

/// Money in whole micro-dollars: `$5`, `$0.008`.
pub(crate) fn money(text: &str) -> Result<u64, Problem> {
    let example = "write dollars, such as \"$5\" or \"$0.008\"";
    let Some(number) = text.trim().strip_prefix('$') else {
        return Err(Problem::new(format!("{text:?} is money without a dollar sign")).note(example));
    };
    let Some(decimal) = Decimal::parse(number.trim()) else {
        return Err(Problem::new(format!("{text:?} is not an amount of dollars")).note(example));
    };
    decimal.times(1_000_000).map_err(|misfit| match misfit {
        Misfit::Negative => Problem::new(format!("{text:?} is negative; money here is not")),
        Misfit::Fraction => Problem::new(format!("{text:?} is not a whole number of micro-dollars"))
            .note("six decimals at most: \"$0.000001\""),
        Misfit::TooLarge => Problem::new(format!("{text:?} is more than 18 trillion dollars")),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(text: &str) -> Result<Option<Rate>, Problem> {
        per_time(text).and_then(|(amount, per)| exact_rate(text, amount, per))
    }

    #[test]
    fn decimals_are_exact() {
        let decimal = |text| Decimal::parse(text).map(|d| (d.negative, d.digits, d.scale));
        assert_eq!(decimal("1.50"), Some((false, 15, 1)));
        assert_eq!(decimal("-1_000"), Some((true, 1000, 0)));
        assert_eq!(decimal("1e3"), Some((false, 1000, 0)));
        assert_eq!(decimal("25e-1"), Some((false, 25, 1)));
        assert_eq!(decimal("0.000"), Some((false, 0, 0)));
        for bad in ["", "nan", "inf", ".5", "5.", "1e400", "1e-400", "--1", "1..2", "0x10"] {
            assert_eq!(decimal(bad), None, "{bad}");
        }
    }

    #[test]
    fn durations() {
        let good = [
            ("250ms", 250_000_000),
            ("1m", 60_000_000_000),
            ("1.5 s", 1_500_000_000),
            ("0s", 0),
            ("1d", 86_400_000_000_000),
        ];
        for (text, nanos) in good {
            assert_eq!(duration(text), Ok(nanos), "{text}");
        }
        for bad in ["60", "", "s", "-1s", "0.5ns", "1month", "1M", "1w", "1.2.3s", "99999999d", "1e3s"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn rates_keep_their_ratio() {
        let second = 1_000_000_000;
        let good = [
            ("2/s", 2, second),
            ("4000/s", 4000, second),
            ("100/min", 100, 60 * second),
            ("10/13s", 10, 13 * second),
            ("5 per 3 seconds", 5, 3 * second),
            ("2.5/s", 5, 2 * second),
            ("1/d", 1, 86_400 * second),
        ];
        for (text, permits, per) in good {
            assert_eq!(rate(text), Ok(Rate::new(permits, per)), "{text}");
        }
        assert_eq!(rate("0/s"), Ok(None));
        for bad in ["2", "-1/s", "NaN/s", "inf/s", "100/month", "1/0s", "/s", "1/", "fast"] {
            assert!(rate(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn money_is_whole_micro_dollars() {
        assert_eq!(money("$0.008"), Ok(8_000));
        assert_eq!(money("$5"), Ok(5_000_000));
        for bad in ["5", "$", "$-1", "$0.0000001", "$1e30", "€5"] {
            assert!(money(bad).is_err(), "{bad}");
        }
    }
}
