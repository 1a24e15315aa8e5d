//! Token bucket with continuous refill: a level that fills at the refill rate up to the capacity, and pays for requests.
//!
//! Rule: `level = min(B, level + dt · R/P)`; a request of cost `c` passes iff `level >= c`, and then `level -= c`.
//! Amounts are kept in units of 1/P permit, so the refill of any whole number of nanoseconds is a whole number.
//!
//! Bound, for a closed interval of length τ: B + floor(τ·R/P). Proof: at its start the level is at most B, and at most
//! τ·R/P permits arrive until its end; what is admitted is whole and was there. For B = 1 and unit cost two admissions
//! are at least ceil(P/R) apart (an admission leaves the level below 1 token only by what one permit costs), hence
//! 1 + floor(τ / ceil(P/R)).
//!
//! Source: J. Turner, "New directions in communications", IEEE Communications Magazine 24(10), 1986; RFC 2697 section 3.

use crate::Algorithm;
use crate::{AnyRule, Kind, Level, Nanos, Outcome, Param, ParamError, Rate, Rule, Settings, Word, Worst};
use std::hint::select_unpredictable;

/// The registry entry.
pub const ALGORITHM: Algorithm = Algorithm {
    name: "token-bucket",
    summary: "a bucket of `capacity` permits that fills continuously; requests pay from it",
    source: "Turner 1986; RFC 2697",
    params: &[
        Param {
            name: "capacity",
            kind: Kind::Permits { min: 1 },
            doc: "permits a full bucket holds (the quota's burst)",
        },
        Param { name: "refill", kind: Kind::Rate, doc: "permits that arrive over time (the quota's limit per window)" },
        Param { name: "initial", kind: Kind::Permits { min: 0 }, doc: "permits in the bucket at t = 0 (capacity)" },
    ],
    default: true,
    build,
    strict: crate::params_strict::bucket_settings,
};

fn build(settings: &Settings) -> Result<Box<dyn AnyRule>, ParamError> {
    let capacity = settings.capacity()?;
    let initial = settings.permits("initial").unwrap_or(capacity);
    if initial > capacity {
        return Err(ParamError::new("initial", format!("{initial} permits do not fit a capacity of {capacity}")));
    }
    narrowest(
        capacity,
        settings.refill()?,
        |capacity, rate| Some(TokenBucket::<i64>::new(capacity, rate)?.starting_with(initial, settings.origin)),
        |capacity, rate| Some(TokenBucket::<i128>::new(capacity, rate)?.starting_with(initial, settings.origin)),
    )
}

/// The bucket that counts in 64 bits where that fits and in 128 elsewhere, or an error that names the capacity.
pub(crate) fn narrowest<N: Rule, W: Rule>(
    capacity: u64,
    rate: Rate,
    narrow: impl Fn(u64, Rate) -> Option<N>,
    wide: impl Fn(u64, Rate) -> Option<W>,
) -> Result<Box<dyn AnyRule>, ParamError> {
    if let Some(rule) = narrow(capacity, rate) {
        return Ok(Box::new(rule));
    }
    let rule = wide(capacity, rate).ok_or_else(|| {
        ParamError::new("capacity", format!("{capacity} permits at {rate} pass 2^112 units of 1/P permit"))
    })?;
    Ok(Box::new(rule))
}

/// A token bucket. `W` is the word it counts in; [`Algorithm::build`] picks the smaller one that fits.
#[derive(Clone, Debug)]
pub struct TokenBucket<W: Word> {
    rate: Rate,
    permits: u64,
    capacity: W,
    initial: W,
    origin: Nanos,
}

/// Level and the time it was computed for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State<W> {
    level: W,
    at: Nanos,
}

impl<W: Word> TokenBucket<W> {
    /// A bucket of `capacity` permits, full at first. `None` when `capacity` is 0 or does not fit `W`.
    pub fn new(capacity: u64, rate: Rate) -> Option<TokenBucket<W>> {
        let scaled = i128::from(capacity).checked_mul(rate.per().into())?;
        let fits = capacity > 0 && scaled <= W::MAX_CAPACITY;
        let full = W::clamped(scaled);
        fits.then_some(TokenBucket { rate, permits: capacity, capacity: full, initial: full, origin: 0 })
    }

    /// The same bucket with `initial` permits in it at time `origin`.
    #[must_use]
    pub fn starting_with(self, initial: u64, origin: Nanos) -> TokenBucket<W> {
        TokenBucket { initial: W::clamped(i128::from(initial) * i128::from(self.rate.per())), origin, ..self }
    }

