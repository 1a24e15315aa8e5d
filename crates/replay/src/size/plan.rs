//! The plan: for each rate or window the least setting that keeps the promises, how it would have held on traffic it was not
//! fitted on, and which one to take.

use super::family::{Family, Given, Sizable};
use super::search::{Share, least};
use super::{Demand, Refused, grid, keys};
use crate::inspect::Metered;
use crate::rows::six_decimals;
use limiters::{AnyRule, Nanos};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use traffic::TrafficError;

/// Shares of refused requests that every table shows: none, 0.01 %, 0.1 %, 1 %.
pub const SHARES: [Share; 4] = [(0, 1), (1, 10_000), (1, 1_000), (1, 100)];

/// What is asked for.
pub struct Ask<'a> {
    /// What is sized.
    pub sized: Sizable,
    /// The rates or windows to look at.
    pub given: Vec<Given>,
    /// At most this share of requests is refused.
    pub blocked: Share,
    /// The last so much of the time is kept back, to see how a setting fitted on the rest holds; 0 for none.
    pub holdout: Share,
    /// No limiter lets more than so many permits through in any window of that length, on any traffic: by its bound.
    pub peak: Option<(u64, Nanos)>,
    /// No more than so many permits pass over all keys together in any window of that length, on this traffic.
    pub backend: Option<(u64, Nanos)>,
    /// The same in micro-dollars, with what each request costs.
    pub spend: Option<(u64, Nanos, &'a Metered)>,
    /// The setting is chosen so that this share of keys is never refused, whatever happens to the others.
    pub keys_at: Option<Share>,
}

/// A promise that a candidate breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// The proven most in a window, where it is proven.
    Peak(Option<u128>),
    /// The most that passed in a window.
    Backend(u64),
    /// The most that was spent in a window.
    Spend(u64),
}

/// A setting with what it would have done.
#[derive(Clone, Debug)]
pub struct Candidate {
    /// Its rate or window.
    pub given: Given,
    /// The least value for each of [`SHARES`].
    pub at: [Option<u64>; SHARES.len()],
    /// The value it is about: the least that keeps the share asked for, or that serves the share of keys asked for.
    pub value: u64,
    /// What that refuses.
    pub refused: Refused,
    /// Keys of which it refuses anything.
    pub touched: u64,
    /// How it holds on what it was not fitted on.
    pub fit: Option<Fit>,
    /// Promises that it breaks.
    pub breaks: Vec<Promise>,
}

/// A setting fitted on the first part and tried on the rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fit {
    /// The value that the first part alone asks for.
    pub value: u64,
    /// Requests of the rest.
    pub requests: u64,
    /// Those of them that it refuses.
    pub refused: u64,
    /// What the whole asks for over what the first part does.
    pub headroom: f64,
}

/// All candidates, in the order they were given.
pub struct Plan {
    /// One for each rate or window at which there is a value at all.
    pub candidates: Vec<Candidate>,
    /// Where the curve of values bends most.
    pub knee: Option<usize>,
    /// The candidate to take: the knee, or the nearest to it that keeps all promises.
    pub chosen: Option<usize>,
}

/// `size.csv`: one row for each setting and share.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // a column whose name says it all has no comment
pub struct SizeRow {
    pub algorithm: String,
    pub meter: String,
    /// `global` or `per-key`.
    pub scope: String,
    /// Permits per window_ns: a bucket's refill, or a window's limit.
    pub limit: u64,
    pub window_ns: u64,
    /// A bucket's capacity; empty for windows.
    pub burst: Option<u64>,
    /// The share of requests that it may refuse at most; empty where it serves a share of keys.
    pub blocked_at_most: Option<f64>,
    pub requests: u64,
    pub refused: Option<u64>,
    pub refused_permits: Option<u64>,
    pub keys: u64,
    pub keys_touched: Option<u64>,
    /// The value (burst or limit) that the first part of the time asks for.
    pub fitted: Option<u64>,
    pub holdout_requests: Option<u64>,
    pub holdout_refused: Option<u64>,
    /// What the whole asks for over what the first part does.
    pub headroom: Option<f64>,
    pub knee: bool,
    pub chosen: bool,
}

/// Looks at every rate or window.
///
/// # Errors
/// When the requests cannot be read back.
pub fn plan(demand: &Demand, ask: &Ask<'_>) -> Result<Plan, TrafficError> {
    let split = split(demand, ask.holdout);
    let first = split.map(|end| demand.until(end)).transpose()?;
    let tried = ask.given.par_iter().map(|&given| candidate(demand, first.as_ref(), ask, given));
    let candidates: Vec<Candidate> = tried.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    let curve: Vec<(f64, f64)> =
        candidates.iter().map(|one| (across(one, ask.sized.family), one.value as f64)).collect();
    let knee = grid::knee(&curve, ask.sized.family == Family::Window);
    let kept = |index: &usize| candidates[*index].breaks.is_empty();
    let wanted = knee.unwrap_or(candidates.len() / 2);
    let distance = |index: usize| index.abs_diff(wanted);
    // Of two that are equally near the one with the lower rate, or shorter window, promises less.
    let chosen = (0..candidates.len()).filter(kept).min_by_key(|&index| (distance(index), index));
    Ok(Plan { candidates, knee, chosen })
}

/// Where a candidate lies on the axis of what is given.
pub fn across(candidate: &Candidate, family: Family) -> f64 {
    match family {
        Family::Bucket => candidate.given.limit as f64 / candidate.given.window as f64,
        Family::Window => candidate.given.window as f64,
    }
}

