//! Pictures that belong to no run's report: what `inspect` and `size` draw from their own rows.

mod gaps;
mod size;

pub use gaps::gaps;
pub use size::{Dot, clients_frontier, frontier, size};

use crate::draw::raster;

/// A drawing with the stem of its files.
pub struct Picture {
    /// Stem of its files.
    pub name: &'static str,
    /// The drawing, in the light theme.
    pub svg: String,
}

impl Picture {
    /// The drawing as PNG.
    pub fn png(&self) -> Vec<u8> {
        raster::png(&self.svg)
    }
}
