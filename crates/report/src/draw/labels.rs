//! Lines with their names beside them: labels that never overlap, and one label for lines that are the same.

use std::cmp::Ordering;

use super::Rect;
use super::canvas::{Align, Canvas, Mark, picture};
use super::frame::{Frame, Head, LEFT, MARGIN, Ticks, WIDTH, axis_name, foot, foot_height, foot_lines};
use super::ink::{Dash, Ink};
use super::letters::{Font, LEADING, fit, width};
use super::scale::Scale;

/// More lines than this in one plot cannot be told apart.
pub const MOST: usize = 12;
/// The widest a label may be.
const ROOM: f64 = 236.0;
/// Ends this near to each other look like one.
const CLOSE: f64 = 10.0;

/// One line, or several that coincide.
#[derive(Clone, Debug)]
pub struct Line {
    pub names: Vec<String>,
    pub points: Vec<(f64, f64)>,
    pub ink: Ink,
    pub dash: Dash,
    /// Added to the label.
    pub remark: String,
}

/// A plot of at most [`MOST`] lines with labels at their right ends.
pub struct Lines<'a> {
    pub head: Head<'a>,
    pub x_name: &'a str,
    pub y_name: &'a str,
    pub x: Scale,
    pub y: Scale,
    pub lines: Vec<Line>,
    /// A value of x to mark, and what it is.
    pub guide: Option<(f64, String)>,
    /// Ticks of x other than the scale's own.
    pub x_ticks: Vec<(f64, String)>,
    pub foot: String,
    /// Where lines that do not fit can be found.
    pub file: &'a str,
}

/// Joins lines with equal points into one with all their names, in the order of the first.
pub fn merge(lines: Vec<Line>) -> Vec<Line> {
    let mut merged: Vec<Line> = Vec::new();
    for line in lines {
        match merged.iter_mut().find(|other| other.points == line.points) {
            Some(other) => other.names.extend(line.names),
            None => merged.push(line),
        }
    }
    merged
}

/// Tops for boxes of the given heights that want to be centred at the given places: in order, without overlap, between
/// `top` and `bottom` as long as they fit there.
pub fn spread(wanted: &[(f64, f64)], top: f64, bottom: f64) -> Vec<f64> {
    let mut tops = Vec::with_capacity(wanted.len());
    let mut free = top;
    for (centre, height) in wanted {
        let y = (centre - height / 2.0).max(free);
        tops.push(y);
        free = y + height;
    }
    let mut end = bottom;
    for (y, (_, height)) in tops.iter_mut().zip(wanted).rev() {
        *y = y.min(end - height);
        end = *y;
    }
    tops
}

impl Line {
    /// The label's lines: names that coincide are joined by "=".
    fn label(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for (i, name) in self.names.iter().enumerate() {
            let last = i + 1 == self.names.len();
            let text = if last { name.clone() } else { format!("{name} =") };
            match lines.last_mut() {
                Some(line) if width(&format!("{line} {text}"), Font::BODY) <= ROOM => *line = format!("{line} {text}"),
                _ => lines.push(text),
            }
        }
        if !self.remark.is_empty() {
            match lines.last_mut() {
                Some(line) if width(&format!("{line}  {}", self.remark), Font::BODY) <= ROOM => {
                    *line = format!("{line}  {}", self.remark);
                }
                _ => lines.push(self.remark.clone()),
            }
        }
        lines.iter().map(|line| fit(line, Font::BODY, ROOM)).collect()
    }
}

impl Lines<'_> {
    /// Draws the figure.
    pub fn draw(&self) -> String {
        let shown = &self.lines[..self.lines.len().min(MOST)];
        let labels: Vec<Vec<String>> = shown.iter().map(Line::label).collect();
        let height_of = |label: &Vec<String>| label.len() as f64 * Font::BODY.size * LEADING + 5.0;
        let room = labels.iter().flatten().map(|line| width(line, Font::BODY)).fold(0.0, f64::max);
        let plot = labels.iter().map(height_of).sum::<f64>().max(300.0);
        let mut small = self.foot.clone();
        if self.lines.len() > MOST {
            let rest: Vec<_> = self.lines[MOST..].iter().flat_map(|line| line.names.clone()).collect();
            small.push_str(&format!(" Not drawn, but in {}: {}.", self.file, rest.join(", ")));
        }
        let small = foot_lines(&small);
        let top = self.head.height() + if self.guide.is_some() { 22.0 } else { 4.0 };
        let below = top + plot + 50.0;
        picture(WIDTH, below + foot_height(&small) + 4.0, self.head.title, |canvas| {
            self.head.draw(canvas);
            let gutter = if room > 0.0 { room + 34.0 } else { 0.0 };
            let area = Rect { x: LEFT, y: top, w: WIDTH - LEFT - MARGIN - gutter, h: plot };
            let frame = Frame { area, x: self.x, y: self.y };
            self.axes(canvas, &frame);
            for line in shown {
                let points: Vec<_> = line.points.iter().map(|&(x, y)| frame.at(x, y)).collect();
                canvas.line(&points, line.ink, 2.2, line.dash);
                if points.len() <= 24 {
                    let radius = if points.len() == 1 { 5.0 } else { 2.6 };
                    points.iter().for_each(|&point| canvas.mark(point, Mark::Disc, radius, line.ink));
                }
            }
            if shown.is_empty() {
                let middle = (area.x + area.w / 2.0, area.y + area.h / 2.0);
                canvas.text(middle, "nothing to show", Font::BODY, Ink::Muted, Align::Center);
            }
            tag(canvas, &frame, shown, &labels, height_of);
            canvas.upright((MARGIN, top + plot / 2.0), self.y_name, Font::BODY, Ink::Text);
            let name = axis_name(self.x_name, &self.x);
            canvas.text((area.x + area.w / 2.0, top + plot + 34.0), &name, Font::BODY, Ink::Text, Align::Center);
            foot(canvas, below, &small);
        })
    }

    fn axes(&self, canvas: &mut Canvas<'_>, frame: &Frame) {
        let area = frame.area;
        frame.draw(canvas, Ticks { x_labels: self.x_ticks.is_empty(), y_labels: true, y_grid: true }, |_, text| text);
        for (value, text) in &self.x_ticks {
            let x = frame.across(*value);
            canvas.line(&[(x, area.y), (x, area.bottom() + 4.0)], Ink::Grid, 1.0, Dash::Solid);
            if room_for(text, frame, &self.x_ticks) {
                canvas.text((x, area.bottom() + 13.0), text, Font::BODY, Ink::Muted, Align::Center);
            }
        }
        if let Some((value, text)) = &self.guide {
            let x = frame.across(*value);
            canvas.line(&[(x, area.y - 4.0), (x, area.bottom())], Ink::Muted, 1.4, Dash::Long);
            let half = width(text, Font::BODY) / 2.0;
            let centre = x.clamp(area.x + half, (area.right() - half).max(area.x + half));
            canvas.text((centre, area.y - 13.0), text, Font::BODY, Ink::Text, Align::Center);
        }
    }
}

