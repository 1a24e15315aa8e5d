//! Attempts in the busiest 100 ms of each bin.

use replay::rows::SpendRow;

use super::Figure;
use crate::draw::frame::Head;
use crate::draw::grid::Grid;
use crate::draw::ink::{Dash, Ink};
use crate::draw::scale::{Scale, Unit};
use crate::{Report, number, report};

pub const FIGURE: Figure = Figure {
    name: "pulse",
    title: "Attempts in 100 ms",
    answers: "Do refused clients come back all at once?",
    reading: "The height is the most attempts in any 100 ms of a bin. Clients that were all told the same instant come back \
              as a comb of spikes; clients that were told their own place, or drew their own wait, as a low carpet.",
    timing: false,
    applies: |report| !report.tables.spend.is_empty(),
    draw,
};

fn draw(report: &Report) -> String {
    let entries = report.panels();
    let curves: Vec<Vec<(f64, f64)>> = entries
        .iter()
        .map(|entry| {
            let own = |row: &&SpendRow| row.limiter == entry.limiter && row.comparison == entry.comparison;
            report.tables.spend.iter().filter(own).flat_map(corners).collect()
        })
        .collect();
    let panels = entries.iter().map(|entry| {
        let peak = entry.attempts_peak_100ms.map(|peak| format!("most {}", number::count(peak)));
        (report::label(&entry.limiter, &entry.comparison), peak.unwrap_or_default())
    });
    let heights = curves.iter().flatten().map(|&(_, height)| height);
    let end = report.tables.spend.iter().map(|row| row.bin_start_ns + row.bin_ns).max().unwrap_or(0);
    Grid {
        head: Head { title: FIGURE.title, lead: FIGURE.answers.to_owned(), legend: Vec::new() },
        x_name: "time since the start",
        y_name: "attempts in 100 ms".to_owned(),
        x: Scale::linear(0.0, end as f64, Unit::Time),
        y: Scale::from_zero(heights, Unit::Amount),
        panels: panels.collect(),
        foot: "The busiest 100 ms of each bin.".to_owned(),
        file: "spend.csv",
    }
    .draw(
        |_, text| text,
        |canvas, frame, i| {
            let mut points: Vec<_> = curves[i].iter().map(|&(x, y)| frame.at(x, y)).collect();
            if let (Some(first), Some(last)) = (points.first().copied(), points.last().copied()) {
                let floor = frame.up(0.0);
                points.insert(0, (first.0, floor));
                points.push((last.0, floor));
                canvas.shape(&points, Ink::Offered, 0.5);
                canvas.line(&points, Ink::Offered, 1.6, Dash::Solid);
            }
        },
    )
}

fn corners(row: &SpendRow) -> [(f64, f64); 2] {
    let (from, height) = (row.bin_start_ns as f64, row.attempts_peak_100ms as f64);
    [(from, height), (from + row.bin_ns as f64, height)]
}
