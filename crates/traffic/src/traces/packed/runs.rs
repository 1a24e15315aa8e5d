//! Where packed rows are kept: in memory up to a budget, then in a temporary file without a name.

use super::Limits;
use super::block::{Block, HEADER, altered, header};
use limiters::Nanos;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::PathBuf;

/// Runs of packed rows.
#[derive(Debug)]
pub struct Runs {
    list: Vec<Run>,
    /// Bytes in memory, and how many there may be.
    pub held: usize,
    budget: usize,
    folder: Option<PathBuf>,
    /// The file, and its length.
    pub file: Option<(File, u64)>,
}

/// Rows that are played one after another.
#[derive(Debug)]
pub struct Run {
    /// The earliest and the latest time in it.
    pub earliest: Nanos,
    pub latest: Nanos,
    pub rows: u64,
    place: Place,
}

#[derive(Debug)]
enum Place {
    Memory(Box<[u8]>),
    File { from: u64, length: u64 },
}

impl Runs {
    pub fn new(limits: &Limits) -> Runs {
        Runs { list: Vec::new(), held: 0, budget: limits.memory, folder: limits.folder.clone(), file: None }
    }

    pub fn list(&self) -> &[Run] {
        &self.list
    }

    /// Keeps a run, whose blocks are taken out of `bytes`.
    ///
    /// # Errors
    /// When there is no room for it: a text that says where, and what to do.
    pub fn push(&mut self, bytes: &mut Vec<u8>, rows: u64, (earliest, latest): (Nanos, Nanos)) -> Result<(), String> {
        let place = if self.held + bytes.len() <= self.budget {
            self.held += bytes.len();
            // A copy has no room to spare, which a vector that grew has.
            let place = Place::Memory(bytes.as_slice().into());
            bytes.clear();
            place
        } else {
            let place = self.write(bytes).map_err(|error| self.no_room(&error))?;
            bytes.clear();
            place
        };
        self.list.push(Run { earliest, latest, rows, place });
        Ok(())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<Place> {
        let (file, length) = match &mut self.file {
            Some(file) => file,
            None => {
                let made = match &self.folder {
                    Some(folder) => tempfile::tempfile_in(folder),
                    None => tempfile::tempfile(),
                };
                self.file.insert((made?, 0))
            }
        };
        file.write_all(bytes)?;
        let from = *length;
        *length += bytes.len() as u64;
        Ok(Place::File { from, length: bytes.len() as u64 })
    }

    fn no_room(&self, error: &io::Error) -> String {
        let folder = self.folder.clone().unwrap_or_else(std::env::temp_dir);
        let written = self.file.as_ref().map_or(0, |(_, length)| *length) >> 20;
        format!(
            "its rows take more than the {} MiB of memory for them, and the temporary file for the rest cannot grow beyond {written} MiB in {} ({error}); set TMPDIR to a folder with more room",
            self.budget >> 20,
            folder.display()
        )
    }

    /// Reads the block at `position` in `run` and returns the position of the next; `None` at the end.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn read(&self, run: usize, position: u64, block: &mut Block) -> io::Result<Option<u64>> {
        let read = match (&self.list[run].place, &self.file) {
            (Place::Memory(bytes), _) => match usize::try_from(position).ok().and_then(|from| bytes.get(from..)) {
                None | Some([]) => return Ok(None),
                Some(rest) => {
                    let (rows, length) = header(rest)?;
                    block.unpack(rows, rest.get(HEADER..HEADER + length).ok_or_else(altered)?)?;
                    HEADER + length
                }
            },
            (Place::File { from, length }, Some((file, _))) if position < *length => {
                let (mut from, mut head) = (At { file, position: from + position }, [0; HEADER]);
                from.read_exact(&mut head)?;
                let (rows, length) = header(&head)?;
                block.read(rows, length, &mut from)?;
                HEADER + length
            }
            (Place::File { .. }, _) => return Ok(None),
        };
        Ok(Some(position + read as u64))
    }
}

/// A place in a file. Several threads read at once, so none of them moves the file's own.
struct At<'a> {
    file: &'a File,
    position: u64,
}

impl Read for At<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(self.file, buffer, self.position)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(self.file, buffer, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}
