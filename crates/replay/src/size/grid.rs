//! Which rates to look at, and the knee of a curve.

use super::Demand;
use super::family::Given;
use crate::inspect::{Requests, Row, sliding};
use limiters::Nanos;
use traffic::TrafficError;

const SECOND: Nanos = 1_000_000_000;
/// Units of time in which a rate may be written.
pub const UNITS: [(Nanos, &str); 4] =
    [(SECOND, "s"), (60 * SECOND, "min"), (3600 * SECOND, "h"), (86_400 * SECOND, "d")];
/// Steps within a factor of ten that people would choose.
const STEPS: [u64; 10] = [10, 12, 15, 20, 25, 30, 40, 50, 60, 80];

/// What the limiter that is asked most is asked for.
pub(super) struct Busy {
    /// In all.
    pub total: u64,
    /// From the first request of anybody to the last; at least a second, for a mean over less says nothing that a limit
    /// could be set by.
    pub span: Nanos,
    /// Most in a second.
    pub peak: u64,
}

/// Finds the limiter that is asked most; `None` where nothing is asked.
pub(super) fn busy(demand: &Demand) -> Result<Option<Busy>, TrafficError> {
    let Some((first, last)) = demand.asked.ends() else { return Ok(None) };
    let mut totals = vec![0u64; demand.limiters()];
    demand.asked.each(|block| {
        for (key, cost) in block.key.iter().zip(block.amount) {
            let total = &mut totals[demand.limiter_of(*key)];
            *total = total.saturating_add(*cost);
        }
    })?;
    let limiter = (0..totals.len()).max_by_key(|&limiter| totals[limiter]).unwrap_or(0);
    let (mut ahead, mut behind) = (demand.asked.pass(), demand.asked.pass());
    let own = |requests: &mut Requests<'_>| {
        let of = |row: Row| demand.limiter_of(row.key) == limiter;
        loop {
            match requests.next_row()? {
                Some(row) if !of(row) => {}
                found => return Ok(found),
            }
        }
    };
    let peak = sliding(|| own(&mut ahead), || own(&mut behind), SECOND)?.amount;
    Ok(Some(Busy { total: totals[limiter], span: (last - first + 1).max(SECOND), peak }))
}

/// The name of a unit of [`UNITS`].
pub fn unit_name(unit: Nanos) -> &'static str {
    UNITS.iter().find(|(known, _)| *known == unit).map_or("", |(_, name)| name)
}

/// Round rates from half the mean of the limiter that is asked most to the most it is asked in a second, in the smallest unit
/// in which the first is at least 1.
///
/// # Errors
/// When the requests cannot be read back.
pub fn rates(demand: &Demand) -> Result<Vec<Given>, TrafficError> {
    let Some(Busy { total, span, peak }) = busy(demand)? else { return Ok(Vec::new()) };
    let mean_per = |unit: Nanos| u128::from(total) * u128::from(unit) / u128::from(span) / 2;
    let (unit, _) = UNITS.into_iter().find(|&(unit, _)| mean_per(unit) >= 1).unwrap_or(UNITS[3]);
    let low = mean_per(unit).max(1);
    let high = (u128::from(peak) * u128::from(unit) / u128::from(SECOND)).max(low);
    let mut limits = Vec::new();
    let mut decade = 1u128;
    while decade <= high.saturating_mul(10) {
        limits.extend(
            STEPS
                .iter()
                .filter(|&&step| (u128::from(step) * decade).is_multiple_of(10))
                .map(|&step| u128::from(step) * decade / 10),
        );
        decade *= 10;
    }
    // Four decades in steps of a quarter fill a screen without saying more.
    if high / low > 500 {
        limits.retain(|&limit| {
            matches!(limit / 10u128.pow(limit.ilog10()), 1 | 2 | 3 | 5) && limit % 10u128.pow(limit.ilog10()) == 0
        });
    }
    // One step beyond each end, so that the ends are inside.
    let from = limits.partition_point(|&limit| limit <= low).saturating_sub(1);
    let to = limits.partition_point(|&limit| limit < high);
    let limits = limits.into_iter().take(to + 1).skip(from);
    Ok(limits.filter_map(|limit| Some(Given { limit: u64::try_from(limit).ok()?, window: unit })).collect())
}

/// Where a curve bends: the point farthest below the line between its ends (`above`: above it), both axes logarithmic. `None`
/// for fewer than three points or where none lies on that side. For reading only, so in floating point.
pub fn knee(points: &[(f64, f64)], above: bool) -> Option<usize> {
    let logs: Vec<(f64, f64)> = points.iter().map(|&(x, y)| (x.max(1e-300).ln(), y.max(1e-300).ln())).collect();
    let (&(x0, y0), &(x1, y1)) = (logs.first()?, logs.last()?);
    let side = if above { -1.0 } else { 1.0 };
    let below = |&(x, y): &(f64, f64)| ((x - x0) * (y1 - y0) - (x1 - x0) * (y - y0)) * side;
    let farthest = (1..logs.len().saturating_sub(1)).max_by(|&a, &b| below(&logs[a]).total_cmp(&below(&logs[b])))?;
    (below(&logs[farthest]) > 1e-9 * ((x1 - x0).powi(2) + (y1 - y0).powi(2))).then_some(farthest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(times: impl Iterator<Item = u64>) -> Demand {
        let at: Vec<Nanos> = times.collect();
        Demand::new(at.clone(), vec![0; at.len()], vec![1; at.len()], 1, false)
    }

    #[test]
    fn rates_are_round_and_reach_from_the_mean_to_the_peak() {
        let steady = demand((0..1_000).map(|n| n * SECOND / 10));
        let limits: Vec<u64> = rates(&steady).unwrap().iter().map(|given| given.limit).collect();
        assert_eq!(limits, [5, 6, 8, 10]);
        let rare = demand((0..10).map(|n| n * 600 * SECOND));
        assert_eq!(rates(&rare).unwrap()[0], Given { limit: 3, window: 3600 * SECOND });
        assert_eq!(rates(&demand(0..0)).unwrap(), []);
        let limits: Vec<u64> = rates(&demand(5..6)).unwrap().iter().map(|given| given.limit).collect();
        assert_eq!(limits, [30, 40, 50, 60], "per minute: one request in the second there is");
    }

    #[test]
    fn the_knee_is_where_the_curve_bends() {
        let bent = [(1.0, 1000.0), (2.0, 300.0), (4.0, 20.0), (8.0, 15.0), (16.0, 12.0)];
        assert_eq!((knee(&bent, false), knee(&bent, true)), (Some(2), None));
        let hump = [(1.0, 1.0), (2.0, 9.0), (4.0, 10.0), (8.0, 11.0)];
        assert_eq!((knee(&hump, true), knee(&hump, false)), (Some(1), None));
        assert_eq!(knee(&[(1.0, 8.0), (2.0, 4.0), (4.0, 2.0)], false), None);
        assert_eq!(knee(&bent[..2], false), None);
    }
}
