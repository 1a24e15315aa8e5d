//! `[[limiter]]`: entries read, variants spread out.

use super::keys::LIMITER;
use super::limiter::{LOOP_BREAKER, LimiterSpec, Routing, What, default_response};
use super::table::Table;
use super::top::many_tables;
use super::value::Problem;
use super::variants::variants;
use super::{QuotaSpec, answers, read, stack};
use crate::diagnose::valid_values;
use crate::peers::{NAMES, peer};
use limiters::{ALGORITHMS, Algorithm, Nanos, SERVERS, algorithm};

/// A limiter of the file with the table it came from.
pub(crate) struct Draft<'a> {
    pub spec: LimiterSpec,
    pub table: Table<'a>,
    /// Labels of a stack's parts, not yet looked up.
    pub parts: Vec<(&'a str, std::ops::Range<usize>)>,
}

/// Every `[[limiter]]`, in the order of the file, sweeps spread out.
pub(crate) fn read<'a>(
    top: &Table<'a>,
    quota: QuotaSpec,
    start: Option<Nanos>,
    duration: Option<Nanos>,
) -> Vec<Draft<'a>> {
    let Some(entry) = top.entry("limiter") else { return Vec::new() };
    let tables = many_tables(top.file, entry.span.clone(), entry.value, &LIMITER);
    tables.into_iter().flat_map(|table| entry_drafts(table, quota, start, duration)).collect()
}

fn entry_drafts<'a>(
    table: Table<'a>,
    quota: QuotaSpec,
    start: Option<Nanos>,
    duration: Option<Nanos>,
) -> Vec<Draft<'a>> {
    let known = table.get("algorithm", |value, key| {
        let name = read::text(value, key)?;
        let names: Vec<&str> = ALGORITHMS.iter().chain(SERVERS).map(|known| known.name).chain([LOOP_BREAKER]).collect();
        if name == LOOP_BREAKER {
            return Ok(None);
        }
        let known = algorithm(&name).or_else(|| peer(&name).map(|peer| &peer.algorithm));
        known.map(Some).ok_or_else(|| {
            if NAMES.contains(&name.as_str()) {
                return Problem::new(format!("{name:?} is a limiter of another crate, which this build leaves out"))
                    .note("build with the cargo feature `peers`: cargo run --release --features peers");
            }
            Problem::new(format!("unknown algorithm {name:?}")).notes(valid_values(&name, "algorithms", &names))
        })
    });
    let breaker = matches!(known, Some(None));
    let known = known.flatten();
    reject_unknown(&table, known);
    let label = table.get("label", |value, key| match read::text(value, key)? {
        empty if empty.trim().is_empty() => Err(Problem::new("a label needs a character that can be seen")),
        odd if odd.chars().any(char::is_control) => Err(Problem::new("a label is one line of plain text")),
        label => Ok(label),
    });
    let routing = match table.get("routing", read::choice) {
        Some("key-hash") => Routing::KeyHash,
        Some("random") => Routing::Random,
        _ => Routing::RoundRobin,
    };
    let nodes = table.get("nodes", read::whole).unwrap_or(1);
    let alone = nodes == 1 && !table.has("sweep");
    if table.has("routing") && alone {
        table.wrong("routing", Problem::new("means nothing to a single node").note("set `nodes` above 1"));
    }
    let restart_at = table.get("restart-at", read::time);
    if let (Some(at), Some(duration)) = (restart_at, duration)
        && at >= duration
    {
        table.wrong("restart-at", Problem::new("not before the end of the scenario"));
    }
    for name in ["nodes", "restart-at"] {
        if known.is_some_and(|known| NAMES.contains(&known.name)) && table.has(name) {
            table.wrong(name, Problem::new("is not for limiters of other crates"));
        }
    }
    let compare = table.get("compare", read::flag).unwrap_or(true);
    let common = LimiterSpec {
        label: String::new(),
        swept_from: None,
        registered: false,
        what: What::AllOf(Vec::new()),
        meter: quota.meter,
        per_key: quota.per_key,
        nodes,
        routing,
        restart_at,
        compare,
        accounting: limiters::Accounting::Immediate,
        response: default_response(quota.meter),
    };
    if table.has("all-of") {
        return stack::draft(table, common, label).into_iter().collect();
    }
    if breaker {
        return answers::breaker(table, common, label).into_iter().collect();
    }
    for name in answers::OF_BREAKERS.iter().filter(|name| table.has(name)) {
        table.wrong(name, Problem::new("belongs to a loop-breaker"));
    }
    match known {
        Some(known) => variants(table, common, label, known, quota, (start.unwrap_or(0), duration.unwrap_or(0))),
        None if table.has("algorithm") => Vec::new(),
        None => {
            let names: Vec<&str> = ALGORITHMS.iter().map(|known| known.name).collect();
            let problem =
                Problem::new("[[limiter]] needs `algorithm`").note(format!("algorithms: {}", names.join(", ")));
            table.file.report(table.span.clone(), problem.note("or all-of = [...] for a stack"));
            Vec::new()
        }
    }
}

/// Notes keys that are neither common ones nor parameters of the algorithm, and says whose they are.
fn reject_unknown(table: &Table<'_>, known: Option<&'static Algorithm>) {
    let names = |known: &'static Algorithm| known.params.iter().map(|param| param.name);
    let valid: Vec<&str> = match known {
        Some(known) => names(known).collect(),
        None => ALGORITHMS.iter().chain(SERVERS).flat_map(names).collect(),
    };
    table.reject_unknown(&valid, |name| {
        let homes: Vec<&str> =
            ALGORITHMS.iter().chain(SERVERS).filter(|one| names(one).any(|n| n == name)).map(|one| one.name).collect();
        let here = known.map_or("stacks", |known| known.name);
        (!homes.is_empty()).then(|| format!("`{name}` is a parameter of {}; {here} does not have it", homes.join(", ")))
    });
}
