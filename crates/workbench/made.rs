//! What `size` writes: tables, figures and a scenario, which all come to their places at the end or not at all.

use crate::problem::Problem;
use report::Files;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// Files that are complete but not in their places, and what is said when they are.
#[derive(Default)]
pub struct Made {
    files: Vec<(String, Files)>,
    said: String,
}

impl Made {
    /// The tables and figures in `files`.
    pub fn new(files: Files, tables: &[PathBuf], figures: &[PathBuf]) -> Made {
        let all = |paths: &[PathBuf]| {
            let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            paths.join(", ")
        };
        let said = format!("tables: {}\nfigures: {}\n", all(tables), all(figures));
        Made { files: vec![(String::new(), files)], said }
    }

    /// A scenario for `target`, which [`writable`] found new.
    pub fn scenario(&mut self, target: &Path, text: &str) -> Result<(), Problem> {
        let flag = "--write ".to_owned();
        let failed = |error: report::Error| unwritten(format!("{flag}{error}"));
        let mut files = Files::beside(target).map_err(failed)?;
        files.put(target.file_name().unwrap_or_default(), text.as_bytes()).map_err(failed)?;
        self.files.push((flag, files));
        self.said.push_str(&format!("scenario: {0}; run it with `workbench run {0}`\n", target.display()));
        Ok(())
    }

    /// Puts everything in its place, and says where that is.
    pub fn commit(self) -> Result<String, Problem> {
        for (flag, files) in self.files {
            files.commit().map_err(|error| unwritten(format!("{flag}{error}")))?;
        }
        Ok(self.said)
    }
}

/// What is said when a file cannot be written.
pub fn unwritten(error: impl Display) -> Problem {
    Problem::input(format!("error: {error}"))
}

/// Whether `target` is a new scenario.
pub fn writable(target: &Path) -> Result<(), Problem> {
    let wrong = |message: &str| Err(Problem::input(format!("error: --write {}: {message}", target.display())));
    if target.extension().is_none_or(|extension| extension != "toml") {
        return wrong("a scenario's name ends in .toml");
    }
    if target.exists() {
        return wrong("there is such a file already; name a new one");
    }
    Ok(())
}
