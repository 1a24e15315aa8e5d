//! The bins of one limiter as steps over time, shared by the figures that draw them.

use replay::rows::{SummaryRow, TimelineRow};

use crate::Report;
use crate::draw::scale::{Scale, Unit};

/// The bins of an entry, in order of time.
pub fn of<'a>(report: &'a Report, entry: &SummaryRow) -> Vec<&'a TimelineRow> {
    let own = |row: &&TimelineRow| row.limiter == entry.limiter && row.comparison == entry.comparison;
    let mut bins: Vec<_> = report.tables.timeline.iter().filter(own).collect();
    bins.sort_by_key(|row| row.bin_start_ns);
    bins
}

/// The bins of these entries.
pub fn of_all<'a>(report: &'a Report, entries: &[&SummaryRow]) -> Vec<&'a TimelineRow> {
    entries.iter().flat_map(|entry| of(report, entry)).collect()
}

/// The axis of time that holds every bin.
pub fn time(report: &Report) -> Scale {
    let rows = &report.tables.timeline;
    let start = rows.iter().map(|row| row.bin_start_ns).min().unwrap_or(0);
    let end = rows.iter().map(|row| row.bin_start_ns.saturating_add(row.bin_ns)).max().unwrap_or(0);
    Scale::linear(start as f64, end as f64, Unit::Time)
}

/// The corners of a step curve over `bins` that is zero wherever there is no bin.
pub fn steps(bins: &[&TimelineRow], value: impl Fn(&TimelineRow) -> f64) -> Vec<(f64, f64)> {
    let mut corners: Vec<(f64, f64)> = Vec::with_capacity(2 * bins.len() + 2);
    for row in bins {
        let (from, height) = (row.bin_start_ns as f64, value(row));
        let to = from + row.bin_ns as f64;
        match corners.last().copied() {
            Some((end, last)) if end == from => {
                if last == height {
                    corners.pop();
                } else {
                    corners.push((from, height));
                }
            }
            Some((end, _)) => corners.extend([(end, 0.0), (from, 0.0), (from, height)]),
            None => corners.extend([(from, 0.0), (from, height)]),
        }
        corners.push((to, height));
    }
    if let Some(&(end, _)) = corners.last() {
        corners.push((end, 0.0));
    }
    corners
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_merge_equal_bins_and_fall_to_zero_in_gaps() {
        let bin = |start, admitted_permits| TimelineRow {
            bin_start_ns: start,
            bin_ns: 1,
            admitted_permits,
            ..TimelineRow::default()
        };
        let rows = [bin(0, 2), bin(1, 2), bin(2, 3), bin(5, 1)];
        let corners = steps(&rows.iter().collect::<Vec<_>>(), |row| row.admitted_permits as f64);
        let expected = [(0, 0), (0, 2), (2, 2), (2, 3), (3, 3), (3, 0), (5, 0), (5, 1), (6, 1), (6, 0)]
            .map(|(x, y)| (x.into(), y.into()));
        assert_eq!(corners, expected);
        assert_eq!(steps(&[], |_| 1.0), []);
    }
}
