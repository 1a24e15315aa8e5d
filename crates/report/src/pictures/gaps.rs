//! How long the gaps between requests are, beside those of independent arrivals.

use super::Picture;
use crate::draw::frame::Head;
use crate::draw::ink::{Dash, Ink};
use crate::draw::labels::{Line, Lines};
use crate::draw::scale::{Scale, Unit};
use replay::inspect::GapRow;

/// Draws the distribution of gaps.
pub fn gaps(rows: &[GapRow]) -> Picture {
    let line = |name: &str, share: fn(&GapRow) -> f64, ink, dash| Line {
        names: vec![name.to_owned()],
        points: rows.iter().map(|row| (row.gap_ns as f64, share(row))).collect(),
        ink,
        dash,
        remark: String::new(),
    };
    let svg = Lines {
        head: Head {
            title: "Gaps between requests",
            lead:
                "Which share of the gaps is at most so long? A line above the dashed one at its left end means bursts."
                    .to_owned(),
            legend: Vec::new(),
        },
        x_name: "length of the gap",
        y_name: "share of gaps",
        x: Scale::log(rows.iter().map(|row| row.gap_ns as f64), Unit::Time),
        y: Scale::linear(0.0, 1.0, Unit::Percent),
        lines: if rows.is_empty() {
            Vec::new()
        } else {
            vec![
                line("this traffic", |row| row.share, Ink::Admitted, Dash::Solid),
                line("independent, same mean", |row| row.poisson_share, Ink::Muted, Dash::Long),
            ]
        },
        guide: None,
        x_ticks: Vec::new(),
        foot: "Gaps of length 0 lie beyond the left end and are part of every share.".to_owned(),
        file: "gaps.csv",
    }
    .draw();
    Picture { name: "gaps", svg }
}
