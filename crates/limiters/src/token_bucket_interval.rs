//! Token bucket with interval refill: F permits at every tick, up to the capacity, and nothing in between.
//!
//! Rule: with ticks at offset + kI on the wall clock and n of them since the last look, `tokens = min(B, tokens + n · F)`; a
//! request of cost `c` passes iff `tokens >= c`, and then `tokens -= c`. The remainder of an interval is never dropped, as
//! the state keeps the tick and not the time of the last request.
//!
//! Bound, for a closed interval of length τ: B + min(F, B) · ceil(τ/I). Proof: at its start there are at most B permits; at
//! most ceil(τ/I) ticks fall into what follows, and each adds at most F and leaves at most B. Attained by B just before a
//! tick and F at it. A request of cost c counts as c unit requests at one instant.
//!
//! Source: Envoy's local rate limit filter (`fill_interval`); Bucket4j's intervally refilled bandwidth.

use crate::span::Span;
use crate::{Algorithm, AnyRule, Kind, Level, Nanos, Outcome, Param, ParamError, Quota, Rule, Settings, Value, Worst};

/// The registry entry.
pub const ALGORITHM: Algorithm = Algorithm {
    name: "token-bucket-interval",
    summary: "a bucket of `capacity` permits that gains `per-tick` at once, every `tick` on the clock",
    source: "Envoy fill_interval; Bucket4j intervally",
    params: &[
        Param {
            name: "capacity",
            kind: Kind::Permits { min: 1 },
            doc: "permits a full bucket holds (the quota's burst)",
        },
        Param { name: "per-tick", kind: Kind::Permits { min: 1 }, doc: "permits a tick adds (the quota's limit)" },
        Param { name: "tick", kind: Kind::Duration, doc: "time from tick to tick (the quota's window)" },
        Param {
            name: "offset",
            kind: Kind::Duration,
            doc: "how far ticks are shifted from multiples of the tick since the epoch (none)",
        },
    ],
    default: true,
    build,
    strict,
};

fn build(settings: &Settings) -> Result<Box<dyn AnyRule>, ParamError> {
    let (limit, window) = settings.limit_per_window()?;
    let capacity = settings.capacity()?;
    let per_tick = settings.permits("per-tick").unwrap_or(limit);
    let tick = settings.duration("tick").unwrap_or(window);
    if per_tick == 0 {
        return Err(ParamError::new("per-tick", "at least 1 permit"));
    }
    if tick == 0 {
        return Err(ParamError::new("tick", "a length of time above zero"));
    }
    let rule = TokenBucketInterval::new(capacity, per_tick, tick, settings.duration("offset").unwrap_or(0));
    let rule = rule.ok_or_else(|| ParamError::new("capacity", format!("{capacity} permits pass {MAX_CAPACITY}")))?;
    Ok(Box::new(rule))
}

/// Buckets with B + F · k <= N for k ticks a window, which is the bound for W − 1: one tick a window with half the limit,
/// and smaller, more frequent fills. Which admits most depends on the traffic.
fn strict(limit: u64, window: Nanos) -> Vec<Settings> {
    let ticks = std::iter::successors(Some(1u64), |ticks| ticks.checked_mul(2));
    let ticks = ticks.take_while(|ticks| *ticks < limit && *ticks < window).take(16);
    let settings = ticks.map(|ticks| {
        let per_tick = limit / (ticks + 1);
        let capacity = limit - per_tick * ticks;
        Settings::new(Quota { limit, window, burst: capacity })
            .with("capacity", Value::Permits(capacity))
            .with("per-tick", Value::Permits(per_tick))
            .with("tick", Value::Duration(window.div_ceil(ticks)))
    });
    settings.collect()
}

/// Largest capacity, which leaves as much room for debt.
const MAX_CAPACITY: u64 = 1 << 62;

/// A token bucket that is filled at ticks.
#[derive(Clone, Debug)]
pub struct TokenBucketInterval {
    capacity: i64,
    per_tick: u64,
    tick: Nanos,
    offset: Nanos,
}

/// The last nanosecond before the next tick, and the permits until then; negative in debt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    last: Nanos,
    tokens: i64,
}

impl TokenBucketInterval {
    /// A bucket of `capacity` permits, full at first, that gains `per_tick` permits at every offset + k · `tick`. `None` when
    /// an amount is 0 or the capacity passes 2^62.
    pub fn new(capacity: u64, per_tick: u64, tick: Nanos, offset: Nanos) -> Option<TokenBucketInterval> {
        let fits = (1..=MAX_CAPACITY).contains(&capacity) && per_tick > 0 && tick > 0;
        fits.then(|| TokenBucketInterval { capacity: capacity as i64, per_tick, tick, offset: offset % tick })
    }

