//! The canvas: lines, areas, marks and text in the picture's units, drawn by plotters into SVG.

use plotters::prelude::{DrawingBackend, FontStyle, FontTransform, IntoFont, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, ShapeStyle, TextStyle};

use super::Rect;
use super::ink::{self, Dash, Ink};
use super::letters::Font;

/// Canvas units in one unit of the picture. The backend rounds to whole canvas units, so a coarse canvas would turn
/// slopes into stairs.
const UNIT: u32 = 8;

/// The font of every picture: the bundled one, or its closest relative where a browser lacks it.
const FAMILY: &str = "DejaVu Sans, Verdana, sans-serif";

const IN_MEMORY: &str = "drawing into a string cannot fail";

/// Which side of its point a text stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// The text starts at the point.
    Left,
    Center,
    /// The text ends at the point.
    Right,
}

/// Shape of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Disc,
    Square,
    Triangle,
}

/// A picture being drawn.
pub struct Canvas<'a> {
    backend: SVGBackend<'a>,
}

/// Draws a picture of `width` × `height` units and returns it as SVG. `title` is what a screen reader says.
pub fn picture(width: f64, height: f64, title: &str, draw: impl FnOnce(&mut Canvas<'_>)) -> String {
    let (width, height) = (width.ceil(), height.ceil());
    let mut raw = String::new();
    {
        let size = (whole(width).unsigned_abs(), whole(height).unsigned_abs());
        let mut canvas = Canvas { backend: SVGBackend::with_string(&mut raw, size) };
        canvas.area(Rect { x: 0.0, y: 0.0, w: width, h: height }, Ink::Paper, 1.0);
        draw(&mut canvas);
        canvas.backend.present().expect(IN_MEMORY);
    }
    finish(&raw, width, height, title)
}

impl Canvas<'_> {
    /// A line through `points`. One point draws nothing.
    pub fn line(&mut self, points: &[(f64, f64)], ink: Ink, thickness: f64, dash: Dash) {
        let style = ShapeStyle { color: ink.key(dash).to_rgba(), filled: false, stroke_width: thick(thickness) };
        let mut path: Vec<_> = points.iter().map(|&point| place(point)).collect();
        path.dedup();
        if path.len() > 1 {
            self.backend.draw_path(path, &style).expect(IN_MEMORY);
        }
    }

    /// A filled shape with the corners `points`.
    pub fn shape(&mut self, points: &[(f64, f64)], ink: Ink, opacity: f64) {
        let style = ShapeStyle { color: ink.key(Dash::Solid).mix(opacity), filled: true, stroke_width: 0 };
        let mut path: Vec<_> = points.iter().map(|&point| place(point)).collect();
        path.dedup();
        if path.len() > 2 {
            self.backend.fill_polygon(path, &style).expect(IN_MEMORY);
        }
    }

    /// A filled rectangle.
    pub fn area(&mut self, rect: Rect, ink: Ink, opacity: f64) {
        let style = ShapeStyle { color: ink.key(Dash::Solid).mix(opacity), filled: true, stroke_width: 0 };
        let (from, to) = (place((rect.x, rect.y)), place((rect.right(), rect.bottom())));
        self.backend.draw_rect(from, to, &style, true).expect(IN_MEMORY);
    }

    /// A mark around a point.
    pub fn mark(&mut self, (x, y): (f64, f64), mark: Mark, radius: f64, ink: Ink) {
        let r = radius;
        match mark {
            Mark::Disc => {
                let style = ShapeStyle { color: ink.key(Dash::Solid).to_rgba(), filled: true, stroke_width: 0 };
                self.backend.draw_circle(place((x, y)), thick(r), &style, true).expect(IN_MEMORY);
            }
            Mark::Square => self.area(Rect { x: x - r * 0.9, y: y - r * 0.9, w: r * 1.8, h: r * 1.8 }, ink, 1.0),
            Mark::Triangle => {
                self.shape(&[(x, y - r * 1.15), (x + r * 1.1, y + r * 0.85), (x - r * 1.1, y + r * 0.85)], ink, 1.0);
            }
        }
    }

    /// One line of text, centred on the height `y`.
    pub fn text(&mut self, at: (f64, f64), text: &str, font: Font, ink: Ink, align: Align) {
        self.letters(at, text, font, ink, align, FontTransform::None);
    }

    /// One line of text that runs upwards, centred on the point `at`.
    pub fn upright(&mut self, at: (f64, f64), text: &str, font: Font, ink: Ink) {
        self.letters(at, text, font, ink, Align::Center, FontTransform::Rotate270);
    }

    fn letters(&mut self, at: (f64, f64), text: &str, font: Font, ink: Ink, align: Align, turn: FontTransform) {
        if text.is_empty() {
            return;
        }
        let h_pos = match align {
            Align::Left => HPos::Left,
            Align::Center => HPos::Center,
            Align::Right => HPos::Right,
        };
        let weight = if font.bold { FontStyle::Bold } else { FontStyle::Normal };
        // The backend divides a font's size by 1.24.
        let size = font.size * f64::from(UNIT) * 1.24;
        let colour = ink.key(Dash::Solid);
        let style = TextStyle::from((FAMILY, size).into_font().style(weight).transform(turn))
            .color(&colour)
            .pos(Pos::new(h_pos, VPos::Center));
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        self.backend.draw_text(&text, &style, place(at)).expect(IN_MEMORY);
    }
}

fn whole(value: f64) -> i32 {
    (value * f64::from(UNIT)).round() as i32
}

fn place((x, y): (f64, f64)) -> (i32, i32) {
    (whole(x), whole(y))
}

fn thick(value: f64) -> u32 {
    whole(value).unsigned_abs().max(1)
}

/// Final size, real colours, and no more bytes than needed. The backend writes one element per line, text apart.
fn finish(raw: &str, width: f64, height: f64, title: &str) -> String {
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {} {}\" \
         font-family=\"{FAMILY}\" stroke-linejoin=\"round\" role=\"img\">\n<title>{}</title>\n",
        whole(width),
        whole(height),
        crate::html::escape(title)
    );
    let family = format!(" font-family=\"{FAMILY}\"");
    let mut lines = raw.lines().skip(1);
    while let Some(line) = lines.next() {
        let attributes = line.replace(&family, "").replace(" opacity=\"1\"", "").replace(" stroke=\"none\"", "");
        out.push_str(&ink::resolve(&attributes.replace(" \"", "\""), UNIT));
        if line.starts_with("<text") {
            out.push_str(lines.next().unwrap_or_default());
            out.push_str(lines.next().unwrap_or_default());
        }
        out.push('\n');
    }
    out
}
