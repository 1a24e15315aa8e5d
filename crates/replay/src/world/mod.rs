//! The closed-loop world: clients that react to what a limiter says, each limiter in a world of its own from the same seed.
//!
//! The loop is a queue of events in virtual time. At one instant calls are settled before any is asked, then clients come in
//! the order of the file. Every draw belongs to a turn of an agent ([`traffic::draw::Numbered`]), so two worlds of one seed
//! differ by their limiter alone. A call is paid when it is admitted (behind an upstream: when it is answered), a model call
//! when it is made; what was begun within the run is paid, even if it ends after it.

mod agenda;
mod agent;
mod alert;
mod ask;
#[cfg(test)]
mod balance;
mod population;
mod record;
mod script;
mod tally;
mod turn;
mod upstream;

pub use population::MOST_LAYERS;
pub use record::Record;
pub use tally::{Curve, PULSE, Step, Tally};

use agenda::{Agenda, Event, Kind};
use agent::{Agent, Slot};
use alert::Alert;
use limiters::{Batch, Guard, Meter, Nanos, Outcome, Request, Stack};
use population::Population;
use traffic::clients::spec::{Client, Role, Upstream};
use upstream::Service;

/// Events at one instant after which time is taken to stand still, beside those that the number of agents explains.
const STANDSTILL: u64 = 1_000_000;
/// Events of one world at most.
const MOST_EVENTS: u64 = 4_000_000_000;

/// What every world of a run is made from.
#[derive(Clone, Debug)]
pub struct Cast {
    /// The populations.
    pub clients: Vec<Client>,
    /// Numbers of their agents' keys: one where all share it, else one for each agent.
    pub keys: Vec<Vec<u64>>,
    /// What stands behind the guard.
    pub upstream: Option<Upstream>,
    /// Seed of every draw.
    pub seed: u64,
    /// Absolute time of t = 0.
    pub start: Nanos,
    /// Length of the run; half-open.
    pub duration: Nanos,
    /// Width of a step in the curve of spending.
    pub bin: Nanos,
}

impl Cast {
    /// The same without its rogues.
    pub fn without_rogues(&self) -> Cast {
        let stays = |index: &usize| self.clients[*index].role != Role::Rogue;
        let kept: Vec<usize> = (0..self.clients.len()).filter(stays).collect();
        Cast {
            clients: kept.iter().map(|&index| self.clients[index].clone()).collect(),
            keys: kept.iter().map(|&index| self.keys[index].clone()).collect(),
            ..self.clone()
        }
    }
}

/// Calls that these clients can have in flight at once.
pub fn most_in_flight(clients: &[Client]) -> u64 {
    let of = |client: &Client| {
        let slots = client.count.saturating_mul(client.concurrency);
        slots.saturating_add(client.fan_out.map_or(0, |fan_out| fan_out.max_agents))
    };
    clients.iter().fold(0u64, |sum, client| sum.saturating_add(of(client)))
}

/// The largest of some requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Largest {
    /// Most permits of one.
    pub permits: u64,
    /// Dearest price of one, in micro-dollars.
    pub microusd: u64,
    /// One costs money and no permit.
    pub free: bool,
}

impl Largest {
    /// Another request.
    #[inline]
    pub fn see(&mut self, permits: u64, microusd: u64) {
        self.permits = self.permits.max(permits);
        self.microusd = self.microusd.max(microusd);
        self.free |= permits == 0 && microusd > 0;
    }
}

/// A world: agents, their calls in flight, and what came of them.
pub struct World {
    populations: Vec<Population>,
    agents: Vec<Agent>,
    slots: Vec<Slot>,
    /// Slots, with their agents, whose script is over.
    free: Vec<u32>,
    agenda: Agenda,
    service: Option<Service>,
    start: Nanos,
    end: Nanos,
    over: bool,
    /// Guards that count what the lane counts.
    counted: u64,
    caps: u64,
    now: Nanos,
    at_once: u64,
    /// Events so far.
    pub events: u64,
    /// Why the world stopped before its time.
    pub failed: Option<String>,
    /// What came of each population, in the order of the file.
    pub tallies: Vec<Tally>,
    /// Spending and attempts over time.
    pub curve: Curve,
    /// When somebody would have been told.
    pub alert: Alert,
    /// Money of admitted requests that are not from clients.
    pub open_spent: u128,
    /// The largest of them, in permits and in micro-dollars, and whether one has a price and needs no permit.
    pub open_most: Largest,
    /// First time a spending cap refused.
    pub cap_reached: Option<Nanos>,
    /// Most that was charged beyond a cap, in micro-dollars; estimates still held are not charged.
    pub overshoot: u64,
    /// Refusals whose retry-after was judged, and those that were enough and not too long.
    pub hints: (u64, u64),
}

impl World {
    /// A world in front of these guards, of which those under `meter` are counted.
    pub fn new(cast: &Cast, guards: &[Guard], meter: Meter) -> World {
        let bit = |index: usize| 1u64.checked_shl(index as u32).unwrap_or(0);
        let of = |wanted: &dyn Fn(Meter) -> bool| {
            let those = guards.iter().enumerate().filter(|(_, guard)| wanted(guard.meter()));
            those.fold(0, |mask, (index, _)| mask | bit(index))
        };
        let caps = of(&|meter| meter == Meter::Spend);
        let rates = of(&|meter| meter != Meter::Spend);
        let end = cast.start.saturating_add(cast.duration);
        let mut world = World {
            populations: cast.clients.iter().map(|client| Population::new(client, rates, caps)).collect(),
            agents: Vec::new(),
            slots: Vec::new(),
            free: Vec::new(),
            agenda: Agenda::default(),
            service: cast.upstream.as_ref().map(|upstream| Service::new(upstream, cast.start)),
            start: cast.start,
            end,
            over: false,
            counted: of(&|other| other == meter),
            caps,
            now: cast.start,
            at_once: 0,
            events: 0,
            failed: None,
            tallies: cast.clients.iter().map(Tally::new).collect(),
            curve: Curve::new(cast.start, cast.duration, cast.bin),
            alert: Alert::new(cast.start),
            open_spent: 0,
            open_most: Largest::default(),
            cap_reached: None,
            overshoot: 0,
            hints: (0, 0),
        };
        world.enter(cast);
        world
    }

