//! One reader for each kind of value: what a key takes, from a TOML value to a plain one.

use super::keys::{Key, Takes};
use super::table::{Entry, Value, entries, kind_of};
use super::value::{Decimal, Misfit, Problem, duration, exact_rate, money, per_time};
use crate::diagnose::valid_values;
use limiters::{Nanos, Rate};
use std::num::NonZeroU32;
use toml::de::DeValue;
use traffic::spec::Phase;

pub(crate) type Read<T> = Result<T, Problem>;

pub(crate) fn takes(key: &Key, value: Value<'_>) -> Problem {
    Problem::new(format!("takes {}, not {}", key.takes.words(), kind_of(value.get_ref())))
}

pub(crate) fn text(value: Value<'_>, key: &Key) -> Read<String> {
    value.get_ref().as_str().map(str::to_string).ok_or_else(|| takes(key, value))
}

pub(crate) fn flag(value: Value<'_>, key: &Key) -> Read<bool> {
    value.get_ref().as_bool().ok_or_else(|| takes(key, value))
}

pub(crate) fn texts<'a>(value: Value<'a>, key: &Key) -> Read<Vec<(&'a str, std::ops::Range<usize>)>> {
    let list = value.get_ref().as_array().ok_or_else(|| takes(key, value))?;
    list.iter()
        .map(|item| match item.get_ref().as_str() {
            Some(text) => Ok((text, item.span())),
            None => Err(takes(key, item).at(item.span())),
        })
        .collect()
}

/// The number that stands there as it was written; `None` for what is no number.
pub(crate) fn number(value: &DeValue<'_>) -> Option<Read<Decimal>> {
    let (written, parsed) = match value {
        DeValue::Integer(integer) if integer.radix() != 10 => {
            let parsed = u128::from_str_radix(integer.as_str(), integer.radix()).ok();
            (integer.as_str(), parsed.map(|digits| Decimal { negative: false, digits, scale: 0 }))
        }
        DeValue::Integer(integer) => (integer.as_str(), Decimal::parse(integer.as_str())),
        DeValue::Float(float) => (float.as_str(), Decimal::parse(float.as_str())),
        _ => return None,
    };
    Some(parsed.ok_or_else(|| match written.trim_start_matches(['+', '-']) {
        "nan" | "inf" => Problem::new(format!("{written} is not a number that can be used")),
        _ => Problem::new(format!("{written} is out of range")),
    }))
}

/// A number or text as a message shows it.
pub(crate) fn written(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(integer) => integer.to_string(),
        DeValue::Float(float) => float.to_string(),
        other => kind_of(other).to_string(),
    }
}

/// A whole number from `min` to `max`.
pub(crate) fn whole_in(value: Value<'_>, min: u64, max: u64, otherwise: impl FnOnce() -> Problem) -> Read<u64> {
    let decimal = number(value.get_ref()).ok_or_else(otherwise)??;
    let range = || if max == u64::MAX { format!("from {min}") } else { format!("from {min} to {max}") };
    match decimal.times(1) {
        Ok(whole) if (min..=max).contains(&whole) => Ok(whole),
        Ok(0) => Err(Problem::new(format!("0 is too small; it takes a whole number {}", range()))),
        Ok(whole) => Err(Problem::new(format!("{whole} is out of range; it takes a whole number {}", range()))),
        Err(misfit) => {
            let written = written(value.get_ref());
            let what = match misfit {
                Misfit::Negative => "is negative",
                Misfit::Fraction => "is not whole",
                Misfit::TooLarge => "is too large",
            };
            Err(Problem::new(format!("{written} {what}; it takes a whole number {}", range())))
        }
    }
}

pub(crate) fn whole(value: Value<'_>, key: &Key) -> Read<u64> {
    let (min, max) = match key.takes {
        Takes::Whole { min, max } => (min, max),
        _ => (1, u64::MAX),
    };
    whole_in(value, min, max, || takes(key, value))
}

/// A number as a float, for parameters of distributions.
pub(crate) fn decimal(value: Value<'_>, key: &Key) -> Read<f64> {
    let exact = number(value.get_ref()).ok_or_else(|| takes(key, value))??;
    let float = exact.digits as f64 / 10f64.powi(exact.scale as i32) * if exact.negative { -1.0 } else { 1.0 };
    match key.takes {
        Takes::Decimal { above, or_equal } if !(float > above || or_equal && float == above) => {
            Err(Problem::new(format!("takes {}; this is {float}", key.takes.words())))
        }
        _ => Ok(float),
    }
}

/// A decimal above zero as an exact ratio.
pub(crate) fn ratio(value: Value<'_>, key: &Key) -> Read<(u64, u64)> {
    let exact = number(value.get_ref()).ok_or_else(|| takes(key, value))??;
    match exact.over(1) {
        Some((numerator, denominator)) if numerator > 0 => Ok((numerator, denominator)),
        _ => Err(Problem::new(format!("takes {} with at most 19 digits", key.takes.words()))),
    }
}

