//! Money spent so far, behind each guard and without one.

use replay::rows::{SpendRow, SummaryRow};

use super::Figure;
use crate::draw::frame::Head;
use crate::draw::ink::{Dash, Ink};
use crate::draw::labels::{Line, Lines, merge};
use crate::draw::scale::{Scale, Unit};
use crate::{Report, number};

pub const FIGURE: Figure = Figure {
    name: "spend",
    title: "Spent so far",
    answers: "How does the bill grow behind each guard, and when does the growth stop?",
    reading: "Each line is the money spent by the same clients from the same seed. The one called none has no guard; a line \
              above it is a guard that raises the bill. Dotted lines are spending caps; a cap has tripped where its name says so.",
    timing: false,
    applies: |report| !report.tables.spend.is_empty(),
    draw,
};

/// Dots are left to the caps.
const DASHES: [Dash; 3] = [Dash::Solid, Dash::Long, Dash::Mixed];

fn draw(report: &Report) -> String {
    let rows = &report.tables.spend;
    let mut lines = vec![line("none", Ink::Refused, Dash::Solid, points(rows, "none", "twin"), None)];
    for (index, row) in report.panels().into_iter().enumerate() {
        let (ink, dash) = (Ink::Series(index), DASHES[index % DASHES.len()]);
        lines.push(line(&row.limiter, ink, dash, points(rows, &row.limiter, &row.comparison), Some(row)));
    }
    lines.retain(|line| !line.points.is_empty());
    let mut lines = merge(lines);
    // The dearest first, so that what does not fit is what is cheap and alike.
    lines.sort_by(|a, b| last(b).total_cmp(&last(a)));
    let end = rows.iter().map(|row| row.bin_start_ns + row.bin_ns).max().unwrap_or(0) as f64;
    for (name, cap) in caps(report) {
        let ends = vec![(0.0, cap), (end, cap)];
        lines.push(Line { names: vec![name], points: ends, ink: Ink::Bound, dash: Dash::Dots, remark: String::new() });
    }
    Lines {
        head: Head { title: FIGURE.title, lead: FIGURE.answers.to_owned(), legend: Vec::new() },
        x_name: "time since the start",
        y_name: "dollars spent",
        x: Scale::linear(0.0, end, Unit::Time),
        y: Scale::from_zero(lines.iter().flat_map(|line| &line.points).map(|point| point.1), Unit::Amount),
        lines,
        guide: None,
        x_ticks: Vec::new(),
        foot: "“=” joins guards whose lines coincide.".to_owned(),
        file: "spend.csv",
    }
    .draw()
}

fn last(line: &Line) -> f64 {
    line.points.last().map_or(0.0, |point| point.1)
}

fn line(name: &str, ink: Ink, dash: Dash, points: Vec<(f64, f64)>, row: Option<&SummaryRow>) -> Line {
    let tripped =
        row.and_then(|row| row.cap_reached_ns).map(|at| format!(", tripped at {}", number::duration(at as f64)));
    let spent = points.last().map_or(0.0, |point| point.1);
    let remark = format!("{}{}", number::dollars((spent * 1e6).round() as u64), tripped.unwrap_or_default());
    Line { names: vec![name.to_owned()], points, ink, dash, remark }
}

fn points(rows: &[SpendRow], limiter: &str, comparison: &str) -> Vec<(f64, f64)> {
    let own = rows.iter().filter(|row| row.limiter == limiter && row.comparison == comparison);
    let ends: Vec<_> =
        own.map(|row| ((row.bin_start_ns + row.bin_ns) as f64, row.spent_microusd as f64 / 1e6)).collect();
    if ends.is_empty() { ends } else { [vec![(0.0, 0.0)], ends].concat() }
}

/// Spending caps by name and dollars, each height once.
fn caps(report: &Report) -> Vec<(String, f64)> {
    let mut caps: Vec<(String, f64)> = Vec::new();
    for row in
        report.tables.summary.iter().filter(|row| row.algorithm == "spend-cap" && row.cap_overshoot_microusd.is_some())
    {
        let cap = row.limit as f64 / 1e6;
        if !caps.iter().any(|(_, known)| *known == cap) {
            caps.push((format!("limit of {}", number::dollars(row.limit)), cap));
        }
    }
    caps
}
