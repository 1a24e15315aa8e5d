//! Lines of a text file, one buffer for all of them.

use super::fault::Fault;
use std::io::{BufRead, Read};

/// The longest line that is read, in bytes; a file with a longer one is not a log of lines.
const LONGEST: u64 = 64 << 20;

/// A reader of lines that knows their numbers.
pub(super) struct Lines {
    reader: Box<dyn BufRead + Send>,
    buffer: Vec<u8>,
    number: u64,
}

impl Lines {
    pub fn new(reader: Box<dyn BufRead + Send>) -> Lines {
        Lines { reader, buffer: Vec::new(), number: 0 }
    }

    /// 1-based number of the line read last.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Whether the line read last ended with the file.
    pub fn unended(&self) -> bool {
        !self.buffer.is_empty() && !self.buffer.ends_with(b"\n")
    }

    /// The next line that is not blank, without its end, and its 1-based number.
    pub fn next(&mut self) -> Result<Option<(u64, &[u8])>, Box<Fault>> {
        loop {
            self.buffer.clear();
            let count = self.reader.by_ref().take(LONGEST).read_until(b'\n', &mut self.buffer);
            if count.map_err(|error| Fault::io(&error).at(self.number + 1))? == 0 {
                return Ok(None);
            }
            self.number += 1;
            if self.buffer.len() as u64 == LONGEST {
                return Err(Fault::file("the line is longer than 64 MiB; this is not a log of lines").at(self.number));
            }
            if !self.buffer.trim_ascii().is_empty() {
                break;
            }
        }
        let mut line = self.buffer.as_slice();
        for end in [b"\n", b"\r"] {
            line = line.strip_suffix(end).unwrap_or(line);
        }
        Ok(Some((self.number, line)))
    }
}
