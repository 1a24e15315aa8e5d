//! Times between one request and the next.

use super::metered::Metered;
use super::quantile::{Counts, quantiles};
use limiters::Nanos;
use serde::{Deserialize, Serialize};
use traffic::TrafficError;

/// `gaps.csv`: how many gaps are at most so long, beside what requests that come independently at the same mean rate
/// would show.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct GapRow {
    /// A length of time.
    pub gap_ns: Nanos,
    /// Gaps that are at most this long.
    pub gaps: u64,
    /// Of all, from 0 to 1.
    pub share: f64,
    /// 1 − exp(−gap / mean): independent arrivals.
    pub poisson_share: f64,
}

/// The distribution of gaps.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Gaps {
    /// How many there are: requests less one.
    pub count: u64,
    /// Of length 0.
    pub zero: u64,
    /// Exact mean, rounded down.
    pub mean_ns: Nanos,
    /// Exact quantiles (the smallest gap that so many do not exceed): 1 %, 10 %, 50 %, 90 %, 99 %.
    pub p1_ns: Nanos,
    #[allow(missing_docs)]
    pub p10_ns: Nanos,
    #[allow(missing_docs)]
    pub p50_ns: Nanos,
    #[allow(missing_docs)]
    pub p90_ns: Nanos,
    #[allow(missing_docs)]
    pub p99_ns: Nanos,
    /// The longest silence.
    pub max_ns: Nanos,
    /// Standard deviation over mean: 1 for independent arrivals, 0 for a clock, more for bursts. `None` for fewer than two
    /// gaps or no time at all.
    pub variation: Option<f64>,
    /// The distribution, for the figure.
    #[serde(skip)]
    pub rows: Vec<GapRow>,
}

/// Points of the distribution for each factor of ten.
const PER_DECADE: usize = 12;

/// What one way through all gaps tells.
#[derive(Default)]
struct Sums {
    count: u64,
    zero: u64,
    /// Of all gaps; it fits, as does the sum of squares in 128 bits, since gaps add up to no more than 2⁶⁴.
    sum: u64,
    squares: u128,
    /// The least that is not 0.
    least: Nanos,
    most: Nanos,
}

impl Gaps {
    /// Of requests in time order. Goes through them three times, as a rule, and holds none of them.
    ///
    /// # Errors
    /// When they cannot be read back.
    pub fn of(requests: &Metered) -> Result<Gaps, TrafficError> {
        let (mut sums, mut counts) = (Sums { least: Nanos::MAX, ..Sums::default() }, Counts::new());
        each(requests, |gaps| {
            for &gap in gaps {
                sums.add(gap);
                counts.add(gap);
            }
        })?;
        let Sums { count, zero, sum, squares, most, .. } = sums;
        if count == 0 {
            return Ok(Gaps::default());
        }
        let ranks = [10, 100, 500, 900, 990].map(|permille| rank(count, permille));
        let found = quantiles(&counts, &ranks, |see| each(requests, see))?;
        let [p1_ns, p10_ns, p50_ns, p90_ns, p99_ns] = found[..] else { unreachable!("as many as ranks") };
        let mean = sum as f64 / count as f64;
        // In floating point: the integers are exact, the ratio is for reading.
        let variation = (count > 1 && sum > 0)
            .then(|| crate::rows::six_decimals((squares as f64 / count as f64 - mean * mean).max(0.0).sqrt() / mean));
        let mean_ns = sum / count;
        let rows = rows(requests, &sums, mean)?;
        Ok(Gaps { count, zero, mean_ns, p1_ns, p10_ns, p50_ns, p90_ns, p99_ns, max_ns: most, variation, rows })
    }
}

/// The rank, from 0, of the smallest gap that so many thousandths of `count` do not exceed.
fn rank(count: u64, permille: u64) -> u64 {
    let rank = (u128::from(count) * u128::from(permille)).div_ceil(1000).max(1) - 1;
    // At most count, since permille is at most a thousand.
    rank as u64
}

impl Sums {
    fn add(&mut self, gap: Nanos) {
        self.count += 1;
        self.zero += u64::from(gap == 0);
        self.sum += gap;
        self.squares += u128::from(gap) * u128::from(gap);
        self.least = if gap > 0 { self.least.min(gap) } else { self.least };
        self.most = self.most.max(gap);
    }
}

/// Shows all gaps, some thousand at a time.
fn each(requests: &Metered, mut see: impl FnMut(&[Nanos])) -> Result<(), TrafficError> {
    let (mut previous, mut gaps) = (None, Vec::new());
    requests.each(|block| {
        gaps.clear();
        gaps.extend(previous.zip(block.at.first()).map(|(previous, at)| at - previous));
        gaps.extend(block.at.windows(2).map(|pair| pair[1] - pair[0]));
        previous = block.at.last().copied();
        see(&gaps);
    })
}

fn rows(requests: &Metered, sums: &Sums, mean: f64) -> Result<Vec<GapRow>, TrafficError> {
    if sums.most == 0 {
        return Ok(Vec::new());
    }
    let step = 10f64.powf(1.0 / PER_DECADE as f64);
    let mut lengths = vec![];
    let mut length = sums.least as f64;
    while (length as Nanos) < sums.most {
        lengths.push(length as Nanos);
        length *= step;
    }
    lengths.push(sums.most);
    lengths.dedup();
    // Those no longer than the length at their place, and longer than the one before it.
    let mut counts = vec![0u64; lengths.len()];
    each(requests, |gaps| gaps.iter().for_each(|gap| counts[lengths.partition_point(|length| length < gap)] += 1))?;
    let mut below = 0;
    let row = |(gap_ns, count): (Nanos, u64)| {
        below += count;
        GapRow {
            gap_ns,
            gaps: below,
            share: crate::rows::ratio(below, sums.count).unwrap_or(0.0),
            poisson_share: crate::rows::six_decimals(1.0 - (-(gap_ns as f64) / mean).exp()),
        }
    };
    Ok(lengths.into_iter().zip(counts).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gaps(times: &[Nanos]) -> Gaps {
        let (key, amount) = (vec![0; times.len()], vec![1; times.len()]);
        Gaps::of(&Metered::new(traffic::traces::Columns { at: times.to_vec(), key, amount }, 1)).unwrap()
    }

    #[test]
    fn quantiles_are_gaps_that_were_seen() {
        let found = gaps(&[0, 0, 10, 30, 130]);
        assert_eq!((found.count, found.zero, found.mean_ns), (4, 1, 32));
        assert_eq!((found.p1_ns, found.p50_ns, found.p90_ns, found.max_ns), (0, 10, 100, 100));
        assert_eq!(found.rows.last().map(|row| (row.gap_ns, row.gaps, row.share)), Some((100, 4, 1.0)));
        assert!(found.rows.is_sorted_by_key(|row| row.gaps));
        assert_eq!(found.rows[0].gaps, 2);
        assert_eq!(gaps(&[0, 5, 10]).variation, Some(0.0));
        assert_eq!((gaps(&[7]).count, gaps(&[7, 7]).rows.len()), (0, 0));
    }
}
