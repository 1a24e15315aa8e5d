//! Time of a decision, beside a limiter that does nothing.

use replay::rows::OverheadRow;

use super::Figure;
use crate::draw::Rect;
use crate::draw::canvas::{Align, Canvas, Mark, picture};
use crate::draw::frame::{Frame, Head, MARGIN, Sign, Ticks, WIDTH, foot, foot_height, foot_lines};
use crate::draw::ink::{Dash, Ink};
use crate::draw::letters::{Font, fit, width};
use crate::draw::scale::{Scale, Unit};
use crate::{Report, number};

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
/// Width of a column of numbers at the right.
const COLUMN: f64 = 52.0;
/// More rows than this are left to the CSV file.
const MOST: usize = 40;

/// A way through a limiter that is drawn, with its mark.
struct Path {
    name: &'static str,
    mark: Mark,
    ink: Ink,
    meaning: &'static str,
}

const PATHS: &[Path] = &[
    Path { name: "admit", mark: Mark::Disc, ink: Ink::Admitted, meaning: "all admitted" },
    Path { name: "refuse", mark: Mark::Square, ink: Ink::Refused, meaning: "all refused" },
    Path { name: "scenario", mark: Mark::Triangle, ink: Ink::Text, meaning: "this scenario's traffic" },
];

fn draw(report: &Report) -> String {
    let rows = &report.tables.overhead;
    let names = limiters(rows);
    let shown = &names[..names.len().min(MOST)];
    let paths: Vec<&Path> =
        PATHS.iter().filter(|path| shown.iter().any(|name| ns(rows, name, path.name).is_some())).collect();
    let measured = shown.iter().flat_map(|name| paths.iter().filter_map(|path| ns(rows, name, path.name)));
    let x = Scale::from_zero(measured, Unit::Amount);
    let idle = rows.iter().find(|row| row.algorithm == "unlimited").map(|row| row.limiter.as_str());
    let floor = idle.and_then(|name| paths.iter().filter_map(|path| ns(rows, name, path.name)).reduce(f64::max));
    let sign = |path: &&Path| (Sign::Mark(path.mark, path.ink), path.meaning.to_owned());
    let mut legend: Vec<_> = paths.iter().map(sign).collect();
    if floor.is_some() {
        legend.push((Sign::Block(Ink::Grid), "what the loop costs with a limiter that does nothing".to_owned()));
    }
    let head = Head { title: FIGURE.title, lead: FIGURE.answers.to_owned(), legend };
    let mut small = "Nanoseconds differ between machines: compare the rows of one figure only.".to_owned();
    if shown.len() < names.len() {
        small.push_str(&format!(" The first {MOST} of {}; the others are in overhead.csv.", names.len()));
    }
    let small = foot_lines(&small);
    let top = head.height() + 18.0;
    let plot = shown.len().max(1) as f64 * ROW;
    let below = top + plot + 48.0;
    picture(WIDTH, below + foot_height(&small) + 4.0, FIGURE.title, |canvas| {
        head.draw(canvas);
        let room = shown.iter().map(|name| width(name, Font::BODY)).fold(40.0, f64::max).min(280.0);
        let left = MARGIN + room + 12.0;
        let area = Rect { x: left, y: top, w: WIDTH - left - MARGIN - COLUMN * paths.len() as f64, h: plot };
        let frame = Frame { area, x, y: Scale::linear(0.0, 1.0, Unit::Percent) };
        if let Some(floor) = floor {
            canvas.area(Rect { w: frame.across(floor) - area.x, ..area }, Ink::Grid, 0.8);
        }
        frame.draw(canvas, Ticks { x_labels: true, y_labels: false, y_grid: false }, |_, text| text);
        for (k, path) in paths.iter().enumerate() {
            canvas.mark((area.right() + (k + 1) as f64 * COLUMN - 8.0, top - 10.0), path.mark, 4.0, path.ink);
        }
        for (i, name) in shown.iter().enumerate() {
            let y = top + (i as f64 + 0.5) * ROW;
            canvas.text((left - 8.0, y), &fit(name, Font::BODY, room), Font::BODY, Ink::Text, Align::Right);
            row(canvas, &frame, y, &paths, |path| ns(rows, name, path.name));
        }
        if shown.is_empty() {
            let middle = (area.x + area.w / 2.0, top + plot / 2.0);
            canvas.text(middle, "nothing to show", Font::BODY, Ink::Muted, Align::Center);
        }
        let under = (area.x + area.w / 2.0, top + plot + 34.0);
        canvas.text(under, "nanoseconds per decision", Font::BODY, Ink::Text, Align::Center);
        foot(canvas, below, &small);
    })
}

/// The marks of one limiter, tied together, and its numbers at the right.
fn row(canvas: &mut Canvas<'_>, frame: &Frame, y: f64, paths: &[&Path], ns: impl Fn(&Path) -> Option<f64>) {
    let ends = || paths.iter().filter_map(|path| ns(path)).map(|ns| frame.across(ns));
    let (from, to) = (ends().fold(f64::INFINITY, f64::min), ends().fold(0.0, f64::max));
    if from < to {
        canvas.line(&[(from, y), (to, y)], Ink::Axis, 1.2, Dash::Solid);
    }
    for (k, path) in paths.iter().enumerate() {
        let Some(ns) = ns(path) else { continue };
        canvas.mark((frame.across(ns), y), path.mark, 5.0, path.ink);
        let at = (frame.area.right() + (k + 1) as f64 * COLUMN, y);
        canvas.text(at, &number::nanoseconds(ns), Font::BODY, Ink::Muted, Align::Right);
    }
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
        .map(|row| row.batch_mean_p50_ns)
}
