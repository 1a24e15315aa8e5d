//! σ(ρ): the least bucket that never refuses this traffic at a refill rate ρ.
//!
//! A bucket that starts full refuses nobody iff its capacity is at least the largest backlog of a queue that drains at ρ: with
//! b = max(b − dt·ρ, 0) + c at each request, σ = ⌈max b⌉ (level = capacity − b as long as nothing is refused). One pass,
//! constant memory per limiter, in units of 1/P permit for ρ = R/P, so nothing is rounded before the end.
//!
//! R. L. Cruz, "A calculus for network delay, part I", IEEE Trans. Inf. Theory 37(1), 1991, calls traffic with this property
//! (σ, ρ)-constrained; S. Low and P. Varaiya, "Burstiness bounds for some burst reducing servers", INFOCOM 1993, call the curve its
//! burstiness curve. More in docs/sizing.md.

use super::Demand;
use limiters::Rate;
use traffic::TrafficError;

/// σ of each limiter of the demand, in whole permits; 0 for a key that asks for nothing. O(n).
///
/// # Errors
/// When the requests cannot be read back.
pub fn sigmas(demand: &Demand, rate: Rate) -> Result<Vec<u64>, TrafficError> {
    let (permits, per) = (u128::from(rate.permits()), u128::from(rate.per()));
    let mut backlog = vec![(0u128, 0u64, 0u128); demand.limiters()];
    demand.asked.each(|block| {
        for ((&at, &key), &cost) in block.at.iter().zip(block.key).zip(block.amount) {
            let (now, last, most) = &mut backlog[demand.limiter_of(key)];
            let drained = u128::from(at - *last) * permits;
            *now = now.saturating_sub(drained).saturating_add(u128::from(cost) * per);
            (*last, *most) = (at, (*most).max(*now));
        }
    })?;
    Ok(backlog.iter().map(|(_, _, most)| u64::try_from(most.div_ceil(per)).unwrap_or(u64::MAX)).collect())
}

/// σ of the limiter that needs most. At least 1, the smallest bucket there is.
///
/// # Errors
/// When the requests cannot be read back.
pub fn sigma(demand: &Demand, rate: Rate) -> Result<u64, TrafficError> {
    Ok(sigmas(demand, rate)?.into_iter().max().unwrap_or(0).max(1))
}
