//! Agents and their calls in flight, and how they come into the world.

use super::agenda::Kind;
use super::population::MOST_LAYERS;
use super::{Cast, World};
use limiters::{Nanos, Request, Ticket};
use traffic::clients::spec::{Client, Retry, Start};
use traffic::clients::{Paid, share};
use traffic::draw::Numbered;

/// What a draw of an agent is for.
#[derive(Clone, Copy)]
pub enum Purpose {
    Start,
    Think,
    Latency,
    Reject,
    Call,
    Turn,
    Retry,
    Steps,
    Wait,
    Spawn,
    Child,
    Service,
    Error,
}

/// One agent.
pub struct Agent {
    pub population: usize,
    draws: Numbered,
    /// Key of its limits.
    pub key: u64,
    pub started: Nanos,
    pub depth: u64,
    /// Turns begun, and how many there may be.
    pub turns: u64,
    pub most_turns: u64,
    /// Calls that succeeded.
    pub done: u64,
    pub stopped: bool,
    /// Context of its model calls and of its tool calls, in tokens.
    pub contexts: [u64; 2],
    /// Steps left of a person's request, and requests so far.
    pub steps_left: u64,
    pub requests: u64,
    /// What is left to pay for retries.
    pub quota: Option<u64>,
    /// The last call and how often it came in a row.
    pub last_call: u64,
    pub in_a_row: u64,
    /// Number of its script among the population's, where it has one.
    pub script: u32,
}

impl Agent {
    pub fn new(population: usize, draws: Numbered, key: u64, started: Nanos) -> Agent {
        Agent {
            population,
            draws,
            key,
            started,
            depth: 0,
            turns: 0,
            most_turns: u64::MAX,
            done: 0,
            stopped: false,
            contexts: [0; 2],
            steps_left: 0,
            requests: 0,
            quota: None,
            last_call: 0,
            in_a_row: 0,
            script: 0,
        }
    }

    pub fn draws(&self, purpose: Purpose) -> Numbered {
        self.draws.part(purpose as u64)
    }
}

/// One call in flight, or the thought before it.
pub struct Slot {
    pub agent: u32,
    /// Number of the turn among the agent's.
    pub turn: u64,
    /// No turn has begun yet.
    pub fresh: bool,
    pub think: Nanos,
    pub turn_paid: Paid,
    pub call_paid: Paid,
    /// Tool calls paid in this turn: more than one where errors are billed and tried again.
    pub calls: Paid,
    /// Contexts once this turn has been paid.
    pub contexts: [u64; 2],
    /// Hash of the call.
    pub call: u64,
    /// Permits that it asks for, and nanoseconds that it takes where that was recorded.
    pub permits: u64,
    pub takes: Option<Nanos>,
    /// Tries in this turn, tries of each retry loop since it began, and its last wait.
    pub attempts: u64,
    pub tries: [u64; MOST_LAYERS],
    pub waited: [Nanos; MOST_LAYERS],
    pub turn_ticket: Option<Ticket>,
    pub tool_ticket: Option<Ticket>,
    /// What the last retry took from the quota.
    pub quota_taken: u64,
    /// The try that comes obeys a server's wait.
    pub obeys: bool,
    /// Status that the upstream will answer; 0 is a success.
    pub status: u16,
    /// It has a place at the upstream.
    pub served: bool,
}

impl Slot {
    pub fn new(agent: u32) -> Slot {
        Slot {
            agent,
            turn: 0,
            fresh: true,
            think: 0,
            turn_paid: Paid::default(),
            call_paid: Paid::default(),
            calls: Paid::default(),
            contexts: [0; 2],
            call: 0,
            permits: 1,
            takes: None,
            attempts: 0,
            tries: [0; MOST_LAYERS],
            waited: [0; MOST_LAYERS],
            turn_ticket: None,
            tool_ticket: None,
            quota_taken: 0,
            obeys: false,
            status: 0,
            served: false,
        }
    }

