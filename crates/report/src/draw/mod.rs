//! Drawing: a canvas on plotters' SVG backend, inks and line styles, axes, small multiples, labels, and the way to PNG.

pub mod canvas;
pub mod frame;
pub mod grid;
pub mod ink;
pub mod labels;
pub mod letters;
pub mod raster;
pub mod scale;

/// A rectangle in the picture's own units (one unit is one pixel of a browser at normal size).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    pub x: f64,
    pub y: f64,
    pub w: f64,
    pub h: f64,
}

impl Rect {
    pub fn right(&self) -> f64 {
        self.x + self.w
    }

    pub fn bottom(&self) -> f64 {
        self.y + self.h
    }
}
