//! Leaky bucket as a meter: what passes is poured in, the bucket leaks at a constant rate, and what would spill is refused.
//!
//! Rule: `x = max(0, x − dt · R/P)`; a request of cost `c` passes iff `x + c <= B`, and then `x += c`. It is the mirror of the token
//! bucket, `x = B − level`, and decides alike. Amounts are kept in units of 1/P permit, so nothing is rounded.
//!
//! Bound, for a closed interval of length τ: B + floor(τ·R/P), see [`TokenBucket`](crate::TokenBucket).
//!
//! Source: J. Turner, "New directions in communications", IEEE Communications Magazine 24(10), 1986; ITU-T I.371.

use crate::token_bucket::{bucket_envelope, bucket_worst, narrowest};
use crate::{Algorithm, AnyRule, Kind, Level, Nanos, Outcome, Param, ParamError, Rate, Rule, Settings, Word, Worst};
use std::hint::select_unpredictable;

/// The registry entry.
pub const ALGORITHM: Algorithm = Algorithm {
    name: "leaky-bucket-meter",
    summary: "a bucket that leaks at a constant rate; what would make it spill is refused",
    source: "Turner 1986; ITU-T I.371",
    params: &[
        Param { name: "capacity", kind: Kind::Permits { min: 1 }, doc: "permits the bucket holds (the quota's burst)" },
        Param { name: "refill", kind: Kind::Rate, doc: "permits that leak over time (the quota's limit per window)" },
    ],
    default: true,
    build,
    strict: crate::params_strict::bucket_settings,
};

fn build(settings: &Settings) -> Result<Box<dyn AnyRule>, ParamError> {
    narrowest(settings.capacity()?, settings.refill()?, LeakyBucketMeter::<i64>::new, LeakyBucketMeter::<i128>::new)
}

/// A leaky bucket that refuses. `W` is the word it counts in.
#[derive(Clone, Debug)]
pub struct LeakyBucketMeter<W: Word> {
    rate: Rate,
    permits: u64,
    capacity: W,
}

/// What is in the bucket, in units of 1/P permit, and when that was so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State<W> {
    content: W,
    at: Nanos,
}

impl<W: Word> LeakyBucketMeter<W> {
    /// An empty bucket that holds `capacity` permits. `None` when `capacity` is 0 or does not fit `W`.
    pub fn new(capacity: u64, rate: Rate) -> Option<LeakyBucketMeter<W>> {
        let scaled = i128::from(capacity).checked_mul(rate.per().into())?;
        let fits = capacity > 0 && scaled <= W::MAX_CAPACITY;
        fits.then(|| LeakyBucketMeter { rate, permits: capacity, capacity: W::clamped(scaled) })
    }

    #[inline]
    fn content_at(&self, state: &State<W>, now: Nanos) -> W {
        let leaked = W::product(now.saturating_sub(state.at), self.rate.permits());
        state.content - leaked.min(state.content)
    }

    fn free(&self, state: &State<W>, now: Nanos) -> W {
        self.capacity - self.content_at(state, now)
    }
}

impl<W: Word> Rule for LeakyBucketMeter<W> {
    type State = State<W>;

    fn fresh(&self) -> State<W> {
        State::default()
    }

    #[inline]
    fn try_acquire(&self, state: &mut State<W>, now: Nanos, cost: u64) -> Outcome {
        if cost > self.permits {
            return Outcome::NeverFits;
        }
        let before = self.content_at(state, now);
        let content = before + W::product(cost, self.rate.per());
        let admitted = content <= self.capacity;
        // The leak is taken off either way, as a token bucket's refill is.
        state.content = select_unpredictable(admitted, content, before);
        state.at = state.at.max(now);
        Outcome::of(admitted | (cost == 0))
    }

    fn remaining(&self, state: &State<W>, now: Nanos) -> u64 {
        (self.free(state, now).wide().max(0) / i128::from(self.rate.per())) as u64
    }

    fn retry_after(&self, state: &State<W>, now: Nanos, cost: u64) -> Option<Nanos> {
        if cost > self.permits {
            return None;
        }
        let missing = W::product(cost, self.rate.per()) - self.free(state, now);
        Some(if cost == 0 { 0 } else { missing.over(self.rate.permits()) })
    }

    fn reset_after(&self, state: &State<W>, now: Nanos) -> Option<Nanos> {
        Some(self.content_at(state, now).over(self.rate.permits()))
    }

    fn charge(&self, state: &mut State<W>, now: Nanos, cost: u64) {
        let content = self.content_at(state, now).plus(cost, self.rate.per());
        *state = State { content, at: now };
    }

    fn refund(&self, state: &mut State<W>, now: Nanos, _taken_at: Nanos, cost: u64) {
        let content = self.content_at(state, now);
        let back = W::product(cost, self.rate.per()).min(content);
        *state = State { content: content - back, at: now };
    }

    fn level(&self, state: &State<W>, now: Nanos) -> Level {
        Level::scaled(self.free(state, now).wide(), self.capacity.wide(), self.rate.per().into())
    }

    fn envelope(&self, tau: Nanos, _max_cost: u64) -> Option<u128> {
        Some(bucket_envelope(self.permits, self.rate, tau))
    }

    fn worst(&self) -> Option<Worst> {
        Some(bucket_worst(self.permits, self.rate))
    }

    fn parameters(&self) -> String {
        format!("capacity {}, leak {}", self.permits, self.rate)
    }
}
