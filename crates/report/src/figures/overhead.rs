//! Time of a decision, beside a limiter that does nothing.

use replay::rows::OverheadRow;

use super::Figure;
use crate::Report;
use crate::draw::Rect;
use crate::draw::canvas::{Align, Mark, picture};
use crate::draw::frame::{Frame, Head, MARGIN, Sign, TickLabels, WIDTH, foot, foot_height, foot_lines};
use crate::draw::ink::{Dash, Ink};
use crate::draw::letters::{Font, fit, width};
use crate::draw::scale::{Scale, Unit};
use crate::number;

pub const FIGURE: Figure = Figure {
    name: "overhead",
    title: "Time of a decision",
    answers: "What does asking the limiter cost, beside asking one that does nothing?",
    reading: "Mean nanoseconds of one decision in a loop on this machine, loop included: admissions only, refusals only, \
              and this scenario's own mix. The shaded part is what the loop costs with a limiter that does nothing. \
              Compare rows within this figure only.",
    timing: true,
    applies: |report| !report.tables.overhead.is_empty(),
    draw,
};

const ROW: f64 = 24.0;
/// More rows than this are left to the CSV file.
const MOST: usize = 40;

/// The paths that are drawn, with their marks.
const PATHS: &[(&str, Mark, Ink, &str)] = &[
    ("admit", Mark::Disc, Ink::Admitted, "all admitted"),
    ("refuse", Mark::Square, Ink::Refused, "all refused"),
    ("scenario", Mark::Triangle, Ink::Text, "this scenario's traffic"),
];

fn draw(report: &Report) -> String {
    let rows = &report.tables.overhead;
    let names = limiters(rows);
    let shown = &names[..names.len().min(MOST)];
    let all: Vec<_> = shown.iter().flat_map(|name| PATHS.iter().filter_map(|path| ns(rows, name, path.0))).collect();
    let x = Scale::from_zero(all, Unit::Amount);
    let floor = names.iter().find(|name| is_noop(rows, name));
    let floor = floor.and_then(|name| PATHS.iter().filter_map(|path| ns(rows, name, path.0)).reduce(f64::max));
    let mut legend: Vec<_> = PATHS
        .iter()
        .filter(|path| shown.iter().any(|name| ns(rows, name, path.0).is_some()))
        .map(|(_, mark, ink, text)| (Sign::Mark(*mark, *ink), (*text).to_owned()))
        .collect();
    if floor.is_some() {
        legend.push((Sign::Block(Ink::Grid), "what the loop costs without a limiter".to_owned()));
    }
    let head = Head { title: FIGURE.title, lead: FIGURE.answers.to_owned(), legend };
    let mut text = "One thread, virtual time. Nanoseconds differ between machines; the order rarely does.".to_owned();
    if shown.len() < names.len() {
        text.push_str(&format!(" The first {MOST} of {}; the others are in overhead.csv.", names.len()));
    }
    let small = foot_lines(&text);
    let top = head.height() + 4.0;
    let plot = shown.len().max(1) as f64 * ROW;
    let below = top + plot + 48.0;
    picture(WIDTH, below + foot_height(&small) + 4.0, FIGURE.title, |canvas| {
        head.draw(canvas);
        let room = shown.iter().map(|name| width(name, Font::BODY)).fold(40.0, f64::max).min(280.0);
        let left = MARGIN + room + 12.0;
        let area = Rect { x: left, y: top, w: WIDTH - left - MARGIN - 150.0, h: plot };
        let frame = Frame { area, x, y: Scale::linear(0.0, 1.0, Unit::Percent) };
        if let Some(floor) = floor {
            canvas.area(Rect { w: frame.across(floor) - area.x, ..area }, Ink::Grid, 0.8);
        }
        frame.draw(canvas, TickLabels { x: true, y: false }, |_, text| text);
        for (i, name) in shown.iter().enumerate() {
            let y = top + (i as f64 + 0.5) * ROW;
            canvas.text((left - 8.0, y), &fit(name, Font::BODY, room), Font::BODY, Ink::Text, Align::Right);
            let values: Vec<_> = PATHS.iter().filter_map(|p| ns(rows, name, p.0).map(|ns| (ns, p))).collect();
            let across = |ns: f64| frame.across(ns);
            let ends = values.iter().map(|(ns, _)| across(*ns));
            let (from, to) = (ends.clone().fold(f64::INFINITY, f64::min), ends.fold(0.0, f64::max));
            if from < to {
                canvas.line(&[(from, y), (to, y)], Ink::Axis, 1.2, Dash::Solid);
            }
            for (ns, (_, mark, ink, _)) in &values {
                canvas.mark((across(*ns), y), *mark, 5.0, *ink);
            }
            let numbers: Vec<_> = values.iter().map(|(ns, _)| number::significant(*ns)).collect();
            canvas.text((area.right() + 10.0, y), &numbers.join(" · "), Font::BODY, Ink::Muted, Align::Left);
        }
        if shown.is_empty() {
            let middle = (area.x + area.w / 2.0, top + plot / 2.0);
            canvas.text(middle, "nothing to show", Font::BODY, Ink::Muted, Align::Center);
        }
        canvas.text(
            (area.x + area.w / 2.0, top + plot + 34.0),
            "nanoseconds per decision",
            Font::BODY,
            Ink::Text,
            Align::Center,
        );
        foot(canvas, below, &small);
    })
}

fn is_noop(rows: &[OverheadRow], name: &str) -> bool {
    rows.iter().any(|row| row.limiter == name && row.algorithm == "unlimited")
}

fn limiters(rows: &[OverheadRow]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for row in rows {
        if !names.contains(&row.limiter.as_str()) {
            names.push(&row.limiter);
        }
    }
    names
}

/// Nanoseconds of a decision of `limiter` on `path`: virtual time, fewest threads and keys first.
pub fn ns(rows: &[OverheadRow], limiter: &str, path: &str) -> Option<f64> {
    rows.iter()
        .filter(|row| row.limiter == limiter && row.path == path)
        .min_by_key(|row| (row.clock != "virtual", row.threads, row.keys, row.cost))
        .map(|row| row.mean_ns)
}
