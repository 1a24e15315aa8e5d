//! HTTP archives (HAR 1.2), as browsers and proxies save them: one JSON document.

use super::fault::Fault;
use super::field::{Field, Fields};
use super::format::{Clock, Format, Notes, Rows, Setup};
use super::row::Row;
use super::time::Times;
use serde::Deserialize;

/// The entry of the registry. The form: W3C web performance group, "HTTP Archive (HAR) format".
pub(super) const FORMAT: Format = Format {
    name: "har",
    summary: "HTTP archive (HAR)",
    recognised_by: "a JSON document that begins with log",
    time: "startedDateTime of an entry",
    key: "the host that was asked",
    cost: "1",
    detect: |head| {
        let text = head.bytes.trim_ascii_start();
        text.strip_prefix(b"{").is_some_and(|text| text.trim_ascii_start().starts_with(b"\"log\""))
    },
    open,
};

#[derive(Deserialize)]
struct Archive {
    log: Log,
}

#[derive(Deserialize)]
struct Log {
    entries: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    #[serde(rename = "startedDateTime")]
    started: String,
    request: Request,
    response: Option<Response>,
}

#[derive(Deserialize)]
struct Request {
    method: String,
    url: String,
}

#[derive(Deserialize)]
struct Response {
    status: i64,
}

struct Har {
    entries: std::vec::IntoIter<Entry>,
    times: Times,
    number: u64,
}

fn open(setup: Setup<'_>) -> Result<Box<dyn Rows>, Box<Fault>> {
    setup.no_columns(FORMAT.name)?;
    let archive: Archive =
        serde_json::from_reader(setup.input.reader).map_err(|error| match error.io_error_kind() {
            _ if error.is_eof() => Fault::file("the file is cut off within its JSON document").at(error.line() as u64),
            Some(kind) => Fault::io(&kind.into()),
            None => Fault::file(format!("not an HTTP archive ({error})")).at(error.line() as u64),
        })?;
    let times = Times::new("startedDateTime", None)?;
    Ok(Box::new(Har { entries: archive.log.entries.into_iter(), times, number: 0 }))
}

impl Rows for Har {
    fn next(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        let Some(entry) = self.entries.next() else { return Ok(false) };
        self.number += 1;
        row.at = self.times.read(entry.started.as_bytes()).map_err(|mut fault| {
            fault.message = format!("entry {}: {}", self.number, fault.message);
            fault
        })?;
        let url = entry.request.url.split_once("://").map_or(entry.request.url.as_str(), |(_, rest)| rest);
        let (host, path) = url.split_at(url.find('/').unwrap_or(url.len()));
        row.key.extend_from_slice(host.as_bytes());
        row.path.extend_from_slice(path.as_bytes());
        row.method.extend_from_slice(entry.request.method.as_bytes());
        row.status = entry.response.and_then(|response| response.status.try_into().ok()).unwrap_or(0);
        Ok(true)
    }

    fn fields(&self) -> Fields {
        Fields::of(&[Field::Key, Field::Cost, Field::Method, Field::Path, Field::Status])
    }

    fn clock(&self) -> Clock {
        self.times.clock()
    }

    /// Entries are counted, since a document may be one line.
    fn line(&self) -> u64 {
        self.number
    }

    fn unended(&self) -> bool {
        false
    }

    fn finish(&mut self, notes: &mut Notes) {
        self.times.finish(notes);
        notes.guess("each host that was asked is a key: an archive is of one client");
    }
}
