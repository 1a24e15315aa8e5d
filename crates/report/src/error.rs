//! What can go wrong with a report: one sentence that names the file, and for a CSV file the line, column and value.

use std::fmt;
use std::path::Path;

/// A report could not be read or written. The text says where and why, in one line.
#[derive(Debug)]
pub struct Error(String);

impl Error {
    /// An error about `path`.
    pub fn at(path: &Path, what: impl fmt::Display) -> Self {
        Self(format!("{}: {what}", path.display()))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}
