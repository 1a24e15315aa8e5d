//! The tables of clients and of what stands behind the guard, and every key in them: part of the list in `keys.rs`.

use super::keys::{Key, Section, Takes, may};

const TIME: Takes = Takes::Time;
const STANDS: &[&str] = &["tool", "turn", "both"];
const ACTIONS: &[&str] = &["stop", "next-turn"];
const PRESETS: &str = "the preset's";

const fn set(name: &'static str, takes: Takes, doc: &'static str) -> Key {
    may(name, takes, PRESETS, doc)
}

pub(crate) const CLIENT: Section = Section {
    header: "[[client]]",
    doc: "A population of agents that react to what a limiter says. Its own tables stand below it: [client.retry], \
          [client.on-give-up], [client.limits], [client.fan-out], [client.cost], [client.guards].",
    keys: &[&[
        may("name", Takes::Text, "the preset's name", "what tables and files call it"),
        may("preset", Takes::Client, "plain", "a client whose every key may be set anew"),
        set("count", Takes::Whole { min: 1, max: 1_000_000 }, "agents at the start"),
        may("key", Takes::Text, "the name", "whose limits they count against; equal keys share one limiter state"),
        may("own-keys", Takes::Flag, "false", "each agent has a key of its own: KEY-1, KEY-2 …"),
        set("start", Takes::Start, "when they start"),
        set("role", Takes::Choice(&["rogue", "legitimate"]), "whose work counts as useful"),
        set("think-time", TIME, "between a result and the next call"),
        set("requests", Takes::Requests, "for agents that serve people"),
        set("latency", TIME, "of an admitted call, unless [upstream] has a service-time"),
        set("reject-latency", TIME, "until a refusal is known"),
        set("concurrency", Takes::Whole { min: 1, max: 100_000 }, "calls in flight per agent"),
        set("useful-calls", Takes::WholeOr(0, "unlimited"), "admitted calls of an agent after these count as waste"),
        set(
            "cycle",
            Takes::Whole { min: 0, max: 1_000_000 },
            "calls that the loop repeats in turn; 0: never the same call",
        ),
        may(
            "patience",
            Takes::Duration { zero: true },
            "endless",
            "a delayed call that would wait longer counts as refused",
        ),
    ]],
};

pub(crate) const RETRY: Section = Section {
    header: "[client.retry]",
    doc: "A retry loop. [[client.retry]] several times stacks them, the innermost (the client library's) first.",
    keys: &[&[
        set("library", Takes::Library, "a library's defaults, whose every key may be set anew"),
        set("policy", Takes::Choice(&["none", "immediate", "fixed", "exponential"]), "how it waits"),
        set("max-attempts", Takes::Whole { min: 0, max: u64::MAX }, "tries, the first included; 0 is for ever"),
        set("base", Takes::Duration { zero: true }, "wait before the first retry"),
        set("multiplier", Takes::Decimal { above: 1.0, or_equal: true }, "each further wait is so many times longer"),
        set("max-delay", Takes::Duration { zero: true }, "longest wait before jitter"),
        set("jitter", Takes::Jitter, "how waits are spread"),
        set("honour-retry-after", Takes::TimeOr("off"), "longest Retry-After obeyed"),
        set("beyond", Takes::Choice(&["backoff", "give-up"]), "what a longer Retry-After leads to"),
        set(
            "retry-after-and",
            Takes::Choice(&["instead", "longer", "jitter"]),
            "the server's wait instead of the own one, \
             the longer of both, or the server's with the own jitter",
        ),
        set("terminal", Takes::Statuses, "statuses never retried"),
        set("quota", Takes::WholeOr(1, "off"), "retries are paid from a budget of the agent's own"),
        set("quota-per-retry", Takes::Whole { min: 1, max: 1_000_000 }, "what a retry takes from it"),
    ]],
};

