//! The buckets that keep a strict promise: never more than N in any half-open window W.

use crate::{Nanos, Quota, Rate, Settings, Value};

/// Capacity B with refill (N − B + 1)/W for every B when there are few, else for about 32 spread over 1..=N. Each admits
/// at most B + floor((W − 1)(N − B + 1)/W) = N in a half-open window.
pub(crate) fn buckets(limit: u64, window: Nanos) -> impl Iterator<Item = (u64, Rate)> {
    let steps = limit.min(33);
    let mut capacities: Vec<u64> = (0..steps)
        .map(
            |i| if steps == 1 { 1 } else { 1 + (u128::from(limit - 1) * u128::from(i) / u128::from(steps - 1)) as u64 },
        )
        .collect();
    capacities.dedup();
    capacities.into_iter().filter_map(move |capacity| Some((capacity, Rate::new(limit - capacity + 1, window)?)))
}

/// Those buckets as settings of the algorithms that take a capacity and a refill. Which one admits most depends on the
/// traffic.
pub(crate) fn bucket_settings(limit: u64, window: Nanos) -> Vec<Settings> {
    let settings = buckets(limit, window).map(|(capacity, refill)| {
        Settings::new(Quota { limit, window, burst: capacity })
            .with("capacity", Value::Permits(capacity))
            .with("refill", Value::Rate(refill))
    });
    settings.collect()
}
