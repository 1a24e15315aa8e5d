//! Files that go into a folder all together or not at all, beside what else it holds.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::Error;
use crate::partial::Partial;
use crate::pictures::Picture;

/// Files being written under a hidden folder of the one they are meant for, and so on its file system. Dropped before
/// [`Files::commit`], they leave nothing behind, nor the folder, if it did not exist before.
#[derive(Debug)]
pub struct Files {
    place: PathBuf,
    partial: Partial,
    names: Vec<PathBuf>,
}

impl Files {
    /// Starts files that are to stand in the folder `place`, which is made where it is missing. Call it before the work that
    /// fills them, so that a bad place is known at once.
    ///
    /// # Errors
    /// When `place` is no folder, or nothing can be written there.
    pub fn create(place: &Path) -> Result<Self, Error> {
        if place.exists() && !place.is_dir() {
            return Err(Error::at(place, "not a folder"));
        }
        Ok(Self { place: place.to_owned(), partial: Partial::create(place, "files")?, names: Vec::new() })
    }

    /// Starts one file in a folder that exists.
    ///
    /// # Errors
    /// When the folder of `target` does not exist, or nothing can be written there.
    pub fn beside(target: &Path) -> Result<Self, Error> {
        let place = target.parent().unwrap_or(Path::new(""));
        if !place.as_os_str().is_empty() {
            fs::metadata(place).map_err(|error| Error::at(place, error))?;
        }
        Self::create(place)
    }

    /// A new file of this name, to be written in pieces.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn file(&mut self, name: impl AsRef<Path>) -> io::Result<File> {
        let name = name.as_ref();
        let file = File::create_new(self.partial.path().join(name))?;
        self.names.push(name.to_owned());
        Ok(file)
    }

    /// Writes a file, and returns where it will stand.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&mut self, name: impl AsRef<Path>, bytes: &[u8]) -> Result<PathBuf, Error> {
        let place = self.place.join(&name);
        let written = self.file(name).and_then(|mut file| io::Write::write_all(&mut file, bytes));
        written.map_err(|error| Error::at(&place, error)).map(|()| place)
    }

    /// Writes a table as CSV with a header, and returns where it will stand.
    ///
    /// # Errors
    /// When it cannot be written, or a row has no form in CSV.
    pub fn table<T: Serialize>(&mut self, name: &str, rows: &[T]) -> Result<PathBuf, Error> {
        let mut out = csv::Writer::from_writer(Vec::new());
        let written = rows.iter().try_for_each(|row| out.serialize(row)).map_err(|error| error.to_string());
        let bytes = written.and_then(|()| out.into_inner().map_err(|error| error.to_string()));
        let bytes = bytes.map_err(|error| Error::at(&self.place.join(name), error))?;
        self.put(name, &bytes)
    }

    /// Writes `NAME.svg` and `NAME.png`, and returns where the second will stand.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn picture(&mut self, picture: &Picture) -> Result<PathBuf, Error> {
        self.put(format!("{}.svg", picture.name), picture.svg.as_bytes())?;
        self.put(format!("{}.png", picture.name), &picture.png())
    }

    /// Puts the files in their places, where they replace files of the same names.
    ///
    /// # Errors
    /// When a folder stands where a file should, or a rename fails; all files are then as they were.
    pub fn commit(self) -> Result<(), Error> {
        self.partial.uninterrupted(|| {
            for name in &self.names {
                let target = self.place.join(name);
                if target.is_dir() {
                    return Err(Error::at(&target, "a folder stands where this file should"));
                }
            }
            let aside = self.partial.path().join("replaced");
            fs::create_dir(&aside).map_err(|error| Error::at(&self.place, error))?;
            for (index, name) in self.names.iter().enumerate() {
                let target = self.place.join(name);
                let replaced = match fs::rename(&target, aside.join(name)) {
                    Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                    done => done,
                };
                if let Err(error) = replaced.and_then(|()| fs::rename(self.partial.path().join(name), &target)) {
                    self.undo(&aside, &self.names[..=index])?;
                    return Err(Error::at(&target, error));
                }
            }
            Ok(())
        })
    }

    /// Puts back what the new files of these names replaced.
    fn undo(&self, aside: &Path, names: &[PathBuf]) -> Result<(), Error> {
        for (index, name) in names.iter().enumerate() {
            let target = self.place.join(name);
            let failed = |error: io::Error| Error::at(&target, error);
            // The last one is not in its place.
            if index + 1 < names.len() {
                fs::remove_file(&target).map_err(failed)?;
            }
            match fs::rename(aside.join(name), &target) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(failed(error)),
                _ => {}
            }
        }
        Ok(())
    }
}
