//! The queue of events. One number orders them: time, then settlements before calls, then the order of the agents.

use limiters::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A call is over.
    Done,
    /// A turn begins.
    Begin,
    /// The model call is asked again.
    Turn,
    /// The tool call is asked.
    Tool,
    /// A delayed call reaches the upstream.
    Arrive,
    /// The next script of a population starts; the slot is the population's number.
    Enter,
}

const KINDS: [Kind; 6] = [Kind::Done, Kind::Begin, Kind::Turn, Kind::Tool, Kind::Arrive, Kind::Enter];

/// Something that happens to one call in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    pub at: Nanos,
    pub kind: Kind,
    pub slot: u32,
}

impl Event {
    pub fn key(self) -> u128 {
        let class = u128::from(self.kind != Kind::Done);
        u128::from(self.at) << 64 | class << 63 | u128::from(self.slot) << 8 | self.kind as u128
    }

    fn of(key: u128) -> Event {
        // Masks cut what the casts would; kinds come from `key` alone.
        Event { at: (key >> 64) as u64, kind: KINDS[(key & 0xff) as usize], slot: (key >> 8) as u32 }
    }
}

/// The events to come.
#[derive(Debug, Default)]
pub struct Agenda(BinaryHeap<Reverse<u128>>);

impl Agenda {
    pub fn add(&mut self, at: Nanos, kind: Kind, slot: u32) {
        self.0.push(Reverse(Event { at, kind, slot }.key()));
    }

    /// The next event, if it comes before `limit`.
    pub fn next_before(&mut self, limit: u128) -> Option<Event> {
        if self.0.peek()?.0 >= limit {
            return None;
        }
        self.next()
    }

    pub fn next(&mut self) -> Option<Event> {
        self.0.pop().map(|Reverse(key)| Event::of(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settlements_first_then_agents_in_order() {
        let mut agenda = Agenda::default();
        let events = [(7, Kind::Tool, 1), (7, Kind::Done, u32::MAX), (7, Kind::Begin, 0), (6, Kind::Arrive, 9)];
        for (at, kind, slot) in events {
            agenda.add(at, kind, slot);
        }
        let order: Vec<_> = std::iter::from_fn(|| agenda.next()).map(|e| (e.at, e.kind, e.slot)).collect();
        assert_eq!(order, [(6, Kind::Arrive, 9), (7, Kind::Done, u32::MAX), (7, Kind::Begin, 0), (7, Kind::Tool, 1)]);
    }
}
