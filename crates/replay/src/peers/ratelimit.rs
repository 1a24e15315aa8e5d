//! The crate ratelimit: a token bucket that counts in millionths of a token.

use super::clock::{Virtual, set_now};
use super::{Peer, algorithm, gate};
use ::ratelimit::{Clock, Ratelimiter, TryWaitError};
use limiters::{Nanos, Outcome, ParamError, Quota};
use std::time::Duration;

/// The entry.
pub const PEER: Peer = Peer {
    algorithm: algorithm("peer-ratelimit", "the crate ratelimit 2.0, in virtual time", "crates.io/crates/ratelimit"),
    parameters: |quota| {
        let limiter = built(quota, 0)?;
        Ok(format!("max_tokens {}, {} tokens per {} ns", limiter.max_tokens(), limiter.rate(), quota.window))
    },
    make: |quota, per_key| {
        drop(built(quota, 0)?);
        let bytes = size_of::<Ratelimiter<Virtual>>() - size_of::<Virtual>();
        Ok(gate(move |now| one(quota, now), per_key, bytes))
    },
};

impl Clock for Virtual {
    #[inline]
    fn elapsed(&self) -> Duration {
        Duration::from_nanos(self.read())
    }
}

/// The quota as its builder takes it, full at `now`.
pub fn built(quota: Quota, now: Nanos) -> Result<Ratelimiter<Virtual>, ParamError> {
    ::ratelimit::Builder::with_clock(quota.limit, Virtual { origin: now })
        .period(Duration::from_nanos(quota.window))
        .max_tokens(quota.burst)
        .initial_available(quota.burst)
        .build()
        .map_err(|error| ParamError::new("limit", format!("ratelimit says: {error}")))
}

fn one(quota: Quota, now: Nanos) -> impl FnMut(Nanos, u64) -> Outcome + Send {
    let limiter = built(quota, now).expect("built once before");
    move |now, cost| {
        set_now(now);
        match limiter.try_wait_n(cost) {
            Ok(()) => Outcome::Admitted,
            Err(TryWaitError::ExceedsCapacity) => Outcome::NeverFits,
            Err(_) => Outcome::Refused,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Its wait is rounded down, so who obeys it comes too early: at 999 tokens a second the first wait is 1,001,001 ns and
    /// the token comes a nanosecond later, at 1,001,001.001.
    #[test]
    fn the_wait_it_promises_is_too_short_at_999_a_second() {
        let quota = Quota { limit: 999, window: 1_000_000_000, burst: 1 };
        let limiter = built(quota, 0).unwrap();
        set_now(0);
        assert_eq!(limiter.try_wait(), Ok(()));
        let Err(TryWaitError::Insufficient(wait)) = limiter.try_wait() else { panic!("it has a token left") };
        assert_eq!(wait, Duration::from_nanos(1_001_001));
        set_now(1_001_001);
        assert!(limiter.try_wait().is_err());
    }
}
