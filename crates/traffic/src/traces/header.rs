//! The header of a table: in its first line, in a comment, or not there at all.

use super::columns::list;
use super::fault::Fault;
use super::input::Head;
use super::role::{Role, is_known};
use crate::spec::Trace;

/// The names of the columns.
#[derive(Debug)]
pub(super) struct Header {
    pub names: Vec<String>,
    pub delimiter: u8,
    /// Its 1-based line; `None` when there is none and columns go by their numbers.
    pub line: Option<u64>,
    /// Whether it is a comment, which the table's reader skips by itself.
    pub comment: bool,
    /// Whether a first line says only what parts the columns.
    pub told: bool,
}

/// What may part columns, the more usual first.
pub(super) const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

/// Comments in front of the first row that may be the header.
const COMMENTS: usize = 20;

impl Header {
    /// The first line that is not blank or a comment, when it names a time; else the last comment before it that does;
    /// else no header, when the scenario gives the time's column by number.
    pub fn find(head: &Head, spec: &Trace) -> Result<Header, Box<Fault>> {
        let mut comments = Vec::new();
        let told = told_delimiter(head);
        let delimiter_of = |text: &[u8]| told.unwrap_or_else(|| delimiter_of(text));
        let told = told.is_some();
        let first = head.lines().skip(usize::from(told)).find(|(line, text)| {
            let comment = text.strip_prefix(b"#");
            comments.extend(comment.map(|comment| (*line, comment)));
            comment.is_none()
        });
        let mut first =
            first.map(|(line, text)| Header { line: Some(line), told, ..Header::split(text, delimiter_of(text)) });
        if let Some(header) = first.take_if(|header| header.names_time(spec)) {
            return Ok(header);
        }
        let candidates = comments.iter().rev().take(COMMENTS).map(|(line, text)| {
            let delimiter = first.as_ref().map_or_else(|| delimiter_of(text), |first| first.delimiter);
            Header { line: Some(*line), comment: true, told, ..Header::split(without_hash(text), delimiter) }
        });
        if let Some(header) = candidates.into_iter().find(|header| header.names_time(spec)) {
            return Ok(header);
        }
        let first = first.ok_or_else(|| Fault::file("the file has only comments"))?;
        let is_number = |name: &String| name.parse::<usize>().is_ok();
        let numbered =
            spec.columns.iter().any(|(role, names)| role == Role::Time.name() && names.iter().all(is_number));
        if numbered { Ok(first.without_names()) } else { Err(first.no_time(spec)) }
    }

    fn split(text: &[u8], delimiter: u8) -> Header {
        let mut record = csv::ByteRecord::new();
        let mut reader = csv::ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(text);
        let names = match reader.read_byte_record(&mut record) {
            Ok(true) => record.iter().map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned()).collect(),
            _ => Vec::new(),
        };
        Header { names, delimiter, line: None, comment: false, told: false }
    }

    /// Lines at the beginning that are no rows, apart from comments.
    pub fn skips(&self) -> u8 {
        u8::from(self.told) + u8::from(self.line.is_some() && !self.comment)
    }

    fn names_time(&self, spec: &Trace) -> bool {
        let mapped = spec.columns.iter().find(|(role, _)| role == Role::Time.name());
        match mapped {
            Some((_, wanted)) => self.names.iter().any(|name| wanted.iter().any(|w| w.eq_ignore_ascii_case(name))),
            None => self.names.iter().any(|name| is_known(Role::Time, name)),
        }
    }

    /// The same line as a row: columns go by their numbers.
    fn without_names(self) -> Header {
        let names = (1..=self.names.len()).map(|n| n.to_string()).collect();
        Header { names, line: None, comment: false, ..self }
    }

    pub fn no_time(&self, spec: &Trace) -> Box<Fault> {
        let message = format!(
            "no column is known to be the time; say which with {} (by name, or by number where there is no header). The first line has {}",
            spec.choose("time", "\"…\""),
            list(&self.names)
        );
        match self.line {
            Some(line) => Fault::file(message).at(line),
            None => Fault::file(message),
        }
    }
}

/// The delimiter that the first line says where spreadsheets write one there: `sep=;`.
fn told_delimiter(head: &Head) -> Option<u8> {
    let line = head.bytes.split(|byte| *byte == b'\n').next()?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    let (name, delimiter) = line.split_at_checked(4)?;
    match delimiter {
        [delimiter]
            if name.eq_ignore_ascii_case(b"sep=") && (*delimiter == b'\t' || delimiter.is_ascii_punctuation()) =>
        {
            Some(*delimiter).filter(|delimiter| !b"\"#".contains(delimiter))
        }
        _ => None,
    }
}

/// The delimiter that a line has most of; on a tie the earlier one.
fn delimiter_of(text: &[u8]) -> u8 {
    let count = |delimiter: &u8| text.iter().filter(|byte| *byte == delimiter).count();
    DELIMITERS.into_iter().rev().max_by_key(count).unwrap_or(b',')
}

/// A comment without the sign that makes it one.
fn without_hash(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| *byte != b'#').unwrap_or(text.len());
    text[start..].trim_ascii_start()
}
