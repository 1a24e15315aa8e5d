//! `[client.cost]`: what calls cost, as money, as tokens at a listed price, or as a context that grows.

use super::amount;
use super::client_keys::COST;
use super::keys::{Key, Takes};
use super::read::{Read, takes, text, whole_in};
use super::table::{Entry, Table, Value, entries};
use super::top::sole_table;
use super::value::Problem;
use crate::diagnose::valid_values;
use toml::de::DeValue;
use traffic::clients::spec::{Client, Cost};
use traffic::clients::{Price, price, prices};
use traffic::spec::Amount;

/// Reads the costs of a client.
pub(crate) fn read(table: &Table<'_>, client: &mut Client) {
    let Some(table) = sole_table(table, "cost", &COST) else { return };
    table.reject_unknown(&[], |_| None);
    if let Some(cost) = table.get("per-call", cost) {
        client.per_call = cost;
    }
    if let Some(cost) = table.get("per-turn", cost) {
        client.per_turn = cost;
    }
}

const TOKENS: &[&str] = &["input-tokens", "output-tokens", "cache-read-tokens", "price"];
const CONTEXT: &[&str] = &["context", "grows", "output-tokens", "compact-at", "compact-to", "price"];

fn cost(value: Value<'_>, key: &Key) -> Read<Cost> {
    let money = Key { takes: Takes::Price, ..*key };
    let DeValue::Table(table) = value.get_ref() else {
        return amount::read(value, &money).map(|amount| match amount {
            Amount::Constant(0) => Cost::Free,
            amount => Cost::Money(amount),
        });
    };
    let entries = entries(table);
    let find = |name: &str| entries.iter().find(|entry| entry.name == name);
    if find("price").is_none()
        && !entries.iter().any(|entry| CONTEXT.contains(&entry.name) || TOKENS.contains(&entry.name))
    {
        return amount::read(value, &money).map(Cost::Money);
    }
    let growing = find("context").is_some();
    let valid = if growing { CONTEXT } else { TOKENS };
    if let Some(entry) = entries.iter().find(|entry| !valid.contains(&entry.name)) {
        let problem = Problem::new(format!("unknown key `{}`", entry.name));
        return Err(problem.notes(valid_values(entry.name, "valid keys", valid)).at(entry.span.clone()));
    }
    let listed = match find("price") {
        Some(entry) => listed(entry, key)?,
        None => return Err(Problem::new("tokens need a `price`").note("names of prices: `workbench list prices`")),
    };
    if growing {
        let whole = |name: &str, default: u64| match find(name) {
            Some(entry) => {
                whole_in(entry.value, 1, 1 << 40, || takes(key, value)).map_err(|p| p.at(entry.value.span()))
            }
            None => Ok(default),
        };
        let cost = Cost::Context {
            base: whole("context", 20_000)?,
            grows: whole("grows", 1_750)?,
            output: whole("output-tokens", 252)?,
            compact_at: whole("compact-at", 200_000)?,
            compact_to: whole("compact-to", 25_000)?,
            price: listed,
        };
        return match &cost {
            Cost::Context { compact_at, compact_to, .. } if compact_to > compact_at => {
                Err(Problem::new("`compact-to` is above `compact-at`"))
            }
            _ => Ok(cost),
        };
    }
    let tokens = |name: &str| match find(name) {
        Some(entry) => amount::read(entry.value, &Key { takes: Takes::Amount { min: 0 }, ..*key })
            .map_err(|problem| problem.at(entry.value.span())),
        None => Ok(Amount::Constant(0)),
    };
    let (input, output, cache_read) = (tokens("input-tokens")?, tokens("output-tokens")?, tokens("cache-read-tokens")?);
    let nothing = [&input, &output, &cache_read].iter().all(|amount| **amount == Amount::Constant(0));
    if nothing && listed.call == 0 {
        let problem = Problem::new(format!("{:?} is a price of tokens, and there are none", listed.name));
        return Err(problem.note("for example: { input-tokens = 1000, output-tokens = 200, price = … }"));
    }
    Ok(Cost::Tokens { input, output, cache_read, price: listed })
}

fn listed(entry: &Entry<'_>, key: &Key) -> Read<Price> {
    let name =
        text(entry.value, &Key { takes: Takes::Text, ..*key }).map_err(|problem| problem.at(entry.value.span()))?;
    let names: Vec<&str> = prices().iter().map(|price| price.name.as_str()).collect();
    price(&name).cloned().ok_or_else(|| {
        let problem = Problem::new(format!("no price is listed for {name:?}"));
        problem.notes(valid_values(&name, "prices", &names)).at(entry.value.span())
    })
}