/// Whether the label of one of `ticks` is written: from left to right as they fit, but the last always.
fn room_for(text: &str, frame: &Frame, ticks: &[(f64, String)]) -> bool {
    let ends = |(value, text): &(f64, String)| {
        let (x, half) = (frame.across(*value), width(text, Font::BODY) / 2.0 + 4.0);
        (x - half, x + half)
    };
    let Some(last) = ticks.last() else { return false };
    let mut free = f64::NEG_INFINITY;
    for tick in ticks {
        let (from, to) = ends(tick);
        let fits = tick == last || (from >= free && to <= ends(last).0);
        if tick.1 == text {
            return fits;
        }
        if fits {
            free = to;
        }
    }
    false
}

/// Writes the labels in the gutter at the right, each tied to the end of its line.
fn tag(
    canvas: &mut Canvas<'_>,
    frame: &Frame,
    lines: &[Line],
    labels: &[Vec<String>],
    height_of: impl Fn(&Vec<String>) -> f64,
) {
    let end = |line: &Line| line.points.last().map_or((0.0, 0.0), |&(x, y)| frame.at(x, y));
    let mut order: Vec<usize> = (0..lines.len()).collect();
    // Lines that end together are ordered as they run.
    let run = |line: &Line| {
        let heights = line.points.iter().map(|&(_, y)| frame.up(y));
        heights.sum::<f64>() / line.points.len().max(1) as f64
    };
    let place = |line: &Line| ((end(line).1 / CLOSE).round(), run(line));
    order.sort_by(|&a, &b| place(&lines[a]).partial_cmp(&place(&lines[b])).unwrap_or(Ordering::Equal));
    let wanted: Vec<_> = order.iter().map(|&i| (end(&lines[i]).1, height_of(&labels[i]))).collect();
    let x = frame.area.right() + 30.0;
    for (&i, y) in order.iter().zip(spread(&wanted, frame.area.y, frame.area.bottom())) {
        let line = &lines[i];
        let step = Font::BODY.size * LEADING;
        let middle = y + height_of(&labels[i]) / 2.0;
        let first = middle - (labels[i].len() - 1) as f64 * step / 2.0;
        let (from, start) = (end(line), frame.area.right() + 3.0);
        let way = [from, (start.max(from.0), from.1), (x - 5.0, middle)];
        // What leads from a point to its name must not look like a line of data.
        match line.points.len() {
            1 => canvas.line(&way, Ink::Muted, 1.0, Dash::Dots),
            _ => canvas.line(&way, line.ink, 1.2, Dash::Solid),
        }
        for (k, text) in labels[i].iter().enumerate() {
            canvas.text((x, first + k as f64 * step), text, Font::BODY, Ink::Text, Align::Left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_keep_their_order_and_never_overlap() {
        let wanted = [(10.0, 20.0), (11.0, 20.0), (95.0, 20.0), (99.0, 20.0)];
        assert_eq!(spread(&wanted, 0.0, 100.0), [0.0, 20.0, 60.0, 80.0]);
        assert_eq!(spread(&[], 0.0, 100.0), Vec::<f64>::new());
    }

    #[test]
    fn equal_lines_share_a_label() {
        let line = |name: &str, y: f64| Line {
            names: vec![name.to_owned()],
            points: vec![(0.0, y), (1.0, y)],
            ink: Ink::Text,
            dash: Dash::Solid,
            remark: String::new(),
        };
        let merged = merge(vec![line("a", 1.0), line("b", 2.0), line("c", 1.0)]);
        assert_eq!(merged.iter().map(|line| line.label().join("|")).collect::<Vec<_>>(), ["a = c", "b"]);
    }
}
