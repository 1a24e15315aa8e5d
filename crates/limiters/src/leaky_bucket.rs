//! Leaky bucket as a queue: requests wait their turn and start one emission interval T = P/R apart; only a full queue refuses.
//!
//! Rule: a backlog drains at the rate R/P. A request of cost `c` is accepted iff `backlog + c <= Q + 1` permits, with Q the
//! waiting room; it starts when the backlog before it has drained, start = now + ceil(backlog · P/R), and adds c to it.
//!
//! Bound on the permits that *start* in a closed interval of length τ, for requests of at most c_max: every start is an exact
//! instant rounded up to a whole nanosecond, so the exact ones lie in an interval (s − 1, s + τ], shorter than τ + 1. From one
//! start to the next at least c · T passes, so all but the last account for less than (τ + 1)/T permits, that is for at most
//! floor(((τ + 1) · R − 1)/P); the last adds at most c_max. Without waiting room nothing starts later than it is asked, and starts
//! are at least ceil(T) apart: 1 + floor(τ/ceil(T)).
//!
//! Source: nginx `limit_req` without `nodelay`; the shaper of J.-Y. Le Boudec and P. Thiran, "Network Calculus", section 1.5.

use crate::token_bucket::narrowest;
use crate::{
    Algorithm, AnyRule, Kind, Level, Nanos, Outcome, Param, ParamError, Quota, Rate, Rule, Settings, Value, Word, Worst,
};
use std::hint::select_unpredictable;

/// The registry entry.
pub const ALGORITHM: Algorithm = Algorithm {
    name: "leaky-bucket",
    summary: "a queue that drains at a constant rate: delays and smooths, refuses only when full",
    source: "nginx limit_req; Le Boudec and Thiran, Network Calculus",
    params: &[
        Param {
            name: "queue",
            kind: Kind::Permits { min: 0 },
            doc: "permits that may wait behind the one in service (the quota's burst less 1)",
        },
        Param { name: "drain", kind: Kind::Rate, doc: "permits that start over time (the quota's limit per window)" },
        Param {
            name: "largest-cost",
            kind: Kind::Permits { min: 1 },
            doc: "permits one request may have, at most; larger ones never fit (queue and 1)",
        },
    ],
    default: true,
    build,
    strict,
};

fn build(settings: &Settings) -> Result<Box<dyn AnyRule>, ParamError> {
    let rate = settings.rate("drain").map_or_else(|| settings.refill(), Ok)?;
    let capacity = match settings.permits("queue") {
        Some(queue) => queue.checked_add(1).ok_or_else(|| ParamError::new("queue", "at most 2^64 − 2 permits"))?,
        None => settings.capacity()?,
    };
    let largest = settings.permits("largest-cost").unwrap_or(capacity);
    if largest == 0 || largest > capacity {
        return Err(ParamError::new("largest-cost", format!("from 1 to {capacity}, the queue and 1")));
    }
    narrowest(
        capacity,
        rate,
        |capacity, rate| LeakyBucket::<i64>::new(capacity - 1, rate).map(|rule| rule.with_largest_cost(largest)),
        |capacity, rate| LeakyBucket::<i128>::new(capacity - 1, rate).map(|rule| rule.with_largest_cost(largest)),
    )
}

/// Queues of N − 1 that take costs up to c and drain (N − c + 1)/W: by the bound for τ = W − 1 at most N permits start in a
/// half-open window, for unit costs at the full rate. Which c admits most depends on the costs.
fn strict(limit: u64, window: Nanos) -> Vec<Settings> {
    let settings = crate::params_strict::buckets(limit, window).map(|(largest, drain)| {
        Settings::new(Quota { limit, window, burst: limit })
            .with("queue", Value::Permits(limit - 1))
            .with("drain", Value::Rate(drain))
            .with("largest-cost", Value::Permits(largest))
    });
    settings.collect()
}

/// A leaky bucket that delays. `W` is the word it counts in.
#[derive(Clone, Debug)]
pub struct LeakyBucket<W: Word> {
    rate: Rate,
    permits: u64,
    largest: u64,
    capacity: W,
}

/// Permits accepted that have not drained, in units of 1/P permit, and when that was so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State<W> {
    backlog: W,
    at: Nanos,
}

impl<W: Word> LeakyBucket<W> {
    /// An empty queue with room for `queue` waiting permits. `None` when that does not fit `W`.
    pub fn new(queue: u64, rate: Rate) -> Option<LeakyBucket<W>> {
        let permits = queue.checked_add(1)?;
        let scaled = i128::from(permits).checked_mul(rate.per().into())?;
        let fits = scaled <= W::MAX_CAPACITY;
        fits.then(|| LeakyBucket { rate, permits, largest: permits, capacity: W::clamped(scaled) })
    }