    #[inline]
    fn level_at(&self, state: &State<W>, now: Nanos) -> W {
        let gained = W::product(now.saturating_sub(state.at), self.rate.permits());
        state.level + gained.min(self.capacity - state.level)
    }
}

impl<W: Word> Rule for TokenBucket<W> {
    type State = State<W>;

    fn fresh(&self) -> State<W> {
        State { level: self.initial, at: self.origin }
    }

    #[inline]
    fn try_acquire(&self, state: &mut State<W>, now: Nanos, cost: u64) -> Outcome {
        if cost > self.permits {
            return Outcome::NeverFits;
        }
        let level = self.level_at(state, now);
        let left = level - W::product(cost, self.rate.per());
        let admitted = left >= W::ZERO;
        // Whether a request passes is unpredictable under load: a select, not a branch. The refill is paid in either way,
        // which no answer can tell and leaves only the level for the next decision to wait for, not the time as well.
        state.level = select_unpredictable(admitted, left, level);
        state.at = state.at.max(now);
        // A cost of 0 passes even in debt.
        Outcome::of(admitted | (cost == 0))
    }

    fn remaining(&self, state: &State<W>, now: Nanos) -> u64 {
        (self.level_at(state, now).wide().max(0) / i128::from(self.rate.per())) as u64
    }

    fn retry_after(&self, state: &State<W>, now: Nanos, cost: u64) -> Option<Nanos> {
        if cost > self.permits {
            return None;
        }
        let missing = W::product(cost, self.rate.per()) - self.level_at(state, now);
        Some(if cost == 0 { 0 } else { missing.over(self.rate.permits()) })
    }

    fn reset_after(&self, state: &State<W>, now: Nanos) -> Option<Nanos> {
        Some((self.capacity - self.level_at(state, now)).over(self.rate.permits()))
    }

    fn charge(&self, state: &mut State<W>, now: Nanos, cost: u64) {
        let level = self.level_at(state, now).minus(cost, self.rate.per());
        *state = State { level, at: now };
    }

    fn refund(&self, state: &mut State<W>, now: Nanos, _taken_at: Nanos, cost: u64) {
        let level = self.level_at(state, now).plus(cost, self.rate.per());
        *state = State { level: level.min(self.capacity), at: now };
    }

    fn level(&self, state: &State<W>, now: Nanos) -> Level {
        Level::scaled(self.level_at(state, now).wide(), self.capacity.wide(), self.rate.per().into())
    }

    fn supply(&self, end: Nanos) -> Option<u128> {
        let initial = self.initial.wide() / i128::from(self.rate.per());
        Some(initial as u128 + self.rate.in_time(end.saturating_sub(self.origin)))
    }

    fn envelope(&self, tau: Nanos, _max_cost: u64) -> Option<u128> {
        Some(bucket_envelope(self.permits, self.rate, tau))
    }

    fn worst(&self) -> Option<Worst> {
        let full_at = self.origin.checked_add((self.capacity - self.initial).over(self.rate.permits()))?;
        let mut worst = bucket_worst(self.permits, self.rate);
        for (at, _) in &mut worst.requests {
            *at = at.checked_add(full_at)?;
        }
        Some(worst)
    }

    fn parameters(&self) -> String {
        let initial = if self.initial == self.capacity {
            String::new()
        } else {
            format!(", initial {}", self.initial.wide() / i128::from(self.rate.per()))
        };
        format!("capacity {}, refill {}{initial}", self.permits, self.rate)
    }
}

/// The envelope that every bucket of `capacity` permits at `rate` shares, see the top of this file. At more than a permit a
/// nanosecond, no instant has more than a full bucket.
pub(crate) fn bucket_envelope(capacity: u64, rate: Rate, tau: Nanos) -> u128 {
    if capacity == 1 {
        return 1 + u128::from(tau / rate.per().div_ceil(rate.permits()));
    }
    let capacity = u128::from(capacity);
    (capacity + rate.in_time(tau)).min(capacity * (u128::from(tau) + 1))
}

/// All permits at once, then each one when it is due, for as many as the bucket holds (at most 1,000).
pub(crate) fn bucket_worst(capacity: u64, rate: Rate) -> Worst {
    let due = |count: u64| (u128::from(count) * u128::from(rate.per())).div_ceil(rate.permits().into());
    let each = (1..=capacity.min(1_000)).map_while(|count| Some((Nanos::try_from(due(count)).ok()?, 1)));
    let requests: Vec<_> = std::iter::once((0, capacity)).chain(each).collect();
    let tau = requests[requests.len() - 1].0;
    Worst { requests, tau }
}
