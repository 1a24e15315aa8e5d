//! The crate governor: GCRA on one 64-bit word of whole nanoseconds.

use super::clock::{Virtual, set_now};
use super::{Peer, algorithm, gate};
use ::governor::clock::Clock;
use ::governor::nanos::Nanos as GovernorNanos;
use ::governor::{Quota as GovernorQuota, RateLimiter};
use limiters::{Nanos, Outcome, ParamError, Quota};
use std::num::NonZeroU32;
use std::time::Duration;

/// The entry.
pub const PEER: Peer = Peer {
    algorithm: algorithm("peer-governor", "the crate governor 0.10, in virtual time", "crates.io/crates/governor"),
    parameters: |quota| {
        let period = translated(quota)?.replenish_interval().as_nanos();
        Ok(format!("burst {}, one permit per {period} ns", quota.burst))
    },
    make: |quota, per_key| {
        let quota = translated(quota)?;
        Ok(gate(move |now| one(quota, now), per_key, size_of::<u64>()))
    },
};

impl Clock for Virtual {
    type Instant = GovernorNanos;

    #[inline]
    fn now(&self) -> GovernorNanos {
        self.read().into()
    }
}

/// The quota as its users write it: a period, which is a whole number of nanoseconds, and a burst.
pub fn translated(quota: Quota) -> Result<GovernorQuota, ParamError> {
    let burst = u32::try_from(quota.burst).ok().and_then(NonZeroU32::new);
    let burst = burst.ok_or_else(|| ParamError::new("burst", "governor takes from 1 to 2^32 − 1 permits"))?;
    let period = Duration::from_nanos(quota.window.checked_div(quota.limit).unwrap_or(0));
    let quota = GovernorQuota::with_period(period)
        .ok_or_else(|| ParamError::new("limit", "governor takes at most a permit per nanosecond"))?;
    Ok(quota.allow_burst(burst))
}

fn one(quota: GovernorQuota, now: Nanos) -> impl FnMut(Nanos, u64) -> Outcome + Send {
    set_now(now);
    let limiter = RateLimiter::direct_with_clock(quota, Virtual { origin: now });
    move |now, cost| {
        set_now(now);
        if cost == 1 {
            return if limiter.check().is_ok() { Outcome::Admitted } else { Outcome::Refused };
        }
        match u32::try_from(cost).map(NonZeroU32::new) {
            Ok(None) => Outcome::Admitted,
            Ok(Some(cost)) => match limiter.check_n(cost) {
                Ok(Ok(())) => Outcome::Admitted,
                Ok(Err(_)) => Outcome::Refused,
                Err(_) => Outcome::NeverFits,
            },
            Err(_) => Outcome::NeverFits,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whole nanoseconds: 600 million a second become a thousand million.
    #[test]
    fn periods_are_rounded_down() {
        let period = |limit| {
            let quota = translated(Quota { limit, window: 1_000_000_000, burst: 1 });
            quota.map(|quota| quota.replenish_interval().as_nanos())
        };
        assert_eq!((period(7_000_000), period(600_000_000)), (Ok(142), Ok(1)));
        assert!(period(2_000_000_000).is_err());
    }
}
