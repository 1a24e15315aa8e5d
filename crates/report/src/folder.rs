//! The report's folder: filled beside its final place and renamed when complete, so that nobody ever sees half of one.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use replay::rows::SummaryRow;

use crate::tables::{self, Row};
use crate::{Error, figures};

/// Distinguishes the folders one process fills at the same time.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Folders that are being filled, for [`discard_unfinished`].
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Removes every folder that is being filled. For a process that is told to end at once: no report that stood anywhere is
/// touched, and nothing half-written is left behind. Whoever begins or ends another folder afterwards waits for ever.
pub fn discard_unfinished() {
    let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
    for partial in unfinished.drain(..) {
        // There is nobody left to tell.
        let _ = fs::remove_dir_all(partial);
    }
    std::mem::forget(unfinished);
}

/// The names a report may have besides its CSV files and figures.
const OTHER_FILES: &[&str] = &["scenario.toml", "run.json", "decisions.csv", "seeds.csv", "README.md", "report.html"];

/// A folder being filled. Dropped before [`Folder::commit`], it leaves nothing behind and changes nothing.
#[derive(Debug)]
pub struct Folder {
    place: PathBuf,
    partial: PathBuf,
    aside: PathBuf,
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
        let parent = match place.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        fs::create_dir_all(&parent).map_err(|error| Error::at(&parent, error))?;
        let sibling = |kind: &str, number: u32| {
            parent.join(format!(".{}.{}.{number}.{kind}", name.to_string_lossy(), std::process::id()))
        };
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let (partial, aside) = (sibling("partial", number), sibling("old", number));
            let mut unfinished = UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner);
            match fs::create_dir(&partial) {
                Ok(()) => {
                    unfinished.push(partial.clone());
                    return Ok(Self { place, partial, aside });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(Error::at(&parent, error)),
            }
        }
    }

    /// Where to write the files meanwhile.
    pub fn path(&self) -> &Path {
        &self.partial
    }

    /// Puts the folder in its place. A report that stood there is removed; files in it that no report writes are kept.
    ///
    /// # Errors
    /// When the place turned into something that is not a report meanwhile, or a rename fails; the place is then as it
    /// was.
    pub fn commit(self) -> Result<PathBuf, Error> {
        // Another run may put its own report there between the two renames; then that one is replaced in turn.
        for _ in 0..16 {
            replaceable(&self.place)?;
            let moved = match fs::rename(&self.place, &self.aside) {
                Ok(()) => true,
                Err(error) if error.kind() == ErrorKind::NotFound => false,
                Err(error) => return Err(Error::at(&self.place, error)),
            };
            let placed = fs::rename(&self.partial, &self.place);
            if moved {
                if placed.is_err() && !self.place.exists() {
                    fs::rename(&self.aside, &self.place).map_err(|error| Error::at(&self.aside, error))?;
                } else {
                    keep_foreign(&self.aside, &self.place)?;
                    fs::remove_dir_all(&self.aside).map_err(|error| Error::at(&self.aside, error))?;
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

impl Drop for Folder {
    fn drop(&mut self) {
        // After a commit there is nothing to remove; after a failure there is nobody left to tell.
        let _ = fs::remove_dir_all(&self.partial);
        UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner).retain(|partial| *partial != self.partial);
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
