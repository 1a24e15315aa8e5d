//! Refused share against guaranteed peak: what a promise costs, algorithm by algorithm.

use replay::rows::GuaranteeRow;

use super::Figure;
use crate::draw::frame::Head;
use crate::draw::ink;
use crate::draw::labels::{Line, Lines, merge};
use crate::draw::scale::{Scale, Unit};
use crate::{Report, number};

pub const FIGURE: Figure = Figure {
    name: "guarantee",
    title: "What a guaranteed peak costs",
    answers: "How much of this traffic does each algorithm refuse when it is tuned never to pass a peak?",
    reading: "Each algorithm is tuned so that no window ever holds more than the peak on the horizontal axis, on any \
              traffic. Lower is better: less refused for the same promise. The dashed line marks the scenario's limit.",
    timing: false,
    applies: |report| !report.tables.guarantee.is_empty(),
    draw,
};

fn draw(report: &Report) -> String {
    let rows = &report.tables.guarantee;
    let limit = report.quota().map(|(limit, _)| limit);
    let lines = merge(algorithms(rows).into_iter().map(|name| line(name, rows, limit)).collect());
    let peaks = || rows.iter().map(|row| row.guaranteed_permits as f64);
    let (least, most) = (peaks().fold(f64::INFINITY, f64::min), peaks().fold(0.0, f64::max));
    let x = if least > 0.0 && most / least > 12.0 {
        Scale::log(peaks(), Unit::Amount)
    } else {
        Scale::from_zero(peaks().chain(limit.map(|limit| limit as f64)), Unit::Amount)
    };
    let window = rows.first().map_or_else(|| "window".to_owned(), |row| number::duration(row.window_ns as f64));
    let share = if limit.is_some() && lines.iter().any(|line| !line.remark.is_empty()) {
        " The percentages are at the scenario's limit."
    } else {
        ""
    };
    Lines {
        head: Head { title: FIGURE.title, lead: FIGURE.answers.to_owned(), legend: Vec::new() },
        x_name: &format!("guaranteed peak: permits in any window of {window}"),
        y_name: "requests refused",
        x,
        y: Scale::from_zero(rows.iter().map(|row| row.refused_ratio), Unit::Percent),
        lines,
        guide: limit.map(|limit| (limit as f64, format!("scenario's limit: {}", number::count(limit)))),
        x_ticks: Vec::new(),
        foot: format!("Lower is better.{share} “=” joins algorithms whose lines coincide.{}", delaying(report)),
        file: "guarantee.csv",
    }
    .draw()
}

/// A sentence on the algorithms that make requests wait instead of refusing them; empty where none does.
fn delaying(report: &Report) -> String {
    let tuned = report.tables.summary.iter().filter(|row| row.comparison == "equal-guarantee" && row.delayed > 0);
    let names: Vec<&str> = tuned.map(|row| row.algorithm.as_str()).collect();
    match names.len() {
        0 => String::new(),
        _ => format!(" Requests admitted by {} may have to wait.", names.join(" or ")),
    }
}

/// The algorithms of `rows`, each once, in order.
fn algorithms(rows: &[GuaranteeRow]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.algorithm.as_str()) {
            names.push(&row.algorithm);
        }
    }
    names
}

fn line(name: &str, rows: &[GuaranteeRow], limit: Option<u64>) -> Line {
    let mut own: Vec<_> = rows.iter().filter(|row| row.algorithm == name).collect();
    own.sort_by_key(|row| row.guaranteed_permits);
    let at_limit = own.iter().find(|row| Some(row.guaranteed_permits) == limit);
    let (ink, dash) = ink::series(name, 0);
    Line {
        names: vec![name.to_owned()],
        points: own.iter().map(|row| (row.guaranteed_permits as f64, row.refused_ratio)).collect(),
        ink,
        dash,
        remark: at_limit.map(|row| number::percent(row.refused_ratio)).unwrap_or_default(),
    }
}
