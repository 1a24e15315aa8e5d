//! A turn of an agent: how it begins, and what follows when its call is over, refused or given up.

use super::World;
use super::agenda::Kind;
use super::agent::{AsRequest, Purpose};
use super::record::Record;
use limiters::{Nanos, Request, Stack};
use traffic::clients::spec::Action;
use traffic::clients::{Failure, Next};

/// Which call of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The model call.
    Turn,
    /// The tool call.
    Tool,
}

impl Stage {
    fn event(self) -> Kind {
        match self {
            Stage::Turn => Kind::Turn,
            Stage::Tool => Kind::Tool,
        }
    }
}

impl World {
    /// Begins the next turn of a slot at `at`. Without `record`, which settlements do not have, a call that would be asked at
    /// this very instant waits for its place behind the settlements.
    pub(super) fn begin(&mut self, slot_index: u32, at: Nanos, stack: &mut Stack, record: Option<&mut Record<'_>>) {
        let slot = &mut self.slots[slot_index as usize];
        let agent = &mut self.agents[slot.agent as usize];
        let population = &mut self.populations[agent.population];
        if population.cue.is_some() {
            return self.begin_step(slot_index, at, stack, record);
        }
        let tally = &mut self.tallies[agent.population];
        let n = agent.turns;
        let limits = &population.limits;
        let old = limits.max_duration.is_some_and(|most| at - agent.started >= most);
        if agent.stopped || n >= agent.most_turns || old {
            population.live -= 1;
            return;
        }
        let looping = population.cycle > 0 && agent.done >= population.useful;
        let which = if looping { u64::MAX - n % population.cycle } else { n };
        slot.call = agent_call(agent.population, if looping { 0 } else { u64::from(slot.agent) + 1 }, which);
        let again = slot.call == agent.last_call;
        agent.in_a_row = if again { agent.in_a_row + 1 } else { 1 };
        agent.last_call = slot.call;
        if limits.identical_calls.is_some_and(|most| agent.in_a_row > most) {
            agent.stopped = true;
            tally.detected += 1;
            population.live -= 1;
            return;
        }
        agent.turns += 1;
        tally.turns += 1;
        slot.think = if slot.fresh { 0 } else { population.think.at(agent.draws(Purpose::Think).bits(n)) };
        slot.renew(n, &population.retry);
        slot.contexts = agent.contexts;
        slot.turn_paid = population.turn.of(agent.draws(Purpose::Turn), n, &mut slot.contexts[0]);
        slot.call_paid = population.call.of(agent.draws(Purpose::Call), n, &mut slot.contexts[1]);
        if let Some((steps, _)) = &population.requests {
            if agent.steps_left == 0 {
                agent.steps_left = steps.at(agent.draws(Purpose::Steps).bits(agent.requests)).max(1);
                agent.requests += 1;
            }
            agent.steps_left -= 1;
        }
        if population.turn_guards != 0 {
            match record {
                Some(record) => self.ask_turn(slot_index, at, stack, record),
                None => self.agenda.add(at, Kind::Turn, slot_index),
            }
            return;
        }
        let think = slot.think;
        self.pay_turn(slot_index, at, stack);
        match record {
            Some(record) if think == 0 => self.ask_tool(slot_index, at, stack, record),
            _ => self.agenda.add(at.saturating_add(think), Kind::Tool, slot_index),
        }
    }

    /// The model call is made and paid.
    pub(super) fn pay_turn(&mut self, slot_index: u32, at: Nanos, stack: &mut Stack) {
        let slot = &mut self.slots[slot_index as usize];
        let agent = &mut self.agents[slot.agent as usize];
        agent.contexts = slot.contexts;
        let told = self.populations[agent.population].told;
        if told != 0 && slot.turn_paid.microusd > 0 {
            let spent = Request { at, key: agent.key, microusd: slot.turn_paid.microusd, ..Request::default() };
            stack.charge_of(&spent, told);
            self.note_overshoot(spent.key, at, stack);
        }
        let slot = &self.slots[slot_index as usize];
        let agent = &self.agents[slot.agent as usize];
        self.tallies[agent.population].spent_turns += u128::from(slot.turn_paid.microusd);
        self.curve.spend(at, slot.turn_paid.microusd);
    }

    pub(super) fn pay_call(&mut self, slot: u32, at: Nanos) {
        let slot = &mut self.slots[slot as usize];
        slot.calls = slot.calls + slot.call_paid;
        let population = self.agents[slot.agent as usize].population;
        self.tallies[population].spent_calls += u128::from(slot.call_paid.microusd);
        self.curve.spend(at, slot.call_paid.microusd);
    }

