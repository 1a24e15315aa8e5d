//! GCRA in one shared word: threads ask it through a reference, without a lock.
//!
//! Rule: as [`gcra`](crate::ALGORITHMS), `b = max(TAT − t, 0)`; a request of cost `c` passes iff `b + c·T <= B·T`, and then
//! `TAT = t + b + c·T`. The word is TAT in units of 1/R ns since `origin`, where T = P is whole, so no rate is rounded.
//! One compare-and-swap takes permits; a refusal is one plain load.
//!
//! Range: exact for times in `[origin, origin + horizon]`, which construction checks to fit: horizon·R + B·P < 2^64.
//! Later times count as the end of the horizon, where it runs dry and refuses: it fails closed. Earlier times count as
//! the origin. A clock that steps back finds TAT further ahead and admits no more than one that stands still.
//!
//! Memory order: the word alone is the state and every change is one atomic step on it, so `Relaxed` is enough; a limiter
//! passes no data between threads.

use crate::sync::{AtomicU64, Ordering::Relaxed};
use crate::{Level, Limiter, Nanos, Outcome, ParamError, Rate};

/// A shared GCRA limiter; `&AtomicGcra` is a [`Limiter`].
#[derive(Debug)]
pub struct AtomicGcra {
    tat: AtomicU64,
    origin: Nanos,
    horizon: Nanos,
    rate: Rate,
    permits: u64,
    /// B·T in units of 1/R ns.
    ceiling: u64,
}

impl AtomicGcra {
    /// A full limiter of `capacity` permits at one instant and `rate` over time, for times from `origin` on until `horizon`
    /// nanoseconds later. An error names the parameter that does not fit into 64 bits.
    ///
    /// At rates of R permits per P ns in lowest terms the longest horizon is about 584 years / R: with 100/min (1 per
    /// 600 ms) or 1000/s (1 per ms) all of them, with 7 M/s (7 per µs) 83 years.
    pub fn new(capacity: u64, rate: Rate, origin: Nanos, horizon: Nanos) -> Result<AtomicGcra, ParamError> {
        if capacity == 0 {
            return Err(ParamError::new("capacity", "0 would refuse every request; give at least 1"));
        }
        let Some(ceiling) = capacity.checked_mul(rate.per()).filter(|ceiling| *ceiling <= 1 << 62) else {
            let most = (1 << 62) / rate.per();
            let message =
                format!("{capacity} permits at {rate} pass 2^62 units of 1/R ns; at this rate at most {most}");
            return Err(ParamError::new("capacity", message));
        };
        let longest = ((u64::MAX - ceiling) / rate.permits()).min(Nanos::MAX - origin);
        if horizon > longest {
            let message = format!("{horizon} ns at {rate} pass 64 bits of 1/R ns; at most {longest} ns");
            return Err(ParamError::new("horizon", message));
        }
        Ok(AtomicGcra { tat: AtomicU64::new(0), origin, horizon, rate, permits: capacity, ceiling })
    }

    /// Asks for `cost` permits at `now`. See [`Limiter::try_acquire`].
    #[inline]
    pub fn try_acquire(&self, now: Nanos, cost: u64) -> Outcome {
        if cost > self.permits {
            return Outcome::NeverFits;
        }
        let now = self.units(now);
        let increment = cost * self.rate.per();
        let room = self.ceiling - increment;
        let mut tat = self.tat.load(Relaxed);
        loop {
            if cost == 0 {
                return Outcome::Admitted;
            }
            let start = tat.max(now);
            if start - now > room {
                return Outcome::Refused;
            }
            match self.tat.compare_exchange_weak(tat, start + increment, Relaxed, Relaxed) {
                Ok(_) => return Outcome::Admitted,
                Err(newer) => tat = newer,
            }
        }
    }

    #[inline]
    fn units(&self, now: Nanos) -> u64 {
        now.saturating_sub(self.origin).min(self.horizon) * self.rate.permits()
    }

    /// How far TAT is ahead of `now`, in units.
    fn ahead(&self, now: Nanos) -> u64 {
        self.tat.load(Relaxed).saturating_sub(self.units(now))
    }

    fn wait(&self, units: u64) -> Nanos {
        units.div_ceil(self.rate.permits())
    }

    fn change(&self, change: impl Fn(u64) -> u64) {
        let mut tat = self.tat.load(Relaxed);
        while let Err(newer) = self.tat.compare_exchange_weak(tat, change(tat), Relaxed, Relaxed) {
            tat = newer;
        }
    }
}

impl Limiter for &AtomicGcra {
    #[inline]
    fn try_acquire(&mut self, now: Nanos, cost: u64) -> Outcome {
        AtomicGcra::try_acquire(self, now, cost)
    }

    fn peek(&self, now: Nanos, cost: u64) -> Outcome {
        match cost {
            0 => Outcome::Admitted,
            _ if cost > self.permits => Outcome::NeverFits,
            _ if self.ahead(now) <= self.ceiling - cost * self.rate.per() => Outcome::Admitted,
            _ => Outcome::Refused,
        }
    }

    fn remaining(&self, now: Nanos) -> u64 {
        self.ceiling.saturating_sub(self.ahead(now)) / self.rate.per()
    }

    fn retry_after(&self, now: Nanos, cost: u64) -> Option<Nanos> {
        match cost {
            0 => Some(0),
            _ if cost > self.permits => None,
            _ => Some(self.wait(self.ahead(now).saturating_sub(self.ceiling - cost * self.rate.per()))),
        }
    }

    fn reset_after(&self, now: Nanos) -> Option<Nanos> {
        Some(self.wait(self.ahead(now)))
    }

    /// Debt stops at the largest TAT, far behind the horizon.
    fn charge(&mut self, now: Nanos, cost: u64) {
        let (now, increment) = (self.units(now), cost.saturating_mul(self.rate.per()));
        self.change(|tat| tat.max(now).saturating_add(increment));
    }

    fn refund(&mut self, now: Nanos, _taken_at: Nanos, cost: u64) {
        let (now, back) = (self.units(now), cost.saturating_mul(self.rate.per()));
        self.change(|tat| if tat > now { tat.saturating_sub(back).max(now) } else { tat });
    }

    fn level(&self, now: Nanos) -> Level {
        let ceiling = i128::from(self.ceiling);
        Level::scaled(ceiling - i128::from(self.ahead(now)), ceiling, self.rate.per().into())
    }

    fn state_bytes(&self) -> usize {
        size_of::<AtomicU64>()
    }
}
