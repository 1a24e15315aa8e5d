//! What is wrong with a row, or with a file.

use crate::TrafficError;
use std::path::Path;

/// A fault found while reading, before the file's name is added.
#[derive(Debug)]
pub(super) struct Fault {
    /// A few words by which skipped rows are counted.
    pub reason: &'static str,
    /// Whether reading cannot go on, even when bad rows are to be skipped.
    pub fatal: bool,
    pub line: Option<u64>,
    pub column: Option<String>,
    pub value: Option<String>,
    pub message: String,
}

/// The longest value that an error repeats, in characters.
const SHOWN: usize = 80;

impl Fault {
    /// A row that can be skipped.
    pub fn row(reason: &'static str, message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault { reason, fatal: false, line: None, column: None, value: None, message: message.into() })
    }

    /// A file that cannot be read.
    pub fn file(message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault { fatal: true, ..*Fault::row("unreadable", message) })
    }

    /// A file whose bytes cannot be had; a compressed one may be cut or damaged.
    pub fn io(error: &std::io::Error) -> Box<Fault> {
        use std::io::ErrorKind;
        match error.kind() {
            ErrorKind::UnexpectedEof => Fault::file("the compressed data is cut off; copy or download the file again"),
            ErrorKind::IsADirectory => Fault::file("this is a directory; name a file in it"),
            ErrorKind::NotFound => Fault::file("there is no such file"),
            ErrorKind::InvalidInput | ErrorKind::InvalidData | ErrorKind::Other => {
                Fault::file(format!("the compressed data is damaged ({error})"))
            }
            _ => Fault::file(format!("cannot be read ({error})")),
        }
    }

    pub fn at(mut self: Box<Self>, line: u64) -> Box<Fault> {
        self.line.get_or_insert(line);
        self
    }

    pub fn column(mut self: Box<Self>, column: &str) -> Box<Fault> {
        self.column.get_or_insert_with(|| column.to_owned());
        self
    }

    pub fn value(mut self: Box<Self>, value: &[u8]) -> Box<Fault> {
        let text = String::from_utf8_lossy(value);
        let mut shown: String = text.chars().take(SHOWN).collect();
        if text.chars().nth(SHOWN).is_some() {
            shown.push('…');
        }
        self.value.get_or_insert(shown);
        self
    }

    /// The same for a last line without an end: it was cut off.
    pub fn cut_off(mut self: Box<Self>) -> Box<Fault> {
        self.reason = "cut off";
        self.message = format!("the file is cut off in its last line: {}", self.message);
        self
    }

    pub fn error(mut self, path: &Path) -> TrafficError {
        if path == Path::new("-")
            && let Some(rest) = self.message.strip_prefix("the file ")
        {
            self.message = format!("standard input {rest}");
        }
        TrafficError {
            path: Some(path.to_owned()),
            line: self.line,
            column: self.column,
            value: self.value,
            message: self.message,
        }
    }
}