    /// A tool call is over: well, or with a status from the upstream.
    pub(super) fn done(&mut self, index: u32, at: Nanos, stack: &mut Stack) {
        self.leave(index, at);
        let slot = &mut self.slots[index as usize];
        let failed = slot.status != 0;
        let billed = !failed || self.service.as_ref().is_some_and(|service| service.bills_errors);
        let call = if billed { slot.call_paid } else { Default::default() };
        if let Some(ticket) = slot.tool_ticket.take() {
            let asked = *ticket.asked();
            stack.settle(at, ticket, &call.as_request(&asked));
            self.note_overshoot(asked.key, at, stack);
        }
        if billed && self.service.is_some() {
            self.pay_call(index, at.min(self.end - 1));
        }
        let slot = &mut self.slots[index as usize];
        let agent = &mut self.agents[slot.agent as usize];
        let tally = &mut self.tallies[agent.population];
        if failed {
            tally.failed += 1;
            let failure = Failure { status: slot.status, retry_after: None };
            return self.fail(index, at, Stage::Tool, failure, stack);
        }
        agent.done += 1;
        if agent.done <= self.populations[agent.population].useful {
            tally.useful += 1;
            tally.last_useful = tally.last_useful.max(Some(at - self.start));
        } else {
            tally.wasted += 1;
        }
        if let Some(quota) = &mut agent.quota {
            let most = self.populations[agent.population].retry.iter().find_map(|retry| retry.quota);
            *quota = (*quota + slot.quota_taken.max(1)).min(most.map_or(u64::MAX, |quota| quota.capacity));
        }
        let (parent, turn) = (slot.agent as usize, slot.turn);
        self.settle_turn(index, at, stack);
        if self.over {
            return;
        }
        self.spawn(parent, turn, at);
        self.next_turn(index, at, stack);
    }

    /// Settles the model call and what was paid behind it, where one guard asked for both.
    pub(super) fn settle_turn(&mut self, index: u32, at: Nanos, stack: &mut Stack) {
        let slot = &mut self.slots[index as usize];
        let Some(ticket) = slot.turn_ticket.take() else { return };
        let population = &self.populations[self.agents[slot.agent as usize].population];
        let asked = *ticket.asked();
        let whole = slot.turn_paid + slot.calls;
        let mut actual = slot.turn_paid.as_request(&asked);
        if population.whole_tokens {
            actual = Request { microusd: actual.microusd, ..whole.as_request(&asked) };
        }
        if population.whole_money {
            actual.microusd = whole.microusd;
        }
        stack.settle(at, ticket, &actual);
        self.note_overshoot(asked.key, at, stack);
    }

    fn note_overshoot(&mut self, key: u64, at: Nanos, stack: &Stack) {
        if self.caps == 0 {
            return;
        }
        for (index, guard) in stack.guards().iter().enumerate().take(64) {
            if (self.caps >> index) & 1 == 1 {
                self.overshoot = self.overshoot.max(guard.overdrawn(key, at));
            }
        }
    }

    /// The turn is over; the next one begins, after a person's wait where a request of theirs is done.
    fn next_turn(&mut self, index: u32, at: Nanos, stack: &mut Stack) {
        let slot = &self.slots[index as usize];
        let agent = &self.agents[slot.agent as usize];
        if self.populations[agent.population].cue.is_some() {
            return self.next_step(index, at);
        }
        match &self.populations[agent.population].requests {
            Some((_, wait)) if agent.steps_left == 0 => {
                let wait = wait.at(agent.draws(Purpose::Wait).bits(agent.requests));
                self.agenda.add(at.saturating_add(wait), Kind::Begin, index);
            }
            _ if at > self.now => self.agenda.add(at, Kind::Begin, index),
            _ => self.begin(index, at, stack, None),
        }
    }

    /// A call did not succeed, which its client knows at `at`.
    pub(super) fn fail(&mut self, index: u32, at: Nanos, stage: Stage, failure: Failure, stack: &mut Stack) {
        if self.over {
            return;
        }
        let slot = &mut self.slots[index as usize];
        let agent = &mut self.agents[slot.agent as usize];
        let population = &self.populations[agent.population];
        slot.attempts += 1;
        let luck = agent.draws(Purpose::Retry).part(slot.turn);
        let mut terminal = false;
        for (layer, retry) in population.retry.iter().enumerate() {
            slot.tries[layer] += 1;
            let bits = luck.bits(slot.attempts * 8 + layer as u64);
            let next = retry.after(slot.tries[layer], slot.waited[layer], failure, bits);
            terminal = next == Next::Terminal;
            let Next::Again { wait, obeys } = next else { continue };
            if let (Some(quota), Some(left)) = (retry.quota, &mut agent.quota) {
                if *left < quota.per_retry {
                    continue;
                }
                *left -= quota.per_retry;
                slot.quota_taken = quota.per_retry;
            }
            slot.waited[layer] = wait;
            slot.tries[..layer].fill(0);
            slot.obeys = obeys;
            self.agenda.add(at.saturating_add(wait), stage.event(), index);
            return;
        }
        let tally = &mut self.tallies[agent.population];
        tally.gave_up += 1;
        tally.terminal += u64::from(terminal);
        let action = if terminal { population.on_terminal } else { population.on_give_up };
        // Without its model an agent does not think; whatever begins its next turn is taken to need as long.
        let pause = population.think.at(agent.draws(Purpose::Think).bits(slot.turn));
        agent.stopped |= action == Action::Stop;
        self.settle_turn(index, at, stack);
        match (action, stage) {
            (Action::Stop, _) => self.retire(index),
            (Action::NextTurn, Stage::Tool) => self.next_turn(index, at, stack),
            (Action::NextTurn, Stage::Turn) => self.agenda.add(at.saturating_add(pause), Kind::Begin, index),
        }
    }
}

/// A hash that tells calls apart and is never 0, which would be an unknown call.
pub(super) fn agent_call(population: usize, agent: u64, which: u64) -> u64 {
    let seed = traffic::draw::Numbered::new(population as u64, "call", agent, "");
    seed.bits(which).max(1)
}
