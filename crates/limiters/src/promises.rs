//! A virtual queue of refused clients: each is promised its own instant, instead of all of them the same one.
//!
//! Rule: a refused request of cost c is promised `max(when the limiter could admit it alone, last promise + c/rate)`.
//! Promises are therefore spaced like the permits that will honour them, and clients that obey come one at a time. Once
//! time has passed the last promise, whatever it led to is in the limiter's state and the queue is empty.
//!
//! c/rate is rounded up to a nanosecond, so that a promise is never early; it grows late by less than 1 ns a place.

use crate::{Nanos, Rate};
use std::collections::HashMap;

/// The last promise of each key.
#[derive(Debug)]
pub(crate) struct Promises {
    rate: Rate,
    last: HashMap<u64, Nanos>,
    sweep_at: usize,
}

const SWEEP: usize = 64;

impl Promises {
    pub(crate) fn new(rate: Rate) -> Promises {
        Promises { rate, last: HashMap::new(), sweep_at: SWEEP }
    }

    /// How long the client of this request should wait, given that it would pass after `wait` if it were alone.
    pub(crate) fn promise(&mut self, key: u64, now: Nanos, wait: Nanos, cost: u64) -> Nanos {
        if self.last.len() >= self.sweep_at {
            self.last.retain(|_, last| *last > now);
            self.sweep_at = (2 * self.last.len()).max(SWEEP);
        }
        let place = u128::from(cost) * u128::from(self.rate.per());
        let place = place.div_ceil(self.rate.permits().into()).try_into().unwrap_or(Nanos::MAX);
        let alone = now.saturating_add(wait);
        let last = self.last.entry(key).or_insert(0);
        *last = if *last > now { alone.max(last.saturating_add(place)) } else { alone };
        *last - now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_refused_client_gets_the_next_place() {
        let mut queue = Promises::new(Rate::new(2, 1_000).unwrap());
        assert_eq!(
            [queue.promise(7, 0, 500, 1), queue.promise(7, 0, 500, 1), queue.promise(7, 100, 400, 2)],
            [500, 1_000, 1_900]
        );
        assert_eq!(queue.promise(8, 100, 400, 1), 400, "another key has its own queue");
        assert_eq!(queue.promise(7, 2_000, 3, 1), 3, "a queue that time has passed is empty");
    }

    #[test]
    fn promises_that_have_passed_are_forgotten() {
        let mut queue = Promises::new(Rate::new(1, 10).unwrap());
        for key in 0..10_000 {
            queue.promise(key, key, 10, 1);
        }
        assert!(queue.last.len() <= 2 * SWEEP, "{}", queue.last.len());
    }
}
