//! What stands behind the guard: places, a queue in front of them, its own limit, errors and outages.

use super::World;
use super::agenda::Kind;
use super::agent::Purpose;
use limiters::{Limiter, Nanos, Outcome, Plain, TokenBucket};
use std::collections::VecDeque;
use traffic::clients::Law;
use traffic::clients::spec::Upstream;

/// The upstream at work.
pub struct Service {
    free: u64,
    queue: VecDeque<u32>,
    most_waiting: u64,
    service: Option<Law>,
    limit: Option<Plain<TokenBucket<i128>>>,
    error_rate: f64,
    outages: Vec<(Nanos, Nanos)>,
    pub bills_errors: bool,
}

impl Service {
    pub fn new(upstream: &Upstream, start: Nanos) -> Service {
        let bucket = |(burst, rate)| TokenBucket::new(burst, rate).map(Plain::new);
        Service {
            free: upstream.concurrency.unwrap_or(u64::MAX),
            queue: VecDeque::new(),
            most_waiting: upstream.queue.unwrap_or(u64::MAX),
            service: upstream.service.as_ref().map(Law::new),
            limit: upstream.limit.and_then(bucket),
            error_rate: upstream.error_rate,
            outages: upstream.outages.iter().map(|(from, to)| (start + from, start + to)).collect(),
            bills_errors: upstream.bill_errors,
        }
    }
}

impl World {
    /// A call reaches the upstream.
    pub(super) fn arrive(&mut self, index: u32, at: Nanos) {
        let Some(service) = &mut self.service else { return };
        let slot = &mut self.slots[index as usize];
        let agent = &self.agents[slot.agent as usize];
        let down = service.outages.iter().any(|(from, to)| (*from..*to).contains(&at));
        let status = if down {
            503
        } else if service.limit.as_mut().is_some_and(|bucket| bucket.try_acquire(at, 1) != Outcome::Admitted) {
            429
        } else if service.free == 0 && service.queue.len() as u64 >= service.most_waiting {
            503
        } else if service.free == 0 {
            service.queue.push_back(index);
            return;
        } else {
            service.free -= 1;
            return self.serve(index, at);
        };
        slot.status = status;
        slot.served = false;
        let bits = agent.draws(Purpose::Reject).part(slot.turn).bits(slot.attempts);
        let known = at.saturating_add(self.populations[agent.population].reject_latency.at(bits));
        self.agenda.add(known, Kind::Done, index);
    }

    /// A call takes the place that is free for it.
    fn serve(&mut self, index: u32, at: Nanos) {
        let Some(service) = &self.service else { return };
        let latency = self.latency(index);
        let slot = &mut self.slots[index as usize];
        let agent = &self.agents[slot.agent as usize];
        let draw = |purpose| agent.draws(purpose).part(slot.turn).bits(slot.attempts);
        let time = match &service.service {
            Some(law) => law.at(draw(Purpose::Service)),
            None => latency,
        };
        let unlucky = (draw(Purpose::Error) >> 11) as f64 / (1u64 << 53) as f64;
        slot.status = if unlucky < service.error_rate { 500 } else { 0 };
        slot.served = true;
        self.agenda.add(at.saturating_add(time), Kind::Done, index);
    }

    /// A call gives its place to the one that waits longest.
    pub(super) fn leave(&mut self, index: u32, at: Nanos) {
        let Some(service) = &mut self.service else { return };
        if !std::mem::take(&mut self.slots[index as usize].served) {
            return;
        }
        match service.queue.pop_front() {
            Some(next) => self.serve(next, at),
            None => service.free = service.free.saturating_add(1),
        }
    }
}