pub(crate) fn time(value: Value<'_>, key: &Key) -> Read<Nanos> {
    let zero = !matches!(key.takes, Takes::Duration { zero: false });
    match value.get_ref() {
        DeValue::String(text) => match duration(text)? {
            0 if !zero => Err(Problem::new(format!("{text:?} is zero; a length of time above zero is needed"))),
            nanos => Ok(nanos),
        },
        DeValue::Integer(_) | DeValue::Float(_) => {
            let written = number(value.get_ref())
                .and_then(|exact| exact.ok())
                .filter(|exact| !exact.negative && exact.scale == 0);
            let example = written.map_or("60s".to_string(), |exact| format!("{}s", exact.digits));
            Err(Problem::new("a length of time needs a unit")
                .note(format!("write \"{example}\" for seconds; units: ns, us, ms, s, min, h, d")))
        }
        _ => Err(takes(key, value)),
    }
}

pub(crate) fn phase(value: Value<'_>, key: &Key) -> Read<Phase> {
    let length = Key { takes: Takes::Duration { zero: false }, ..*key };
    let DeValue::Table(table) = value.get_ref() else {
        return time(value, &length).map(Phase::Constant).map_err(|problem| match value.get_ref() {
            DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) => problem,
            _ => takes(key, value),
        });
    };
    let mut mean = None;
    for entry in entries(table) {
        if entry.name != "mean" {
            return Err(Problem::new(format!("unknown key `{}`", entry.name)).note("valid keys: mean").at(entry.span));
        }
        mean = Some(time(entry.value, &length).map_err(|problem| problem.at(entry.value.span()))?);
    }
    mean.map(Phase::Exponential).ok_or_else(|| Problem::new("an exponential length needs `mean`"))
}

/// A rate; `None` is zero, which only some keys take.
pub(crate) fn rate_or_zero(value: Value<'_>, key: &Key) -> Read<Option<Rate>> {
    let rate = match value.get_ref() {
        DeValue::String(text) => {
            let (amount, per) = per_time(text)?;
            exact_rate(&format!("{text:?}"), amount, per)?
        }
        number_like => {
            let amount = number(number_like).ok_or_else(|| takes(key, value))??;
            exact_rate(&written(number_like), amount, 1_000_000_000)?
        }
    };
    if rate.is_none() && key.takes != (Takes::Rate { zero: true }) {
        return Err(Problem::new("the rate is zero; a rate above zero is needed"));
    }
    Ok(rate)
}

pub(crate) fn rate(value: Value<'_>, key: &Key) -> Read<Rate> {
    rate_or_zero(value, key)?.ok_or_else(|| Problem::new("the rate is zero; a rate above zero is needed"))
}

