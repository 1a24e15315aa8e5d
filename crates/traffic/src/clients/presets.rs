//! The registry of clients: whole agents and workers by name.

use crate::clients::spec::{Action, Client, Cost, FanOut, Key, Limits, Retry, Role, Stand, Start};
use crate::clients::spec::{Jitter, Policy, RetryAfter};
use crate::clients::{library, price};
use crate::spec::Amount;
use limiters::Nanos;

/// A client by name.
pub struct Preset {
    /// Name in scenarios.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where its figures come from.
    pub source: &'static str,
    /// The client, under a name.
    pub client: fn(&str) -> Client,
}

const MS: Nanos = 1_000_000;
const S: Nanos = 1_000 * MS;

const TRACELAB: &str =
    "medians and 90th percentiles of uw-syfi/TraceLab (CC BY 4.0), 357,161 recorded steps of coding agents";
const MADE: &str = "made up: the shape of a fault, with round numbers";

fn lognormal(median: f64, p90: f64) -> Amount {
    Amount::Lognormal { median, p90, max: None }
}

fn retry(name: &str) -> Vec<Retry> {
    library(name).map(|library| vec![(library.retry)()]).unwrap_or_default()
}

/// One agent that does everything at once, for nothing, and is not retried.
fn plain(name: &str) -> Client {
    Client {
        name: name.to_string(),
        preset: None,
        count: 1,
        key: Key::One(name.to_string()),
        start: Start::At(0),
        role: Role::Rogue,
        think: Amount::Constant(0),
        requests: None,
        latency: Amount::Constant(0),
        reject_latency: Amount::Constant(20 * MS),
        concurrency: 1,
        useful_calls: Some(5),
        cycle: 1,
        patience: None,
        retry: retry("none"),
        on_give_up: Action::NextTurn,
        on_terminal: Action::Stop,
        limits: Limits::default(),
        fan_out: None,
        per_call: Cost::Free,
        per_turn: Cost::Free,
        rate: Stand::Tool,
        cap: Stand::Tool,
        cap_counts_turns: true,
        scripts: None,
    }
}

fn llm_loop(name: &str) -> Client {
    Client {
        think: lognormal(5.7e9, 22.2e9),
        latency: lognormal(0.3e9, 13.6e9),
        retry: retry("openai-sdk"),
        per_call: Cost::Money(Amount::Constant(8_000)),
        per_turn: Cost::Money(lognormal(70_000.0, 200_000.0)),
        ..plain(name)
    }
}

/// The base, growth, output and compaction of the recorded agents, at a model's price.
fn growing() -> Cost {
    Cost::Context {
        base: 20_000,
        grows: 1_750,
        output: 252,
        compact_at: 200_000,
        compact_to: 25_000,
        price: price("claude-sonnet").cloned().unwrap_or_default(),
    }
}

