//! Agents that call again: one population of a client preset, in front of a limiter or, as its twin, of nothing.

use limiters::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use traffic::clients::spec::{Action, Client, FanOut, Quota, Retry};
use traffic::clients::{Bill, Failure, Law, Next, Paid, share};
use traffic::draw::Numbered;

/// What a crowd has done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls that were asked for, retries included.
    pub asked: u64,
    /// Turns begun.
    pub turns: u64,
    /// Calls of use that came back.
    pub useful: u64,
    /// Micro-dollars for model calls and for tool calls.
    pub spent: u64,
    /// Agents there are or were.
    pub agents: u64,
}

/// What an agent is told: when an admitted call starts, or the refusal.
pub type Told = Result<Nanos, Failure>;

/// What an agent asks for.
pub enum Ask {
    /// Whether a tool call of this price may be made.
    Tool(Paid),
    /// Nothing: this money was spent on a model call.
    Turn(Paid),
}

/// A population at work. Time goes event by event; every draw is by number, so that a refusal shifts none.
pub struct Crowd {
    /// What it has done.
    pub tally: Tally,
    rules: Rules,
    draws: Numbered,
    agents: Vec<Agent>,
    slots: Vec<Slot>,
    agenda: BinaryHeap<Reverse<(Nanos, u64, usize, Step)>>,
    events: u64,
}

/// The client's laws.
struct Rules {
    think: Law,
    requests: Option<(Law, Law)>,
    latency: Law,
    reject_latency: Law,
    useful: u64,
    patience: Option<Nanos>,
    retry: Vec<Retry>,
    on_give_up: Action,
    on_terminal: Action,
    most_turns: u64,
    fan_out: Option<FanOut>,
    call: Bill,
    turn: Bill,
    concurrency: u64,
}

struct Agent {
    draws: Numbered,
    depth: u64,
    turns: u64,
    most_turns: u64,
    done: u64,
    stopped: bool,
    contexts: [u64; 2],
    steps_left: u64,
    requests: u64,
    quota: Option<u64>,
}

struct Slot {
    agent: usize,
    turn: u64,
    fresh: bool,
    paid: Paid,
    attempts: u64,
    tries: Vec<u64>,
    waited: Vec<Nanos>,
    quota_taken: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Done,
    Fail(u16, Option<Nanos>),
    Begin,
    Tool,
}

#[derive(Clone, Copy)]
enum Purpose {
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
}

impl Crowd {
    /// The agents of `client`, who all begin at `now`.
    pub fn new(client: &Client, now: Nanos) -> Crowd {
        let rules = Rules {
            think: Law::new(&client.think),
            requests: client.requests.as_ref().map(|(steps, wait)| (Law::new(steps), Law::new(wait))),
            latency: Law::new(&client.latency),
            reject_latency: Law::new(&client.reject_latency),
            useful: client.useful_calls.unwrap_or(u64::MAX),
            patience: client.patience,
            retry: client.retry.clone(),
            on_give_up: client.on_give_up,
            on_terminal: client.on_terminal,
            most_turns: client.limits.max_turns.unwrap_or(u64::MAX),
            fan_out: client.fan_out,
            call: Bill::new(&client.per_call),
            turn: Bill::new(&client.per_turn),
            concurrency: client.concurrency,
        };
        let mut crowd = Crowd {
            tally: Tally::default(),
            draws: Numbered::new(0, "playground", 0, "agents"),
            agents: Vec::new(),
            slots: Vec::new(),
            agenda: BinaryHeap::new(),
            events: 0,
            rules,
        };
        for _ in 0..client.count {
            let (draws, most) = (crowd.draws.part(crowd.agents.len() as u64), crowd.rules.most_turns);
            crowd.enter(draws, 0, most, now);
        }
        crowd
    }

    /// When something happens next; `None` when every agent has stopped.
    pub fn next(&self) -> Option<Nanos> {
        self.agenda.peek().map(|Reverse((at, ..))| *at)
    }

    /// Lets the next thing happen. `ask` is told what an agent wants and when.
    pub fn step(&mut self, ask: &mut dyn FnMut(Nanos, Ask) -> Told) {
        let Some(Reverse((at, _, slot, step))) = self.agenda.pop() else { return };
        match step {
            Step::Begin => self.begin(slot, at, ask),
            Step::Tool => self.tool(slot, at, ask),
            Step::Done => self.done(slot, at),
            Step::Fail(status, retry_after) => self.fail(slot, at, Failure { status, retry_after }),
        }
    }