    /// A new turn: nothing was tried in it yet.
    pub fn renew(&mut self, turn: u64, retry: &[Retry]) {
        self.turn = turn;
        self.fresh = false;
        self.calls = Paid::default();
        self.attempts = 0;
        self.tries.fill(0);
        for (waited, retry) in self.waited.iter_mut().zip(retry) {
            *waited = retry.base;
        }
        self.quota_taken = 0;
        self.obeys = false;
    }
}

/// Amounts of a call as a guard meters them.
pub trait AsRequest {
    /// `asked` with these amounts instead of its own.
    fn as_request(&self, asked: &Request) -> Request;
}

impl AsRequest for Paid {
    fn as_request(&self, asked: &Request) -> Request {
        Request {
            input_tokens: self.input,
            output_tokens: self.output,
            cache_read_tokens: self.cache_read,
            cache_write_tokens: self.cache_write,
            microusd: self.microusd,
            ..*asked
        }
    }
}

impl World {
    /// Puts every agent of the start on the agenda.
    pub(super) fn enter(&mut self, cast: &Cast) {
        for (population, client) in cast.clients.iter().enumerate() {
            if let Some(scripts) = &client.scripts {
                self.cue(population, client, scripts, cast);
                continue;
            }
            for index in 0..client.count {
                let draws = Numbered::new(cast.seed, "client", index, &client.name);
                let keys = &cast.keys[population];
                let key = keys.get(index as usize).or(keys.first()).copied().unwrap_or(0);
                let at = self.start.saturating_add(starts(client, draws));
                let turns = client.limits.max_turns.unwrap_or(u64::MAX);
                self.add_agent(population, draws, key, at, 0, turns, client.concurrency);
            }
        }
    }

    #[allow(clippy::too_many_arguments)] // what an agent is, each once
    pub(super) fn add_agent(
        &mut self,
        population: usize,
        draws: Numbered,
        key: u64,
        at: Nanos,
        depth: u64,
        most_turns: u64,
        slots: u64,
    ) {
        let useful = self.populations[population].useful;
        let agent = self.agents.len() as u32;
        self.agents.push(Agent {
            depth,
            most_turns,
            // What a runaway spawns does nothing useful.
            done: if depth > 0 && useful != u64::MAX { useful } else { 0 },
            quota: self.populations[population].quota(),
            ..Agent::new(population, draws, key, at)
        });
        self.tallies[population].agents += 1;
        for _ in 0..slots {
            let slot = self.slots.len() as u32;
            self.slots.push(Slot::new(agent));
            self.populations[population].live += 1;
            self.agenda.add(at, Kind::Begin, slot);
        }
    }

    /// Spawns the children of a turn.
    pub(super) fn spawn(&mut self, parent: usize, turn: u64, at: Nanos) {
        let agent = &self.agents[parent];
        let (population, key, depth) = (agent.population, agent.key, agent.depth);
        let Some(fan_out) = self.populations[population].fan_out else { return };
        // The share of 2^64 below which a draw means yes.
        let yes = (agent.draws(Purpose::Spawn).bits(turn) >> 11) as f64 / (1u64 << 53) as f64;
        if depth >= fan_out.max_depth || yes >= fan_out.probability {
            return;
        }
        let draws = agent.draws(Purpose::Child).part(turn);
        for child in 0..fan_out.children {
            if self.populations[population].spawned >= fan_out.max_agents {
                self.tallies[population].not_spawned += 1;
                continue;
            }
            self.populations[population].spawned += 1;
            self.add_agent(population, draws.part(child), key, at, depth + 1, fan_out.calls, 1);
        }
    }
}

fn starts(client: &Client, draws: Numbered) -> Nanos {
    match client.start {
        Start::At(at) => at,
        Start::Uniform(most) => share(draws.part(Purpose::Start as u64).bits(0), most),
    }
}
