//! Tables with a header: commas, tabs, semicolons or bars between the columns.

use super::columns::{Columns, list};
use super::fault::Fault;
use super::format::{Clock, Format, Notes, Rows, Setup};
use super::input::{Head, Input, Progress};
use super::role::{Role, is_known};
use super::row::Row;
use super::time::Times;
use crate::spec::Trace;
use memchr::{memchr, memchr_iter};
use std::io::BufRead;

/// The entry of the registry.
pub(super) const FORMAT: Format = Format {
    name: "csv",
    summary: "table with a header, of any columns (CSV, TSV)",
    recognised_by: "a first line of columns parted by commas, tabs, semicolons or bars; it may be a # comment",
    time: "a column such as timestamp, ts, t_ms, at_ns; or columns.time",
    key: "a column such as key, client_ip, user_id, id; or columns.key, where several make one key",
    cost: "a column cost, permits or weight; or columns.cost, where several are added up; 1 when there is none",
    detect,
    open: |setup| Table::open(setup, None).map(|table| Box::new(table) as Box<dyn Rows>),
};

const DELIMITERS: [u8; 4] = [b',', b'\t', b';', b'|'];

fn detect(head: &Head) -> bool {
    let header = Header::find(head, &Trace::default());
    header.is_ok() || DELIMITERS.iter().any(|delimiter| head.first_line().contains(delimiter))
}

/// A table that is being read.
pub(super) struct Table {
    reader: csv::Reader<Box<dyn BufRead + Send>>,
    record: csv::ByteRecord,
    header: Header,
    columns: Columns,
    times: Times,
    progress: Progress,
    /// Whether lines end in \r\n.
    crlf: bool,
    /// Whether the next record is the header and not a row.
    at_header: bool,
}

impl Table {
    /// Begins to read; `times` when the format fixes how they are written.
    pub fn open(setup: Setup<'_>, times: Option<Times>) -> Result<Table, Box<Fault>> {
        let Setup { spec, input: Input { head, reader, progress }, notes } = setup;
        let header = Header::find(&head, spec)?;
        let columns = Columns::find(spec, &header.names, notes)?;
        let time = columns.one(Role::Time).ok_or_else(|| header.no_time())?;
        let times = match times {
            Some(times) => times,
            None => Times::new(&header.names[time], spec.time_unit.as_deref())?,
        };
        let mut builder = csv::ReaderBuilder::new();
        builder.has_headers(false).flexible(true).delimiter(header.delimiter).buffer_capacity(1 << 16);
        // A line that begins with # is a comment only where it cannot be a row: no time begins with #.
        builder.comment((time == 0).then_some(b'#'));
        let at_header = header.line.is_some() && !header.comment;
        let reader = builder.from_reader(reader);
        let crlf = memchr(b'\n', &head.bytes).is_some_and(|end| head.bytes[..end].ends_with(b"\r"));
        Ok(Table { reader, record: csv::ByteRecord::new(), header, columns, times, progress, crlf, at_header })
    }

    fn fill(&mut self, row: &mut Row) -> Result<(), Box<Fault>> {
        let width = self.header.names.len();
        if self.record.len() != width {
            let (reason, message) = match self.record.len() {
                few if few < width => ("too few columns", format!("the row has {few} of {width} columns")),
                many => ("too many columns", format!("the row has {many} columns instead of {width}")),
            };
            let shown: Vec<&[u8]> = self.record.iter().collect();
            return Err(Fault::row(reason, message).value(&shown.join(&self.header.delimiter)));
        }
        self.columns.fill(&mut self.times, row, |place| &self.record[place])
    }
}

impl Rows for Table {
    fn next(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        loop {
            let more = self.reader.read_byte_record(&mut self.record).map_err(|error| match error.into_kind() {
                csv::ErrorKind::Io(error) => Fault::io(&error),
                kind => Fault::file(format!("not a table ({kind:?})")),
            });
            if !more.map_err(|fault| fault.at(self.reader.position().line()))? {
                return Ok(false);
            }
            if std::mem::take(&mut self.at_header) {
                continue;
            }
            break;
        }
        self.fill(row).map_err(|fault| fault.at(self.line()))?;
        Ok(true)
    }

    fn clock(&self) -> Clock {
        self.times.clock()
    }

    /// The reader's own count for a record is that of the blank lines and comments before it, so count back from its end.
    fn line(&self) -> u64 {
        let within = memchr_iter(b'\n', self.record.as_slice()).count() as u64;
        // A record ends behind its \n, but before the \n of \r\n.
        let behind = u64::from(!self.crlf && !self.unended());
        self.reader.position().line() - within - behind
    }

    fn unended(&self) -> bool {
        self.progress.is_unended_at(self.reader.position().byte())
    }

    fn nothing(&self) -> String {
        "the file has a header and no rows".to_owned()
    }

    fn finish(&mut self, notes: &mut Notes) {
        self.times.finish(notes);
    }
}

/// The names of the columns.
#[derive(Debug)]
struct Header {
    names: Vec<String>,
    delimiter: u8,
    /// Its 1-based line; `None` when there is none and columns go by their numbers.
    line: Option<u64>,
    /// Whether it is a comment, which the table's reader skips by itself.
    comment: bool,
}

impl Header {
    /// The first line that is not blank or a comment, when it names a time; else the last comment before it that does;
    /// else no header, when the scenario gives the time's column by number.
    fn find(head: &Head, spec: &Trace) -> Result<Header, Box<Fault>> {
        let mut comment = None;
        for (line, text) in head.lines() {
            let is_comment = text.starts_with(b"#");
            let text = if is_comment { without_hash(text) } else { text };
            let header = Header { line: Some(line), comment: is_comment, ..Header::split(text) };
            if header.names_time(spec) {
                if !is_comment {
                    return Ok(header);
                }
                comment = Some(header);
            } else if !is_comment {
                let numbered = spec.columns.iter().any(|(role, names)| {
                    role == Role::Time.name() && names.iter().all(|name| name.parse::<usize>().is_ok())
                });
                return match comment {
                    Some(header) => Ok(Header { delimiter: Header::split(text).delimiter, ..header }),
                    None if numbered => Ok(header.without_names()),
                    None => Err(header.no_time()),
                };
            }
        }
        comment.ok_or_else(|| Fault::file("the file has only comments"))
    }

    fn split(text: &[u8]) -> Header {
        let count = |delimiter: &u8| text.iter().filter(|byte| *byte == delimiter).count();
        // On a tie the earlier delimiter wins; `max_by_key` would take the later one.
        let delimiter = DELIMITERS.into_iter().rev().max_by_key(count).unwrap_or(b',');
        let mut record = csv::ByteRecord::new();
        let read = csv::ReaderBuilder::new()
            .has_headers(false)
            .delimiter(delimiter)
            .from_reader(text)
            .read_byte_record(&mut record);
        let names = match read {
            Ok(true) => record.iter().map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned()).collect(),
            _ => Vec::new(),
        };
        Header { names, delimiter, line: None, comment: false }
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

    fn no_time(&self) -> Box<Fault> {
        let message = format!(
            "no column is known to be the time; say which with columns = {{ time = \"…\" }} (by name, or by number where there is no header). The first line has {}",
            list(&self.names)
        );
        match self.line {
            Some(line) => Fault::file(message).at(line),
            None => Fault::file(message),
        }
    }
}

/// A comment without the sign that makes it one.
fn without_hash(text: &[u8]) -> &[u8] {
    let start = text.iter().position(|byte| *byte != b'#').unwrap_or(text.len());
    text[start..].trim_ascii_start()
}
