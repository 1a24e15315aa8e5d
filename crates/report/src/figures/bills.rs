//! The distribution of the bill over seeds.

use replay::rows::BillRow;

use super::Figure;
use crate::draw::frame::Head;
use crate::draw::ink::{Dash, Ink};
use crate::draw::labels::{Line, Lines, merge};
use crate::draw::scale::{Scale, Unit};
use crate::{Report, number};

pub const FIGURE: Figure = Figure {
    name: "bills",
    title: "The bill over many nights",
    answers: "How likely is a bill of a given height behind each guard?",
    reading: "Each line rises by one step for each seed: its height is the share of nights that cost at most what the \
              horizontal axis says. A steep line is a bill that can be planned. Beside each name: the median, and the \
              proven worst, where anything proves one; an upright line marks it where it is near.",
    timing: false,
    applies: |report| seeds(&report.tables.bills) > 1,
    draw,
};

/// A proven worst bill is drawn up to so many times the dearest night.
const WORST_SHOWN: u64 = 4;
/// Bills that differ by more than this factor are drawn on a logarithmic axis.
const WIDE: f64 = 30.0;

fn seeds(rows: &[BillRow]) -> usize {
    let mut seeds: Vec<u64> = rows.iter().map(|row| row.seed).collect();
    seeds.sort_unstable();
    seeds.dedup();
    seeds.len()
}

fn draw(report: &Report) -> String {
    let rows = &report.tables.bills;
    let dearest = rows.iter().map(|row| row.spent_microusd).max().unwrap_or(0);
    // A bound many times the dearest night would press all nights against the axis; it stays in words then.
    let near = |worst: u64| worst <= dearest.saturating_mul(WORST_SHOWN);
    let lines: Vec<Line> = report
        .panels()
        .into_iter()
        .enumerate()
        .flat_map(|(index, entry)| {
            let own = rows.iter().filter(|row| row.limiter == entry.limiter && row.comparison == entry.comparison);
            let own: Vec<&BillRow> = own.collect();
            let mut bills: Vec<u64> = own.iter().map(|row| row.spent_microusd).collect();
            bills.sort_unstable();
            let Some(&median) = bills.get(bills.len().saturating_sub(1) / 2) else { return Vec::new() };
            let worst = own.iter().map(|row| row.worst_microusd).max().flatten();
            let words = worst.map_or_else(|| "unbounded".to_owned(), number::dollars);
            let (ink, dash) = (Ink::Series(index), Dash::ALL[index % Dash::ALL.len()]);
            let remark = format!("{}, worst {words}", number::dollars(median));
            let mut lines = vec![Line { names: vec![entry.limiter.clone()], points: steps(&bills), ink, dash, remark }];
            if let Some(worst) = worst.filter(|&worst| near(worst)) {
                let at = worst as f64 / 1e6;
                let (names, points) = (vec![format!("{}, worst", entry.limiter)], vec![(at, 0.0), (at, 1.0)]);
                lines.push(Line { names, points, ink, dash, remark: number::dollars(worst) });
            }
            lines
        })
        .collect();
    let worst = rows.iter().filter_map(|row| row.worst_microusd).filter(|&worst| near(worst));
    let all: Vec<f64> = rows.iter().map(|row| row.spent_microusd).chain(worst).map(|bill| bill as f64 / 1e6).collect();
    let (least, most) = (all.iter().copied().fold(f64::INFINITY, f64::min), all.iter().copied().fold(0.0, f64::max));
    // On an even axis the dearest guard would press all others against its beginning.
    let wide = least > 0.0 && most > least * WIDE;
    Lines {
        head: Head { title: FIGURE.title, lead: FIGURE.answers.to_owned(), legend: Vec::new() },
        x_name: if wide { "dollars spent in the run (logarithmic)" } else { "dollars spent in the run" },
        y_name: "share of seeds",
        x: if wide { Scale::log(all, Unit::Amount) } else { Scale::from_zero(all, Unit::Amount) },
        y: Scale::linear(0.0, 1.0, Unit::Percent),
        lines: merge(lines),
        guide: None,
        x_ticks: Vec::new(),
        foot: format!("{} seeds. “=” joins guards whose bills are the same for every seed.", seeds(rows)),
        file: "bills.csv",
    }
    .draw()
}

fn steps(bills: &[u64]) -> Vec<(f64, f64)> {
    let mut points = Vec::with_capacity(2 * bills.len());
    for (index, bill) in bills.iter().enumerate() {
        let dollars = *bill as f64 / 1e6;
        points.push((dollars, index as f64 / bills.len() as f64));
        points.push((dollars, (index + 1) as f64 / bills.len() as f64));
    }
    points
}
