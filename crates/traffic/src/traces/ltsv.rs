//! Labeled Tab-separated Values (ltsv.org): `label:value` pairs between tabs, in any order.

use super::columns::{Columns, list};
use super::fault::Fault;
use super::field::{Field, Fields};
use super::format::{Clock, Format, Notes, Rows, Setup};
use super::http::request_line;
use super::input::Head;
use super::lines::Lines;
use super::number::decimal;
use super::role::{Role, is_known};
use super::row::Row;
use super::time::Times;
use memchr::{memchr, memchr_iter};

/// The entry of the registry.
pub(super) const FORMAT: Format = Format {
    name: "ltsv",
    summary: "labeled tab-separated values (LTSV), as web servers write them",
    recognised_by: "a first line of label:value pairs parted by tabs, one of them a time",
    time: "time, datetime or another known name; less reqtime where there is one, since it stamps completion",
    key: "host, remote_host, remote_addr, user or another known name; or columns.key",
    cost: "a label cost; or columns.cost; 1 when there is none",
    detect,
    open,
};

/// Lines from which labels are learnt.
const LEARNT: usize = 100;

fn detect(head: &Head) -> bool {
    let mut labels = Vec::new();
    let all = pairs(head.first_line(), |label, _| labels.push(String::from_utf8_lossy(label).into_owned()));
    all && labels.len() > 1 && labels.iter().any(|label| is_known(Role::Time, label))
}

/// Calls `take` with each label and value; whether every field had a label.
fn pairs<'a>(line: &'a [u8], mut take: impl FnMut(&'a [u8], &'a [u8])) -> bool {
    let mut start = 0;
    for end in memchr_iter(b'\t', line).chain([line.len()]) {
        let field = &line[start..end];
        start = end + 1;
        if field.is_empty() {
            continue;
        }
        match memchr(b':', field) {
            Some(colon) if colon > 0 => take(&field[..colon], &field[colon + 1..]),
            _ => return false,
        }
    }
    true
}

struct Ltsv {
    lines: Lines,
    labels: Vec<String>,
    columns: Columns,
    times: Times,
    request: Option<usize>,
    took: Option<usize>,
    /// The value of each label of the row at hand.
    values: Vec<Vec<u8>>,
    moved: u64,
}

fn open(setup: Setup<'_>) -> Result<Box<dyn Rows>, Box<Fault>> {
    let mut labels: Vec<String> = Vec::new();
    for (_, line) in setup.input.head.lines().take(LEARNT) {
        pairs(line, |label, _| {
            let label = String::from_utf8_lossy(label).into_owned();
            if !labels.contains(&label) {
                labels.push(label);
            }
        });
    }
    let columns = Columns::find(setup.spec, &labels, setup.notes)?;
    let time = columns.one(Role::Time).ok_or_else(|| {
        let known = list(&labels);
        Fault::file(format!(
            "no label is known to be the time; say which with {}. The file has {known}",
            setup.spec.choose("time", "\"…\"")
        ))
    })?;
    let times = Times::new(&labels[time], setup.spec.time_unit.as_deref())?.named(setup.spec);
    let place = |names: &[&str]| labels.iter().position(|label| names.contains(&label.as_str()));
    let (request, took) = (place(&["req", "request"]), place(&["reqtime", "request_time"]));
    let values = vec![Vec::new(); labels.len()];
    let lines = Lines::new(setup.input.reader);
    Ok(Box::new(Ltsv { lines, labels, columns, times, request, took, values, moved: 0 }))
}

impl Rows for Ltsv {
    fn next(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        let Some((number, line)) = self.lines.next()? else { return Ok(false) };
        self.values.iter_mut().for_each(Vec::clear);
        let all = pairs(line, |label, value| {
            if let Some(place) = self.labels.iter().position(|known| known.as_bytes() == label) {
                self.values[place].extend_from_slice(value);
            }
        });
        if !all {
            return Err(Fault::row("not LTSV", "a field has no label").at(number).value(line));
        }
        let values = &self.values;
        self.columns.fill(&mut self.times, row, |place| &values[place]).map_err(|fault| fault.at(number))?;
        if let Some(took) = self.took.and_then(|place| decimal(&values[place])).filter(|took| !took.negative)
            && let Some((nanos, _)) = took.scaled(9)
        {
            row.at = row.at.saturating_sub(nanos);
            self.moved += 1;
        }
        if let Some(place) = self.request
            && row.path.is_empty()
        {
            let (method, path) = request_line(&values[place]);
            row.method.extend_from_slice(method);
            row.path.extend_from_slice(path);
        }
        Ok(true)
    }

    fn fields(&self) -> Fields {
        let fields = self.columns.fields();
        if self.request.is_some() { fields.with(Field::Method).with(Field::Path) } else { fields }
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
        self.lines.number()
    }

    fn unended(&self) -> bool {
        self.lines.unended()
    }

    fn finish(&mut self, notes: &mut Notes) {
        self.times.finish(notes);
        if self.moved > 0 {
            notes.guess(format!(
                "{} rows have a request time; the stamp is taken as the completion and moved back by it to the arrival",
                self.moved
            ));
        }
    }
}
