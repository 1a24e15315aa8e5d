//! From measurements to rows.

use crate::entry::{Comparison, Entry};
use crate::lane::Lane;
use crate::measure::Keys;
use crate::money::Prices;
use crate::rows::{EnvelopeRow, KeyRow, SummaryRow, TimelineRow, WaitRow, ratio, six_decimals};
use limiters::{Meter, Nanos};

/// Keys a limiter has in `keys.csv`, at most.
const KEYS_SHOWN: usize = 50;
/// Quantiles in `waits.csv`.
const QUANTILES: [f64; 12] = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 1.0];

/// The rows of one finished lane.
#[derive(Clone, Debug, Default)]
#[allow(missing_docs)] // a field for each CSV file, named after it
pub struct Rows {
    pub summary: SummaryRow,
    pub timeline: Vec<TimelineRow>,
    pub envelope: Vec<EnvelopeRow>,
    pub waits: Vec<WaitRow>,
    pub keys: Vec<KeyRow>,
    /// Measured values above their proven bound: bugs, all of them.
    pub violations: Vec<String>,
    /// Window lengths whose peaks were given up for lack of memory.
    pub given_up: Vec<Nanos>,
}

/// What is the same for every lane of a run.
pub struct Context<'a> {
    /// The scenario's name.
    pub scenario: &'a str,
    /// The seed of this run.
    pub seed: u64,
    /// Window lengths of the envelope.
    pub taus: &'a [Nanos],
    /// Absolute end of the run.
    pub end: Nanos,
    /// What clients may pay at most; `None` where there are no clients.
    pub prices: Option<&'a Prices<'a>>,
    /// Names of keys.
    pub key_name: &'a dyn Fn(u64) -> String,
}

/// All rows of `lane`, which ran `entry` and is finished.
pub fn rows(entry: &Entry, lane: &Lane, context: &Context<'_>) -> Rows {
    let measure = &lane.measure;
    let (label, comparison) = (entry.label.as_str(), entry.comparison.name());
    // What clients pay is drawn; the dearest call that happened bounds none of those that could.
    let dearest = match context.prices {
        Some(prices) if entry.meter == Meter::Spend => prices.dearest(Meter::Spend),
        _ => Some(measure.largest),
    };
    let bound = |tau: Nanos| {
        let most = match dearest {
            Some(dearest) => (entry.bound)(tau - 1, dearest.max(measure.largest)),
            // Unbounded costs leave a bound only where it does not depend on them.
            None => (entry.bound)(tau - 1, 1).filter(|least| (entry.bound)(tau - 1, u64::MAX / 2) == Some(*least)),
        };
        most.map(|most| most.try_into().unwrap_or(u64::MAX))
    };
    let window = entry.quota.window;
    let tenth = (window / 10).max(1);
    let wait = |quantile| {
        measure
            .waits
            .as_ref()
            .filter(|w| !w.is_empty())
            .map(|w| w.value_at_quantile(quantile).min(measure.longest_wait))
    };
    let span = measure.arrivals.map_or(0, |(first, last)| last - first);
    let summary = SummaryRow {
        scenario: context.scenario.into(),
        limiter: label.into(),
        algorithm: entry.algorithm.clone(),
        parameters: entry.parameters.clone(),
        comparison: comparison.into(),
        limit: entry.quota.limit,
        window_ns: window,
        burst: entry.quota.burst,
        seed: context.seed,
        requests: measure.admitted + measure.refused + measure.never_fits,
        admitted: measure.admitted,
        refused: measure.refused,
        never_fits: measure.never_fits,
        delayed: measure.delayed,
        offered_permits: measure.offered_permits,
        admitted_permits: measure.admitted_permits,
        admitted_ratio: ratio(measure.admitted_permits, measure.offered_permits),
        admitted_per_s: (span > 0).then(|| six_decimals(measure.admitted_permits as f64 * 1e9 / span as f64)),
        peak_window: measure.peak_window(),
        peak_window_bound: bound(window),
        peak_tenth: measure.envelope.most(tenth).unwrap_or(0),
        peak_tenth_bound: if entry.per_key { None } else { bound(tenth) },
        sigma: measure.sigma(),
        over_admitted: entry.windowed.then(|| measure.stream.over_admitted()),
        falsely_refused: entry.windowed.then_some(measure.falsely_refused),
        first_refusal_ns: measure.first_refusal.map(|at| measure.since_start(at)),
        longest_refusal_streak: measure.longest_streak,
        recovery_ns: measure.recovery,
        wait_p50_ns: wait(0.5),
        wait_p90_ns: wait(0.9),
        wait_p99_ns: wait(0.99),
        // The histogram keeps four digits; the largest wait is exact.
        wait_max_ns: measure.waits.as_ref().filter(|w| !w.is_empty()).map(|_| measure.longest_wait),
        gap_cv: measure.stream.gap_cv().map(six_decimals),
        fairness: measure.keys.as_ref().and_then(Keys::fairness).map(six_decimals),
        hint_honest_ratio: ratio(lane.hints.1, lane.hints.0),
        clock_regressions: lane.regressions,
        state_bytes: lane.gate().state_bytes() as u64,
        live_keys_max: lane.gate().max_live_keys() as u64,
        tokens_lost: tokens_lost(entry, lane, context.end),
        meter: entry.meter.name().into(),
        scope: if entry.per_key { "per-key" } else { "global" }.into(),
        ..SummaryRow::default()
    };
    let mut violations = Vec::new();
    let mut check = |what: &str, tau: Nanos, measured: u64, bound: Option<u64>| {
        if bound.is_some_and(|bound| measured > bound) {
            let bound = bound.unwrap_or_default();
            let seconds = tau as f64 / 1e9;
            violations.push(format!(
                "{label} ({comparison}): {measured} permits{what} in {seconds} s, above the proven bound of {bound}"
            ));
        }
    };
    let envelope = context.taus.iter().filter_map(|&tau| {
        let measured_permits = measure.envelope.most(tau)?;
        let bound_permits = if entry.per_key { None } else { bound(tau) };
        check("", tau, measured_permits, bound_permits);
        Some(EnvelopeRow {
            limiter: label.into(),
            comparison: comparison.into(),
            tau_ns: tau,
            measured_permits,
            bound_permits,
        })
    });
    let envelope: Vec<_> = envelope.collect();
    if entry.per_key {
        check(" of one key", window, summary.peak_window, summary.peak_window_bound);
    }
    let waits = measure.waits.iter().filter(|waits| !waits.is_empty()).flat_map(|waits| {
        QUANTILES.map(|quantile| WaitRow {
            limiter: label.into(),
            comparison: comparison.into(),
            quantile,
            wait_ns: waits.value_at_quantile(quantile).min(measure.longest_wait),
        })
    });
    Rows {
        waits: waits.collect(),
        keys: keys(entry, lane, context),
        timeline: timeline(entry, lane),
        envelope,
        violations,
        given_up: measure.envelope.given_up().collect(),
        summary,
    }
}