pub(crate) fn choice(value: Value<'_>, key: &Key) -> Read<&'static str> {
    let Takes::Choice(words) = key.takes else { return Err(takes(key, value)) };
    word(value, key, words)
}

/// One of `words`.
pub(crate) fn word(value: Value<'_>, key: &Key, words: &'static [&'static str]) -> Read<&'static str> {
    let text = value.get_ref().as_str().ok_or_else(|| takes(key, value))?;
    words
        .iter()
        .copied()
        .find(|word| *word == text)
        .ok_or_else(|| Problem::new(format!("unknown value {text:?}")).notes(valid_values(text, "valid values", words)))
}

/// The name of a trace format.
pub(crate) fn format(value: Value<'_>, key: &Key) -> Read<String> {
    let name = text(value, key)?;
    let names: Vec<&str> = traffic::traces::FORMATS.iter().map(|format| format.name).collect();
    if names.contains(&name.as_str()) {
        return Ok(name);
    }
    Err(Problem::new(format!("unknown format {name:?}")).notes(valid_values(&name, "formats", &names)))
}

/// The name of a client or library whose retries recorded calls take on.
pub(crate) fn retries(value: Value<'_>, key: &Key) -> Read<String> {
    let name = text(value, key)?;
    let names = traffic::clients::retry_names();
    if names.contains(&name.as_str()) {
        return Ok(name);
    }
    Err(Problem::new(format!("unknown client {name:?}")).notes(valid_values(&name, "clients and libraries", &names)))
}

/// Permits, or micro-dollars from money where spend is metered; at least `min`.
pub(crate) fn permits(value: Value<'_>, spend: bool, min: u64) -> Read<u64> {
    match (spend, value.get_ref().as_str()) {
        (true, Some(text)) => match money(text)? {
            micro if micro < min => Err(Problem::new(format!("{text:?} is too small; more than nothing is needed"))),
            micro => Ok(micro),
        },
        (true, None) => Err(Problem::new("spend is metered, so this is money").note("write dollars, such as \"$5\"")),
        (false, Some(text)) if text.trim_start().starts_with('$') => {
            Err(Problem::new("money, but spend is not metered").note("set meter = \"spend\" to limit money"))
        }
        (false, _) => whole_in(value, min, u64::MAX, || {
            let problem = Problem::new(format!("takes a whole number from {min}, not {}", kind_of(value.get_ref())));
            if value.get_ref().is_str() { problem.note("write the number without quotes") } else { problem }
        }),
    }
}

/// A limit, with its window where it is written as a rate.
pub(crate) fn limit(value: Value<'_>, spend: bool) -> Read<(u64, Option<Nanos>)> {
    let Some((text, (amount, per))) = value.get_ref().as_str().and_then(|text| Some((text, per_time_of(text)?))) else {
        return permits(value, spend, 1).map(|limit| (limit, None));
    };
    let (amount, per) = (amount?, per?);
    let (unit, what) = if spend { (1_000_000, "micro-dollars") } else { (1, "permits") };
    match amount.times(unit) {
        Ok(0) => Err(Problem::new(format!("{text:?} is a limit of zero; at least 1 is needed"))),
        Ok(limit) => Ok((limit, Some(per))),
        Err(Misfit::Negative) => Err(Problem::new(format!("{text:?} is negative; at least 1 is needed"))),
        Err(_) => Err(Problem::new(format!("{text:?} is not a whole number of {what} in its window"))),
    }
}

/// The parts of a text that looks like a rate.
fn per_time_of(text: &str) -> Option<(Read<Decimal>, Read<Nanos>)> {
    if !text.contains('/') && !text.contains(" per ") {
        return None;
    }
    Some(match per_time(text.trim().trim_start_matches('$')) {
        Ok((amount, per)) => (Ok(amount), Ok(per)),
        Err(problem) => (Err(problem.clone()), Err(problem)),
    })
}

/// An instant in nanoseconds since the Unix epoch.
pub(crate) fn timestamp(value: Value<'_>, key: &Key) -> Read<Nanos> {
    let written = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Datetime(datetime) => datetime.to_string(),
        _ => return Err(takes(key, value)),
    };
    let Ok(instant) = written.parse::<jiff::Timestamp>() else {
        let zoneless = written.parse::<jiff::civil::DateTime>().is_ok() && !written.contains(['Z', 'z', '+']);
        let problem = Problem::new(if zoneless {
            format!("{written:?} has no zone")
        } else {
            format!("{written:?} is not an instant")
        });
        return Err(problem.note("write date, time and zone as in RFC 3339: \"2026-01-01T12:00:00Z\""));
    };
    u64::try_from(instant.as_nanosecond()).map_err(|_| {
        Problem::new(format!("{written:?} is outside the years 1970 to 2554, which nanoseconds in 64 bits reach"))
    })
}

/// Whether totals are spread, and over how many requests where a number says so.
pub(crate) fn spread(value: Value<'_>, key: &Key) -> Read<(bool, Option<NonZeroU32>)> {
    match value.get_ref().as_bool() {
        Some(spread) => Ok((spread, None)),
        None => {
            let over = whole_in(value, 1, u32::MAX.into(), || takes(key, value))?;
            Ok((true, u32::try_from(over).ok().and_then(NonZeroU32::new)))
        }
    }
}

/// Models and the prices of their tokens.
pub(crate) fn prices(value: Value<'_>, key: &Key) -> Read<Vec<(String, String)>> {
    let table = value.get_ref().as_table().ok_or_else(|| takes(key, value))?;
    let one = |entry: Entry<'_>| {
        let text = entry.value.get_ref().as_str().ok_or_else(|| takes(key, entry.value).at(entry.value.span()))?;
        traffic::prices::Price::given(text).map_err(|message| Problem::new(message).at(entry.value.span()))?;
        Ok((entry.name.to_owned(), text.to_owned()))
    };
    entries(table).into_iter().map(one).collect()
}

/// Roles and the columns that play them.
pub(crate) fn columns(value: Value<'_>, key: &Key) -> Read<Vec<(String, Vec<String>)>> {
    let table = value.get_ref().as_table().ok_or_else(|| takes(key, value))?;
    let roles: Vec<&str> = traffic::traces::roles().collect();
    entries(table)
        .into_iter()
        .map(|entry| {
            if !roles.contains(&entry.name) {
                let problem = Problem::new(format!("a column cannot be {:?}", entry.name));
                return Err(problem.notes(valid_values(entry.name, "roles", &roles)).at(entry.span));
            }
            let names = match entry.value.get_ref() {
                DeValue::String(text) => vec![text.to_string()],
                DeValue::Array(_) => {
                    let names = texts(entry.value, key)?;
                    names.into_iter().map(|(name, _)| name.to_string()).collect()
                }
                _ => return Err(takes(key, entry.value).at(entry.value.span())),
            };
            if names.is_empty() {
                return Err(Problem::new("the list of columns is empty").at(entry.value.span()));
            }
            Ok((entry.name.to_string(), names))
        })
        .collect()
}
