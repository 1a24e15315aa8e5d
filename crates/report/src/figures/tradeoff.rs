//! Money saved against useful work lost: one point for each guard.

use super::Figure;
use crate::draw::frame::Head;
use crate::draw::ink::{Dash, Ink};
use crate::draw::labels::{Line, Lines, merge};
use crate::draw::scale::{Scale, Unit};
use crate::{Report, number};

pub const FIGURE: Figure = Figure {
    name: "tradeoff",
    title: "Saved against useful work lost",
    answers: "Which guard saves money without costing the work that is wanted?",
    reading: "One point for each guard. Higher saves more against the same night without a guard; further to the right costs \
              more of the useful calls. Below zero the guard raises the bill. The best place is the upper left.",
    timing: false,
    applies: |report| report.tables.summary.iter().any(|row| row.cost_saved_microusd.is_some()),
    draw,
};

fn draw(report: &Report) -> String {
    let points = report.panels().into_iter().enumerate().filter_map(|(index, row)| {
        let saved = row.cost_saved_microusd? as f64 / 1e6;
        let (ink, dash) = (Ink::Series(index), Dash::ALL[index % Dash::ALL.len()]);
        let sign = if saved < 0.0 { "−" } else { "" };
        let remark = format!("{sign}{}", number::dollars((saved.abs() * 1e6).round() as u64));
        let names = vec![row.limiter.clone()];
        Some(Line { names, points: vec![(row.useful_lost_ratio.unwrap_or(0.0).max(0.0), saved)], ink, dash, remark })
    });
    let lines = merge(points.collect());
    let at = |axis: fn(&(f64, f64)) -> f64| lines.iter().flat_map(|line| &line.points).map(axis).collect::<Vec<_>>();
    let (across, up) = (at(|point| point.0), at(|point| point.1));
    Lines {
        head: Head { title: FIGURE.title, lead: FIGURE.answers.to_owned(), legend: Vec::new() },
        x_name: "useful calls lost",
        y_name: "dollars saved",
        x: Scale::from_zero(across, Unit::Percent),
        y: Scale::from_zero(up, Unit::Amount),
        lines,
        guide: None,
        x_ticks: Vec::new(),
        foot: "“=” joins guards at the same place.".to_owned(),
        file: "summary.csv",
    }
    .draw()
}