    fn enter(&mut self, draws: Numbered, depth: u64, most_turns: u64, at: Nanos) {
        let quota = self.rules.retry.iter().find_map(|retry| retry.quota).map(|quota: Quota| quota.capacity);
        let agent = self.agents.len();
        self.agents.push(Agent {
            draws,
            depth,
            turns: 0,
            most_turns,
            done: 0,
            stopped: false,
            contexts: [0; 2],
            steps_left: 0,
            requests: 0,
            quota,
        });
        self.tally.agents += 1;
        for _ in 0..self.rules.concurrency.max(1) {
            let layers = self.rules.retry.len();
            self.slots.push(Slot {
                agent,
                turn: 0,
                fresh: true,
                paid: Paid::default(),
                attempts: 0,
                tries: vec![0; layers],
                waited: vec![0; layers],
                quota_taken: 0,
            });
            self.add(at, self.slots.len() - 1, Step::Begin);
        }
    }

    fn add(&mut self, at: Nanos, slot: usize, step: Step) {
        self.events += 1;
        self.agenda.push(Reverse((at, self.events, slot, step)));
    }

    fn begin(&mut self, index: usize, at: Nanos, ask: &mut dyn FnMut(Nanos, Ask) -> Told) {
        let (slot, rules) = (&mut self.slots[index], &self.rules);
        let agent = &mut self.agents[slot.agent];
        if agent.stopped || agent.turns >= agent.most_turns {
            return;
        }
        let n = agent.turns;
        agent.turns += 1;
        self.tally.turns += 1;
        slot.turn = n;
        let turn = rules.turn.of(agent.draws.part(Purpose::Turn as u64), n, &mut agent.contexts[0]);
        slot.paid = rules.call.of(agent.draws.part(Purpose::Call as u64), n, &mut agent.contexts[1]);
        let think = if slot.fresh { 0 } else { rules.think.at(agent.draws.part(Purpose::Think as u64).bits(n)) };
        slot.fresh = false;
        slot.attempts = 0;
        slot.tries.fill(0);
        for (waited, retry) in slot.waited.iter_mut().zip(&rules.retry) {
            *waited = retry.base;
        }
        if let Some((steps, _)) = &rules.requests {
            if agent.steps_left == 0 {
                agent.steps_left = steps.at(agent.draws.part(Purpose::Steps as u64).bits(agent.requests)).max(1);
                agent.requests += 1;
            }
            agent.steps_left -= 1;
        }
        if turn.microusd > 0 {
            self.tally.spent += turn.microusd;
            let _ = ask(at, Ask::Turn(turn));
        }
        self.add(at.saturating_add(think), index, Step::Tool);
    }

    fn tool(&mut self, index: usize, at: Nanos, ask: &mut dyn FnMut(Nanos, Ask) -> Told) {
        let slot = &self.slots[index];
        let (draws, turn) = (self.agents[slot.agent].draws, slot.turn);
        self.tally.asked += 1;
        match ask(at, Ask::Tool(slot.paid)) {
            Ok(start) if self.rules.patience.is_none_or(|patience| start - at <= patience) => {
                self.tally.spent += self.slots[index].paid.microusd;
                let latency = self.rules.latency.at(draws.part(Purpose::Latency as u64).bits(turn));
                self.add(start.saturating_add(latency), index, Step::Done);
            }
            told => {
                let failure = told.err().unwrap_or(Failure { status: 429, retry_after: None });
                let luck = draws.part(Purpose::Reject as u64).part(turn);
                let known = self.rules.reject_latency.at(luck.bits(self.slots[index].attempts));
                self.add(at.saturating_add(known), index, Step::Fail(failure.status, failure.retry_after));
            }
        }
    }

