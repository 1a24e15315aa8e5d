//! Equal guarantee: every algorithm tuned so that no window ever holds more than N permits, and what that costs.
//!
//! Comparing algorithms at an equal quota flatters those that let more through. Here each has the parameters that admit
//! most on the traffic at hand among those that keep the promise "never more than N permits in any half-open window W".

use crate::rows::GuaranteeRow;
use limiters::{ALGORITHMS, Algorithm, AnyRule, Batch, Meter, Nanos, Outcome};
use rayon::prelude::*;

/// Permits and requests that a rule admits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Admitted {
    permits: u64,
    requests: u64,
}

/// What `rule` admits of `sample`, from fresh.
fn admitted(rule: &dyn AnyRule, sample: &[Batch], meter: Meter, per_key: bool, patience: Option<Nanos>) -> Admitted {
    let mut store = rule.store(per_key);
    let mut sum = Admitted::default();
    let (mut scratch, mut out) = (Vec::new(), Vec::new());
    for batch in sample {
        let cost = batch.amounts(meter, &mut scratch);
        out.resize(batch.len(), Outcome::Refused);
        match patience {
            None => store.run(&batch.key, &batch.at, cost, &mut out),
            Some(patience) => {
                for (index, out) in out.iter_mut().enumerate() {
                    let (key, now, cost) = (batch.key[index], batch.at[index], cost[index]);
                    *out = match store.peek(key, now, cost).starts(now) {
                        Some(start) if start - now <= patience => store.try_acquire(key, now, cost),
                        _ => Outcome::Refused,
                    };
                }
            }
        }
        for (_, cost) in out.iter().zip(cost).filter(|(outcome, _)| outcome.passes()) {
            sum.permits += cost;
            sum.requests += 1;
        }
    }
    sum
}

/// What traffic the choice is made on.
pub struct Sample<'a> {
    /// Requests in time order, with times that never go back.
    pub batches: &'a [Batch],
    /// What is counted.
    pub meter: Meter,
    /// Whether each key has a limiter of its own.
    pub per_key: bool,
    /// See the scenario's `patience`.
    pub patience: Option<Nanos>,
    /// Absolute time of t = 0.
    pub origin: Nanos,
}

/// The strict settings of `algorithm` that admit most permits of the sample, the rule they make, and what it admitted.
/// Ties go to the earlier candidate. `None` where no parameters keep the promise.
fn best(algorithm: &Algorithm, limit: u64, window: Nanos, sample: &Sample<'_>) -> Option<(Box<dyn AnyRule>, Admitted)> {
    let candidates = (algorithm.strict)(limit, window);
    let tried = candidates.into_par_iter().filter_map(|settings| {
        let rule = (algorithm.build)(&settings.starting_at(sample.origin)).ok()?;
        let sum = admitted(rule.as_ref(), sample.batches, sample.meter, sample.per_key, sample.patience);
        Some((rule, sum))
    });
    let tried: Vec<_> = tried.collect();
    // `max_by_key` keeps the last of equals, so walk from the back.
    tried.into_iter().rev().max_by_key(|(_, sum)| sum.permits)
}

/// The rule of each registered algorithm that is `wanted`, keeps the promise and admits most of the sample.
pub fn rivals(
    limit: u64,
    window: Nanos,
    wanted: &dyn Fn(&str) -> bool,
    sample: &Sample<'_>,
) -> Vec<(&'static Algorithm, Box<dyn AnyRule>)> {
    let algorithms: Vec<_> = ALGORITHMS.iter().filter(|algorithm| wanted(algorithm.name)).collect();
    let pick = |algorithm: &'static Algorithm| Some((algorithm, best(algorithm, limit, window, sample)?.0));
    algorithms.into_par_iter().filter_map(pick).collect()
}

/// The curve of refused share against guaranteed peak, for guarantees around `limit`.
pub fn curve(limit: u64, window: Nanos, wanted: &dyn Fn(&str) -> bool, sample: &Sample<'_>) -> Vec<GuaranteeRow> {
    let requests: u64 = sample.batches.iter().map(|batch| batch.len() as u64).sum();
    // Quarters of the limit up to twice it, then doublings: dense where a person would move the limit.
    let mut guarantees: Vec<u64> = [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 32]
        .into_iter()
        .map(|quarters| (u128::from(limit) * quarters / 4).clamp(1, u64::MAX.into()) as u64)
        .collect();
    guarantees.dedup();
    let algorithms: Vec<_> = ALGORITHMS.iter().filter(|algorithm| wanted(algorithm.name)).collect();
    let points: Vec<_> = algorithms.iter().flat_map(|&a| guarantees.iter().map(move |&g| (a, g))).collect();
    let row = |(algorithm, guaranteed_permits): (&'static Algorithm, u64)| {
        let (rule, sum) = best(algorithm, guaranteed_permits, window, sample)?;
        let refused = requests - sum.requests;
        Some(GuaranteeRow {
            algorithm: algorithm.name.into(),
            parameters: rule.parameters(),
            guaranteed_permits,
            window_ns: window,
            requests,
            refused,
            refused_ratio: crate::rows::ratio(refused, requests).unwrap_or(0.0),
        })
    };
    points.into_par_iter().filter_map(row).collect()
}
