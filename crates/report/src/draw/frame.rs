//! The frame of a plot: its axes, ticks and names, and the head and legend of a figure.

use super::Rect;
use super::canvas::{Align, Canvas, Mark};
use super::ink::{Dash, Ink};
use super::letters::{Font, LEADING, fit, width, wrap};
use super::scale::Scale;

/// Width of every figure.
pub const WIDTH: f64 = 840.0;
/// Space left and right of everything.
pub const MARGIN: f64 = 16.0;
/// Room for the tick labels and the name of a vertical axis.
pub const LEFT: f64 = 70.0;

/// A plot's rectangle with the scales of its axes.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    pub area: Rect,
    pub x: Scale,
    pub y: Scale,
}

/// Which parts of its axes a frame draws.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    pub x_labels: bool,
    pub y_labels: bool,
    pub y_grid: bool,
}

impl Frame {
    /// The point at the values `x` and `y`.
    pub fn at(&self, x: f64, y: f64) -> (f64, f64) {
        (self.across(x), self.up(y))
    }

    /// Where the value `x` is across the picture.
    pub fn across(&self, x: f64) -> f64 {
        self.area.x + self.x.at(x) * self.area.w
    }

    /// Where the value `y` is down the picture.
    pub fn up(&self, y: f64) -> f64 {
        self.area.bottom() - self.y.at(y) * self.area.h
    }

    /// Draws the grid, the axes and the tick labels. `y_label` may rewrite a label of the vertical axis.
    pub fn draw(&self, canvas: &mut Canvas<'_>, show: Ticks, y_label: impl Fn(f64, String) -> String) {
        let Rect { x: left, y: top, .. } = self.area;
        let (right, bottom) = (self.area.right(), self.area.bottom());
        // A logarithmic axis has its ticks where they are, so that they may stand closer.
        let apart = if self.y.is_log() { 24.0 } else { 30.0 };
        let rungs = if show.y_grid { self.y.ticks((self.area.h / apart) as usize) } else { Vec::new() };
        for (value, text) in rungs {
            let y = self.up(value);
            canvas.line(&[(left, y), (right, y)], Ink::Grid, 1.0, Dash::Solid);
            if show.y_labels {
                canvas.text((left - 6.0, y), &y_label(value, text), Font::BODY, Ink::Muted, Align::Right);
            }
        }
        let mut free = f64::NEG_INFINITY;
        for (value, text) in self.x.ticks((self.area.w / 52.0) as usize) {
            let x = self.across(value);
            canvas.line(&[(x, top), (x, bottom)], Ink::Grid, 1.0, Dash::Solid);
            let half = width(&text, Font::BODY) / 2.0;
            // A label at an end stays within the plot, or it would run into the neighbour's.
            let centre = x.min(right + 4.0 - half).max(left - 4.0 + half);
            if show.x_labels && centre - half > free {
                canvas.line(&[(x, bottom), (x, bottom + 4.0)], Ink::Axis, 1.0, Dash::Solid);
                canvas.text((centre, bottom + 13.0), &text, Font::BODY, Ink::Muted, Align::Center);
                free = centre + half + 8.0;
            }
        }
        canvas.line(&[(left, bottom), (right, bottom)], Ink::Axis, 1.0, Dash::Solid);
        canvas.line(&[(left, top), (left, bottom)], Ink::Axis, 1.0, Dash::Solid);
    }
}

/// The name of an axis with the unit its tick labels leave out.
pub fn axis_name(name: &str, scale: &Scale) -> String {
    scale.tick_unit().map_or_else(|| name.to_owned(), |unit| format!("{name} ({unit})"))
}

/// What a legend shows beside a word.
#[derive(Clone, Copy, Debug)]
pub enum Sign {
    Line(Ink, Dash),
    Block(Ink),
    Mark(Mark, Ink),
}

/// Title, the question the figure answers, and the legend, above the plot and outside it.
#[derive(Clone, Debug, Default)]
pub struct Head<'a> {
    pub title: &'a str,
    pub lead: String,
    pub legend: Vec<(Sign, String)>,
}

impl Head<'_> {
    /// Draws the head and returns where the plot may begin.
    pub fn draw(&self, canvas: &mut Canvas<'_>) -> f64 {
        canvas.text((MARGIN, 24.0), self.title, Font::TITLE, Ink::Text, Align::Left);
        let mut y = 47.0;
        for line in wrap(&self.lead, Font::LEAD, WIDTH - 2.0 * MARGIN) {
            canvas.text((MARGIN, y), &line, Font::LEAD, Ink::Muted, Align::Left);
            y += Font::LEAD.size * LEADING;
        }
        y += 6.0;
        let mut x = MARGIN;
        for (sign, text) in &self.legend {
            let text = fit(text, Font::BODY, WIDTH - 2.0 * MARGIN - 34.0);
            let needed = 34.0 + width(&text, Font::BODY);
            if x > MARGIN && x + needed > WIDTH - MARGIN {
                x = MARGIN;
                y += 20.0;
            }
            sign.draw(canvas, x, y);
            canvas.text((x + 32.0, y), &text, Font::BODY, Ink::Text, Align::Left);
            x += needed + 22.0;
        }
        if self.legend.is_empty() { y } else { y + 20.0 }
    }

    /// How high [`Head::draw`] will be.
    pub fn height(&self) -> f64 {
        let mut height = 0.0;
        // Measured by drawing it, so that the two cannot disagree.
        super::canvas::picture(WIDTH, 10.0, "", |canvas| height = self.draw(canvas));
        height
    }
}

impl Sign {
    fn draw(self, canvas: &mut Canvas<'_>, x: f64, y: f64) {
        match self {
            Self::Line(ink, dash) => canvas.line(&[(x, y), (x + 26.0, y)], ink, 2.0, dash),
            Self::Block(ink) => canvas.area(Rect { x: x + 6.0, y: y - 6.0, w: 14.0, h: 12.0 }, ink, 1.0),
            Self::Mark(mark, ink) => canvas.mark((x + 13.0, y), mark, 5.0, ink),
        }
    }
}

/// Small print below the plot, broken into lines; the height it takes for `lines` lines is [`foot_height`].
pub fn foot(canvas: &mut Canvas<'_>, top: f64, lines: &[String]) {
    for (i, line) in lines.iter().enumerate() {
        let y = top + 8.0 + i as f64 * Font::BODY.size * LEADING;
        canvas.text((MARGIN, y), line, Font::BODY, Ink::Muted, Align::Left);
    }
}

/// The height of `lines` lines of small print.
pub fn foot_height(lines: &[String]) -> f64 {
    if lines.is_empty() { 0.0 } else { lines.len() as f64 * Font::BODY.size * LEADING + 8.0 }
}

/// Small print as lines that fit the figure.
pub fn foot_lines(text: &str) -> Vec<String> {
    wrap(text, Font::BODY, WIDTH - 2.0 * MARGIN)
}
