//! What each limiter still has to give, over time.

use replay::rows::TimelineRow;

use super::{Figure, bins};
use crate::draw::frame::Head;
use crate::draw::grid::Grid;
use crate::draw::ink::{Dash, Ink};
use crate::draw::scale::{Scale, Unit};
use crate::{Report, report};

pub const FIGURE: Figure = Figure {
    name: "level",
    title: "Permits left over time",
    answers: "How much would each limiter have let through at once, at any moment?",
    reading: "The level at the end of each bin: permits that would pass at that instant. At zero the limiter refuses; a \
              level that jumps back to full is a reset, one that climbs is a refill.",
    timing: false,
    applies: |report| report.tables.timeline.iter().any(|row| row.level_milli.is_some()),
    draw,
};

fn draw(report: &Report) -> String {
    let limiting = |row: &TimelineRow| row.level_milli.is_some();
    let (entries, mut left_out) = report.panels_of_quota();
    let shown = entries.into_iter().filter(|entry| bins::of(report, entry).iter().any(|row| limiting(row)));
    // The level of a stack is that of its emptiest guard, which is money where that is a cap.
    let (stacks, entries): (Vec<_>, Vec<_>) =
        shown.partition(|entry| entry.meter != "spend" && entry.cap_overshoot_microusd.is_some());
    for stack in stacks {
        left_out.push_str(&format!(" Not drawn, since its level can be that of a cap: “{}”.", stack.limiter));
    }
    let curves: Vec<Vec<(f64, f64)>> = entries
        .iter()
        .map(|entry| {
            let point = |row: &&TimelineRow| {
                Some(((row.bin_start_ns as f64 + row.bin_ns as f64), row.level_milli? as f64 / 1000.0))
            };
            bins::of(report, entry).iter().filter_map(point).collect()
        })
        .collect();
    Grid {
        head: Head { title: FIGURE.title, lead: FIGURE.answers.to_owned(), legend: Vec::new() },
        x_name: "time since the start",
        y_name: "permits left".to_owned(),
        x: bins::time(report),
        y: Scale::from_zero(curves.iter().flatten().map(|&(_, level)| level), Unit::Amount),
        panels: entries.iter().map(|entry| (report::label(&entry.limiter, &entry.comparison), String::new())).collect(),
        foot: match entries.iter().any(|entry| entry.scope == "per-key") {
            true => format!("Where each key has a limiter of its own, the first key's is shown.{left_out}"),
            false => left_out.trim_start().to_owned(),
        },
        file: "timeline.csv",
    }
    .draw(
        |_, text| text,
        |canvas, frame, i| {
            let points: Vec<_> = curves[i].iter().map(|&(x, y)| frame.at(x, y)).collect();
            if let (Some(first), Some(last)) = (points.first(), points.last()) {
                let zero = frame.up(0.0);
                let mut under = vec![(first.0, zero)];
                under.extend_from_slice(&points);
                under.push((last.0, zero));
                canvas.shape(&under, Ink::Admitted, 0.18);
            }
            canvas.line(&points, Ink::Admitted, 1.8, Dash::Solid);
        },
    )
}
