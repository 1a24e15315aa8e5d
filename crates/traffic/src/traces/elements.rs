//! The elements of one JSON list, one after another.

use super::fault::Fault;
use serde_json::value::RawValue;
use std::io::{BufRead, ErrorKind};

/// A reader of elements that knows their lines.
pub(super) struct Elements {
    reader: Box<dyn BufRead + Send>,
    element: Option<Box<RawValue>>,
    /// The line on which the element at hand begins, and on which reading goes on.
    begins: u64,
    line: u64,
    begun: bool,
}

impl Elements {
    pub fn new(reader: Box<dyn BufRead + Send>) -> Elements {
        Elements { reader, element: None, begins: 1, line: 1, begun: false }
    }

    /// 1-based line on which the element read last begins.
    pub fn number(&self) -> u64 {
        self.begins
    }

    /// The next element as text, and the 1-based line it begins on.
    pub fn next(&mut self) -> Result<Option<(u64, &[u8])>, Box<Fault>> {
        let mut separators = 0;
        loop {
            let buffer = self.reader.fill_buf().map_err(|error| Fault::io(&error))?;
            let Some(byte) = buffer.first().copied() else {
                return Err(self.broken("the file is cut off: its list is not closed"));
            };
            match byte {
                b'\n' => self.line += 1,
                b' ' | b'\t' | b'\r' => {}
                b'[' if !self.begun => self.begun = true,
                b',' if self.element.is_some() && separators == 0 => separators = 1,
                b']' if self.begun && separators == 0 => return self.end(),
                _ if separators == 1 || self.element.is_none() => break,
                _ => return Err(self.broken("not a JSON list: there is no comma between two elements")),
            }
            self.reader.consume(1);
        }
        self.begins = self.line;
        let read = serde_json::Deserializer::from_reader(&mut self.reader).into_iter::<Box<RawValue>>().next();
        let element = match read {
            Some(Ok(element)) => element,
            Some(Err(error)) if error.io_error_kind() == Some(ErrorKind::UnexpectedEof) || error.is_eof() => {
                return Err(self.broken("the file is cut off within an element of its list"));
            }
            _ => return Err(self.broken("not a JSON list: this element is no JSON")),
        };
        self.line += element.get().bytes().filter(|byte| *byte == b'\n').count() as u64;
        let element = self.element.insert(element);
        Ok(Some((self.begins, element.get().as_bytes())))
    }

    /// Nothing but space may follow the list.
    fn end(&mut self) -> Result<Option<(u64, &'static [u8])>, Box<Fault>> {
        self.reader.consume(1);
        loop {
            let buffer = self.reader.fill_buf().map_err(|error| Fault::io(&error))?;
            let length = buffer.len();
            if length == 0 {
                // The end stays the end.
                self.reader = Box::new(&b"]"[..]);
                return Ok(None);
            }
            if buffer.iter().any(|byte| !byte.is_ascii_whitespace()) {
                return Err(self.broken("something follows the end of the JSON list"));
            }
            self.reader.consume(length);
        }
    }

    fn broken(&self, message: &str) -> Box<Fault> {
        Fault::file(message).at(self.line)
    }
}
