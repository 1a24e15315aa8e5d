//! Times between one request and the next.

use limiters::Nanos;
use serde::{Deserialize, Serialize};

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

impl Gaps {
    /// Of times in order.
    pub fn of(times: &[Nanos]) -> Gaps {
        let mut gaps: Vec<Nanos> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        if gaps.is_empty() {
            return Gaps::default();
        }
        gaps.sort_unstable();
        let count = gaps.len();
        let sum: u128 = gaps.iter().map(|&gap| u128::from(gap)).sum();
        let squares: f64 = gaps.iter().map(|&gap| gap as f64 * gap as f64).sum();
        let mean = sum as f64 / count as f64;
        // In floating point: the integers are exact, the ratio is for reading.
        let variation = (count > 1 && sum > 0)
            .then(|| crate::rows::six_decimals((squares / count as f64 - mean * mean).max(0.0).sqrt() / mean));
        let at = |permille: usize| gaps[(count * permille).div_ceil(1000).max(1) - 1];
        Gaps {
            count: count as u64,
            zero: gaps.partition_point(|&gap| gap == 0) as u64,
            mean_ns: (sum / count as u128) as Nanos,
            p1_ns: at(10),
            p10_ns: at(100),
            p50_ns: at(500),
            p90_ns: at(900),
            p99_ns: at(990),
            max_ns: gaps[count - 1],
            variation,
            rows: rows(&gaps, mean),
        }
    }
}

fn rows(gaps: &[Nanos], mean: f64) -> Vec<GapRow> {
    let (Some(&least), Some(&most)) = (gaps.iter().find(|gap| **gap > 0), gaps.last()) else { return Vec::new() };
    let step = 10f64.powf(1.0 / PER_DECADE as f64);
    let mut lengths = vec![];
    let mut length = least as f64;
    while (length as Nanos) < most {
        lengths.push(length as Nanos);
        length *= step;
    }
    lengths.push(most);
    lengths.dedup();
    let row = |gap_ns: Nanos| {
        let below = gaps.partition_point(|&gap| gap <= gap_ns) as u64;
        GapRow {
            gap_ns,
            gaps: below,
            share: crate::rows::ratio(below, gaps.len() as u64).unwrap_or(0.0),
            poisson_share: crate::rows::six_decimals(1.0 - (-(gap_ns as f64) / mean).exp()),
        }
    };
    lengths.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_gaps_that_were_seen() {
        let gaps = Gaps::of(&[0, 0, 10, 30, 130]);
        assert_eq!((gaps.count, gaps.zero, gaps.mean_ns), (4, 1, 32));
        assert_eq!((gaps.p1_ns, gaps.p50_ns, gaps.p90_ns, gaps.max_ns), (0, 10, 100, 100));
        assert_eq!(gaps.rows.last().map(|row| (row.gap_ns, row.gaps, row.share)), Some((100, 4, 1.0)));
        assert!(gaps.rows.is_sorted_by_key(|row| row.gaps));
        assert_eq!(gaps.rows[0].gaps, 2);
        assert_eq!(Gaps::of(&[0, 5, 10]).variation, Some(0.0));
        assert_eq!((Gaps::of(&[7]).count, Gaps::of(&[7, 7]).rows.len()), (0, 0));
    }
}
