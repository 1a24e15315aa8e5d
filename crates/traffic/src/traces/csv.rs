//! Tables with a header: commas, tabs, semicolons or bars between the columns.

use super::columns::Columns;
use super::fault::Fault;
use super::format::{Clock, Format, Notes, Rows, Setup};
use super::header::{DELIMITERS, Header};
use super::input::{Head, Input};
use super::role::Role;
use super::row::Row;
use super::split::{Shape, Split};
use super::time::Times;
use crate::spec::Trace;
use memchr::memchr;

/// The entry of the registry.
pub(super) const FORMAT: Format = Format {
    name: "csv",
    summary: "table with a header, of any columns (CSV, TSV)",
    recognised_by: "a first line of columns parted by commas, tabs, semicolons or bars; it may be a # comment, or follow a spreadsheet's sep=;",
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
    split: Split,
    header: Header,
    columns: Columns,
    times: Times,
    /// Lines up to the header that are still to pass.
    skips: u8,
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
        let shape = Shape {
            delimiter: header.delimiter,
            // A line that begins with # is a comment only where it cannot be a row: no time begins with #.
            comment: (time == 0).then_some(b'#'),
            crlf: memchr(b'\n', &head.bytes).is_some_and(|end| head.bytes[..end].ends_with(b"\r")),
        };
        let skips = header.skips();
        Ok(Table { split: Split::new(reader, progress, shape), header, columns, times, skips })
    }

    fn fill(&mut self, row: &mut Row) -> Result<(), Box<Fault>> {
        let Table { split, header, columns, times, .. } = self;
        let width = header.names.len();
        let careful = split.careful();
        let found = careful.map_or_else(|| split.len(), |careful| careful.record.len());
        if found != width {
            let (reason, message) = match found {
                few if few < width => ("too few columns", format!("the row has {few} of {width} columns")),
                many => ("too many columns", format!("the row has {many} columns instead of {width}")),
            };
            return Err(Fault::row(reason, message).value(&split.fields().join(&header.delimiter)));
        }
        match careful {
            None => columns.fill(times, row, |place| split.field(place)),
            Some(careful) => columns.fill(times, row, |place| &careful.record[place]),
        }
    }
}

impl Rows for Table {
    fn next(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        let passes = self.skips > 0;
        self.skips = self.skips.saturating_sub(1);
        if !self.split.next()? {
            return Ok(false);
        }
        if passes {
            return self.next(row);
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

    fn line(&self) -> u64 {
        self.split.line()
    }

    fn unended(&self) -> bool {
        self.split.unended()
    }

    fn nothing(&self) -> String {
        "the file has a header and no rows".to_owned()
    }

    fn finish(&mut self, notes: &mut Notes) {
        self.times.finish(notes);
    }
}
