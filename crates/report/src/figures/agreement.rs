//! Too much and too little, against the exact answer.

use replay::rows::SummaryRow;

use super::Figure;
use crate::draw::Rect;
use crate::draw::canvas::{Align, picture};
use crate::draw::frame::{Head, MARGIN, Sign, WIDTH, foot, foot_height, foot_lines};
use crate::draw::ink::{Dash, Ink};
use crate::draw::letters::{Font, fit, width};
use crate::{Report, number, report};

pub const FIGURE: Figure = Figure {
    name: "agreement",
    title: "Against the exact answer",
    answers: "What did each limiter admit that an exact count would not, and refuse though it would have fitted?",
    reading: "To the left, permits admitted that an exact sliding log refuses when it replays the admitted stream. To the \
              right, requests refused although they fitted among what this limiter had admitted in the window before. An \
              exact limiter has neither.",
    timing: false,
    applies: |report| !report.tables.summary.is_empty(),
    draw,
};

/// More rows than this are left to the CSV file.
const MOST: usize = 40;
const ROW: f64 = 21.0;

fn draw(report: &Report) -> String {
    let rows = &report.tables.summary;
    let entries: Vec<&SummaryRow> = rows.iter().filter(|row| row.limit > 0 || row.refused > 0).take(MOST).collect();
    let over = |row: &SummaryRow| ratio(row.over_admitted, row.admitted_permits);
    let under = |row: &SummaryRow| ratio(row.falsely_refused, row.requests);
    let most = entries.iter().flat_map(|row| [over(row), under(row)]).fold(0.0, f64::max).max(1e-9);
    let head = Head {
        title: FIGURE.title,
        lead: FIGURE.answers.to_owned(),
        legend: vec![
            (Sign::Block(Ink::Refused), "over-admitted, of admitted permits".to_owned()),
            (Sign::Block(Ink::Admitted), "falsely refused, of requests".to_owned()),
        ],
    };
    let shown = if entries.len() < rows.len() && entries.len() == MOST {
        format!(" The first {MOST} entries; the others are in summary.csv.")
    } else {
        String::new()
    };
    let small = foot_lines(&format!("Both sides use one scale. Counts and shares are written beside the bars.{shown}"));
    let top = head.height() + 4.0;
    let below = top + entries.len().max(1) as f64 * ROW + 10.0;
    let value = |part: u64, share: f64| match part {
        0 => "0".to_owned(),
        _ => format!("{} ({})", number::count(part), number::percent(share)),
    };
    let label_room = entries
        .iter()
        .map(|row| width(&report::label(&row.limiter, &row.comparison), Font::BODY))
        .fold(0.0, f64::max)
        .min(280.0);
    let texts: Vec<[String; 2]> = entries
        .iter()
        .map(|row| [value(row.over_admitted, over(row)), value(row.falsely_refused, under(row))])
        .collect();
    let value_room = texts.iter().flatten().map(|text| width(text, Font::BODY)).fold(0.0, f64::max) + 12.0;
    picture(WIDTH, below + foot_height(&small) + 4.0, FIGURE.title, |canvas| {
        head.draw(canvas);
        let left = MARGIN + label_room + 14.0;
        let half = (WIDTH - MARGIN - left) / 2.0;
        let middle = left + half;
        let length = half - value_room;
        for (i, (row, [over_text, under_text])) in entries.iter().zip(&texts).enumerate() {
            let y = top + i as f64 * ROW + ROW / 2.0;
            if i % 2 == 0 {
                let band = Rect { x: MARGIN, y: y - ROW / 2.0, w: WIDTH - 2.0 * MARGIN, h: ROW };
                canvas.area(band, Ink::Grid, 0.45);
            }
            let name = fit(&report::label(&row.limiter, &row.comparison), Font::BODY, label_room);
            canvas.text((MARGIN + 4.0, y), &name, Font::BODY, Ink::Text, Align::Left);
            let (a, b) = (length * over(row) / most, length * under(row) / most);
            if row.over_admitted > 0 {
                canvas.area(Rect { x: middle - a, y: y - 6.0, w: a.max(1.0), h: 12.0 }, Ink::Refused, 1.0);
            }
            if row.falsely_refused > 0 {
                canvas.area(Rect { x: middle, y: y - 6.0, w: b.max(1.0), h: 12.0 }, Ink::Admitted, 1.0);
            }
            let ink = |part: u64| if part == 0 { Ink::Muted } else { Ink::Text };
            canvas.text((middle - a - 6.0, y), over_text, Font::BODY, ink(row.over_admitted), Align::Right);
            canvas.text((middle + b + 6.0, y), under_text, Font::BODY, ink(row.falsely_refused), Align::Left);
        }
        if entries.is_empty() {
            canvas.text((middle, top + ROW / 2.0), "nothing to show", Font::BODY, Ink::Muted, Align::Center);
        } else {
            canvas.line(&[(middle, top), (middle, below - 10.0)], Ink::Axis, 1.2, Dash::Solid);
        }
        foot(canvas, below, &small);
    })
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}