    /// Plays everything before the requests at `until`: settlements at that instant too, calls not.
    pub fn advance(&mut self, until: Nanos, stack: &mut Stack, record: &mut Record<'_>) {
        let kind = if until < self.end { Kind::Begin } else { Kind::Done };
        let limit = Event { at: until.min(self.end), kind, slot: 0 }.key();
        while let Some(event) = self.agenda.next_before(limit) {
            self.step(event, stack, record);
            if self.failed.is_some() {
                return;
            }
        }
    }

    /// Asks for requests of the open-loop traffic, one after the other between the clients' calls.
    pub fn feed(&mut self, batch: &Batch, stack: &mut Stack, record: &mut Record<'_>) {
        for index in 0..batch.len() {
            let request = batch.get(index);
            self.open_most.see(request.requests, request.microusd);
            self.advance(request.at, stack, record);
            if self.failed.is_some() {
                return;
            }
            record.reach(request.at, stack);
            let verdict = stack.try_acquire(&request);
            record.asked(&request, verdict.outcome);
            self.alert.asked(request.at, verdict.outcome.passes());
            self.curve.attempt(request.at);
            if let Some(ticket) = verdict.ticket {
                stack.settle(request.at, ticket, &request);
                self.open_spent += u128::from(request.microusd);
                self.curve.spend(request.at, request.microusd);
            }
        }
    }

    /// Ends the run: calls in flight are settled, nothing new is asked.
    pub fn finish(&mut self, stack: &mut Stack, record: &mut Record<'_>) {
        self.advance(self.end, stack, record);
        record.flush();
        self.over = true;
        while let Some(event) = self.agenda.next() {
            if event.kind == Kind::Done {
                self.done(event.slot, event.at, stack);
            }
        }
        for index in 0..self.slots.len() as u32 {
            let asked = self.slots[index as usize].turn_ticket.as_ref().map(|ticket| ticket.asked().at);
            self.settle_turn(index, asked.map_or(self.end, |asked| asked.max(self.end)), stack);
        }
        self.curve.finish();
        self.alert.finish(self.end);
        for (tally, population) in self.tallies.iter_mut().zip(&self.populations) {
            tally.finish(population.live == 0);
        }
    }

    fn step(&mut self, event: Event, stack: &mut Stack, record: &mut Record<'_>) {
        self.events += 1;
        if event.at > self.now {
            self.now = event.at;
            self.at_once = 0;
        }
        self.at_once += 1;
        if self.at_once > STANDSTILL + 64 * self.slots.len() as u64 || self.events > MOST_EVENTS {
            self.failed = Some(self.why_stopped(event));
            return;
        }
        record.reach(event.at, stack);
        match event.kind {
            Kind::Done => self.done(event.slot, event.at, stack),
            Kind::Begin => self.begin(event.slot, event.at, stack, Some(record)),
            Kind::Turn => self.ask_turn(event.slot, event.at, stack, record),
            Kind::Tool => self.ask_tool(event.slot, event.at, stack, record),
            Kind::Arrive => self.arrive(event.slot, event.at),
            Kind::Enter => self.enter_script(event.slot as usize, event.at, stack, record),
        }
    }

    fn why_stopped(&self, event: Event) -> String {
        let population = match event.kind {
            Kind::Enter => event.slot as usize,
            _ => self.agents[self.slots[event.slot as usize].agent as usize].population,
        };
        let name = &self.populations[population].name;
        if self.events > MOST_EVENTS {
            return format!("stopped after {MOST_EVENTS} client events, the most that a run plays; shorten `duration`");
        }
        let seconds = (event.at - self.start) as f64 / 1e9;
        format!(
            "client \"{name}\" makes no progress: {STANDSTILL} events at t = {seconds} s, and time stands still; give it a \
             `think-time`, a `latency`, a `reject-latency` or a wait between retries above zero, or an end to its retries"
        )
    }

    /// Calls that were under way at once at most, or could have been.
    pub fn places(&self) -> usize {
        self.slots.len()
    }

    /// Money spent in this world.
    pub fn spent(&self) -> u128 {
        self.open_spent + self.tallies.iter().map(Tally::spent).sum::<u128>()
    }
}

/// Whether the wait that a refusal promises is enough and not a nanosecond too long.
fn honest(stack: &Stack, request: &Request) -> bool {
    let passes = |at| stack.peek(&Request { at, ..*request }).passes();
    match stack.retry_after(request) {
        Some(wait) => wait > 0 && passes(request.at.saturating_add(wait)) && !passes(request.at + wait - 1),
        None => !passes(Nanos::MAX / 4),
    }
}

/// Whether an outcome is a refusal that a later time would have answered otherwise.
fn is_refusal(outcome: Outcome) -> bool {
    outcome == Outcome::Refused
}
