//! Amounts: a constant or a distribution, of permits, tokens or money.

use super::keys::{DISTRIBUTION, Key, Takes};
use super::read::{Read, decimal, takes, whole_in};
use super::table::{Entry, Value, entries};
use super::value::{Problem, money};
use crate::diagnose::valid_values;
use toml::de::{DeTable, DeValue};
use traffic::spec::Amount;

/// A constant or a distribution of whole amounts; money in micro-dollars when `in_money`.
pub(crate) fn read(value: Value<'_>, key: &Key) -> Read<Amount> {
    let in_money = key.takes == Takes::Price;
    let min = if let Takes::Amount { min } = key.takes { min } else { 0 };
    let DeValue::Table(table) = value.get_ref() else {
        return match value.get_ref() {
            DeValue::String(text) if in_money => money(text).map(Amount::Constant),
            DeValue::Integer(_) | DeValue::Float(_) if in_money => {
                Err(Problem::new("money is written with a dollar sign").note("write dollars, such as \"$0.008\""))
            }
            _ if in_money => Err(takes(key, value)),
            _ => whole_in(value, min, u64::MAX, || takes(key, value)).map(Amount::Constant),
        };
    };
    let plain = Key { takes: Takes::Decimal { above: 0.0, or_equal: true }, ..*key };
    spread(table, key, |entry| match entry.value.get_ref() {
        DeValue::String(text) if in_money => money(text).map(|micro| micro as f64),
        _ if in_money => {
            Err(Problem::new(format!("`{}` is money", entry.name)).note("write dollars, such as \"$0.008\""))
        }
        _ => decimal(entry.value, &plain).and_then(|float| match entry.name {
            "min" | "max" => whole_in(entry.value, 0, u64::MAX, || takes(&plain, entry.value)).map(|n| n as f64),
            _ => Ok(float),
        }),
    })
}

/// A distribution whose values `one` reads; the exponent `shape` is a plain number everywhere.
pub(crate) fn spread(table: &DeTable<'_>, key: &Key, one: impl Fn(&Entry<'_>) -> Read<f64>) -> Read<Amount> {
    let plain = Key { takes: Takes::Decimal { above: 0.0, or_equal: true }, ..*key };
    let mut given: Vec<(&str, f64, std::ops::Range<usize>)> = Vec::new();
    for entry in entries(table) {
        if !DISTRIBUTION.contains(&entry.name) {
            return Err(Problem::new(format!("unknown key `{}`", entry.name))
                .notes(valid_values(entry.name, "valid keys", DISTRIBUTION))
                .at(entry.span));
        }
        let read = if entry.name == "shape" { decimal(entry.value, &plain) } else { one(&entry) };
        given.push((entry.name, read.map_err(|problem| problem.at(entry.value.span()))?, entry.value.span()));
    }
    distribution(&given, key)
}

fn distribution(given: &[(&str, f64, std::ops::Range<usize>)], key: &Key) -> Read<Amount> {
    let find = |name: &str| given.iter().find(|(known, ..)| *known == name).map(|(_, value, _)| *value);
    let names: Vec<&str> = given.iter().map(|(name, ..)| *name).filter(|name| *name != "max").collect();
    let max = find("max").map(|max| max as u64);
    let has = |wanted: &[&str]| names.len() == wanted.len() && wanted.iter().all(|name| names.contains(name));
    let positive = |name: &str| match find(name) {
        Some(value) if value > 0.0 => Ok(value),
        _ => Err(Problem::new(format!("`{name}` must be above zero"))),
    };
    if has(&["min"]) {
        let (min, Some(max)) = (find("min").unwrap_or(0.0) as u64, max) else {
            return Err(Problem::new("an even spread needs `max` beside `min`"));
        };
        return if min <= max {
            Ok(Amount::Uniform { min, max })
        } else {
            Err(Problem::new(format!("min {min} is above max {max}")))
        };
    }
    if max == Some(0) {
        return Err(Problem::new("`max` must be above zero"));
    }
    if has(&["median", "p90"]) {
        let (median, p90) = (positive("median")?, positive("p90")?);
        return if p90 >= median {
            Ok(Amount::Lognormal { median, p90, max })
        } else {
            Err(Problem::new("p90 is below the median"))
        };
    }
    if has(&["mean"]) {
        return Ok(Amount::Exponential { mean: positive("mean")?, max });
    }
    if has(&["min", "shape"]) {
        return Ok(Amount::Pareto { min: positive("min")?, shape: positive("shape")?, max });
    }
    Err(Problem::new(format!("takes {}", key.takes.words())))
}
