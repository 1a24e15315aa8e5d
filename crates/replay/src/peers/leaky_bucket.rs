//! The crate leaky-bucket: a bucket refilled once an interval of whole milliseconds, on tokio's clock.

use super::{Peer, algorithm, gate};
use ::leaky_bucket::RateLimiter;
use limiters::{Nanos, Outcome, ParamError, Quota};
use std::time::Duration;

/// The entry.
pub const PEER: Peer = Peer {
    algorithm: algorithm(
        "peer-leaky-bucket",
        "the crate leaky-bucket 1.1, in tokio's paused time",
        "crates.io/crates/leaky-bucket",
    ),
    parameters: |quota| {
        let (refill, interval) = translated(quota)?;
        Ok(format!("max {}, refill {refill} every {} ms", quota.burst, interval.as_millis()))
    },
    make: |quota, per_key| {
        translated(quota)?;
        // The word it keeps, the deadline, and the list of those who wait.
        let bytes = size_of::<RateLimiter>();
        Ok(gate(move |now| one(quota, now), per_key, bytes))
    },
};

const MILLISECOND: Nanos = 1_000_000;

/// Refill and interval: one permit at a time where that takes whole milliseconds, else whole permits a millisecond.
fn translated(quota: Quota) -> Result<(usize, Duration), ParamError> {
    let Quota { limit, window, burst } = quota;
    if burst == 0 || burst > usize::MAX as u64 >> 1 {
        return Err(ParamError::new("burst", "leaky-bucket takes from 1 to 2^63 − 1 permits"));
    }
    let each = window.checked_div(limit).unwrap_or(0);
    if each >= MILLISECOND && window % limit == 0 && each % MILLISECOND == 0 {
        return Ok((1, Duration::from_nanos(each)));
    }
    let per_millisecond = u128::from(limit) * u128::from(MILLISECOND);
    if window > 0 && per_millisecond % u128::from(window) == 0 {
        let refill = per_millisecond / u128::from(window);
        if let Some(refill) = usize::try_from(refill).ok().filter(|&refill| refill > 0) {
            return Ok((refill, Duration::from_millis(1)));
        }
    }
    Err(ParamError::new(
        "limit",
        "leaky-bucket refills at whole milliseconds: a permit per whole milliseconds, or whole permits a millisecond",
    ))
}

/// Each has a runtime of its own, whose time stands still until it is moved.
fn one(quota: Quota, origin: Nanos) -> impl FnMut(Nanos, u64) -> Outcome + Send {
    let (refill, interval) = translated(quota).expect("translated once before");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime on this thread needs no resources but memory");
    let max = quota.burst as usize;
    let limiter = runtime.block_on(async move {
        RateLimiter::builder().initial(max).max(max).refill(refill).interval(interval).build()
    });
    let mut last = origin;
    move |now, cost| {
        let step = now.saturating_sub(last);
        last = now;
        let Ok(cost) = usize::try_from(cost) else { return Outcome::NeverFits };
        if cost > max {
            return Outcome::NeverFits;
        }
        let admitted = runtime.block_on(async {
            if step > 0 {
                tokio::time::advance(Duration::from_nanos(step)).await;
            }
            limiter.try_acquire(cost)
        });
        if admitted { Outcome::Admitted } else { Outcome::Refused }
    }
}
