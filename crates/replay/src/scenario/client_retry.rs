//! `[client.retry]`: retry loops, read onto a library's defaults.

use super::client::whole_or;
use super::client_keys::RETRY;
use super::keys::{Key, Takes};
use super::read::{self, Read, takes, time, whole_in};
use super::table::{Table, Value, entries};
use super::top::{many_tables, sole_table};
use super::value::Problem;
use crate::diagnose::valid_values;
use crate::world::MOST_LAYERS;
use toml::de::DeValue;
use traffic::clients::spec::{Beyond, Client, Jitter, Policy, Quota, Retry, WithOwn};
use traffic::clients::{LIBRARIES, library};

/// Reads the retry loops of a client.
pub(crate) fn read(table: &Table<'_>, client: &mut Client) {
    let Some(entry) = table.entry("retry") else { return };
    if !entry.value.get_ref().is_array() {
        if let Some(only) = sole_table(table, "retry", &RETRY) {
            let base = client.retry.first().cloned();
            client.retry = base.map(|base| one(&only, base)).into_iter().collect();
        }
        return;
    }
    let tables = many_tables(table.file, entry.span.clone(), entry.value, &RETRY);
    if tables.len() > MOST_LAYERS {
        let problem = Problem::new(format!("{} retry loops in one another; {MOST_LAYERS} are the most", tables.len()));
        table.wrong("retry", problem);
    }
    let plain = || library("none").map(|library| (library.retry)());
    client.retry = tables.iter().filter_map(|layer| Some(one(layer, plain()?))).collect();
}

fn one(table: &Table<'_>, base: Retry) -> Retry {
    table.reject_unknown(&[], |_| None);
    let names: Vec<&str> = LIBRARIES.iter().map(|library| library.name).collect();
    let known = table.get("library", |value, key| {
        let name = read::text(value, key)?;
        library(&name).ok_or_else(|| {
            Problem::new(format!("unknown library {name:?}")).notes(valid_values(&name, "libraries", &names))
        })
    });
    let mut retry = known.map_or(base, |library| (library.retry)());
    if let Some(policy) = table.get("policy", read::choice) {
        retry.policy = match policy {
            "none" => Policy::None,
            "immediate" => Policy::Immediate,
            "fixed" => Policy::Fixed,
            _ => Policy::Exponential,
        };
    }
    macro_rules! set {
        ($($place:expr, $name:literal, $read:expr;)*) => {$(
            if let Some(value) = table.get($name, $read) {
                $place = value;
            }
        )*};
    }
    set! {
        retry.max_attempts, "max-attempts", read::whole;
        retry.base, "base", read::time;
        retry.multiplier, "multiplier", read::decimal;
        retry.max_delay, "max-delay", read::time;
        retry.jitter, "jitter", jitter;
        retry.retry_after.longest, "honour-retry-after", longest;
        retry.terminal, "terminal", statuses;
        retry.quota, "quota", |value, key| whole_or(value, key, None, |capacity| Some(Quota { capacity, per_retry: 5 }));
    }
    if retry.base > retry.max_delay {
        match (table.has("base"), table.has("max-delay")) {
            (true, true) => table.wrong("max-delay", Problem::new("below `base`")),
            // A wait that is set alone is meant as it stands.
            (true, false) => retry.max_delay = retry.base,
            (_, _) => retry.base = retry.max_delay,
        }
    }
    if let Some(beyond) = table.get("beyond", read::choice) {
        retry.retry_after.beyond = if beyond == "give-up" { Beyond::GiveUp } else { Beyond::Backoff };
    }
    if let Some(with_own) = table.get("retry-after-and", read::choice) {
        retry.retry_after.with_own = match with_own {
            "longer" => WithOwn::Longer,
            "jitter" => WithOwn::BeforeJitter,
            _ => WithOwn::Instead,
        };
    }
    match (table.get("quota-per-retry", read::whole), &mut retry.quota) {
        (Some(per_retry), Some(quota)) => quota.per_retry = per_retry,
        (Some(_), None) => table.wrong("quota-per-retry", Problem::new("means nothing without `quota`")),
        (None, _) => {}
    }
    retry
}

fn longest(value: Value<'_>, key: &Key) -> Read<u64> {
    match value.get_ref().as_str() {
        Some("off") => Ok(0),
        _ => time(value, &Key { takes: Takes::Duration { zero: true }, ..*key }),
    }
}

fn jitter(value: Value<'_>, key: &Key) -> Read<Jitter> {
    if let DeValue::Table(table) = value.get_ref() {
        return match &entries(table)[..] {
            [only] if only.name == "additive" => {
                let plain = Key { takes: Takes::Duration { zero: true }, ..*key };
                time(only.value, &plain).map(Jitter::Additive).map_err(|problem| problem.at(only.value.span()))
            }
            _ => Err(takes(key, value)),
        };
    }
    let text = value.get_ref().as_str().ok_or_else(|| takes(key, value))?;
    let percent = |text: &str| text.parse().ok().filter(|percent| *percent <= 100u64);
    let named = match text {
        "none" => Some(Jitter::None),
        "full" => Some(Jitter::Full),
        "equal" => Some(Jitter::Equal),
        "decorrelated" => Some(Jitter::Decorrelated),
        _ => None,
    };
    named
        .or_else(|| text.strip_prefix("down-").and_then(percent).map(Jitter::Down))
        .or_else(|| text.strip_prefix("plus-minus-").and_then(percent).map(Jitter::PlusMinus))
        .ok_or_else(|| {
            let words = ["none", "full", "equal", "decorrelated", "down-25", "plus-minus-30"];
            Problem::new(format!("unknown jitter {text:?}")).notes(valid_values(text, "valid values", &words))
        })
}

fn statuses(value: Value<'_>, key: &Key) -> Read<Vec<u16>> {
    let list = value.get_ref().as_array().ok_or_else(|| takes(key, value))?;
    let status = |item| whole_in(item, 400, 599, || takes(key, value)).map(|status| status as u16);
    list.iter().map(|item| status(item).map_err(|problem| problem.at(item.span()))).collect()
}
