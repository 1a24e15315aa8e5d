//! The one trait that decides: a limiter with its state, for one key and one dimension.

use crate::Nanos;
use std::hint::select_unpredictable;

/// What a limiter says to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// The request passes now.
    Admitted,
    /// The request passes, but may start only at `until` (a shaper's queue).
    Delayed {
        /// When the request starts; not before the time it was asked.
        until: Nanos,
    },
    /// The request does not fit now; it would fit later.
    Refused,
    /// The request is larger than the limiter can ever hold. Nothing is charged and waiting does not help.
    NeverFits,
}

impl Outcome {
    /// Whether the request passes, now or later.
    #[inline]
    pub fn passes(self) -> bool {
        matches!(self, Outcome::Admitted | Outcome::Delayed { .. })
    }

    /// The answer of a limiter that only admits or refuses. Which one is unpredictable under load, so it is selected.
    #[inline]
    pub(crate) fn of(admitted: bool) -> Outcome {
        select_unpredictable(admitted, Outcome::Admitted, Outcome::Refused)
    }

    /// When an admitted request starts: `now`, or later behind a shaper. `None` when it does not pass.
    #[inline]
    pub fn starts(self, now: Nanos) -> Option<Nanos> {
        match self {
            Outcome::Admitted => Some(now),
            Outcome::Delayed { until } => Some(until),
            _ => None,
        }
    }
}

/// An outcome with the hints that a server sends beside it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The answer.
    pub outcome: Outcome,
    /// The largest cost that would pass at the same instant, after this decision. Permits.
    pub remaining: u64,
    /// Least wait after which the same cost passes if nothing else happens; 0 when it passed, `None` for never.
    pub retry_after: Option<Nanos>,
    /// Least wait after which `remaining` grows; `None` at full capacity. The IETF draft's `t` parameter.
    pub next_increase_after: Option<Nanos>,
    /// Least wait after which the limiter cannot be told from a fresh one; `None` for never.
    pub reset_after: Option<Nanos>,
}

/// How full a limiter is, for pictures. A thousandth of a permit is the unit, so that a draining bucket moves smoothly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Permits available now, in thousandths; negative while in debt.
    pub available_milli: i64,
    /// Permits available when fresh, in thousandths.
    pub capacity_milli: i64,
}

impl Level {
    /// A level from exact amounts in units of `1/per_permit` permits; clamped to what an `i64` of thousandths can show.
    pub fn scaled(available: i128, capacity: i128, per_permit: i128) -> Level {
        let milli = |units: i128| {
            let whole = units.div_euclid(per_permit);
            let rest = units.rem_euclid(per_permit);
            let rest =
                if per_permit > i128::MAX / 1000 { rest / (per_permit / 1000) } else { rest * 1000 / per_permit };
            whole.saturating_mul(1000).saturating_add(rest).clamp(i64::MIN.into(), i64::MAX.into()) as i64
        };
        Level { available_milli: milli(available), capacity_milli: milli(capacity) }
    }

    /// A level in whole permits, as windows have it.
    pub fn whole(available: i128, capacity: u64) -> Level {
        Level::scaled(available, capacity.into(), 1)
    }
}

/// A rate limiter for one key and one dimension. It owns no clock.
///
/// Contract, checked for every algorithm by the tests of this crate:
///
/// * `now` never goes back. A caller whose clock can step back puts a clamp in front.
/// * A refusal changes nothing, and so does a cost of 0, which always passes (a peek).
/// * A cost is admitted whole or not at all; a cost above capacity [never fits](Outcome::NeverFits).
/// * `retry_after` is sufficient and tight: the same cost passes after exactly that wait, and not 1 ns earlier.
///
/// Shared limiters implement the trait for a shared reference, the way `Read` is implemented for `&File`.
pub trait Limiter {
    /// Asks for `cost` permits at `now` and takes them if they are there.
    fn try_acquire(&mut self, now: Nanos, cost: u64) -> Outcome;

