//! `[[client]]`: populations of agents, read from the file onto their presets.

use super::client_keys::{CLIENT, FAN_OUT, GIVE_UP, GUARDS, LIMITS, NESTED};
use super::keys::{Key as TableKey, Takes};
use super::limiter::LimiterSpec;
use super::read::{Read, takes, time, whole_in};
use super::table::{Table, Value, entries};
use super::top::{many_tables, sole_table};
use super::value::{Problem, duration as length};
use super::{amount, client_cost, client_retry, read};
use crate::diagnose::valid_values;
use limiters::{Accounting, Meter, Nanos};
use toml::de::DeValue;
use traffic::clients::spec::{Action, Client, FanOut, Key, Limits, Role, Stand, Start};
use traffic::clients::{Bill, PRESETS, preset};
use traffic::spec::Amount;
use traffic::{Note, NoteKind};

/// Every `[[client]]`, in the order of the file.
pub(crate) fn read(top: &Table<'_>, duration: Option<Nanos>) -> Vec<Client> {
    let Some(entry) = top.entry("client") else { return Vec::new() };
    let tables = many_tables(top.file, entry.span.clone(), entry.value, &CLIENT);
    if tables.is_empty() {
        return Vec::new();
    }
    let mut clients: Vec<Client> = Vec::new();
    for table in &tables {
        let client = one(table, duration);
        if clients.iter().any(|other| other.name == client.name) {
            let problem = Problem::new(format!("duplicate client {:?}", client.name));
            let span = if table.has("name") { table.value_span("name") } else { table.span.clone() };
            table.file.report(span, problem.note("give each a `name` of its own"));
        }
        clients.push(client);
    }
    clients
}

fn one(table: &Table<'_>, duration: Option<Nanos>) -> Client {
    let nested: Vec<&str> = NESTED.iter().map(|(name, _)| *name).collect();
    table.reject_unknown(&nested, elsewhere);
    let names: Vec<&str> = PRESETS.iter().map(|preset| preset.name).collect();
    let known = table.get("preset", |value, key| {
        let name = read::text(value, key)?;
        preset(&name).ok_or_else(|| {
            Problem::new(format!("unknown client preset {name:?}")).notes(valid_values(&name, "presets", &names))
        })
    });
    let made = known.or_else(|| preset("plain")).map_or("client", |preset| preset.name);
    let name = table.get("name", read::text).unwrap_or_else(|| made.to_string());
    let mut client = (preset(made).unwrap_or(&PRESETS[0]).client)(&name);
    client.preset = known.map(|preset| preset.name);
    macro_rules! set {
        ($($field:ident = $name:literal, $read:expr;)*) => {$(
            if let Some(value) = table.get($name, $read) {
                client.$field = value;
            }
        )*};
    }
    set! {
        count = "count", read::whole;
        start = "start", start;
        think = "think-time", spread_of_time;
        latency = "latency", spread_of_time;
        reject_latency = "reject-latency", spread_of_time;
        concurrency = "concurrency", read::whole;
        useful_calls = "useful-calls", |value, key| whole_or(value, key, None, Some);
        cycle = "cycle", read::whole;
    }
    client.patience = table.get("patience", read::time).or(client.patience);
    client.requests = table.get("requests", requests).unwrap_or(client.requests);
    match table.get("role", read::choice) {
        Some("legitimate") => {
            client.role = Role::Legitimate;
            if !table.has("useful-calls") {
                client.useful_calls = None;
            }
            if !table.has("cycle") {
                client.cycle = 0;
            }
        }
        Some(_) => client.role = Role::Rogue,
        None => {}
    }
    let key = table.get("key", read::text).unwrap_or_else(|| name.clone());
    client.key = if table.get("own-keys", read::flag) == Some(true) { Key::Each(key) } else { Key::One(key) };
    if let (Start::At(at), Some(duration)) = (client.start, duration)
        && at >= duration
    {
        table.wrong("start", Problem::new("not before the end of the scenario").note("raise `duration` at the top"));
    }
    client_retry::read(table, &mut client);
    on_give_up(table, &mut client);
    limits(table, &mut client);
    fan_out(table, &mut client);
    client_cost::read(table, &mut client);
    guards(table, &mut client);
    client
}

