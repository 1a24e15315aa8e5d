//! How long admitted requests waited, by quantile.

use replay::rows::{SummaryRow, WaitRow};

use super::Figure;
use crate::Report;
use crate::draw::frame::Head;
use crate::draw::ink;
use crate::draw::labels::{Line, Lines, merge};
use crate::draw::scale::{Scale, Unit};
use crate::{number, report};

pub const FIGURE: Figure = Figure {
    name: "waits",
    title: "How long admitted requests waited",
    answers: "What delay does smoothing cost?",
    reading: "Read it as: 99 % of the admitted requests waited no longer than the line's height above 99 %. Each further \
              nine takes the same space, so that the tail shows. Refused requests are not in it.",
    timing: false,
    applies: |report| report.tables.waits.iter().any(|row| row.wait_ns > 0),
    draw,
};

fn draw(report: &Report) -> String {
    let rows: Vec<&WaitRow> = report.tables.waits.iter().filter(|row| resolved(report, row)).collect();
    let longest = rows.iter().filter(|row| row.quantile < 1.0).map(|row| nines(row.quantile)).fold(1.0, f64::max);
    let end = longest + 0.5;
    let place = |quantile: f64| if quantile < 1.0 { nines(quantile) } else { end };
    let mut lines = Vec::new();
    let mut without = 0;
    for (nth, entry) in report.tables.summary.iter().enumerate() {
        let mut own: Vec<_> =
            rows.iter().filter(|row| row.limiter == entry.limiter && row.comparison == entry.comparison).collect();
        own.sort_by(|a, b| a.quantile.total_cmp(&b.quantile));
        if own.iter().all(|row| row.wait_ns == 0) {
            without += 1;
            continue;
        }
        let before = report.tables.summary[..nth].iter().filter(|other| other.algorithm == entry.algorithm).count();
        let (ink, dash) = ink::series(&entry.algorithm, before);
        let max = own.last().map_or(0, |row| row.wait_ns);
        lines.push(Line {
            names: vec![report::label(&entry.limiter, &entry.comparison)],
            points: own.iter().map(|row| (place(row.quantile), row.wait_ns as f64)).collect(),
            ink,
            dash,
            remark: format!("max {}", number::duration(max as f64)),
        });
    }
    let mut ticks = vec![(0.0, "0 %".to_owned()), (nines(0.5), "50 %".to_owned())];
    ticks.extend((1..=(longest + 1e-6).floor() as i32).map(|n| (f64::from(n), nines_label(n))));
    ticks.push((end, "max".to_owned()));
    let time = Scale::from_zero(rows.iter().map(|row| row.wait_ns as f64), Unit::Time);
    Lines {
        head: Head { title: FIGURE.title, lead: FIGURE.answers.to_owned(), legend: Vec::new() },
        x_name: "share of admitted requests that waited no longer",
        y_name: &crate::draw::frame::axis_name("wait", &time),
        x: Scale::linear(0.0, end, Unit::Amount),
        y: time,
        lines: merge(lines),
        guide: None,
        x_ticks: ticks,
        foot: match without {
            0 => String::new(),
            1 => "At the one other entry nothing waited.".to_owned(),
            n => format!("At the {n} other entries nothing waited."),
        },
        file: "waits.csv",
    }
    .draw()
}

/// Whether there are requests beyond the row's quantile: of a hundred requests, 99.9 % is the maximum under another name.
fn resolved(report: &Report, row: &WaitRow) -> bool {
    let same = |entry: &&SummaryRow| entry.limiter == row.limiter && entry.comparison == row.comparison;
    let admitted = report.tables.summary.iter().find(same).map_or(0, |entry| entry.admitted);
    row.quantile >= 1.0 || (1.0 - row.quantile) * admitted as f64 >= 0.999
}

/// How many nines a quantile has: 0.9 is one, 0.99 two.
fn nines(quantile: f64) -> f64 {
    -(1.0 - quantile.clamp(0.0, 1.0 - 1e-12)).log10()
}

fn nines_label(n: i32) -> String {
    let digits = (n - 2).max(0) as usize;
    format!("{:.digits$} %", 100.0 - 10f64.powi(2 - n))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nines_count_and_read() {
        assert!((nines(0.999) - 3.0).abs() < 1e-9 && nines(0.0) == 0.0 && nines(1.0).is_finite());
        assert_eq!([1, 2, 3, 4].map(nines_label), ["90 %", "99 %", "99.9 %", "99.99 %"]);
    }
}