pub(crate) const GIVE_UP: Section = Section {
    header: "[client.on-give-up]",
    doc: "What an agent does when its retries are used up.",
    keys: &[&[
        set("action", Takes::Choice(ACTIONS), "stop, or take the next turn with an error in the context"),
        set("terminal", Takes::Choice(ACTIONS), "the same after a status that is never retried"),
    ]],
};

pub(crate) const LIMITS: Section = Section {
    header: "[client.limits]",
    doc: "Guards on the agent's own side; 0 is off.",
    keys: &[&[
        set("max-turns", Takes::Whole { min: 0, max: u64::MAX }, "turns of an agent"),
        set("max-duration", Takes::Duration { zero: true }, "no turn begins so long after the agent's start"),
        set(
            "identical-calls",
            Takes::Whole { min: 0, max: u64::MAX },
            "an agent ends after so many identical calls in a row",
        ),
    ]],
};

pub(crate) const FAN_OUT: Section = Section {
    header: "[client.fan-out]",
    doc: "How agents spawn others.",
    keys: &[&[
        set("probability", Takes::Decimal { above: 0.0, or_equal: true }, "that a turn spawns, at most 1"),
        set("children", Takes::Whole { min: 0, max: 100_000 }, "agents that it spawns"),
        set("max-depth", Takes::Whole { min: 0, max: 1_000 }, "agents of this depth spawn no more"),
        may("calls", Takes::Whole { min: 1, max: u64::MAX }, "20", "turns of a spawned agent"),
        may(
            "max-agents",
            Takes::Whole { min: 0, max: 1_000_000 },
            "10000",
            "most agents ever spawned; the report says when",
        ),
    ]],
};

pub(crate) const COST: Section = Section {
    header: "[client.cost]",
    doc: "What calls cost.",
    keys: &[&[
        set("per-call", Takes::Cost, "the tool call"),
        set("per-turn", Takes::Cost, "the model call that asked for it, billed even if the tool then refuses"),
    ]],
};

pub(crate) const GUARDS: Section = Section {
    header: "[client.guards]",
    doc: "Where the limiters stand: in front of the tool (the paid call), of the turn (the model call and what follows), or of both.",
    keys: &[&[
        set("rate", Takes::Choice(STANDS), "limits on rates, and loop breakers"),
        set("cap", Takes::Choice(STANDS), "whatever meters spend"),
        may(
            "cap-counts",
            Takes::Choice(&["all", "own"]),
            "all",
            "whether a cap in front of the tool alone is told what model calls cost, which it cannot refuse",
        ),
    ]],
};

pub(crate) const UPSTREAM: Section = Section {
    header: "[upstream]",
    doc: "What stands behind the guard, one for all clients.",
    keys: &[&[
        may("concurrency", Takes::Whole { min: 1, max: u64::MAX }, "as many as come", "calls served at once"),
        may(
            "queue",
            Takes::Whole { min: 0, max: u64::MAX },
            "as many as come",
            "calls that wait for a place; more are answered 503",
        ),
        may("service-time", TIME, "the client's latency", "how long a call is served"),
        may("limit", Takes::Calls, "none", "its own limit, answered 429"),
        may(
            "error-rate",
            Takes::Decimal { above: 0.0, or_equal: true },
            "0",
            "share of served calls that end in status 500, at most 1",
        ),
        may("outages", Takes::Outages, "none", "times in which every call is answered 503"),
        may("bill-errors", Takes::Flag, "false", "calls that end in an error are paid for"),
    ]],
};

/// The tables below a `[[client]]`.
pub(crate) const NESTED: &[(&str, Section)] = &[
    ("retry", RETRY),
    ("on-give-up", GIVE_UP),
    ("limits", LIMITS),
    ("fan-out", FAN_OUT),
    ("cost", COST),
    ("guards", GUARDS),
];

/// Every table of this file, in the order the documentation shows them.
pub(crate) fn sections() -> impl Iterator<Item = &'static Section> {
    const FIRST: &[Section] = &[CLIENT];
    const LAST: &[Section] = &[UPSTREAM];
    FIRST.iter().chain(NESTED.iter().map(|(_, section)| section)).chain(LAST)
}
