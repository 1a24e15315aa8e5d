//! What the page is told, as JSON: the state of everything at one instant, and what there is to choose from.

use crate::headers::Written;
use crate::lane::Lane;
use crate::play::Play;
use crate::record::Why;
use crate::source;
use limiters::{ALGORITHMS, Kind, Nanos};
use serde_json::{Value, json};
use traffic::clients::PRESETS;

/// Eight hours: the night in which nobody looks at the bill.
const NIGHT: Nanos = 8 * 3_600_000_000_000;

/// The state; `last` is the last call from outside.
pub fn state(play: &Play, last: Option<&Written>) -> Value {
    let (now, since, revision) = play.times();
    let (settings, understood) = play.settings();
    let (kind, of) = play.traffic();
    let (main, money, window) = (play.main(), play.money(), understood.window());
    let ms = |nanos: Nanos| nanos as f64 / 1e6;
    let budget = main.budget(now);
    let why = play.record().why_not();
    json!({
        "now_ms": now / 1_000_000,
        "elapsed_ms": ms(now - since),
        "revision": revision,
        "settings": settings,
        "price_microusd": understood.price,
        "window": { "ms": ms(window), "into_ms": ms(now % window) },
        "key": play.shown().1,
        "main": lane(main, play.shown().0, now),
        "beside": play.beside().iter().map(|other| lane(other, play.shown().0, now)).collect::<Vec<_>>(),
        "lost": if settings.scope == "global" { main.lost(now) } else { None },
        "money": {
            "spent_microusd": money.spent,
            "saved_microusd": money.saved,
            "useful_lost": money.useful_lost,
            "worst_8h_microusd": play.worst_bill(NIGHT),
            "budget_left_microusd": budget.map(|level| level.available_milli / 1000),
        },
        "traffic": {
            "kind": kind,
            "of": of,
            "calls": play.agents().map(|[guarded, _]| guarded),
            "twin_calls": play.agents().map(|[_, twin]| twin),
            "edge_in_ms": play.next_burst().map(|at| ms(at.saturating_sub(now))),
        },
        "ticks": play.ticks().map(|(at, permits)| json!([(ms(now - at)).round(), permits])).collect::<Vec<_>>(),
        "recording": { "entries": play.record().len(), "why": why.map(Why::code), "why_not": why.map(Why::text) },
        "last": last.map(|last| json!({ "status": last.status, "headers": last.headers })),
    })
}

fn lane(lane: &Lane, key: u64, now: Nanos) -> Value {
    let (level, counts) = (lane.level(key, now), lane.counts);
    let bounded = lane.algorithm != "unlimited";
    json!({
        "algorithm": lane.algorithm,
        "parameters": lane.rule.parameters(),
        "available": bounded.then_some(level.available_milli as f64 / 1e3),
        "capacity": bounded.then_some(level.capacity_milli as f64 / 1e3),
        "delays": lane.rule.delays(),
        "admitted": counts.admitted,
        "refused": counts.refused,
        "delayed": counts.delayed,
        "permits": counts.permits,
        "bytes": lane.state_bytes(),
    })
}

/// What there is to choose from: algorithms with their parameters and source, and the clients that play.
pub fn choices() -> Value {
    let kind = |kind: &Kind| match kind {
        Kind::Permits { min } => json!({ "kind": "permits", "min": min }),
        Kind::Duration => json!({ "kind": "duration" }),
        Kind::Rate => json!({ "kind": "rate" }),
        Kind::Choice(words) => json!({ "kind": "choice", "words": words }),
    };
    let algorithms = ALGORITHMS.iter().map(|known| {
        let (file, lines) = source::source(known.name).unwrap_or_default();
        json!({
            "name": known.name,
            "summary": known.summary,
            "source": known.source,
            "params": known.params.iter().map(|param| {
                json!({ "name": param.name, "doc": param.doc, "takes": kind(&param.kind) })
            }).collect::<Vec<_>>(),
            "file": file,
            "code": lines,
            "rule": source::rule(known.name),
        })
    });
    let clients = PRESETS.iter().filter(|preset| playable(preset.name));
    let clients = clients.map(|preset| json!({ "name": preset.name, "summary": preset.summary }));
    json!({ "algorithms": algorithms.collect::<Vec<_>>(), "clients": clients.collect::<Vec<_>>() })
}

/// Whether a client preset plays here: `plain` takes no time for anything and would call without end at one instant.
pub fn playable(name: &str) -> bool {
    name != "plain"
}
