//! Writing a report: the data first, then everything a person looks at, made from the data as read back.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::{Error, Folder, Report, Tables, figures, folder, html, markdown};

/// Writes a whole report to `place` and returns it as read back from its files.
///
/// `scenario` is the text of the scenario file; `run` goes to `run.json`, which is not for git.
///
/// # Errors
/// When the place is taken by something that is not a report, or a file cannot be written. Nothing is then changed.
pub fn write(place: &Path, tables: &Tables, scenario: &str, run: Option<&Value>) -> Result<Report, Error> {
    let folder = Folder::create(place)?;
    let report = folder.fill(tables, scenario, run)?;
    folder.commit()?;
    Ok(report)
}

/// Makes the figures and pages of the report at `place` again from its data files, and returns the report.
///
/// # Errors
/// When `place` is not a report, or one of its data files is damaged. Nothing is then changed.
pub fn redraw(place: &Path) -> Result<Report, Error> {
    if !folder::is_report(place) {
        return Err(Error::at(place, "not a report: it has no summary.csv of ours"));
    }
    let report = Report::read(place)?;
    let folder = Folder::create(place)?;
    for name in data_files() {
        let (from, to) = (place.join(name), folder.path().join(name));
        // A link costs nothing, and recorded decisions may be large; where links do not exist, copy.
        if from.exists() && fs::hard_link(&from, &to).is_err() {
            fs::copy(&from, &to).map_err(|error| Error::at(&to, error))?;
        }
    }
    draw(&report, folder.path())?;
    folder.commit()?;
    Ok(report)
}

impl Folder {
    /// Writes the data files, reads them back and draws everything from them.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn fill(&self, tables: &Tables, scenario: &str, run: Option<&Value>) -> Result<Report, Error> {
        tables.write(self.path())?;
        put(self.path().join("scenario.toml"), scenario.as_bytes())?;
        if let Some(run) = run {
            put(self.path().join("run.json"), format!("{run:#}\n").as_bytes())?;
        }
        let report = Report::read(self.path())?;
        draw(&report, self.path())?;
        Ok(report)
    }
}

fn draw(report: &Report, dir: &Path) -> Result<(), Error> {
    let drawn = figures::draw_all(report);
    for picture in &drawn {
        put(dir.join(format!("{}.svg", picture.figure.name)), picture.svg.as_bytes())?;
        put(dir.join(format!("{}.png", picture.figure.name)), &picture.png)?;
    }
    put(dir.join("README.md"), markdown::page(report).as_bytes())?;
    put(dir.join("report.html"), html::page(report, &drawn).as_bytes())
}

fn data_files() -> impl Iterator<Item = &'static str> {
    crate::tables::FILES.iter().copied().chain(["scenario.toml", "run.json", "decisions.csv", "seeds.csv"])
}

fn put(path: PathBuf, bytes: &[u8]) -> Result<(), Error> {
    fs::write(&path, bytes).map_err(|error| Error::at(&path, error))
}
