//! GCRA: one instant, the theoretical arrival time (TAT), says when the next request is due; how early it may come is the
//! tolerance.
//!
//! Rule: `b = max(TAT − t, 0)`; a request of cost `c` at `t` passes iff `b + c · T <= τ + T`, and then `TAT = t + b + c · T`. Instants are
//! kept in 1/R ns, where the emission interval T = P/R ns is the whole number P, so no rate is rounded to nanoseconds.
//!
//! Bound, for a closed interval of length d: floor((d + τ)/T) + 1, in units of 1/R ns. Proof: n conforming unit requests in it leave
//! a TAT at least n · T after the first, and the last one conforms only if (n − 1) · T <= d + τ. With τ = (B − 1) · T it is the bound of a bucket,
//! B + floor(d · R/P). Without tolerance two requests are at least ceil(T) apart: 1 + floor(d/ceil(T)). A request of cost c counts as c
//! unit requests at one instant.
//!
//! Range: where R = 1 the instants fit 64 bits and times in the last τ + T before the end of [`Nanos`], in the year 2554, count
//! as the instant at which it begins: a TAT beyond the end could not be kept, so there it runs dry and refuses.
//!
//! Source: ITU-T I.371 and ATM Forum TM 4.0, annex on the generic cell rate algorithm.

use crate::span::Span;
use crate::{Algorithm, AnyRule, Kind, Level, Nanos, Outcome, Param, ParamError, Rate, Rule, Settings, Worst};
use std::fmt::Debug;
use std::hint::select_unpredictable;
use std::ops::Sub;

/// The registry entry.
pub const ALGORITHM: Algorithm = Algorithm {
    name: "gcra",
    summary: "keeps the time the next request is due and refuses what comes too early: a bucket in 8 bytes",
    source: "ITU-T I.371; ATM Forum TM 4.0",
    params: &[
        Param {
            name: "capacity",
            kind: Kind::Permits { min: 1 },
            doc: "permits at one instant, which makes the tolerance (capacity − 1) · T (the quota's burst)",
        },
        Param {
            name: "refill",
            kind: Kind::Rate,
            doc: "permits over time, the inverse of the emission interval T (the quota's limit per window)",
        },
        Param {
            name: "emission-interval",
            kind: Kind::Duration,
            doc: "T in whole nanoseconds, in the place of `refill` (not set)",
        },
        Param {
            name: "tolerance",
            kind: Kind::Duration,
            doc: "how early a request may come, in the place of `capacity` (not set)",
        },
    ],
    default: true,
    build,
    strict: crate::params_strict::bucket_settings,
};

fn build(settings: &Settings) -> Result<Box<dyn AnyRule>, ParamError> {
    let rate = match settings.duration("emission-interval") {
        Some(_) if settings.rate("refill").is_some() => {
            return Err(ParamError::new("emission-interval", "not together with refill, which says the same"));
        }
        Some(interval) => {
            Rate::new(1, interval).ok_or_else(|| ParamError::new("emission-interval", "a length of time above zero"))?
        }
        None => settings.refill()?,
    };
    let tolerance = match settings.duration("tolerance") {
        Some(_) if settings.permits("capacity").is_some() => {
            return Err(ParamError::new("tolerance", "not together with capacity, which says the same"));
        }
        Some(tolerance) => u128::from(tolerance) * u128::from(rate.permits()),
        None => u128::from(settings.capacity()? - 1) * u128::from(rate.per()),
    };
    if let Some(narrow) = Gcra::<u64>::new(rate, tolerance) {
        return Ok(Box::new(narrow));
    }
    let wide = Gcra::<u128>::new(rate, tolerance);
    let wide = wide.ok_or_else(|| ParamError::new("refill", format!("time at {rate} passes 2^128 units of 1/R ns")))?;
    Ok(Box::new(wide))
}