/// Permits that a full bucket had no room for: everything it was given, less what was paid out and what is left.
fn tokens_lost(entry: &Entry, lane: &Lane, end: Nanos) -> Option<u64> {
    let given = (entry.supply)(end)?;
    let left = lane.gate().level(end)?.available_milli.div_euclid(1000).max(0) as u128;
    given.checked_sub(u128::from(lane.measure.admitted_permits) + left)?.try_into().ok()
}

fn timeline(entry: &Entry, lane: &Lane) -> Vec<TimelineRow> {
    if entry.comparison == Comparison::EqualGuarantee {
        return Vec::new();
    }
    let timeline = &lane.measure.timeline;
    let row = |(index, bin): (usize, &crate::measure::Bin)| TimelineRow {
        limiter: entry.label.clone(),
        comparison: entry.comparison.name().into(),
        bin_start_ns: index as u64 * timeline.width(),
        bin_ns: timeline.width(),
        offered_permits: bin.offered,
        admitted_permits: bin.admitted,
        delayed_permits: bin.delayed,
        refused_permits: bin.offered - bin.admitted,
        started_permits: bin.started,
        trailing_window_permits: bin.trailing,
        // Nothing limits the baseline, so it has no level to show.
        level_milli: bin.level_milli.filter(|&level| level != i64::MAX),
    };
    timeline.bins().iter().enumerate().map(row).collect()
}

fn keys(entry: &Entry, lane: &Lane, context: &Context<'_>) -> Vec<KeyRow> {
    let Some(keys) = lane.measure.keys.as_ref().filter(|keys| keys.count() > 1) else { return Vec::new() };
    if entry.comparison == Comparison::EqualGuarantee {
        return Vec::new();
    }
    let mut all: Vec<_> = keys.iter().map(|(id, key)| (key.offered - key.admitted, key.offered, id, key)).collect();
    // Most refused first, then the busiest, then by number, so that the order is the same on every run.
    all.sort_unstable_by_key(|&(refused, offered, id, _)| (std::cmp::Reverse((refused, offered)), id));
    let row = |(refused_permits, offered_permits, id, key): (u64, u64, u64, &crate::measure::Key)| KeyRow {
        limiter: entry.label.clone(),
        comparison: entry.comparison.name().into(),
        key: (context.key_name)(id),
        offered_permits,
        admitted_permits: key.admitted,
        refused_permits,
        peak_window: Some(key.most),
    };
    all.into_iter().take(KEYS_SHOWN).map(row).collect()
}
