//! Permits offered, admitted and released so far.

use replay::rows::TimelineRow;

use super::{Figure, bins};
use crate::draw::frame::{Head, Sign};
use crate::draw::grid::Grid;
use crate::draw::ink::{Dash, Ink};
use crate::draw::scale::{Scale, Unit};
use crate::{Report, number, report};

pub const FIGURE: Figure = Figure {
    name: "cumulative",
    title: "Offered, admitted and released so far",
    answers: "How far does what passes fall behind what is asked for?",
    reading: "The gap between offered and admitted is what was refused. The gap between admitted and released, where there \
              is one, is what waits: its height is the queue, its width the delay.",
    timing: false,
    applies: |report| !report.tables.timeline.is_empty(),
    draw,
};

fn draw(report: &Report) -> String {
    let (entries, left_out) = report.panels_of_quota();
    // A limiter that delays has bins after the last arrival; the others stay level until then.
    let ends = report.tables.timeline.iter().map(|row| row.bin_start_ns.saturating_add(row.bin_ns));
    let end = ends.max().unwrap_or(0) as f64;
    let curves: Vec<[Vec<(f64, f64)>; 3]> = entries
        .iter()
        .map(|entry| {
            let own = bins::of(report, entry);
            [
                sums(&own, end, |row| row.offered_permits),
                sums(&own, end, |row| row.admitted_permits),
                sums(&own, end, |row| row.started_permits),
            ]
        })
        .collect();
    let heights = curves.iter().flatten().flatten().map(|&(_, height)| height);
    let panels = entries.iter().map(|entry| {
        let passed = number::share(entry.admitted_permits, entry.offered_permits);
        (report::label(&entry.limiter, &entry.comparison), passed)
    });
    let shaped = curves.iter().any(|[_, admitted, released]| admitted != released);
    let mut legend = vec![
        (Sign::Line(Ink::Offered, Dash::Solid), "offered".to_owned()),
        (Sign::Line(Ink::Admitted, Dash::Solid), "admitted".to_owned()),
    ];
    if shaped {
        legend.push((Sign::Line(Ink::Released, Dash::Long), "released (where it differs from admitted)".to_owned()));
    }
    Grid {
        head: Head { title: FIGURE.title, lead: FIGURE.answers.to_owned(), legend },
        x_name: "time since the start",
        y_name: "permits so far".to_owned(),
        x: bins::time(report),
        y: Scale::from_zero(heights, Unit::Amount),
        panels: panels.collect(),
        foot: format!("At each panel's right: share of permits admitted.{left_out}"),
        file: "timeline.csv",
    }
    .draw(
        |_, text| text,
        |canvas, frame, i| {
            let [offered, admitted, released] = &curves[i];
            let on = |curve: &[(f64, f64)]| curve.iter().map(|&(x, y)| frame.at(x, y)).collect::<Vec<_>>();
            canvas.line(&on(offered), Ink::Offered, 2.4, Dash::Solid);
            canvas.line(&on(admitted), Ink::Admitted, 2.0, Dash::Solid);
            if admitted != released {
                canvas.line(&on(released), Ink::Released, 2.0, Dash::Long);
            }
        },
    )
}

/// Running sum at the end of each bin, level where it does not grow and on to `end`.
fn sums(bins: &[&TimelineRow], end: f64, value: impl Fn(&TimelineRow) -> u64) -> Vec<(f64, f64)> {
    let mut sum = 0u128;
    let mut points: Vec<(f64, f64)> = Vec::with_capacity(bins.len() + 1);
    for row in bins {
        // A bin after a gap starts where the last one ended.
        points.push((row.bin_start_ns as f64, sum as f64));
        sum += u128::from(value(row));
        points.push((row.bin_start_ns as f64 + row.bin_ns as f64, sum as f64));
    }
    if let Some(&(last, total)) = points.last()
        && last < end
    {
        points.push((end, total));
    }
    points.dedup();
    thin(points)
}

/// Drops points in the middle of a level stretch.
fn thin(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    let mut kept: Vec<(f64, f64)> = Vec::with_capacity(points.len());
    for point in points {
        if let [.., a, b] = kept[..]
            && a.1 == b.1
            && b.1 == point.1
        {
            kept.pop();
        }
        kept.push(point);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_grow_bin_by_bin_and_stay_level_between() {
        let bin = |start, offered_permits| TimelineRow {
            bin_start_ns: start,
            bin_ns: 1,
            offered_permits,
            ..TimelineRow::default()
        };
        let rows = [bin(0, 2), bin(1, 0), bin(2, 0), bin(3, 5)];
        let points = sums(&rows.iter().collect::<Vec<_>>(), 6.0, |row| row.offered_permits);
        assert_eq!(points, [(0.0, 0.0), (1.0, 2.0), (3.0, 2.0), (4.0, 7.0), (6.0, 7.0)]);
    }
}