/// Where a key that is not a client's own belongs.
fn elsewhere(name: &str) -> Option<String> {
    let home = NESTED.iter().find(|(_, section)| section.key(name).is_some())?;
    Some(format!("`{name}` belongs to {}", home.1.header))
}

fn action(text: &str) -> Action {
    if text == "stop" { Action::Stop } else { Action::NextTurn }
}

fn on_give_up(table: &Table<'_>, client: &mut Client) {
    let Some(table) = sole_table(table, "on-give-up", &GIVE_UP) else { return };
    table.reject_unknown(&[], |_| None);
    client.on_give_up = table.get("action", read::choice).map_or(client.on_give_up, action);
    client.on_terminal = table.get("terminal", read::choice).map_or(client.on_terminal, action);
}

fn limits(table: &Table<'_>, client: &mut Client) {
    let Some(table) = sole_table(table, "limits", &LIMITS) else { return };
    table.reject_unknown(&[], |_| None);
    let old = client.limits;
    let off = |value: Option<u64>, old: Option<u64>| value.map_or(old, |value| (value > 0).then_some(value));
    client.limits = Limits {
        max_turns: off(table.get("max-turns", read::whole), old.max_turns),
        max_duration: off(table.get("max-duration", read::time), old.max_duration),
        identical_calls: off(table.get("identical-calls", read::whole), old.identical_calls),
    };
}

fn fan_out(table: &Table<'_>, client: &mut Client) {
    let Some(table) = sole_table(table, "fan-out", &FAN_OUT) else { return };
    table.reject_unknown(&[], |_| None);
    let none = FanOut { probability: 0.0, children: 0, max_depth: 0, calls: 20, max_agents: 10_000 };
    let old = client.fan_out.unwrap_or(none);
    let fan_out = FanOut {
        probability: table.get("probability", share).unwrap_or(old.probability),
        children: table.get("children", read::whole).unwrap_or(old.children),
        max_depth: table.get("max-depth", read::whole).unwrap_or(old.max_depth),
        calls: table.get("calls", read::whole).unwrap_or(old.calls),
        max_agents: table.get("max-agents", read::whole).unwrap_or(old.max_agents),
    };
    client.fan_out = (fan_out.probability > 0.0 && fan_out.children > 0).then_some(fan_out);
}

fn guards(table: &Table<'_>, client: &mut Client) {
    let Some(table) = sole_table(table, "guards", &GUARDS) else { return };
    table.reject_unknown(&[], |_| None);
    let stand = |name| match table.get(name, read::choice) {
        Some("turn") => Some(Stand::Turn),
        Some("both") => Some(Stand::Both),
        Some(_) => Some(Stand::Tool),
        None => None,
    };
    client.rate = stand("rate").unwrap_or(client.rate);
    client.cap = stand("cap").unwrap_or(client.cap);
    if let Some(counts) = table.get("cap-counts", read::choice) {
        client.cap_counts_turns = counts == "all";
        if client.cap != Stand::Tool {
            let problem = Problem::new("means something only to a cap that stands in front of the tool alone");
            table.wrong("cap-counts", problem);
        }
    }
}

/// A share from 0 to 1.
pub(crate) fn share(value: Value<'_>, key: &TableKey) -> Read<f64> {
    match read::decimal(value, key)? {
        share if share <= 1.0 => Ok(share),
        more => Err(Problem::new(format!("{more} is above 1, the share that is all"))),
    }
}