    fn done(&mut self, index: usize, at: Nanos) {
        let slot = &self.slots[index];
        let (parent, turn, taken) = (slot.agent, slot.turn, slot.quota_taken);
        let agent = &mut self.agents[parent];
        agent.done += 1;
        self.tally.useful += u64::from(agent.done <= self.rules.useful);
        if let Some(quota) = &mut agent.quota {
            let most = self.rules.retry.iter().find_map(|retry| retry.quota);
            *quota = (*quota + taken.max(1)).min(most.map_or(u64::MAX, |quota| quota.capacity));
        }
        self.spawn(parent, turn, at);
        self.next_turn(index, at);
    }

    fn spawn(&mut self, parent: usize, turn: u64, at: Nanos) {
        let Some(fan_out) = self.rules.fan_out else { return };
        let (depth, draws) = (self.agents[parent].depth, self.agents[parent].draws);
        // A probability as a share of a billion.
        let lot = share(draws.part(Purpose::Spawn as u64).bits(turn), 999_999_999);
        if depth >= fan_out.max_depth || lot as f64 >= fan_out.probability * 1e9 {
            return;
        }
        for child in 0..fan_out.children {
            if self.tally.agents >= fan_out.max_agents {
                return;
            }
            let draws = draws.part(Purpose::Child as u64).part(turn).part(child);
            self.enter(draws, depth + 1, fan_out.calls, at);
        }
    }

    fn next_turn(&mut self, index: usize, at: Nanos) {
        let agent = &self.agents[self.slots[index].agent];
        let wait = match &self.rules.requests {
            Some((_, wait)) if agent.steps_left == 0 => {
                wait.at(agent.draws.part(Purpose::Wait as u64).bits(agent.requests))
            }
            _ => 0,
        };
        self.add(at.saturating_add(wait), index, Step::Begin);
    }

    fn fail(&mut self, index: usize, at: Nanos, failure: Failure) {
        let slot = &mut self.slots[index];
        let agent = &mut self.agents[slot.agent];
        slot.attempts += 1;
        let luck = agent.draws.part(Purpose::Retry as u64).part(slot.turn);
        let mut terminal = false;
        for (layer, retry) in self.rules.retry.iter().enumerate() {
            slot.tries[layer] += 1;
            let bits = luck.bits(slot.attempts * 8 + layer as u64);
            let next = retry.after(slot.tries[layer], slot.waited[layer], failure, bits);
            terminal = next == Next::Terminal;
            let Next::Again { wait, .. } = next else { continue };
            if let (Some(quota), Some(left)) = (retry.quota, &mut agent.quota) {
                if *left < quota.per_retry {
                    continue;
                }
                *left -= quota.per_retry;
                slot.quota_taken = quota.per_retry;
            }
            slot.waited[layer] = wait;
            slot.tries[..layer].fill(0);
            return self.add(at.saturating_add(wait), index, Step::Tool);
        }
        match if terminal { self.rules.on_terminal } else { self.rules.on_give_up } {
            Action::Stop => agent.stopped = true,
            Action::NextTurn => self.next_turn(index, at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use traffic::clients::preset;

    const S: Nanos = 1_000_000_000;

    fn run(name: &str, until: Nanos, answer: &mut dyn FnMut(Nanos) -> Told) -> Tally {
        let mut crowd = Crowd::new(&(preset(name).unwrap().client)("agent"), 0);
        while crowd.next().is_some_and(|at| at < until) {
            crowd.step(&mut |at, ask| if matches!(ask, Ask::Tool(_)) { answer(at) } else { Ok(at) });
        }
        crowd.tally
    }

    #[test]
    fn presets_make_the_calls_that_their_figures_give() {
        let free = run("code-loop", 8 * 3600 * S, &mut Ok);
        assert_eq!((free.asked, free.spent), (144_000, 1_440_000_000));
        let hammer = run("tool-hammer", 8 * 3600 * S, &mut Ok);
        assert_eq!((hammer.asked, hammer.spent), (13_981, 433_411_000));
    }

    #[test]
    fn a_refused_code_loop_comes_back_five_times_a_second_and_pays_nothing() {
        let refused = run("code-loop", 10 * S, &mut |_| Err(Failure { status: 429, retry_after: None }));
        assert_eq!((refused.asked, refused.spent, refused.turns), (50, 0, 1));
    }

    #[test]
    fn a_batch_ends_when_its_items_are_done() {
        let batch = run("legit-batch", 10_000 * S, &mut Ok);
        assert_eq!((batch.turns, batch.useful), (1_000, 1_000));
    }
}
