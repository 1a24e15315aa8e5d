//! The texts of scenarios where a command line has them: durations, amounts per time, money, shares.

use super::value::{self, Decimal, Problem};
use limiters::{Nanos, Rate};

fn said(problem: Problem) -> String {
    let notes: String = problem.notes.iter().map(|note| format!("; {note}")).collect();
    format!("{}{notes}", problem.message)
}

/// A length of time above zero: `10s`, `1.5min`.
///
/// # Errors
/// What is wrong, and what would be right.
pub fn duration(text: &str) -> Result<Nanos, String> {
    match value::duration(text).map_err(said)? {
        0 => Err(format!("{text:?} is zero; a length of time above zero is needed")),
        length => Ok(length),
    }
}

/// A whole amount in a length of time: `500/10s` is (500, 10 s). Money is in micro-dollars: `$20/day`.
///
/// # Errors
/// What is wrong, and what would be right.
pub fn amount_per(text: &str) -> Result<(u64, Nanos), String> {
    let (unit, plain) = match text.trim().strip_prefix('$') {
        Some(rest) => (1_000_000, rest),
        None => (1, text.trim()),
    };
    let (amount, per) = value::per_time(plain).map_err(said)?;
    match amount.times(unit) {
        Ok(0) => Err(format!("{text:?} is an amount of zero; at least 1 is needed")),
        Ok(amount) => Ok((amount, per)),
        Err(_) => Err(format!("{text:?} is not a whole amount above zero")),
    }
}

/// A whole amount above zero: `20`. Money is in micro-dollars: `$5`.
///
/// # Errors
/// What is wrong, and what would be right.
pub fn permits(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let amount = match text.starts_with('$') {
        true => value::money(text).map_err(said)?,
        false => text.replace('_', "").parse().map_err(|_| format!("{text:?} is not a whole amount, such as 20"))?,
    };
    if amount == 0 { Err(format!("{text:?} is an amount of zero; at least 1 is needed")) } else { Ok(amount) }
}

/// An exact rate above zero: `10/s`, `2.5/min`.
///
/// # Errors
/// What is wrong, and what would be right.
pub fn rate(text: &str) -> Result<Rate, String> {
    let (amount, per) = value::per_time(text).map_err(said)?;
    value::exact_rate(&format!("{text:?}"), amount, per)
        .map_err(said)?
        .ok_or_else(|| format!("{text:?} is a rate of zero; a rate above zero is needed"))
}

/// A share from 0 up to but not including 1, as an exact ratio: `0.1%` is (1, 1000).
///
/// # Errors
/// What is wrong, and what would be right.
pub fn share(text: &str) -> Result<(u64, u64), String> {
    let number = text.trim().strip_suffix('%').map(str::trim);
    let ratio = number.and_then(Decimal::parse).and_then(|decimal| decimal.over(100));
    match ratio {
        Some((part, whole)) if part < whole => Ok((part, whole)),
        _ => Err(format!("{text:?} is not a share below 100 %; write it in percent, such as 0.1%")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_command_line() {
        assert_eq!(duration("10s"), Ok(10_000_000_000));
        assert_eq!(amount_per("500/10s"), Ok((500, 10_000_000_000)));
        assert_eq!(amount_per("$20/day"), Ok((20_000_000, 86_400_000_000_000)));
        assert_eq!((permits("1_000"), permits("$0.5")), (Ok(1_000), Ok(500_000)));
        for bad in ["0", "$0", "-1", "1.5", "$", "", "5$"] {
            assert!(permits(bad).is_err(), "{bad}");
        }
        assert_eq!(share("0.1%"), Ok((1, 1000)));
        assert_eq!(share("0%"), Ok((0, 1)));
        for bad in ["100%", "0.1", "-1%", "x%", ""] {
            assert!(share(bad).unwrap_err().contains("percent"), "{bad}");
        }
        for bad in ["500", "0/s", "1.5/s", "-2/s", "500/10"] {
            assert!(amount_per(bad).is_err(), "{bad}");
        }
        assert!(duration("0s").is_err() && duration("10").is_err() && rate("0/s").is_err());
    }
}
