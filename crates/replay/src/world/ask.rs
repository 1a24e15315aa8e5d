//! A call in front of the guards: asked, admitted or refused, and what its client is told.

use super::agenda::Kind;
use super::agent::{AsRequest, Purpose};
use super::record::Record;
use super::turn::Stage;
use super::{World, honest, is_refusal};
use limiters::{Meter, Nanos, Outcome, Request, Stack, Verdict};
use traffic::clients::Failure;

/// Refusals whose hint is judged: all of the first, then one in so many.
const JUDGED: u64 = 1_000;
const THEN: u64 = 256;

impl World {
    pub(super) fn ask_turn(&mut self, index: u32, at: Nanos, stack: &mut Stack, record: &mut Record<'_>) {
        let slot = &self.slots[index as usize];
        let population = &self.populations[self.agents[slot.agent as usize].population];
        let mut request = slot.turn_paid.as_request(&Request::default());
        let whole = slot.turn_paid + slot.call_paid;
        if population.whole_tokens {
            request = Request { microusd: request.microusd, ..whole.as_request(&request) };
        }
        if population.whole_money {
            request.microusd = whole.microusd;
        }
        let guards = population.turn_guards;
        let Some(start) = self.ask(index, at, Stage::Turn, guards, request, stack, record) else { return };
        let think = self.slots[index as usize].think;
        self.pay_turn(index, at, stack);
        self.slots[index as usize].tries.fill(0);
        self.agenda.add(start.saturating_add(think), Kind::Tool, index);
    }

    pub(super) fn ask_tool(&mut self, index: u32, at: Nanos, stack: &mut Stack, record: &mut Record<'_>) {
        let slot = &self.slots[index as usize];
        let population = &self.populations[self.agents[slot.agent as usize].population];
        let guards = population.tool_guards;
        let request = slot.call_paid.as_request(&Request::default());
        let Some(start) = self.ask(index, at, Stage::Tool, guards, request, stack, record) else { return };
        let slot = &mut self.slots[index as usize];
        slot.status = 0;
        if self.service.is_none() {
            let latency = self.latency(index);
            self.pay_call(index, at);
            self.agenda.add(start.saturating_add(latency), Kind::Done, index);
        } else if start > at {
            self.agenda.add(start, Kind::Arrive, index);
        } else {
            self.arrive(index, at);
        }
    }

    /// How long an admitted call takes.
    pub(super) fn latency(&self, index: u32) -> Nanos {
        let slot = &self.slots[index as usize];
        let agent = &self.agents[slot.agent as usize];
        let drawn = || self.populations[agent.population].latency.at(agent.draws(Purpose::Latency).bits(slot.turn));
        slot.takes.unwrap_or_else(drawn)
    }

    /// Asks the guards; gives the time at which the call starts, or makes its client deal with the refusal.
    #[allow(clippy::too_many_arguments)] // a call and where it stands
    fn ask(
        &mut self,
        index: u32,
        at: Nanos,
        stage: Stage,
        guards: u64,
        request: Request,
        stack: &mut Stack,
        record: &mut Record<'_>,
    ) -> Option<Nanos> {
        let slot = &mut self.slots[index as usize];
        let agent = &self.agents[slot.agent as usize];
        let population = &self.populations[agent.population];
        let tally = &mut self.tallies[agent.population];
        let request = Request { at, key: agent.key, requests: slot.permits, call: slot.call, ..request };
        let late = |outcome: Outcome| {
            population.patience.is_some_and(|most| outcome.starts(at).is_some_and(|start| start - at > most))
        };
        let verdict = match guards {
            0 => Verdict { outcome: Outcome::Admitted, refused_by: None, ticket: None, asked: 0 },
            // Who would have to wait longer leaves before joining, so the limiter is not charged.
            _ if population.patience.is_some() && late(stack.peek_of(&request, guards)) => {
                Verdict { outcome: Outcome::Refused, refused_by: None, ticket: None, asked: 0 }
            }
            _ => stack.try_acquire_of(&request, guards),
        };
        let passes = verdict.outcome.passes();
        if stage == Stage::Tool || !passes {
            tally.attempts += 1;
            tally.asked_again += u64::from(slot.obeys);
            self.curve.attempt(at);
            self.alert.asked(at, passes);
            tally.last_attempt = Some(at - self.start);
        }
        if !passes || guards & self.counted != 0 || (self.counted == 0 && stage == Stage::Tool) {
            record.asked(&request, verdict.outcome);
        }
        if let Some(start) = verdict.outcome.starts(at) {
            if stage == Stage::Tool {
                tally.admitted += 1;
            }
            let ticket = match stage {
                Stage::Turn => &mut slot.turn_ticket,
                Stage::Tool => &mut slot.tool_ticket,
            };
            *ticket = verdict.ticket;
            slot.obeys = false;
            return Some(start);
        }
        tally.refused += 1;
        tally.refused_again += u64::from(slot.obeys);
        tally.first_refusal = tally.first_refusal.or(Some(at - self.start));
        let answer = stack.answer(&request, &verdict);
        let cap = verdict.refused_by.is_some_and(|guard| stack.guards()[guard].meter() == Meter::Spend);
        if cap {
            self.cap_reached = self.cap_reached.or(Some(at - self.start));
        }
        let judged = tally.refused <= JUDGED || tally.refused.is_multiple_of(THEN);
        if judged && is_refusal(verdict.outcome) && verdict.refused_by.is_some() && stack.guards().len() == 1 {
            self.hints.0 += 1;
            self.hints.1 += u64::from(honest(stack, &request));
        }
        // A header has whole seconds, rounded up so that it is not too early.
        let seconds = answer.as_ref().and_then(limiters::Answer::retry_after_seconds);
        let failure = Failure {
            status: answer.map_or(429, |answer| answer.status),
            retry_after: seconds.map(|seconds| seconds.saturating_mul(1_000_000_000)),
        };
        let bits = agent.draws(Purpose::Reject).part(slot.turn).bits(slot.attempts);
        let known = at.saturating_add(population.reject_latency.at(bits));
        self.fail(index, known, stage, failure, stack);
        None
    }
}
