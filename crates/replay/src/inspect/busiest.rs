//! The busiest window of a stream: over all places a window can lie, and over those of a wall clock.

use super::metered::{Metered, Row};
use super::slide::{Slid, slide, slide_over};
use limiters::Nanos;
use traffic::TrafficError;

/// The most that lies in one window, and where the window begins (absolute).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busiest {
    /// The amount.
    pub amount: u64,
    /// The first instant of the first such window.
    pub from: Nanos,
}

/// A sum over the requests in a window, and the most it ever was.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sliding {
    sum: u64,
    pub most: Busiest,
}

impl Sliding {
    #[inline]
    pub fn hear(&mut self, slid: Slid) {
        match slid {
            Slid::Enters(row) => self.sum = self.sum.saturating_add(row.amount),
            Slid::Leaves(row) => self.sum = self.sum.saturating_sub(row.amount),
            Slid::Stands { from, .. } if self.sum > self.most.amount => self.most = Busiest { amount: self.sum, from },
            Slid::Stands { .. } => {}
        }
    }
}

/// A sum over the requests in a window of the wall clock, and the most it ever was.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aligned {
    /// The first instant of the window at hand, and the first after it.
    window: (Nanos, Nanos),
    sum: u64,
    pub most: Busiest,
}

impl Aligned {
    #[inline]
    pub fn hear(&mut self, row: Row, window: Nanos) {
        if row.at >= self.window.1 {
            let from = row.at / window * window;
            (self.window, self.sum) = ((from, from.saturating_add(window)), 0);
        }
        self.sum = self.sum.saturating_add(row.amount);
        if self.sum > self.most.amount {
            self.most = Busiest { amount: self.sum, from: self.window.0 };
        }
    }
}

/// Over every half-open window of length `window` of the requests that `ahead` and `behind` hand out: one begins at a
/// request, so those are tried. O(n).
///
/// # Errors
/// What `ahead` and `behind` say.
pub fn sliding(
    ahead: impl FnMut() -> Result<Option<Row>, TrafficError>,
    behind: impl FnMut() -> Result<Option<Row>, TrafficError>,
    window: Nanos,
) -> Result<Busiest, TrafficError> {
    let mut found = Sliding::default();
    slide(ahead, behind, window, |slid| found.hear(slid))?;
    Ok(found.most)
}

/// The most that each of `count` groups has in any half-open window of length `window`; `group` is a request's. O(n) time,
/// 16 bytes a group.
///
/// # Errors
/// When the requests cannot be read back.
pub fn sliding_each(
    asked: &Metered,
    count: usize,
    group: impl Fn(Row) -> usize,
    window: Nanos,
) -> Result<Vec<u64>, TrafficError> {
    let mut sums = vec![(0u64, 0u64); count];
    slide_over(asked, window, |slid| match slid {
        Slid::Enters(row) => sums[group(row)].0 = sums[group(row)].0.saturating_add(row.amount),
        Slid::Leaves(row) => sums[group(row)].0 = sums[group(row)].0.saturating_sub(row.amount),
        Slid::Stands { last, .. } => {
            let (sum, most) = &mut sums[group(last)];
            *most = (*most).max(*sum);
        }
    })?;
    Ok(sums.into_iter().map(|(_, most)| most).collect())
}

/// The most that each of `count` groups has in the windows that begin at whole multiples of `window` since the Unix epoch, as
/// a fixed window's do. O(n) time, 40 bytes a group.
///
/// # Errors
/// When the requests cannot be read back.
pub fn aligned_each(
    asked: &Metered,
    count: usize,
    group: impl Fn(Row) -> usize,
    window: Nanos,
) -> Result<Vec<u64>, TrafficError> {
    let mut sums = vec![Aligned::default(); count];
    let mut requests = asked.pass();
    while let Some(row) = requests.next_row()? {
        sums[group(row)].hear(row, window);
    }
    Ok(sums.into_iter().map(|one| one.most.amount).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use traffic::traces::Columns;

    #[test]
    fn a_burst_across_an_edge_counts_once_sliding() {
        let columns = Columns { at: vec![9, 9, 10, 18, 19], key: vec![0, 1, 0, 0, 1], amount: vec![1, 1, 1, 4, 1] };
        let asked = Metered::new(columns, 2);
        let (mut ahead, mut behind) = (asked.pass(), asked.pass());
        let all = sliding(|| ahead.next_row(), || behind.next_row(), 10).unwrap();
        assert_eq!(all, Busiest { amount: 7, from: 9 });
        let mut wall = Aligned::default();
        let mut requests = asked.pass();
        while let Some(row) = requests.next_row().unwrap() {
            wall.hear(row, 10);
        }
        assert_eq!(wall.most, Busiest { amount: 6, from: 10 });
        assert_eq!(sliding_each(&asked, 2, |row| row.key as usize, 10).unwrap(), [6, 1]);
        assert_eq!(sliding_each(&asked, 2, |row| row.key as usize, 11).unwrap(), [6, 2]);
        assert_eq!(aligned_each(&asked, 2, |row| row.key as usize, 10).unwrap(), [5, 1]);
        assert_eq!(sliding(|| Ok(None), || Ok(None), 10).unwrap(), Busiest::default());
    }
}