/// The absolute time at which the part that is kept back begins; `None` without one.
fn split(demand: &Demand, (part, whole): Share) -> Option<Nanos> {
    let (first, last) = demand.asked.ends()?;
    let kept = u128::from(last - first + 1) * u128::from(whole - part) / u128::from(whole);
    (part > 0).then(|| first + kept as u64)
}

fn candidate(
    demand: &Demand,
    first: Option<&Demand>,
    ask: &Ask<'_>,
    given: Given,
) -> Result<Option<Candidate>, TrafficError> {
    let sized = &ask.sized;
    let mut at = [None; SHARES.len()];
    for (at, share) in at.iter_mut().zip(SHARES) {
        *at = least(demand, sized, given, share)?;
    }
    let needed = |demand: &Demand| match ask.keys_at {
        Some(share) => Ok(keys::needs(demand, sized, given)?.map(|needs| keys::serves(&needs, share))),
        None => least(demand, sized, given, ask.blocked),
    };
    let Some((value, rule)) = needed(demand)?.and_then(|value| Some((value, given.rule(sized, value)?))) else {
        return Ok(None);
    };
    let (refused, touched) = effect(demand, rule.as_ref())?;
    let fit = match first.filter(|first| !first.is_empty()) {
        Some(first) => fit(demand, first, value, needed(first)?, |value| given.rule(sized, value))?,
        None => None,
    };
    let breaks = breaks(demand, ask, rule.as_ref())?;
    Ok(Some(Candidate { given, at, value, refused, touched, fit, breaks }))
}

/// How the value that the first part asks for holds on the rest, beside the one that all asks for.
fn fit(
    demand: &Demand,
    first: &Demand,
    value: u64,
    fitted: Option<u64>,
    rule: impl Fn(u64) -> Option<Box<dyn AnyRule>>,
) -> Result<Option<Fit>, TrafficError> {
    let Some((fitted, rule)) = fitted.and_then(|fitted| Some((fitted, rule(fitted)?))) else { return Ok(None) };
    let rest = demand.refused_from(rule.as_ref(), first.len())?;
    Ok(Some(Fit {
        value: fitted,
        requests: (demand.len() - first.len()) as u64,
        refused: rest.requests,
        headroom: six_decimals(value as f64 / fitted as f64),
    }))
}

/// What a rule refuses, and how many keys feel it.
fn effect(demand: &Demand, rule: &dyn AnyRule) -> Result<(Refused, u64), TrafficError> {
    let mut refused = Refused::default();
    let mut touched = vec![false; demand.keys()];
    demand.replay(rule, |row, outcome| {
        if !outcome.passes() {
            refused.requests += 1;
            refused.permits = refused.permits.saturating_add(row.amount);
            touched[row.key as usize] = true;
        }
        Ok(())
    })?;
    Ok((refused, touched.iter().filter(|touched| **touched).count() as u64))
}

fn breaks(demand: &Demand, ask: &Ask<'_>, rule: &dyn AnyRule) -> Result<Vec<Promise>, TrafficError> {
    let mut breaks = Vec::new();
    if let Some((most, window)) = ask.peak {
        let bound = rule.envelope(window - 1, demand.largest());
        if bound.is_none_or(|bound| bound > u128::from(most)) {
            breaks.push(Promise::Peak(bound));
        }
    }
    if let Some((most, window)) = ask.backend {
        let passed = demand.passed(rule, None, window)?;
        if passed > most {
            breaks.push(Promise::Backend(passed));
        }
    }
    if let Some((most, window, prices)) = ask.spend {
        let spent = demand.passed(rule, Some(prices), window)?;
        if spent > most {
            breaks.push(Promise::Spend(spent));
        }
    }
    Ok(breaks)
}

impl Plan {
    /// The rows of `size.csv`.
    pub fn rows(&self, demand: &Demand, ask: &Ask<'_>, meter: &str) -> Vec<SizeRow> {
        let scope = if demand.per_key { "per-key" } else { "global" };
        let mut rows = Vec::new();
        for (index, one) in self.candidates.iter().enumerate() {
            let row = |value: u64| {
                let quota = one.given.quota(ask.sized.family, value);
                SizeRow {
                    algorithm: ask.sized.algorithm.name.into(),
                    meter: meter.into(),
                    scope: scope.into(),
                    limit: quota.limit,
                    window_ns: quota.window,
                    burst: (ask.sized.family == Family::Bucket).then_some(quota.burst),
                    requests: demand.len() as u64,
                    keys: demand.keys() as u64,
                    ..SizeRow::default()
                }
            };
            for (&share, value) in SHARES.iter().zip(one.at) {
                // The one asked for follows, with all that is known of it.
                if let Some(value) = value.filter(|_| share != ask.blocked || ask.keys_at.is_some()) {
                    rows.push(SizeRow { blocked_at_most: Some(ratio(share)), ..row(value) });
                }
            }
            rows.push(SizeRow {
                blocked_at_most: ask.keys_at.is_none().then(|| ratio(ask.blocked)),
                refused: Some(one.refused.requests),
                refused_permits: Some(one.refused.permits),
                keys_touched: Some(one.touched),
                fitted: one.fit.map(|fit| fit.value),
                holdout_requests: one.fit.map(|fit| fit.requests),
                holdout_refused: one.fit.map(|fit| fit.refused),
                headroom: one.fit.map(|fit| fit.headroom),
                knee: self.knee == Some(index),
                chosen: self.chosen == Some(index),
                ..row(one.value)
            });
        }
        rows
    }
}

/// A share as a fraction, for reading.
pub fn ratio((part, whole): Share) -> f64 {
    part as f64 / whole as f64
}
