//! What a scenario says about a client, already checked: plain values without positions or text.

use crate::clients::{Price, Scripts};
use crate::spec::Amount;
use limiters::Nanos;
use std::sync::Arc;

/// One population of agents. Times count from t = 0; money is in micro-dollars.
#[derive(Clone, Debug, PartialEq)]
pub struct Client {
    /// What reports call it.
    pub name: String,
    /// The preset it was made from.
    pub preset: Option<&'static str>,
    /// How many agents there are at the start; at least 1.
    pub count: u64,
    /// Whose limits they count against.
    pub key: Key,
    /// When they start.
    pub start: Start,
    /// Whose work it is.
    pub role: Role,
    /// Nanoseconds between a result and the next call; the first call of an agent has none before it.
    pub think: Amount,
    /// Steps of one request of a person, and the wait before the next request, for agents that serve people.
    pub requests: Option<(Amount, Amount)>,
    /// Nanoseconds that an admitted call takes, unless an upstream says how long.
    pub latency: Amount,
    /// Nanoseconds until a refusal is known.
    pub reject_latency: Amount,
    /// Calls in flight per agent; at least 1.
    pub concurrency: u64,
    /// Admitted calls of an agent after these count as waste; `None`: all are useful.
    pub useful_calls: Option<u64>,
    /// Calls that a loop repeats in turn once the useful ones are done: 1 is the same call again and again, 0 never repeats.
    pub cycle: u64,
    /// A delayed call that would wait longer counts as refused.
    pub patience: Option<Nanos>,
    /// Retry loops, the innermost (the client library's) first.
    pub retry: Vec<Retry>,
    /// What the agent does when they have given up.
    pub on_give_up: Action,
    /// What the agent does when they met a terminal status.
    pub on_terminal: Action,
    /// Guards on the agent's own side.
    pub limits: Limits,
    /// How agents spawn others.
    pub fan_out: Option<FanOut>,
    /// What a tool call costs.
    pub per_call: Cost,
    /// What the model call that asked for it costs.
    pub per_turn: Cost,
    /// Where guards on rates stand.
    pub rate: Stand,
    /// Where spending caps stand.
    pub cap: Stand,
    /// Whether a cap in front of the tool alone is told of the money that model calls cost, which it cannot refuse.
    pub cap_counts_turns: bool,
    /// Recorded calls, each script an agent; they bring keys, times and prices of their own. `count` is their number.
    pub scripts: Option<Arc<Scripts>>,
}

/// Whose limits an agent counts against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Key {
    /// All agents of the population share this key.
    One(String),
    /// Each agent has its own: `NAME-1`, `NAME-2` … Children have their parent's.
    Each(String),
}

/// When agents start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// All at this time.
    At(Nanos),
    /// Each at a time drawn evenly from 0 to this.
    Uniform(Nanos),
}

/// Whose work it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Its calls are what the guard is for.
    Rogue,
    /// Its calls are work that the guard costs.
    Legitimate,
}

impl Role {
    /// The role's name in scenarios and CSV files.
    pub fn name(self) -> &'static str {
        match self {
            Role::Rogue => "rogue",
            Role::Legitimate => "legitimate",
        }
    }
}

/// A retry loop.
#[derive(Clone, Debug, PartialEq)]
pub struct Retry {
    /// How it waits.
    pub policy: Policy,
    /// Tries, the first included; 0 is for ever.
    pub max_attempts: u64,
    /// Nanoseconds before the first retry.
    pub base: Nanos,
    /// Each further wait is so many times longer.
    pub multiplier: f64,
    /// Longest wait before jitter.
    pub max_delay: Nanos,
    /// How waits are spread.
    pub jitter: Jitter,
    /// What a Retry-After header means to it.
    pub retry_after: RetryAfter,
    /// Statuses that are never retried.
    pub terminal: Vec<u16>,
    /// Retries are paid from a budget of the agent's own.
    pub quota: Option<Quota>,
}

/// How a retry loop waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// It does not retry.
    None,
    /// It retries at once.
    Immediate,
    /// The same wait each time.
    Fixed,
    /// Longer each time.
    Exponential,
}

/// How a wait `v` is spread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Jitter {
    /// `v`.
    None,
    /// From 0 to `v`.
    Full,
    /// From `v/2` to `v`.
    Equal,
    /// From `base` to three times the wait before, at most the longest delay.
    Decorrelated,
    /// From so many percent below `v` to `v`.
    Down(u64),
    /// So many percent below or above `v`.
    PlusMinus(u64),
    /// From `v` to `v` plus so many nanoseconds.
    Additive(Nanos),
}

