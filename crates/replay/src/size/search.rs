//! The least value of a setting at which at most a share of all requests is refused.
//!
//! For "nobody is refused" the answer is exact for every algorithm here: while nothing is refused, what a limiter has admitted is
//! what was asked, whatever its limit, and what it asks of the next request only gets easier as the limit grows.
//!
//! With refusals allowed, the search halves an interval, which is exact where refusals fall, or stay, as the value grows. For
//! requests of one permit that is so wherever admission means "no more than f(s, t) of what was admitted lies in [s, t], for all
//! s <= t", with f growing in the value: the log, both fixed windows (those of the first request begin at the same times
//! whatever the limit), buckets, ticks, segments that are counted in full. Admitting whatever fits is then best: put the first
//! request that another choice leaves out in the place of the next one it takes, and no interval holds more than before. So a larger
//! value, under which the smaller one's choice fits too, admits at least as many. The estimate of the sliding window counter
//! is not of that form: nothing is proven, and random search found no traffic on which it fails. With costs it does fail, one large
//! request may take the place of several small ones under a larger limit: there the search finds a value at which the share is kept
//! and just below which it is not, and smaller ones may keep it as well.

use super::family::{Given, Sizable};
use super::{Demand, sigma};
use limiters::Rate;
use traffic::TrafficError;

/// A share of requests, exact: so many of so many.
pub type Share = (u64, u64);

/// Whether `refused` of `all` is at most the share.
pub fn within(refused: u64, all: usize, (part, whole): Share) -> bool {
    u128::from(refused) * u128::from(whole) <= u128::from(part) * all as u128
}

/// The least value at which at most `share` of the requests of `demand` is refused, by the argument above. `None` where no
/// value up to 2⁴⁸ does.
///
/// # Errors
/// When the requests cannot be read back.
pub fn least(demand: &Demand, sized: &Sizable, given: Given, share: Share) -> Result<Option<u64>, TrafficError> {
    let rate = Rate::new(given.limit, given.window).filter(|_| sized.obeys_sigma);
    if let (Some(rate), 0) = (rate, share.0) {
        return sigma(demand, rate).map(Some);
    }
    // So many refusals keep the share, and one more does not.
    let most = (u128::from(share.0) * demand.len() as u128 / u128::from(share.1)) as u64;
    let keeps = |value: u64| match given.rule(sized, value) {
        Some(rule) => demand.refuses_at_most(rule.as_ref(), most),
        None => Ok(false),
    };
    let mut enough = match rate {
        Some(rate) => sigma(demand, rate)?,
        None => {
            let mut value = 1;
            while !keeps(value)? {
                value *= 2;
                if value == 1 << 48 {
                    return Ok(None);
                }
            }
            value
        }
    };
    // Known not to be enough, or 0.
    let mut short = if rate.is_some() { 0 } else { enough / 2 };
    while enough - short > 1 {
        let middle = short + (enough - short) / 2;
        if keeps(middle)? { enough = middle } else { short = middle }
    }
    Ok(Some(enough))
}