/// Every client preset.
pub const PRESETS: &[Preset] = &[
    Preset {
        name: "llm-loop",
        summary: "an agent whose model asks for the same paid call again and again, slowed by its own thinking",
        source: TRACELAB,
        client: llm_loop,
    },
    Preset {
        name: "tool-hammer",
        summary: "an agent that calls a dear tool 29 times a minute, think 1.7 s and latency 0.36 s, $0.031 a call",
        source: MADE,
        client: |name| Client {
            think: Amount::Constant(1_700 * MS),
            latency: Amount::Constant(360 * MS),
            retry: retry("openai-sdk"),
            per_call: Cost::Money(Amount::Constant(31_000)),
            ..plain(name)
        },
    },
    Preset {
        name: "code-loop",
        summary: "a loop in code: no thinking, five calls a second, retried every 0.2 s for ever, $0.01 a call",
        source: MADE,
        client: |name| Client {
            latency: Amount::Constant(200 * MS),
            reject_latency: Amount::Constant(0),
            retry: retry("code-loop"),
            per_call: Cost::Money(Amount::Constant(10_000)),
            ..plain(name)
        },
    },
    Preset {
        name: "retry-storm",
        summary: "50 clients that all start at the same instant and try up to 8 times; jitter full unless said otherwise",
        source: "jitters as in \"Exponential Backoff And Jitter\", AWS Architecture Blog, 2015",
        client: |name| Client {
            count: 50,
            key: Key::One(name.to_string()),
            role: Role::Legitimate,
            useful_calls: None,
            cycle: 0,
            latency: Amount::Constant(100 * MS),
            retry: vec![Retry {
                policy: Policy::Exponential,
                max_attempts: 8,
                base: 500 * MS,
                multiplier: 2.0,
                max_delay: 60 * S,
                jitter: Jitter::Full,
                retry_after: RetryAfter::obeyed(Nanos::MAX),
                terminal: vec![402, 400, 403, 422],
                quota: None,
            }],
            limits: Limits { max_turns: Some(1), ..Limits::default() },
            per_call: Cost::Money(Amount::Constant(8_000)),
            on_give_up: Action::Stop,
            ..plain(name)
        },
    },
    Preset {
        name: "ping-pong",
        summary: "two agents that answer each other: two calls in turn, and a context that grows with every answer",
        source: TRACELAB,
        client: |name| Client { cycle: 2, per_turn: growing(), ..llm_loop(name) },
    },
    Preset {
        name: "fan-out",
        summary: "an llm-loop whose turns spawn 5 children with probability 0.2, four generations deep, 20 calls each",
        source: TRACELAB,
        client: |name| Client {
            fan_out: Some(FanOut { probability: 0.2, children: 5, max_depth: 4, calls: 20, max_agents: 10_000 }),
            ..llm_loop(name)
        },
    },
    Preset {
        name: "context-growth",
        summary: "an llm-loop that pays for a context which grows with every turn, and $0.01 a call",
        source: TRACELAB,
        client: |name| Client {
            per_turn: growing(),
            per_call: Cost::Money(Amount::Constant(10_000)),
            ..llm_loop(name)
        },
    },
    Preset {
        name: "legit-agent",
        summary: "an agent that serves a person: bursts of steps with long waits between, gives up on a refusal, at most 100 turns",
        source: TRACELAB,
        client: |name| Client {
            role: Role::Legitimate,
            useful_calls: None,
            cycle: 0,
            requests: Some((Amount::Lognormal { median: 2.0, p90: 21.0, max: Some(200) }, lognormal(86e9, 1_236e9))),
            retry: retry("none"),
            limits: Limits { max_turns: Some(100), ..Limits::default() },
            ..llm_loop(name)
        },
    },
    Preset {
        name: "legit-batch",
        summary: "20 workers through 1,000 items, latency 1/3 s, exponential waits with full jitter, obeys Retry-After",
        source: MADE,
        client: |name| Client {
            role: Role::Legitimate,
            useful_calls: None,
            cycle: 0,
            latency: lognormal(1e9, 3e9),
            concurrency: 20,
            retry: vec![Retry {
                policy: Policy::Exponential,
                max_attempts: 8,
                base: 500 * MS,
                multiplier: 2.0,
                max_delay: 60 * S,
                jitter: Jitter::Full,
                retry_after: RetryAfter::obeyed(Nanos::MAX),
                terminal: vec![402, 400, 403, 422],
                quota: None,
            }],
            limits: Limits { max_turns: Some(1_000), ..Limits::default() },
            per_call: Cost::Money(Amount::Constant(8_000)),
            ..plain(name)
        },
    },
    Preset {
        name: "plain",
        summary: "nothing set: one agent without thinking, latency, price or retries",
        source: MADE,
        client: plain,
    },
];

/// The preset called `name`.
pub fn preset(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::LIBRARIES;

    #[test]
    fn every_preset_has_a_name_of_its_own_and_a_source() {
        for (index, preset) in PRESETS.iter().enumerate() {
            assert!(PRESETS[..index].iter().all(|other| other.name != preset.name));
            assert!(!preset.source.is_empty() && !preset.summary.is_empty());
            let client = (preset.client)("agent");
            assert_eq!(client.name, "agent");
            assert!(!client.retry.is_empty() && client.count > 0, "{}", preset.name);
        }
        assert!(LIBRARIES.iter().all(|library| !library.source.is_empty()));
    }
}