/// A whole number, or the key's word, which stands for `word`.
pub(crate) fn whole_or<T>(value: Value<'_>, key: &TableKey, word: T, number: impl Fn(u64) -> T) -> Read<T> {
    let Takes::WholeOr(min, name) = key.takes else { return Err(takes(key, value)) };
    match value.get_ref().as_str() {
        Some(text) if text == name => Ok(word),
        Some(_) => Err(takes(key, value)),
        None => whole_in(value, min, u64::MAX, || takes(key, value)).map(number),
    }
}

/// A constant or a distribution of lengths of time, in nanoseconds.
pub(crate) fn spread_of_time(value: Value<'_>, key: &TableKey) -> Read<Amount> {
    let DeValue::Table(table) = value.get_ref() else {
        let plain = TableKey { takes: Takes::Duration { zero: true }, ..*key };
        return time(value, &plain).map(Amount::Constant).map_err(|problem| match value.get_ref() {
            DeValue::String(_) | DeValue::Integer(_) | DeValue::Float(_) => problem,
            _ => takes(key, value),
        });
    };
    amount::spread(table, key, |entry| match entry.value.get_ref().as_str() {
        Some(text) => length(text).map(|nanos| nanos as f64),
        None => Err(Problem::new(format!("`{}` is a length of time", entry.name)).note("write \"2s\", for example")),
    })
}

fn start(value: Value<'_>, key: &TableKey) -> Read<Start> {
    let plain = TableKey { takes: Takes::Duration { zero: true }, ..*key };
    let DeValue::Table(table) = value.get_ref() else { return time(value, &plain).map(Start::At) };
    match &entries(table)[..] {
        [only] if only.name == "uniform" => {
            time(only.value, &plain).map(Start::Uniform).map_err(|problem| problem.at(only.value.span()))
        }
        _ => Err(takes(key, value)),
    }
}

fn requests(value: Value<'_>, key: &TableKey) -> Read<Option<(Amount, Amount)>> {
    let DeValue::Table(table) = value.get_ref() else { return Err(takes(key, value)) };
    let (mut steps, mut wait) = (None, None);
    for entry in entries(table) {
        let here = |problem: Problem| problem.at(entry.value.span());
        match entry.name {
            "steps" => {
                let plain = TableKey { takes: Takes::Amount { min: 1 }, ..*key };
                steps = Some(amount::read(entry.value, &plain).map_err(here)?);
            }
            "wait" => wait = Some(spread_of_time(entry.value, key).map_err(here)?),
            other => {
                let problem = Problem::new(format!("unknown key `{other}`"));
                return Err(problem.notes(valid_values(other, "valid keys", &["steps", "wait"])).at(entry.span));
            }
        }
    }
    match (steps, wait) {
        (Some(steps), Some(wait)) => Ok(Some((steps, wait))),
        _ => Err(takes(key, value)),
    }
}

/// Caps that will never admit a call of these clients.
pub(crate) fn doubts(clients: &[Client], limiters: &[LimiterSpec]) -> Vec<Note> {
    let mut notes = Vec::new();
    for part in limiters.iter().flat_map(LimiterSpec::parts).filter(|part| part.meter == Meter::Spend) {
        let Some(quota) = part.quota() else { continue };
        for client in clients {
            let dearest = |cost| Bill::new(cost).most().filter(|_| !matches!(Bill::new(cost), Bill::Tokens { .. }));
            let call = match client.cap {
                Stand::Turn => dearest(&client.per_turn).zip(dearest(&client.per_call)).map(|(a, b)| a + b),
                _ => dearest(&client.per_call),
            };
            let held = match part.accounting {
                Accounting::Post => continue,
                Accounting::Reserve { estimate: Some(estimate) } => Some(estimate),
                _ => call,
            };
            let Some(held) = held.filter(|held| *held > quota.limit) else { continue };
            let text = format!(
                "`{}` will never admit a call of client \"{}\": it holds ${} for each, above its cap of ${}",
                part.label,
                client.name,
                held as f64 / 1e6,
                quota.limit as f64 / 1e6
            );
            notes.push(Note { kind: NoteKind::Warning, text });
        }
    }
    notes.dedup();
    notes
}