/// The integer a [`Gcra`] keeps instants in, in units of 1/R ns: `u64` where R = 1, and `u128` elsewhere.
pub trait GcraWord: Copy + Ord + Debug + Default + Sub<Output = Self> + Send + Sync + 'static {
    /// Largest number of units in a nanosecond, and largest τ + T in units.
    const MAX: (u64, u128);
    /// The instant `now`, given the units in a nanosecond, at most so late that τ + T after it can be kept.
    fn instant(now: Nanos, units: u64, ceiling: Self) -> Self;
    /// So many amounts of `per` units each.
    fn product(count: u64, per: u64) -> Self;
    /// The value, which is known to fit.
    fn narrowed(value: u128) -> Self;
    /// The value in the widest word.
    fn wide(self) -> u128;
    /// The sum, stopping at the largest instant.
    fn later(self, by: Self) -> Self;
    /// The sum with an amount of any size, stopping at the largest instant.
    fn plus(self, other: u128) -> Self;
}

impl GcraWord for u64 {
    const MAX: (u64, u128) = (1, 1 << 62);
    #[inline]
    fn instant(now: Nanos, _one: u64, ceiling: u64) -> u64 {
        now.min(u64::MAX - ceiling)
    }
    #[inline]
    fn product(count: u64, per: u64) -> u64 {
        count * per
    }
    fn narrowed(value: u128) -> u64 {
        value as u64
    }
    fn wide(self) -> u128 {
        self.into()
    }
    #[inline]
    fn later(self, by: u64) -> u64 {
        self.saturating_add(by)
    }
    fn plus(self, other: u128) -> u64 {
        (u128::from(self).saturating_add(other)).min(u64::MAX.into()) as u64
    }
}

impl GcraWord for u128 {
    const MAX: (u64, u128) = (1 << 62, 1 << 120);
    #[inline]
    fn instant(now: Nanos, units: u64, _ceiling: u128) -> u128 {
        u128::from(now) * u128::from(units)
    }
    #[inline]
    fn product(count: u64, per: u64) -> u128 {
        u128::from(count) * u128::from(per)
    }
    fn narrowed(value: u128) -> u128 {
        value
    }
    fn wide(self) -> u128 {
        self
    }
    #[inline]
    fn later(self, by: u128) -> u128 {
        self.saturating_add(by)
    }
    fn plus(self, other: u128) -> u128 {
        self.saturating_add(other)
    }
}

/// A GCRA limiter. `I` is the word it keeps time in; with `u64` it is exact while TAT is before the end of [`Nanos`].
#[derive(Clone, Debug)]
pub struct Gcra<I: GcraWord> {
    rate: Rate,
    /// τ + T in units of 1/R ns.
    ceiling: I,
    /// Largest cost: floor((τ + T)/T).
    permits: u64,
}

/// The theoretical arrival time, in units of 1/R ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State<I> {
    tat: I,
}

impl<I: GcraWord> Gcra<I> {
    /// A limiter with the emission interval P/R ns of `rate` and a `tolerance` in units of 1/R ns. `None` when they do not fit
    /// `I`.
    pub fn new(rate: Rate, tolerance: u128) -> Option<Gcra<I>> {
        let ceiling = tolerance.checked_add(rate.per().into())?;
        let permits = u64::try_from(ceiling / u128::from(rate.per())).ok()?;
        let fits = rate.permits() <= I::MAX.0 && ceiling <= I::MAX.1;
        fits.then(|| Gcra { rate, ceiling: I::narrowed(ceiling), permits })
    }

    #[inline]
    fn units(&self, now: Nanos) -> I {
        I::instant(now, self.rate.permits(), self.ceiling)
    }

    /// How far TAT is ahead of `now`.
    fn ahead(&self, state: &State<I>, now: Nanos) -> u128 {
        let now = self.units(now);
        (state.tat.max(now) - now).wide()
    }

    fn wait(&self, units: u128) -> Nanos {
        units.div_ceil(self.rate.permits().into()).try_into().unwrap_or(Nanos::MAX)
    }

    fn amount(&self, cost: u64) -> u128 {
        u128::from(cost) * u128::from(self.rate.per())
    }
}

