//! Folders that are being filled: hidden, and gone when nothing comes of them, with the folders that were made to hold them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::Error;

/// Distinguishes the folders one process fills at the same time.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// Folders that are being filled, for [`discard_unfinished`].
static UNFINISHED: Mutex<Vec<Unfinished>> = Mutex::new(Vec::new());

/// How often to try where another process may be in the way.
const TRIES: usize = 16;

/// What is removed when nothing comes of it.
#[derive(Clone, Debug)]
struct Unfinished {
    partial: PathBuf,
    /// Folders that did not exist before, the innermost first.
    made: Vec<PathBuf>,
}

impl Unfinished {
    fn remove(&self) {
        // There is nobody left to tell of a failure. Another thread may still be putting files there.
        for _ in 0..TRIES {
            match fs::remove_dir_all(&self.partial) {
                Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
                _ => break,
            }
        }
        remove_empty(&self.made);
    }
}

/// Removes folders that hold nothing; the others are somebody's.
fn remove_empty(made: &[PathBuf]) {
    for folder in made {
        let _ = fs::remove_dir(folder);
    }
}

/// Removes every folder that is being filled, and the folders that were made to hold it. For a process that is told to end at
/// once: no file that stood anywhere is touched, and nothing half-written is left behind. Whoever begins or ends another folder
/// afterwards waits for ever.
pub fn discard_unfinished() {
    let mut unfinished = uninterrupted();
    unfinished.drain(..).for_each(|one| one.remove());
    std::mem::forget(unfinished);
}

/// While this is held, [`discard_unfinished`] waits: for the moment in which files go to their places.
fn uninterrupted() -> MutexGuard<'static, Vec<Unfinished>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A hidden folder. Dropped, it is gone, unless it was renamed; and so are the folders that were made to hold it, if they are
/// empty.
#[derive(Debug)]
pub struct Partial(Unfinished);

impl Partial {
    /// Makes one in the folder `parent`, which is made too where it is missing, with all folders above it.
    ///
    /// # Errors
    /// When nothing can be written there.
    pub fn create(parent: &Path, name: &str) -> Result<Self, Error> {
        let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
        let mut tries = 0;
        loop {
            tries += 1;
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let partial = parent.join(format!(".{name}.{}.{number}.partial", std::process::id()));
            let mut unfinished = uninterrupted();
            let missing = |folder: &&Path| !folder.as_os_str().is_empty() && fs::symlink_metadata(folder).is_err();
            let made: Vec<PathBuf> = parent.ancestors().take_while(missing).map(Path::to_owned).collect();
            match fs::create_dir_all(parent).and_then(|()| fs::create_dir(&partial)) {
                Ok(()) => {
                    let one = Unfinished { partial, made };
                    unfinished.push(one.clone());
                    return Ok(Self(one));
                }
                Err(error) => {
                    // A name left behind by a process of the same number, or a folder that another process made and removed.
                    let again = partial.exists() || error.kind() == ErrorKind::NotFound && tries < TRIES;
                    remove_empty(&made);
                    if !again {
                        return Err(Error::at(parent, error));
                    }
                }
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.0.partial
    }

    /// Does what puts the files in their places, which an interruption waits for.
    pub fn uninterrupted<T>(&self, work: impl FnOnce() -> T) -> T {
        let _held = uninterrupted();
        work()
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        self.0.remove();
        uninterrupted().retain(|one| one.partial != self.0.partial);
    }
}