    /// The last nanosecond of the interval that contains `now`; the end of [`Nanos`] where no tick follows.
    fn last_of(&self, now: Nanos) -> Nanos {
        match now.checked_sub(self.offset) {
            Some(since) => now.saturating_add(self.tick - 1 - since % self.tick),
            None => self.offset - 1,
        }
    }

    /// The state with the ticks up to `now` paid in.
    #[inline]
    fn at(&self, state: &State, now: Nanos) -> State {
        if now <= state.last { *state } else { self.filled(state, now) }
    }

    #[cold]
    fn filled(&self, state: &State, now: Nanos) -> State {
        let ticks = 1 + (now - state.last - 1) / self.tick;
        let gained = u128::from(ticks) * u128::from(self.per_tick);
        let tokens = (i128::from(state.tokens) + gained.min(1 << 64) as i128).min(self.capacity.into());
        State { last: self.last_of(now), tokens: tokens as i64 }
    }

    /// Ticks until `missing` permits have been added.
    fn ticks_for(&self, missing: i128) -> u128 {
        (missing.max(0) as u128).div_ceil(self.per_tick.into())
    }

    /// Nanoseconds from `now` until the `ticks`-th next tick.
    fn wait(&self, state: &State, now: Nanos, ticks: u128) -> Nanos {
        let Some(more) = ticks.checked_sub(1) else { return 0 };
        let wait = u128::from(state.last - now) + 1 + more * u128::from(self.tick);
        wait.try_into().unwrap_or(Nanos::MAX)
    }
}

impl Rule for TokenBucketInterval {
    type State = State;

    fn fresh(&self) -> State {
        State { last: self.last_of(0), tokens: self.capacity }
    }

    #[inline]
    fn try_acquire(&self, state: &mut State, now: Nanos, cost: u64) -> Outcome {
        if cost > self.capacity as u64 {
            return Outcome::NeverFits;
        }
        let filled = self.at(state, now);
        let left = filled.tokens - cost as i64;
        let admitted = left >= 0;
        let take = admitted & (cost != 0);
        state.last = if take { filled.last } else { state.last };
        state.tokens = if take { left } else { state.tokens };
        Outcome::of(admitted | (cost == 0))
    }

    fn remaining(&self, state: &State, now: Nanos) -> u64 {
        self.at(state, now).tokens.max(0) as u64
    }

    fn retry_after(&self, state: &State, now: Nanos, cost: u64) -> Option<Nanos> {
        let state = self.at(state, now);
        let missing = if cost == 0 { 0 } else { i128::from(cost) - i128::from(state.tokens) };
        (cost <= self.capacity as u64).then(|| self.wait(&state, now, self.ticks_for(missing)))
    }

    fn reset_after(&self, state: &State, now: Nanos) -> Option<Nanos> {
        let state = self.at(state, now);
        Some(self.wait(&state, now, self.ticks_for(i128::from(self.capacity) - i128::from(state.tokens))))
    }

    fn charge(&self, state: &mut State, now: Nanos, cost: u64) {
        *state = self.at(state, now);
        let tokens = i128::from(state.tokens) - i128::from(cost);
        state.tokens = tokens.max(-i128::from(MAX_CAPACITY)) as i64;
    }

    fn refund(&self, state: &mut State, now: Nanos, _taken_at: Nanos, cost: u64) {
        *state = self.at(state, now);
        state.tokens = (i128::from(state.tokens) + i128::from(cost)).min(self.capacity.into()) as i64;
    }

    fn level(&self, state: &State, now: Nanos) -> Level {
        Level::whole(self.at(state, now).tokens.into(), self.capacity as u64)
    }

    fn envelope(&self, tau: Nanos, _max_cost: u64) -> Option<u128> {
        let capacity = self.capacity as u64;
        Some(u128::from(capacity) + u128::from(self.per_tick.min(capacity)) * u128::from(tau.div_ceil(self.tick)))
    }

    fn worst(&self) -> Option<Worst> {
        let (capacity, tick) = (self.capacity as u64, self.offset.checked_add(self.tick)?);
        Some(Worst { requests: vec![(tick - 1, capacity), (tick, self.per_tick.min(capacity))], tau: 1 })
    }

    fn parameters(&self) -> String {
        let offset = if self.offset == 0 { String::new() } else { format!(", offset {}", Span(self.offset)) };
        format!("capacity {}, {} every {}{offset}", self.capacity, self.per_tick, Span(self.tick))
    }
}
