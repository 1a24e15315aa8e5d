//! Requests admitted that have not started: a queue in time order, whatever order they were promised in.

use limiters::Nanos;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Start, key and cost.
pub type Departure = (Nanos, u64, u64);

/// What waits, earliest first; equal starts by key, then cost. A single queue promises starts in order, and those
/// are put in and taken out at constant cost; what comes out of order goes through a heap.
#[derive(Clone, Debug, Default)]
pub struct Departures {
    in_order: VecDeque<Departure>,
    others: BinaryHeap<Reverse<Departure>>,
}

impl Departures {
    /// Adds one.
    #[inline]
    pub fn push(&mut self, departure: Departure) {
        if self.in_order.back().is_none_or(|&back| back <= departure) {
            self.in_order.push_back(departure);
        } else {
            self.others.push(Reverse(departure));
        }
    }

    /// Takes the earliest that starts at `now` or before.
    #[inline]
    pub fn pop(&mut self, now: Nanos) -> Option<Departure> {
        let front = self.in_order.front().copied();
        if self.others.is_empty() {
            let front = front.filter(|&(start, ..)| start <= now)?;
            self.in_order.pop_front();
            return Some(front);
        }
        let other = self.others.peek().map(|&Reverse(other)| other);
        let first = front.into_iter().chain(other).min().filter(|&(start, ..)| start <= now)?;
        if front == Some(first) {
            self.in_order.pop_front();
        } else {
            self.others.pop();
        }
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn leaves_in_order(steps in prop::collection::vec((0u64..20, 0u64..3, 1u64..3, any::<bool>()), 0..200)) {
            let (mut queue, mut heap) = (Departures::default(), BinaryHeap::new());
            for (start, key, cost, pop) in steps {
                queue.push((start, key, cost));
                heap.push(Reverse((start, key, cost)));
                while pop && heap.peek().is_some_and(|&Reverse((at, ..))| at <= start) {
                    prop_assert_eq!(queue.pop(start), heap.pop().map(|Reverse(first)| first));
                }
                if pop {
                    prop_assert_eq!(queue.pop(start), None);
                }
            }
        }
    }
}
