//! Too much and too little, against the exact answer.

use replay::rows::SummaryRow;

use super::Figure;
use crate::draw::Rect;
use crate::draw::canvas::{Align, Canvas, picture};
use crate::draw::frame::{Head, MARGIN, Sign, WIDTH, foot, foot_height, foot_lines};
use crate::draw::ink::{Dash, Ink};
use crate::draw::letters::{Font, fit, width};
use crate::metrics::group;
use crate::{Report, number};

pub const FIGURE: Figure = Figure {
    name: "agreement",
    title: "Against the exact answer",
    answers: "What did each limiter admit that an exact count would not, and refuse though it would have fitted?",
    reading: "To the left, permits admitted that an exact sliding log refuses when it replays the admitted stream. To the \
              right, requests refused although they fitted among what this limiter had admitted in the window before. An \
              exact limiter has neither; – stands where a limiter promises no limit per window, as a spending cap.",
    timing: false,
    applies: |report| !report.tables.summary.is_empty(),
    draw,
};

/// More rows than this are left to the CSV file.
const MOST: usize = 48;
const ROW: f64 = 21.0;
const GROUPS: &[(&str, &str)] =
    &[("equal-quota", "Equal quota"), ("equal-guarantee", "Equal guarantee"), ("variant", "Variants")];

/// A row of the figure: the name of a group, or an entry.
enum Line<'a> {
    Group(&'static str),
    Entry(&'a SummaryRow),
}

fn draw(report: &Report) -> String {
    let rows = &report.tables.summary;
    let mut lines = Vec::new();
    for (comparison, title) in GROUPS {
        let own: Vec<_> = rows.iter().filter(|row| group(row) == *comparison).collect();
        if !own.is_empty() {
            lines.push(Line::Group(title));
            lines.extend(own.into_iter().map(Line::Entry));
        }
    }
    let left_out = lines.len().saturating_sub(MOST);
    lines.truncate(MOST);
    let entries = || lines.iter().filter_map(|line| if let Line::Entry(row) = line { Some(*row) } else { None });
    let head = Head {
        title: FIGURE.title,
        lead: FIGURE.answers.to_owned(),
        legend: vec![
            (Sign::Block(Ink::Refused), "over-admitted, of admitted permits".to_owned()),
            (Sign::Block(Ink::Admitted), "falsely refused, of requests".to_owned()),
        ],
    };
    let more = if left_out > 0 { format!(" {left_out} more rows are in summary.csv.") } else { String::new() };
    let small = foot_lines(&format!("Both sides have the same scale.{more}"));
    let widest = |texts: Vec<String>| texts.iter().map(|text| width(text, Font::BODY)).fold(0.0, f64::max);
    let sides = Sides {
        names: widest(entries().map(|row| row.limiter.clone()).collect()).min(280.0),
        over_text: widest(entries().map(|row| text(row.over_admitted, over(row))).collect()),
        under_text: widest(entries().map(|row| text(row.falsely_refused, under(row))).collect()),
        most_over: entries().map(over).fold(0.0, f64::max),
        most_under: entries().map(under).fold(0.0, f64::max),
    };
    let top = head.height() + 4.0;
    let below = top + lines.len().max(1) as f64 * ROW + 10.0;
    picture(WIDTH, below + foot_height(&small) + 4.0, FIGURE.title, |canvas| {
        head.draw(canvas);
        for (i, line) in lines.iter().enumerate() {
            let y = top + (i as f64 + 0.5) * ROW;
            match line {
                Line::Group(title) => canvas.text((MARGIN, y + 1.0), title, Font::HEAD, Ink::Text, Align::Left),
                Line::Entry(row) => sides.draw(canvas, row, y),
            }
        }
        if lines.is_empty() {
            canvas.text((WIDTH / 2.0, top + ROW / 2.0), "nothing to show", Font::BODY, Ink::Muted, Align::Center);
        }
        foot(canvas, below, &small);
    })
}

/// How the width is shared between names, bars to the left and bars to the right of the middle.
struct Sides {
    names: f64,
    over_text: f64,
    under_text: f64,
    most_over: f64,
    most_under: f64,
}

impl Sides {
    fn draw(&self, canvas: &mut Canvas<'_>, row: &SummaryRow, y: f64) {
        let left = MARGIN + 8.0 + self.names + 20.0 + self.over_text + 8.0;
        let room = WIDTH - MARGIN - 8.0 - self.under_text - 8.0 - left;
        let whole = (self.most_over + self.most_under).max(1e-9);
        let middle = left + room * self.most_over / whole;
        let (a, b) = (room * over(row) / whole, room * under(row) / whole);
        let rule = y + ROW / 2.0;
        canvas.line(&[(MARGIN + 8.0, rule), (WIDTH - MARGIN, rule)], Ink::Grid, 1.0, Dash::Solid);
        let name = fit(&row.limiter, Font::BODY, self.names);
        canvas.text((MARGIN + 8.0, y), &name, Font::BODY, Ink::Text, Align::Left);
        if row.over_admitted.is_some_and(|part| part > 0) {
            canvas.area(Rect { x: middle - a.max(1.0), y: y - 6.0, w: a.max(1.0), h: 12.0 }, Ink::Refused, 1.0);
        }
        if row.falsely_refused.is_some_and(|part| part > 0) {
            canvas.area(Rect { x: middle, y: y - 6.0, w: b.max(1.0), h: 12.0 }, Ink::Admitted, 1.0);
        }
        canvas.line(&[(middle, y - ROW / 2.0), (middle, rule)], Ink::Axis, 1.2, Dash::Solid);
        let ink = |part: Option<u64>| if part.is_none_or(|part| part == 0) { Ink::Muted } else { Ink::Text };
        let (over_text, under_text) = (text(row.over_admitted, over(row)), text(row.falsely_refused, under(row)));
        canvas.text((middle - a - 7.0, y), &over_text, Font::BODY, ink(row.over_admitted), Align::Right);
        canvas.text((middle + b + 7.0, y), &under_text, Font::BODY, ink(row.falsely_refused), Align::Left);
    }
}

fn over(row: &SummaryRow) -> f64 {
    ratio(row.over_admitted, row.admitted_permits)
}

fn under(row: &SummaryRow) -> f64 {
    ratio(row.falsely_refused, row.requests)
}

fn text(part: Option<u64>, share: f64) -> String {
    match part {
        None => "–".to_owned(),
        Some(0) => "0".to_owned(),
        Some(part) => format!("{} ({})", number::count(part), number::percent(share)),
    }
}

fn ratio(part: Option<u64>, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part.unwrap_or(0) as f64 / whole as f64 }
}
