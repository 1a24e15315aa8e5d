//! Admitted over time above the axis, refused in red below it.

use super::{Figure, bins};
use crate::draw::canvas::Canvas;
use crate::draw::frame::{Frame, Head, Sign};
use crate::draw::grid::Grid;
use crate::draw::ink::{Dash, Ink};
use crate::draw::scale::{Scale, Unit};
use crate::{Report, number, report};

pub const FIGURE: Figure = Figure {
    name: "timeline",
    title: "Admitted and refused over time",
    answers: "When does each limiter admit, and when does it refuse?",
    reading: "Above the line is what was admitted in each bin of time, below it, in red, what was refused; together they \
              are what was offered. All panels share their scales.",
    timing: false,
    applies: |report| !report.tables.timeline.is_empty(),
    draw,
};

fn draw(report: &Report) -> String {
    let (entries, left_out) = report.panels_of_quota();
    let rows = bins::of_all(report, &entries);
    let heights = rows.iter().flat_map(|row| [row.admitted_permits as f64, -(row.refused_permits as f64)]);
    let bin = rows.first().map_or(0, |row| row.bin_ns);
    let mut legend = vec![(Sign::Block(Ink::Admitted), "admitted".to_owned())];
    if rows.iter().any(|row| row.delayed_permits > 0) {
        legend[0].1 = "admitted at once".to_owned();
        legend.push((Sign::Block(Ink::Delayed), "admitted, to wait".to_owned()));
    }
    legend.push((Sign::Block(Ink::Refused), "refused".to_owned()));
    let panels = entries.iter().map(|entry| {
        let refused = number::share(entry.refused + entry.never_fits, entry.requests);
        (report::label(&entry.limiter, &entry.comparison), refused)
    });
    Grid {
        head: Head { title: FIGURE.title, lead: FIGURE.answers.to_owned(), legend },
        x_name: "time since the start",
        y_name: format!("permits per bin of {}", number::duration(bin as f64)),
        x: bins::time(report),
        y: Scale::from_zero(heights, Unit::Amount),
        panels: panels.collect(),
        foot: format!("At each panel's right: share of requests refused.{left_out}"),
        file: "timeline.csv",
    }
    .draw(
        |value, text| if value < 0.0 { text.trim_start_matches('-').to_owned() } else { text },
        |canvas, frame, i| {
            let own = bins::of(report, entries[i]);
            let all = bins::steps(&own, |row| row.admitted_permits as f64);
            if own.iter().any(|row| row.delayed_permits > 0) {
                bars(canvas, frame, &all, Ink::Delayed);
                let at_once = bins::steps(&own, |row| row.admitted_permits.saturating_sub(row.delayed_permits) as f64);
                bars(canvas, frame, &at_once, Ink::Admitted);
            } else {
                bars(canvas, frame, &all, Ink::Admitted);
            }
            bars(canvas, frame, &bins::steps(&own, |row| -(row.refused_permits as f64)), Ink::Refused);
            let zero = frame.up(0.0);
            canvas.line(&[(frame.area.x, zero), (frame.area.right(), zero)], Ink::Axis, 1.0, Dash::Solid);
        },
    )
}

/// Filled steps. The outline keeps a bin visible that is narrower than a pixel.
fn bars(canvas: &mut Canvas<'_>, frame: &Frame, corners: &[(f64, f64)], ink: Ink) {
    if corners.iter().all(|&(_, height)| height == 0.0) {
        return;
    }
    let points: Vec<_> = corners.iter().map(|&(x, y)| frame.at(x, y)).collect();
    canvas.shape(&points, ink, 1.0);
    for run in points.split(|&(_, y)| y == frame.up(0.0)).filter(|run| !run.is_empty()) {
        let (first, last) = (run[0], run[run.len() - 1]);
        let mut outline = vec![(first.0, frame.up(0.0))];
        outline.extend_from_slice(run);
        outline.push((last.0, frame.up(0.0)));
        canvas.line(&outline, ink, 0.8, Dash::Solid);
    }
}
