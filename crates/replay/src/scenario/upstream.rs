//! `[upstream]`: what stands behind the guard.

use super::client::{share, spread_of_time};
use super::client_keys::UPSTREAM;
use super::keys::{Key, Takes};
use super::read::{self, Read, takes, time};
use super::table::{Table, Value, entries};
use super::top::sole_table;
use super::value::Problem;
use crate::diagnose::valid_values;
use limiters::{Nanos, Rate};
use toml::de::DeValue;
use traffic::clients::spec::Upstream;

/// The `[upstream]`, if there is one.
pub(crate) fn read(top: &Table<'_>, duration: Option<Nanos>) -> Option<Upstream> {
    let table = sole_table(top, "upstream", &UPSTREAM)?;
    table.reject_unknown(&[], |_| None);
    if !top.has("client") {
        let problem = Problem::new("only clients reach an upstream, and there is no [[client]]");
        table.file.report(table.span.clone(), problem);
    }
    let outages = table.get("outages", outages).unwrap_or_default();
    if let Some(duration) = duration
        && outages.iter().any(|(from, _)| *from >= duration)
    {
        table.wrong("outages", Problem::new("one begins at or after the end of the scenario"));
    }
    Some(Upstream {
        concurrency: table.get("concurrency", read::whole),
        queue: table.get("queue", read::whole),
        service: table.get("service-time", spread_of_time),
        limit: table.get("limit", calls),
        error_rate: table.get("error-rate", share).unwrap_or(0.0),
        outages,
        bill_errors: table.get("bill-errors", read::flag).unwrap_or(false),
    })
}

fn calls(value: Value<'_>, key: &Key) -> Read<(u64, Rate)> {
    match read::limit(value, false)? {
        (limit, Some(window)) => match Rate::new(limit, window) {
            Some(rate) => Ok((limit, rate)),
            None => Err(takes(key, value)),
        },
        _ => Err(takes(key, value)),
    }
}

fn outages(value: Value<'_>, key: &Key) -> Read<Vec<(Nanos, Nanos)>> {
    let list = value.get_ref().as_array().ok_or_else(|| takes(key, value))?;
    let mut outages = Vec::new();
    for item in list.iter() {
        let DeValue::Table(table) = item.get_ref() else { return Err(takes(key, value).at(item.span())) };
        let (mut from, mut to) = (None, None);
        for entry in entries(table) {
            let slot = match entry.name {
                "from" => &mut from,
                "to" => &mut to,
                other => {
                    let problem = Problem::new(format!("unknown key `{other}`"));
                    return Err(problem.notes(valid_values(other, "valid keys", &["from", "to"])).at(entry.span));
                }
            };
            let plain = Key { takes: Takes::Duration { zero: true }, ..*key };
            *slot = Some(time(entry.value, &plain).map_err(|problem| problem.at(entry.value.span()))?);
        }
        match (from, to) {
            (Some(from), Some(to)) if from < to => outages.push((from, to)),
            (Some(_), Some(_)) => return Err(Problem::new("an outage ends after it begins").at(item.span())),
            _ => return Err(takes(key, value).at(item.span())),
        }
    }
    Ok(outages)
}
