//! A population of agents, ready to play: laws instead of distributions, and the guards it meets.

use limiters::Nanos;
use std::sync::Arc;
use traffic::clients::spec::{Action, Client, FanOut, Limits, Retry, Stand};
use traffic::clients::{Bill, Law, Scripts};
use traffic::draw::Numbered;

/// Retry loops that a client may stack.
pub const MOST_LAYERS: usize = 4;

/// See [`Client`].
pub struct Population {
    pub name: String,
    pub think: Law,
    pub requests: Option<(Law, Law)>,
    pub latency: Law,
    pub reject_latency: Law,
    pub useful: u64,
    pub cycle: u64,
    pub patience: Option<u64>,
    pub retry: Vec<Retry>,
    pub on_give_up: Action,
    pub on_terminal: Action,
    pub limits: Limits,
    pub fan_out: Option<FanOut>,
    pub call: Bill,
    pub turn: Bill,
    /// Guards in front of the model call, and in front of the tool call.
    pub turn_guards: u64,
    pub tool_guards: u64,
    /// Whether the amount that a guard in front of the model call sees includes the tool call: tokens, and money.
    pub whole_tokens: bool,
    pub whole_money: bool,
    /// Caps that hear of model calls without being asked.
    pub told: u64,
    /// Calls in flight and agents to come that still do something.
    pub live: u64,
    /// Agents spawned so far.
    pub spawned: u64,
    /// Recorded calls, instead of everything above about turns.
    pub cue: Option<Cue>,
}

/// The scripts of a population and how far they have come.
pub struct Cue {
    pub scripts: Arc<Scripts>,
    /// Numbers of the scripts' keys.
    pub keys: Vec<u64>,
    /// From the start of the run to the time that scripts count from.
    pub offset: Nanos,
    /// Draws of the scripts, a part for each.
    pub draws: Numbered,
    /// Scripts that have started.
    pub entered: usize,
}

impl Population {
    /// `rates` and `caps` are the guards of each kind.
    pub fn new(client: &Client, rates: u64, caps: u64) -> Population {
        let at = |stand: Stand, places: [Stand; 2], mask: u64| if places.contains(&stand) { mask } else { 0 };
        let turn = [Stand::Turn, Stand::Both];
        let tool = [Stand::Tool, Stand::Both];
        Population {
            name: client.name.clone(),
            think: Law::new(&client.think),
            requests: client.requests.as_ref().map(|(steps, wait)| (Law::new(steps), Law::new(wait))),
            latency: Law::new(&client.latency),
            reject_latency: Law::new(&client.reject_latency),
            useful: client.useful_calls.unwrap_or(u64::MAX),
            cycle: client.cycle,
            patience: client.patience,
            retry: client.retry.iter().take(MOST_LAYERS).cloned().collect(),
            on_give_up: client.on_give_up,
            on_terminal: client.on_terminal,
            limits: client.limits,
            fan_out: client.fan_out,
            call: Bill::new(&client.per_call),
            turn: Bill::new(&client.per_turn),
            turn_guards: at(client.rate, turn, rates) | at(client.cap, turn, caps),
            tool_guards: at(client.rate, tool, rates) | at(client.cap, tool, caps),
            whole_tokens: client.rate == Stand::Turn,
            whole_money: client.cap == Stand::Turn,
            told: if client.cap == Stand::Tool && client.cap_counts_turns { caps } else { 0 },
            live: 0,
            spawned: 0,
            cue: None,
        }
    }

    /// What an agent has to pay for retries at first.
    pub fn quota(&self) -> Option<u64> {
        self.retry.iter().find_map(|retry| retry.quota).map(|quota| quota.capacity)
    }
}