    /// The same queue for requests of at most `largest` permits; larger ones never fit.
    #[must_use]
    pub fn with_largest_cost(self, largest: u64) -> LeakyBucket<W> {
        LeakyBucket { largest: largest.min(self.permits), ..self }
    }

    #[inline]
    fn backlog_at(&self, state: &State<W>, now: Nanos) -> W {
        let drained = W::product(now.saturating_sub(state.at), self.rate.permits());
        state.backlog - drained.min(state.backlog)
    }

    fn free(&self, state: &State<W>, now: Nanos) -> W {
        self.capacity - self.backlog_at(state, now)
    }
}

impl<W: Word> Rule for LeakyBucket<W> {
    type State = State<W>;

    fn fresh(&self) -> State<W> {
        State::default()
    }

    #[inline]
    fn try_acquire(&self, state: &mut State<W>, now: Nanos, cost: u64) -> Outcome {
        if cost > self.largest {
            return Outcome::NeverFits;
        }
        let ahead = self.backlog_at(state, now);
        let backlog = ahead + W::product(cost, self.rate.per());
        let fits = backlog <= self.capacity;
        state.backlog = select_unpredictable(fits, backlog, ahead);
        state.at = state.at.max(now);
        if cost == 0 {
            return Outcome::Admitted;
        }
        // A division is dearer than a branch that is guessed wrong; at a whole number of nanoseconds a permit there is none.
        if self.rate.permits() != 1 && !fits {
            return Outcome::Refused;
        }
        let delay = ahead.over(self.rate.permits());
        let until = now.saturating_add(delay);
        let passed = select_unpredictable(delay == 0, Outcome::Admitted, Outcome::Delayed { until });
        select_unpredictable(fits, passed, Outcome::Refused)
    }

    fn remaining(&self, state: &State<W>, now: Nanos) -> u64 {
        let free = (self.free(state, now).wide().max(0) / i128::from(self.rate.per())) as u64;
        free.min(self.largest)
    }

    fn retry_after(&self, state: &State<W>, now: Nanos, cost: u64) -> Option<Nanos> {
        if cost > self.largest {
            return None;
        }
        let missing = W::product(cost, self.rate.per()) - self.free(state, now);
        Some(if cost == 0 { 0 } else { missing.over(self.rate.permits()) })
    }

    fn reset_after(&self, state: &State<W>, now: Nanos) -> Option<Nanos> {
        Some(self.backlog_at(state, now).over(self.rate.permits()))
    }

    fn charge(&self, state: &mut State<W>, now: Nanos, cost: u64) {
        let backlog = self.backlog_at(state, now).plus(cost, self.rate.per());
        *state = State { backlog, at: now };
    }

    fn refund(&self, state: &mut State<W>, now: Nanos, _taken_at: Nanos, cost: u64) {
        let backlog = self.backlog_at(state, now);
        let back = W::product(cost, self.rate.per()).min(backlog);
        *state = State { backlog: backlog - back, at: now };
    }

    fn level(&self, state: &State<W>, now: Nanos) -> Level {
        Level::scaled(self.free(state, now).wide(), self.capacity.wide(), self.rate.per().into())
    }

    fn delays(&self) -> bool {
        true
    }

    fn envelope(&self, tau: Nanos, max_cost: u64) -> Option<u128> {
        if self.permits == 1 {
            return Some(1 + u128::from(tau / self.rate.per().div_ceil(self.rate.permits())));
        }
        let open = (u128::from(tau) + 1).checked_mul(self.rate.permits().into())? - 1;
        Some(open / u128::from(self.rate.per()) + u128::from(max_cost.min(self.largest)))
    }

    /// A full queue and a flood. Ten starts are closest when the first is rounded up most: the j-th, with j · P mod R = 1.
    fn worst(&self) -> Option<Worst> {
        let (per, permits) = (self.rate.per(), self.rate.permits());
        let due = |count: u64| Nanos::try_from((u128::from(count) * u128::from(per)).div_ceil(permits.into())).ok();
        if self.permits == 1 {
            return Some(Worst { requests: vec![(0, 1), (due(1)?, 1)], tau: due(1)? });
        }
        let rounded_most =
            |start: &u64| u128::from(*start) * u128::from(per) % u128::from(permits) == 1 % u128::from(permits);
        let first = (0..10_000).find(rounded_most).filter(|_| per >= permits)?;
        let waiting = (0..self.permits.min(first + 10)).map(|_| Some((0, 1)));
        let flood = (1..=first + 10).map(|count| due(count).map(|at| (at, 1)));
        let requests = waiting.chain(flood).collect::<Option<_>>()?;
        Some(Worst { requests, tau: (9 * u128::from(per) / u128::from(permits)).try_into().ok()? })
    }

    fn parameters(&self) -> String {
        let largest = if self.largest == self.permits { String::new() } else { format!(", costs to {}", self.largest) };
        format!("queue {}, drain {}{largest}", self.permits - 1, self.rate)
    }
}
