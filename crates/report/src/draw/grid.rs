//! Small multiples: one panel per limiter, all on the same scales, so that panels can be compared at a glance.

use super::Rect;
use super::canvas::{Align, Canvas, picture};
use super::frame::{Frame, Head, LEFT, MARGIN, Ticks, WIDTH, axis_name, foot, foot_height, foot_lines};
use super::ink::Ink;
use super::letters::{Font, fit, width};
use super::scale::Scale;

/// More panels than this are left to the CSV file.
const MOST: usize = 24;
const GAP: f64 = 20.0;
const HEAD: f64 = 24.0;
const PLOT: f64 = 96.0;

/// A figure of panels.
pub struct Grid<'a> {
    pub head: Head<'a>,
    /// What is in the axes' names; the unit of time is added.
    pub x_name: &'a str,
    pub y_name: String,
    pub x: Scale,
    pub y: Scale,
    /// Name of each panel and a short remark at its right.
    pub panels: Vec<(String, String)>,
    /// Small print.
    pub foot: String,
    /// Where panels that do not fit can be found.
    pub file: &'a str,
}

impl Grid<'_> {
    /// Draws the figure; `inside` draws the panel of a number. `y_label` may rewrite labels of the vertical axis.
    pub fn draw(
        &self,
        y_label: impl Fn(f64, String) -> String,
        mut inside: impl FnMut(&mut Canvas<'_>, &Frame, usize),
    ) -> String {
        let shown = self.panels.len().min(MOST);
        let columns = match shown {
            0 | 1 => 1,
            2 | 4 => 2,
            _ => 3,
        };
        let rows = shown.div_ceil(columns).max(1);
        let plot = if columns == 3 { PLOT } else { PLOT * 1.7 };
        let mut small = self.foot.clone();
        if shown < self.panels.len() {
            small.push_str(&format!(" Panels 1 to {shown} of {}; the others are in {}.", self.panels.len(), self.file));
        }
        let small = foot_lines(&small);
        let top = self.head.height();
        let below = top + rows as f64 * (HEAD + plot) + 46.0;
        let height = below + foot_height(&small) + 4.0;
        picture(WIDTH, height, self.head.title, |canvas| {
            self.head.draw(canvas);
            let w = (WIDTH - LEFT - MARGIN - GAP * (columns - 1) as f64) / columns as f64;
            for (i, (name, remark)) in self.panels.iter().take(shown).enumerate() {
                let (row, column) = (i / columns, i % columns);
                let x = LEFT + column as f64 * (w + GAP);
                let y = top + row as f64 * (HEAD + plot) + HEAD;
                let frame = Frame { area: Rect { x, y, w, h: plot }, x: self.x, y: self.y };
                let name = fit(name, Font::HEAD, w);
                canvas.text((x, y - 11.0), &name, Font::HEAD, Ink::Text, Align::Left);
                if width(&name, Font::HEAD) + 10.0 + width(remark, Font::BODY) <= w {
                    canvas.text((x + w, y - 11.0), remark, Font::BODY, Ink::Muted, Align::Right);
                }
                frame.draw(
                    canvas,
                    Ticks { x_labels: i + columns >= shown, y_labels: column == 0, y_grid: true },
                    &y_label,
                );
                inside(canvas, &frame, i);
            }
            if shown == 0 {
                let area = Rect { x: LEFT, y: top + HEAD, w, h: plot };
                let frame = Frame { area, x: self.x, y: self.y };
                frame.draw(canvas, Ticks { x_labels: true, y_labels: true, y_grid: true }, &y_label);
                canvas.text(
                    (area.x + w / 2.0, area.y + plot / 2.0),
                    "nothing to show",
                    Font::BODY,
                    Ink::Muted,
                    Align::Center,
                );
            }
            let middle = top + HEAD + (below - 46.0 - top - HEAD) / 2.0;
            canvas.upright((MARGIN, middle), &self.y_name, Font::BODY, Ink::Text);
            let name = axis_name(self.x_name, &self.x);
            canvas.text(
                (LEFT + (WIDTH - LEFT - MARGIN) / 2.0, below - 12.0),
                &name,
                Font::BODY,
                Ink::Text,
                Align::Center,
            );
            foot(canvas, below, &small);
        })
    }
}
