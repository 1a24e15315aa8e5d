//! Tables with a header: commas, tabs, semicolons or bars between the columns.

use super::columns::Columns;
use super::fault::Fault;
use super::format::{Clock, Format, Notes, Rows, Setup};
use super::header::{DELIMITERS, Header};
use super::input::{BUFFER, Head, Input, Progress};
use super::role::Role;
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
        let Setup { spec, input: Input { head, reader, progress, .. }, notes } = setup;
        let header = Header::find(&head, spec)?;
        let columns = Columns::find(spec, &header.names, notes)?;
        let time = columns.one(Role::Time).ok_or_else(|| header.no_time(spec))?;
        let times = match times {
            Some(times) => times,
            None => Times::new(&header.names[time], spec.time_unit.as_deref())?.named(spec),
        };
        let mut builder = csv::ReaderBuilder::new();
        builder.has_headers(false).flexible(true).delimiter(header.delimiter);
        // No smaller than the buffers below it, which it then reads past instead of copying from one to the next.
        builder.buffer_capacity(BUFFER);
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

    fn columns(&self) -> Option<&Columns> {
        Some(&self.columns)
    }

    fn ask(&mut self, name: &str) -> Option<usize> {
        self.columns.ask(name).map(|(_, slot)| slot)
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
