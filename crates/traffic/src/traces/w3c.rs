//! W3C extended logs, in which a comment names the fields: CloudFront's and IIS's.

use super::fault::Fault;
use super::field::{Field, Fields as Has};
use super::format::{Clock, Format, Notes, Rows, Setup};
use super::lines::Lines;
use super::number::{decimal, digits};
use super::row::Row;
use super::time::Times;

/// The entry of the registry. The form: W3C working draft WD-logfile; fields of CloudFront: AWS, "Standard logging
/// reference".
pub(super) const FORMAT: Format = Format {
    name: "w3c",
    summary: "W3C extended log, as CloudFront and IIS write it",
    recognised_by: "a line #Fields: date time … among comments at the beginning",
    time: "date and time, in UTC; less time-taken where it has a point (CloudFront's seconds), since they stamp completion",
    key: "c-ip",
    cost: "1",
    detect: |head| {
        head.lines().map_while(|(_, line)| line.strip_prefix(b"#")).any(|line| Fields::parse(line).is_some())
    },
    open,
};

/// Where the wanted fields stand in a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Fields {
    count: usize,
    date: usize,
    time: usize,
    client: Option<usize>,
    status: Option<usize>,
    method: Option<usize>,
    path: Option<usize>,
    user: Option<usize>,
    took: Option<usize>,
}

impl Fields {
    /// Of `Fields: date time …`; `None` for another line and without a date and a time.
    fn parse(directive: &[u8]) -> Option<Fields> {
        let names = directive.trim_ascii().strip_prefix(b"Fields:")?;
        let names: Vec<&[u8]> = names.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty()).collect();
        let place = |name: &[u8]| names.iter().position(|known| *known == name);
        Some(Fields {
            count: names.len(),
            date: place(b"date")?,
            time: place(b"time")?,
            client: place(b"c-ip"),
            status: place(b"sc-status"),
            method: place(b"cs-method"),
            path: place(b"cs-uri-stem"),
            user: place(b"cs-username"),
            took: place(b"time-taken"),
        })
    }

    fn has(&self) -> Has {
        let named = [
            (Field::Key, self.client),
            (Field::Status, self.status),
            (Field::Method, self.method),
            (Field::Path, self.path),
            (Field::User, self.user),
        ];
        let named = named.iter().filter(|(_, place)| place.is_some());
        named.fold(Has::of(&[Field::Cost]), |has, (field, _)| has.with(*field))
    }
}

struct W3c {
    /// What the first directive names.
    has: Has,
    lines: Lines,
    times: Times,
    fields: Option<Fields>,
    /// Where each field of the line at hand lies.
    places: Vec<std::ops::Range<usize>>,
    stamp: Vec<u8>,
    moved: u64,
}

fn open(setup: Setup<'_>) -> Result<Box<dyn Rows>, Box<Fault>> {
    setup.no_columns(FORMAT.name)?;
    let directives = setup.input.head.lines().filter_map(|(_, line)| Fields::parse(line.strip_prefix(b"#")?));
    let has = directives.map(|fields| fields.has()).next().unwrap_or_default();
    let (lines, times) = (Lines::new(setup.input.reader), Times::new("date, time", None)?);
    Ok(Box::new(W3c { has, lines, times, fields: None, places: Vec::new(), stamp: Vec::new(), moved: 0 }))
}

impl Rows for W3c {
    fn next(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        let (number, line) = loop {
            let Some((number, line)) = self.lines.next()? else { return Ok(false) };
            match line.strip_prefix(b"#") {
                // A server that restarts writes them again, and they may be others.
                Some(directive) => self.fields = Fields::parse(directive).or(self.fields.take()),
                None => break (number, line),
            }
        };
        let Some(fields) = &self.fields else {
            return Err(Fault::file("no line \"#Fields: date time …\" comes before the first row").at(number));
        };
        // CloudFront parts fields by tabs, IIS by spaces.
        let separator = if line.contains(&b'\t') { b'\t' } else { b' ' };
        self.places.clear();
        let mut start = 0;
        for end in memchr::memchr_iter(separator, line).chain([line.len()]) {
            self.places.push(start..end);
            start = end + 1;
        }
        if self.places.len() != fields.count {
            let message = format!("the row has {} fields, #Fields names {}", self.places.len(), fields.count);
            return Err(Fault::row("wrong number of fields", message).at(number).value(line));
        }
        let get = |place: usize| &line[self.places[place].clone()];
        let some = |place: Option<usize>| place.map_or(&b""[..], get);
        self.stamp.clear();
        self.stamp.extend_from_slice(get(fields.date));
        self.stamp.push(b' ');
        self.stamp.extend_from_slice(get(fields.time));
        row.at = self.times.read(&self.stamp).map_err(|fault| fault.at(number))?;
        let took = some(fields.took);
        if took.contains(&b'.')
            && let Some((nanos, _)) = decimal(took).filter(|took| !took.negative).and_then(|took| took.scaled(9))
        {
            row.at = row.at.saturating_sub(nanos);
            self.moved += 1;
        }
        row.key.extend_from_slice(some(fields.client));
        row.status = digits(some(fields.status)).and_then(|status| status.try_into().ok()).unwrap_or(0);
        row.method.extend_from_slice(some(fields.method));
        row.path.extend_from_slice(some(fields.path));
        let user = some(fields.user);
        row.user.extend_from_slice(if user == b"-" { b"" } else { user });
        Ok(true)
    }

    fn fields(&self) -> Has {
        self.has
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
                "{} rows have a time-taken in seconds; the stamp is taken as the completion and moved back by it to the arrival",
                self.moved
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_by_name() {
        let fields = Fields::parse(b"Fields: date time x-edge-location sc-bytes c-ip cs-method").unwrap();
        assert_eq!(
            (fields.count, fields.time, fields.client, fields.method, fields.status),
            (6, 1, Some(4), Some(5), None)
        );
        assert_eq!(Fields::parse(b"Version: 1.0"), None);
        assert_eq!(Fields::parse(b"Fields: time c-ip"), None);
    }
}