/// What a Retry-After header means to a retry loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryAfter {
    /// Longest wait obeyed; 0: none.
    pub longest: Nanos,
    /// What a longer one leads to.
    pub beyond: Beyond,
    /// How it goes with the loop's own wait.
    pub with_own: WithOwn,
    /// Without a header there is no retry.
    pub required: bool,
}

impl RetryAfter {
    /// Not looked at.
    pub const IGNORED: RetryAfter =
        RetryAfter { longest: 0, beyond: Beyond::Backoff, with_own: WithOwn::Instead, required: false };

    /// Obeyed up to `longest`, instead of the loop's own wait.
    pub const fn obeyed(longest: Nanos) -> RetryAfter {
        RetryAfter { longest, ..RetryAfter::IGNORED }
    }
}

/// What a wait longer than the longest obeyed leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beyond {
    /// The loop's own wait.
    Backoff,
    /// No retry.
    GiveUp,
}

/// How a server's wait goes with the loop's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithOwn {
    /// It replaces it.
    Instead,
    /// The longer of both.
    Longer,
    /// It replaces `v` before the jitter.
    BeforeJitter,
}

/// A budget of retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Full, as at the start.
    pub capacity: u64,
    /// What a retry takes. A success gives back what its last retry took, or 1.
    pub per_retry: u64,
}

/// What an agent does after a call that did not succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// It ends.
    Stop,
    /// The failure becomes a tool error in its context, and it takes its next turn.
    NextTurn,
}

/// Guards on the agent's own side; `None` is off.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Turns of an agent.
    pub max_turns: Option<u64>,
    /// No turn begins so long after the agent's start.
    pub max_duration: Option<Nanos>,
    /// An agent ends after so many identical calls in a row.
    pub identical_calls: Option<u64>,
}

/// How agents spawn others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FanOut {
    /// Probability that a turn spawns.
    pub probability: f64,
    /// Agents that it spawns.
    pub children: u64,
    /// Agents of this depth spawn no more; those of the start have depth 0.
    pub max_depth: u64,
    /// Turns of a spawned agent.
    pub calls: u64,
    /// No more than this many agents are ever spawned; the report says so when it happens.
    pub max_agents: u64,
}

/// What a call costs.
#[derive(Clone, Debug, PartialEq)]
pub enum Cost {
    /// Nothing.
    Free,
    /// Micro-dollars.
    Money(Amount),
    /// Tokens at a price.
    Tokens {
        /// Tokens sent.
        input: Amount,
        /// Tokens received.
        output: Amount,
        /// Tokens sent that were read from a cache.
        cache_read: Amount,
        /// Their price.
        price: Price,
    },
    /// A context that grows with each turn, is sent whole each time, and is read from a cache but for what is new.
    Context {
        /// Tokens at the start.
        base: u64,
        /// New tokens each turn.
        grows: u64,
        /// Tokens received each turn.
        output: u64,
        /// Above so many tokens the context is compacted.
        compact_at: u64,
        /// To so many.
        compact_to: u64,
        /// The price of a token.
        price: Price,
    },
}

/// Where a guard stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stand {
    /// In front of the tool call.
    Tool,
    /// In front of the model call and what follows from it.
    Turn,
    /// In front of each of them.
    Both,
}

impl Stand {
    /// The place's name in scenarios and CSV files.
    pub fn name(self) -> &'static str {
        match self {
            Stand::Tool => "tool",
            Stand::Turn => "turn",
            Stand::Both => "both",
        }
    }
}

/// What stands behind the guard.
#[derive(Clone, Debug, PartialEq)]
pub struct Upstream {
    /// Calls served at once; `None`: as many as come.
    pub concurrency: Option<u64>,
    /// Calls that may wait for a place; more are answered 503. `None`: as many as come.
    pub queue: Option<u64>,
    /// Nanoseconds that a call is served; `None`: the client's latency.
    pub service: Option<Amount>,
    /// Its own limit, answered 429: a bucket of so many calls, refilled at a rate.
    pub limit: Option<(u64, limiters::Rate)>,
    /// Share of served calls that end in status 500.
    pub error_rate: f64,
    /// Times in which every call is answered 503, as (from, to), half open.
    pub outages: Vec<(Nanos, Nanos)>,
    /// Whether calls that end in an error are paid for.
    pub bill_errors: bool,
}
