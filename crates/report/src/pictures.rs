//! Pictures that belong to no run's report: what `inspect` and `size` draw from their own rows.

mod gaps;
mod size;

pub use gaps::gaps;
pub use size::{Dot, clients_frontier, frontier, size};

use crate::Error;
use crate::draw::raster;
use std::fs;
use std::path::{Path, PathBuf};

/// A drawing with the stem of its files.
pub struct Picture {
    /// Stem of its files.
    pub name: &'static str,
    /// The drawing, in the light theme.
    pub svg: String,
}

impl Picture {
    /// Writes `NAME.svg` and `NAME.png` into the folder `dir`, and returns the path of the second.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, dir: &Path) -> Result<PathBuf, Error> {
        let put = |extension: &str, bytes: &[u8]| {
            let path = dir.join(format!("{}.{extension}", self.name));
            fs::write(&path, bytes).map_err(|error| Error::at(&path, error)).map(|()| path)
        };
        put("svg", self.svg.as_bytes())?;
        put("png", &raster::png(&self.svg))
    }
}
