//! The report's folder: filled beside its final place and renamed when complete, so that nobody ever sees half of one.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use replay::rows::SummaryRow;

use crate::partial::Partial;
use crate::tables::{self, Row};
use crate::{Error, figures};

/// The names a report may have besides its CSV files and figures.
const OTHER_FILES: &[&str] = &["scenario.toml", "run.json", "decisions.csv", "seeds.csv", "README.md", "report.html"];

/// A folder being filled. Dropped before [`Folder::commit`], it leaves nothing behind, nor folders made to hold it, and changes
/// nothing.
#[derive(Debug)]
pub struct Folder {
    place: PathBuf,
    partial: Partial,
}

impl Folder {
    /// Starts a report that is to stand at `place`. Call it before the work that fills it, so that a bad place is known
    /// at once.
    ///
    /// # Errors
    /// When `place` exists and is neither empty nor a report, or nothing can be written beside it.
    pub fn create(place: &Path) -> Result<Self, Error> {
        replaceable(place)?;
        // A link is followed, so that the new folder is made on the file system where it will stand.
        let place = fs::canonicalize(place).unwrap_or_else(|_| place.to_owned());
        let name = place.file_name().ok_or_else(|| Error::at(&place, "not a name for a folder"))?.to_owned();
        let partial = Partial::create(place.parent().unwrap_or(Path::new("")), &name.to_string_lossy())?;
        Ok(Self { place, partial })
    }

    /// Where to write the files meanwhile.
    pub fn path(&self) -> &Path {
        self.partial.path()
    }

    /// Puts the folder in its place. A report that stood there is removed; files in it that no report writes are kept.
    ///
    /// # Errors
    /// When the place turned into something that is not a report meanwhile, or a rename fails; the place is then as it
    /// was.
    pub fn commit(self) -> Result<PathBuf, Error> {
        self.partial.uninterrupted(|| self.put())
    }

    fn put(&self) -> Result<PathBuf, Error> {
        let aside = self.partial.path().with_extension("old");
        // Another run may put its own report there between the two renames; then that one is replaced in turn.
        for _ in 0..16 {
            replaceable(&self.place)?;
            let moved = match fs::rename(&self.place, &aside) {
                Ok(()) => true,
                Err(error) if error.kind() == ErrorKind::NotFound => false,
                Err(error) => return Err(Error::at(&self.place, error)),
            };
            let placed = fs::rename(self.partial.path(), &self.place);
            if moved {
                if placed.is_err() && !self.place.exists() {
                    fs::rename(&aside, &self.place).map_err(|error| Error::at(&aside, error))?;
                } else {
                    keep_foreign(&aside, &self.place)?;
                    fs::remove_dir_all(&aside).map_err(|error| Error::at(&aside, error))?;
                }
            }
            match placed {
                Ok(()) => return Ok(self.place.clone()),
                Err(error) if matches!(error.kind(), ErrorKind::AlreadyExists | ErrorKind::DirectoryNotEmpty) => {}
                Err(error) => return Err(Error::at(&self.place, error)),
            }
        }
        Err(Error::at(&self.place, "other runs keep writing this report at the same time"))
    }
}

/// Whether `place` may be replaced by a report: it does not exist, is an empty folder, or is a report.
fn replaceable(place: &Path) -> Result<(), Error> {
    let mut entries = match fs::read_dir(place) {
        Ok(entries) => entries,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Error::at(place, error)),
    };
    if entries.next().is_none() || is_report(place) {
        return Ok(());
    }
    Err(Error::at(place, "not a report (it has no summary.csv of ours), so it is not replaced; choose another folder"))
}

/// Whether `dir` holds a `summary.csv` that starts with our header.
pub fn is_report(dir: &Path) -> bool {
    csv::Reader::from_path(dir.join(SummaryRow::FILE))
        .and_then(|mut reader| reader.headers().cloned())
        .is_ok_and(|found| found.len() > 2 && tables::same_header::<SummaryRow>(&found))
}

/// Whether a report writes a file of this name.
pub fn is_ours(name: &str) -> bool {
    let figure = name.strip_suffix(".svg").or_else(|| name.strip_suffix(".png"));
    tables::FILES.contains(&name)
        || OTHER_FILES.contains(&name)
        || figure.is_some_and(|stem| figures::FIGURES.iter().any(|figure| figure.name == stem))
}

/// Moves what no report writes from the folder that goes to the one that stays.
fn keep_foreign(from: &Path, to: &Path) -> Result<(), Error> {
    for entry in fs::read_dir(from).map_err(|error| Error::at(from, error))? {
        let entry = entry.map_err(|error| Error::at(from, error))?;
        let target = to.join(entry.file_name());
        if !is_ours(&entry.file_name().to_string_lossy()) && !target.exists() {
            fs::rename(entry.path(), &target).map_err(|error| Error::at(&target, error))?;
        }
    }
    Ok(())
}
