//! Keys: who needs how much, who would feel a limit, and where the crowd ends.

use super::family::{Given, Sizable};
use super::{Demand, Share, sigmas};
use crate::inspect::{aligned_each, sliding_each};
use limiters::{AnyRule, Rate};
use traffic::TrafficError;

/// What a key loses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// Whose.
    pub key: u64,
    /// Its requests.
    pub requests: u64,
    /// Those that are refused.
    pub refused: u64,
}

/// Keys that lose anything, most refused first.
///
/// # Errors
/// When the requests cannot be read back.
pub fn losses(demand: &Demand, rule: &dyn AnyRule) -> Result<Vec<Loss>, TrafficError> {
    let mut losses: Vec<Loss> = (0..demand.keys() as u64).map(|key| Loss { key, requests: 0, refused: 0 }).collect();
    demand.replay(rule, |row, outcome| {
        let loss = &mut losses[row.key as usize];
        loss.requests += 1;
        loss.refused += u64::from(!outcome.passes());
        Ok(())
    })?;
    losses.retain(|loss| loss.refused > 0);
    losses.sort_by_key(|loss| (std::cmp::Reverse(loss.refused), loss.key));
    Ok(losses)
}

/// Whether [`needs`] knows what a single key needs of this algorithm.
pub fn knows(sized: &Sizable) -> bool {
    sized.obeys_sigma || matches!(sized.algorithm.name, "sliding-window-log" | "fixed-window")
}

/// The least value for each limiter at which it refuses nothing; `None` for algorithms where no formula says so ([`knows`]).
///
/// # Errors
/// When the requests cannot be read back.
pub fn needs(demand: &Demand, sized: &Sizable, given: Given) -> Result<Option<Vec<u64>>, TrafficError> {
    if sized.obeys_sigma {
        return Rate::new(given.limit, given.window).map(|rate| sigmas(demand, rate)).transpose();
    }
    let limiter = |row: crate::inspect::Row| demand.limiter_of(row.key);
    match sized.algorithm.name {
        "sliding-window-log" => sliding_each(&demand.asked, demand.limiters(), limiter, given.window).map(Some),
        "fixed-window" => aligned_each(&demand.asked, demand.limiters(), limiter, given.window).map(Some),
        _ => Ok(None),
    }
}

/// The least value that is enough for this share of the needs; at least 1.
pub fn serves(needs: &[u64], (part, whole): Share) -> u64 {
    let mut sorted = needs.to_vec();
    sorted.sort_unstable();
    let count = (sorted.len() as u128 * u128::from(part)).div_ceil(u128::from(whole)) as usize;
    sorted.get(count.max(1) - 1).copied().unwrap_or(1).max(1)
}

/// The widest step between neighbours among the tenth of the keys that need most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crowd {
    /// Keys below the step.
    pub keys: usize,
    /// What the last of them needs.
    pub need: u64,
    /// Keys above it.
    pub others: usize,
    /// What the first of them needs.
    pub others_from: u64,
}

/// Where the crowd ends: the widest step, by ratio, if the need more than half doubles there. `None` where needs grow evenly.
pub fn crowd(needs: &[u64]) -> Option<Crowd> {
    let mut sorted: Vec<u64> = needs.iter().copied().filter(|&need| need > 0).collect();
    sorted.sort_unstable();
    let wider = |&a: &usize, &b: &usize| {
        // a's ratio against b's, without division; of equal ones the higher step.
        let (a, b) = ((sorted[a], sorted[a - 1]), (sorted[b], sorted[b - 1]));
        (u128::from(a.0) * u128::from(b.1)).cmp(&(u128::from(b.0) * u128::from(a.1)))
    };
    let step = ((sorted.len() * 9 / 10).max(1)..sorted.len()).max_by(wider)?;
    let (need, others_from) = (sorted[step - 1], sorted[step]);
    let wide = u128::from(others_from) * 2 >= u128::from(need) * 3;
    wide.then(|| Crowd { keys: step, need, others: sorted.len() - step, others_from })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_serves_its_share_of_keys() {
        let needs = [1, 2, 3, 4, 100];
        assert_eq!(serves(&needs, (80, 100)), 4);
        assert_eq!(serves(&needs, (81, 100)), 100);
        assert_eq!((serves(&needs, (0, 1)), serves(&[], (1, 2)), serves(&[0], (1, 2))), (1, 1, 1));
    }

    #[test]
    fn the_crowd_ends_at_the_widest_step() {
        let needs: Vec<u64> = (11..49).chain([480, 500]).rev().collect();
        assert_eq!(crowd(&needs), Some(Crowd { keys: 38, need: 48, others: 2, others_from: 480 }));
        // One, and then two, is no step of a crowd's edge when most keys are below.
        assert_eq!(crowd(&[1, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2]), None);
        assert_eq!(crowd(&[5, 6, 7, 8, 9]), None);
        assert_eq!((crowd(&[]), crowd(&[4])), (None, None));
    }
}
