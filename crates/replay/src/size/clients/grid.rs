//! Which settings are played.

use super::unguarded::Unguarded;
use super::varied::Setting;
use super::{Asked, Kind};
use crate::size::grid::{Busy, busy};
use crate::size::{Demand, Family, Given, Sizable, UNITS, least};
use limiters::{Meter, Nanos};
use traffic::TrafficError;

const SECOND: Nanos = 1_000_000_000;
/// Steps from the smallest to the largest value of each rate or window.
const VALUES: u32 = 7;
/// The same of budgets, of which there is one row.
const BUDGETS: u32 = 23;
/// The settings that flags name whole, for which nothing has to be known of what is asked.
pub(super) fn given(asked: &Asked<'_>) -> Option<Vec<Setting>> {
    let given = match asked.varied.kind {
        Kind::Cap => vec![budget(asked)],
        Kind::Sized(Sizable { family: Family::Bucket, .. }) => asked.rates.clone(),
        Kind::Sized(_) => asked.windows.iter().map(|&window| Given { limit: 1, window }).collect(),
    };
    let all = given.iter().flat_map(|&one| asked.values.iter().map(move |&value| (one, value)));
    Some(all.collect::<Vec<_>>()).filter(|settings| !settings.is_empty())
}

/// What is given of a budget, which has no rate.
fn budget(asked: &Asked<'_>) -> Given {
    Given { limit: 1, window: asked.scenario.quota.quota.window }
}

/// All settings, from the tightest rate or window on, each with its values from the tightest on: the last is the least that
/// refuses nobody of what is asked without a limiter. Who is not refused does what it does without one, so in the closed loop it
/// refuses nobody either (a queue delays, and then may).
pub(super) fn settings(free: &Unguarded, asked: &Asked<'_>) -> Result<Vec<Setting>, TrafficError> {
    let (demand, varied) = (&free.demand, asked.varied);
    if demand.is_empty() {
        return Ok(Vec::new());
    }
    let smallest = match varied.meter() {
        Meter::Requests => 1,
        _ => free.smallest,
    };
    let values = |most: u64, least: u64, steps: u32| match asked.values.is_empty() {
        true => between(least.min(most), most, steps),
        false => asked.values.clone(),
    };
    let (given, steps) = match varied.kind {
        Kind::Cap => (vec![budget(asked)], BUDGETS),
        Kind::Sized(Sizable { family: Family::Bucket, .. }) if asked.rates.is_empty() => {
            (rates(demand, varied.meter())?, VALUES)
        }
        Kind::Sized(Sizable { family: Family::Bucket, .. }) => (asked.rates.clone(), VALUES),
        Kind::Sized(_) => (windows(&asked.windows, free.duration), VALUES),
    };
    let mut settings = Vec::new();
    for one in given {
        let values = match varied.kind {
            Kind::Cap => values(demand.permits().max(free.spent), demand.largest(), steps),
            Kind::Sized(sized) => values(least(demand, &sized, one, (0, 1))?.unwrap_or(1), smallest, steps),
        };
        settings.extend(values.into_iter().map(|value| (one, value)));
    }
    Ok(settings)
}

/// Round rates (1, 2 and 5 in a power of ten) from a fiftieth of the mean of the limiter that is asked most to the most it is
/// asked in a second. Recorded traffic is sized for what it needs; a rogue is stopped far below what it would do.
fn rates(demand: &Demand, meter: Meter) -> Result<Vec<Given>, TrafficError> {
    let Some(Busy { total, span, peak }) = busy(demand)? else { return Ok(Vec::new()) };
    let low_per = |unit: Nanos| u128::from(total) * u128::from(unit) / u128::from(span) / 50;
    // A micro-dollar an hour is no rate that anybody would set; a cent is.
    let readable = if meter == Meter::Spend { 10_000 } else { 1 };
    let (unit, _) = UNITS.into_iter().find(|&(unit, _)| low_per(unit) >= readable).unwrap_or(UNITS[3]);
    let low = low_per(unit).max(1);
    let high = (u128::from(peak) * u128::from(unit) / u128::from(SECOND)).max(low);
    let round = (0..19u32).flat_map(|decade| [1u128, 2, 5].map(|step| step * 10u128.pow(decade)));
    let round: Vec<u128> = round.collect();
    let from = round.partition_point(|&limit| limit <= low).saturating_sub(1);
    let to = round.partition_point(|&limit| limit < high);
    let limits = round.into_iter().take(to + 1).skip(from);
    Ok(limits.filter_map(|limit| Some(Given { limit: u64::try_from(limit).ok()?, window: unit })).collect())
}

/// The windows asked for, or round lengths of which two fit into the run.
fn windows(asked: &[Nanos], duration: Nanos) -> Vec<Given> {
    let usual = [1, 10, 60, 600, 3600, 86_400].map(|seconds| seconds * SECOND);
    let windows = match asked {
        [] => usual.into_iter().filter(|length| *length == SECOND || *length <= duration / 2).collect(),
        asked => asked.to_vec(),
    };
    windows.into_iter().map(|window| Given { limit: 1, window }).collect()
}

/// Values from `low` to `high` in `steps` equal ratios, those between rounded to two digits.
fn between(low: u64, high: u64, steps: u32) -> Vec<u64> {
    let (low, high) = (low.max(1), high.max(low).max(1));
    let ratio = (high as f64 / low as f64).powf(1.0 / f64::from(steps));
    let round = |value: f64| {
        let unit = 10u64.pow((value.max(1.0).log10() as u32).saturating_sub(1));
        ((value / unit as f64).round() as u64).saturating_mul(unit)
    };
    let inner = (1..steps).map(|step| round(low as f64 * ratio.powf(f64::from(step))));
    let mut values: Vec<u64> =
        std::iter::once(low).chain(inner.filter(|value| *value > low && *value < high)).chain([high]).collect();
    values.dedup();
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_lie_between_their_ends() {
        assert_eq!(between(1, 1, 7), [1]);
        assert_eq!(between(1, 10, 7), [1, 2, 3, 4, 5, 7, 10]);
        assert_eq!(between(1, 30, 7), [1, 2, 3, 4, 7, 11, 18, 30]);
        assert_eq!(between(15_000, 97_123_456, 4), [15_000, 130_000, 1_200_000, 11_000_000, 97_123_456]);
        assert_eq!(between(5, 3, 7), [5]);
    }

    #[test]
    fn rates_reach_far_below_the_mean() {
        let at: Vec<Nanos> = (0..3_600).map(|n| n * SECOND / 5).collect();
        let (key, cost) = (vec![0; at.len()], vec![1; at.len()]);
        let demand = Demand::new(at, key, cost, 1, false);
        let limits: Vec<(u64, Nanos)> =
            rates(&demand, Meter::Requests).unwrap().iter().map(|one| (one.limit, one.window / SECOND)).collect();
        assert_eq!(limits, [(5, 60), (10, 60), (20, 60), (50, 60), (100, 60), (200, 60), (500, 60)]);
    }
}