    /// The answer `try_acquire` would give, with nothing changed.
    fn peek(&self, now: Nanos, cost: u64) -> Outcome;

    /// The largest cost that would pass at `now`, in permits.
    fn remaining(&self, now: Nanos) -> u64;

    /// Least `d` such that `cost` passes at `now + d` if nothing else happens: 0 when it passes now, `None` for never.
    fn retry_after(&self, now: Nanos, cost: u64) -> Option<Nanos>;

    /// Least `d` such that at `now + d` the limiter cannot be told from a fresh one; `None` for never.
    fn reset_after(&self, now: Nanos) -> Option<Nanos>;

    /// Debits `cost` permits that were spent without asking (post accounting, settling). May go into debt, which later
    /// time or refunds pay back before anything passes.
    fn charge(&mut self, now: Nanos, cost: u64);

    /// Gives back `cost` permits that were taken at `taken_at`. Never lifts the limiter above its capacity, and a window
    /// that has already forgotten `taken_at` gains nothing.
    fn refund(&mut self, now: Nanos, taken_at: Nanos, cost: u64);

    /// How full the limiter is at `now`, for pictures.
    fn level(&self, now: Nanos) -> Level;

    /// Bytes of state that grow with the number of keys: the state and what it owns on the heap.
    fn state_bytes(&self) -> usize;

    /// The outcome with all hints. The hints cost divisions, so the plain path does not compute them.
    fn decide(&mut self, now: Nanos, cost: u64) -> Decision {
        let outcome = self.try_acquire(now, cost);
        let remaining = self.remaining(now);
        let retry_after = if outcome.passes() { Some(0) } else { self.retry_after(now, cost) };
        let reset_after = self.reset_after(now);
        let next_increase_after = match remaining.checked_add(1).and_then(|more| self.retry_after(now, more)) {
            // A limiter that lets the last cost pass what remains (a spend cap checked before) regains it with its reset.
            Some(0) => reset_after.filter(|wait| *wait > 0),
            wait => wait,
        };
        Decision { outcome, remaining, retry_after, next_increase_after, reset_after }
    }

    /// Decides a block of requests in order. The loop is compiled once per limiter, so that a caller who holds a
    /// `dyn Limiter` pays for one virtual call a block. All three slices have the same length.
    fn run(&mut self, at: &[Nanos], cost: &[u64], out: &mut [Outcome]) {
        for ((&at, &cost), out) in at.iter().zip(cost).zip(out) {
            *out = self.try_acquire(at, cost);
        }
    }
}

macro_rules! forward_limiter {
    ($(($($generics:tt)*) $type:ty),*) => {$(
        impl<$($generics)*> Limiter for $type {
            fn try_acquire(&mut self, now: Nanos, cost: u64) -> Outcome { (**self).try_acquire(now, cost) }
            fn peek(&self, now: Nanos, cost: u64) -> Outcome { (**self).peek(now, cost) }
            fn remaining(&self, now: Nanos) -> u64 { (**self).remaining(now) }
            fn retry_after(&self, now: Nanos, cost: u64) -> Option<Nanos> { (**self).retry_after(now, cost) }
            fn reset_after(&self, now: Nanos) -> Option<Nanos> { (**self).reset_after(now) }
            fn charge(&mut self, now: Nanos, cost: u64) { (**self).charge(now, cost) }
            fn refund(&mut self, now: Nanos, taken_at: Nanos, cost: u64) { (**self).refund(now, taken_at, cost) }
            fn level(&self, now: Nanos) -> Level { (**self).level(now) }
            fn state_bytes(&self) -> usize { (**self).state_bytes() }
            fn decide(&mut self, now: Nanos, cost: u64) -> Decision { (**self).decide(now, cost) }
            fn run(&mut self, at: &[Nanos], cost: &[u64], out: &mut [Outcome]) { (**self).run(at, cost, out) }
        }
    )*};
}
forward_limiter!((L: Limiter + ?Sized) Box<L>, (L: Limiter + ?Sized) &mut L);