impl<I: GcraWord> Rule for Gcra<I> {
    type State = State<I>;

    fn fresh(&self) -> State<I> {
        State::default()
    }

    #[inline]
    fn try_acquire(&self, state: &mut State<I>, now: Nanos, cost: u64) -> Outcome {
        if cost > self.permits {
            return Outcome::NeverFits;
        }
        let now = self.units(now);
        let start = state.tat.max(now);
        let increment = I::product(cost, self.rate.per());
        let admitted = start - now <= self.ceiling - increment;
        let take = admitted & (cost != 0);
        state.tat = select_unpredictable(take, start.later(increment), state.tat);
        Outcome::of(admitted | (cost == 0))
    }

    fn remaining(&self, state: &State<I>, now: Nanos) -> u64 {
        (self.ceiling.wide().saturating_sub(self.ahead(state, now)) / u128::from(self.rate.per())) as u64
    }

    fn retry_after(&self, state: &State<I>, now: Nanos, cost: u64) -> Option<Nanos> {
        if cost == 0 || cost > self.permits {
            return (cost == 0).then_some(0);
        }
        let allowed = self.ceiling.wide() - self.amount(cost);
        Some(self.wait(self.ahead(state, now).saturating_sub(allowed)))
    }

    fn reset_after(&self, state: &State<I>, now: Nanos) -> Option<Nanos> {
        Some(self.wait(self.ahead(state, now)))
    }

    fn charge(&self, state: &mut State<I>, now: Nanos, cost: u64) {
        state.tat = state.tat.max(self.units(now)).plus(self.amount(cost));
    }

    fn refund(&self, state: &mut State<I>, now: Nanos, _taken_at: Nanos, cost: u64) {
        let back = self.amount(cost).min(self.ahead(state, now));
        state.tat = state.tat.max(self.units(now)) - I::narrowed(back);
    }

    fn level(&self, state: &State<I>, now: Nanos) -> Level {
        let ceiling = self.ceiling.wide() as i128;
        let ahead = i128::try_from(self.ahead(state, now)).unwrap_or(i128::MAX);
        Level::scaled(ceiling - ahead, ceiling, self.rate.per().into())
    }

    fn envelope(&self, tau: Nanos, _max_cost: u64) -> Option<u128> {
        let (per, permits) = (u128::from(self.rate.per()), u128::from(self.rate.permits()));
        let tolerance = self.ceiling.wide() - per;
        if tolerance == 0 {
            return Some(1 + u128::from(tau) / per.div_ceil(permits));
        }
        let at_one_instant = u128::from(self.permits);
        let open = (u128::from(tau) * permits).checked_add(tolerance)?;
        Some((open / per + 1).min(at_one_instant * (u128::from(tau) + 1)))
    }

    /// All permits at once, then each one when it is due: the n-th at ceil(((n − 1) · P − τ)/R), for at most 1,000.
    fn worst(&self) -> Option<Worst> {
        let tolerance = self.ceiling.wide() - u128::from(self.rate.per());
        let due = |nth: u64| Nanos::try_from((self.amount(nth - 1) - tolerance).div_ceil(self.rate.permits().into()));
        let more = self.permits.min(1_000);
        let each = (self.permits + 1..=self.permits.checked_add(more)?).map_while(|nth| Some((due(nth).ok()?, 1)));
        let requests: Vec<_> = std::iter::once((0, self.permits)).chain(each).collect();
        let tau = requests.last()?.0;
        Some(Worst { requests, tau })
    }

    fn parameters(&self) -> String {
        let per = self.rate.per();
        let tolerance = self.ceiling.wide() - u128::from(per);
        let words = |units: u128| match units.is_multiple_of(self.rate.permits().into()) {
            true => Span((units / u128::from(self.rate.permits())) as Nanos).to_string(),
            false => format!("{units}/{}ns", self.rate.permits()),
        };
        format!("T {}, tolerance {}", words(per.into()), words(tolerance))
    }
}
