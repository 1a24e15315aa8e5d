//! The rows of a file one by one, with bad ones refused or counted.

use super::ahead::Ahead;
use super::fault::Fault;
use super::format::{Clock, Format, Notes, Rows, Setup};
use super::input::{self, Input, Progress};
use super::key_by::KeyBy;
use super::row::Row;
use super::sieve::Sieve;
use super::spread::Spread;
use super::{FORMATS, format};
use crate::spec::Trace;
use crate::{Note, NoteKind, TrafficError};
use std::path::PathBuf;
use std::sync::Arc;

/// A recorded file that is being read, in file order and in memory that does not grow with it.
///
/// ```no_run
/// use traffic::{spec, traces};
/// let spec = spec::Trace { path: "access.log".into(), ..Default::default() };
/// let mut stream = traces::Stream::open(&spec)?;
/// let mut row = traces::Row::default();
/// while stream.next(&mut row)? {
///     println!("{} {}", row.at, String::from_utf8_lossy(&row.key));
/// }
/// # Ok::<(), traffic::TrafficError>(())
/// ```
pub struct Stream {
    path: PathBuf,
    format: &'static Format,
    rows: Box<dyn Rows>,
    progress: Progress,
    notes: Notes,
    sieve: Option<Sieve>,
    key_by: Option<KeyBy>,
    ahead: Ahead,
    /// How totals are spread, and what the setting is called.
    spread: Option<(Spread, String)>,
    skip: bool,
    max_bad: Option<u64>,
    skipped: Skipped,
    cached: Cached,
    /// Rows that were read and are neither bad nor filtered out; a total is one.
    read: u64,
    good: u64,
    /// Rows that somebody else plays, and how many of them are past.
    left_out: Arc<[u64]>,
    past: usize,
    ended: bool,
}

/// Formats whose rows may name a model.
const FORMATS_WITH_MODELS: [&str; 2] = ["agent", "otlp"];

/// Tokens from and into caches.
#[derive(Default)]
struct Cached {
    read: u64,
    written: u64,
    priced: bool,
}

impl Stream {
    /// Opens the file, recognises its format and reads as much of it as that needs.
    ///
    /// # Errors
    /// When the file cannot be read, is no log, or lacks the columns that the scenario names.
    pub fn open(spec: &Trace) -> Result<Stream, TrafficError> {
        let input = input::open(&spec.path);
        input.and_then(|input| Stream::over(spec, input)).map_err(|fault| fault.error(&spec.path))
    }

    /// The same over any bytes; errors name `spec.path`.
    ///
    /// # Errors
    /// As [`Stream::open`].
    pub fn from_reader(spec: &Trace, bytes: impl std::io::Read + Send + 'static) -> Result<Stream, TrafficError> {
        let input = input::from_reader(bytes);
        input.and_then(|input| Stream::over(spec, input)).map_err(|fault| fault.error(&spec.path))
    }

    fn over(spec: &Trace, input: Input) -> Result<Stream, Box<Fault>> {
        let mut notes = Notes::default();
        let names = || FORMATS.iter().map(|format| format.name).collect::<Vec<_>>().join(", ");
        let format = match &spec.format {
            Some(name) => {
                format(name).ok_or_else(|| Fault::file(format!("unknown format {name:?}; valid are {}", names())))?
            }
            None => {
                let found = FORMATS.iter().find(|format| (format.detect)(&input.head)).ok_or_else(|| {
                    let message = format!(
                        "the file looks like none of the formats {}; name one with {}",
                        names(),
                        spec.setting("format")
                    );
                    Fault::file(message).at(1).value(input.head.first_line())
                })?;
                let setting = spec.setting("format");
                notes.guess(format!("read as {}: {}; {setting} overrides", found.name, found.summary));
                found
            }
        };
        let progress = input.progress.clone();
        let mut rows = (format.open)(Setup { spec, input, notes: &mut notes })?;
        if let (Some((model, _)), false) = (spec.prices.first(), rows.has_models()) {
            let (said, name) = (spec.setting("prices"), format.name);
            let with = FORMATS_WITH_MODELS.join(" and ");
            return Err(Fault::file(format!(
                "{said} {model}: rows of the format {name} name no model; {with} do, and other files need a column with the price"
            )));
        }
        let sieve = Sieve::new(spec, &mut *rows, format.name)?;
        let key_by = KeyBy::new(spec, &mut *rows, format.name)?;
        let mut stream = Stream {
            path: spec.path.clone(),
            format,
            rows,
            progress,
            notes,
            sieve,
            key_by,
            ahead: Ahead::default(),
            spread: None,
            skip: spec.skip_bad_rows || spec.max_bad_rows.is_some(),
            max_bad: spec.max_bad_rows,
            skipped: Skipped::default(),
            cached: Cached::default(),
            read: 0,
            good: 0,
            left_out: spec.left_out.clone().unwrap_or_default(),
            past: 0,
            ended: false,
        };
        let totals = stream.rows.totals();
        let (ahead, spread) = Ahead::look(spec, totals, format.name, |row| stream.read(row))?;
        stream.ahead = ahead;
        stream.spread = spread.map(|spread| (spread, spec.setting("spread")));
        Ok(stream)
    }

    /// Reads the next good row; `false` at the end, when at least one was good.
    ///
    /// # Errors
    /// For a bad row, unless bad rows are skipped and not too many; for a file without a good row; when reading fails.
    pub fn next(&mut self, row: &mut Row) -> Result<bool, TrafficError> {
        loop {
            let more = self.advance(row).map_err(|fault| fault.error(&self.path))?;
            if !more || self.left_out.get(self.past).is_none_or(|place| *place + 1 != self.good) {
                return Ok(more);
            }
            self.past += 1;
        }
    }

    #[inline]
    fn advance(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        let more = if self.spread.is_none() { self.next_row(row)? } else { self.next_of_totals(row)? };
        if more {
            self.good += 1;
            return Ok(true);
        }
        if self.good > 0 { Ok(false) } else { Err(self.no_rows()) }
    }

    #[cold]
    fn next_of_totals(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        let Some((mut spread, setting)) = self.spread.take() else { return Ok(false) };
        let more = self.spread(&mut spread, row);
        self.spread = Some((spread, setting));
        more
    }

    /// The next request of the totals at hand, or of those of the next interval.
    fn spread(&mut self, spread: &mut Spread, row: &mut Row) -> Result<bool, Box<Fault>> {
        while !spread.give(row) {
            let mut any = false;
            if let Some(after) = spread.after() {
                any = true;
                let line = self.rows.line();
                self.judge(spread.take(&after).map_err(|fault| fault.at(line)))?;
            }
            while self.next_row(row)? {
                any = true;
                if !spread.begins(row) {
                    break;
                }
                let line = self.rows.line();
                self.judge(spread.take(row).map_err(|fault| fault.at(line)))?;
            }
            if !any {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The next row that counts, of those that were read ahead or of the file.
    #[inline]
    fn next_row(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        if self.ahead.is_past() {
            return self.read(row);
        }
        match self.ahead.give(row) {
            Some(Ok(())) => Ok(true),
            Some(Err(fault)) => Err(fault),
            None => self.read(row),
        }
    }

    /// The next row of the file that is not bad and of which the filter holds.
    #[inline]
    fn read(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        while !self.ended {
            row.reset();
            match self.rows.next(row) {
                Ok(true) => {
                    if self.sieve.as_mut().is_some_and(|sieve| !sieve.holds(row)) {
                        continue;
                    }
                    if let Some(key_by) = &mut self.key_by {
                        key_by.put(row);
                    }
                    self.read += 1;
                    let Cached { read, written, priced } = &mut self.cached;
                    *read = read.saturating_add(row.cache_read_tokens);
                    *written = written.saturating_add(row.cache_write_tokens);
                    *priced |= row.microusd > 0;
                    return Ok(true);
                }
                Ok(false) => self.ended = true,
                Err(fault) if fault.fatal => return Err(fault),
                Err(fault) => {
                    let fault = self.mark_cut(fault);
                    self.judge(Err(fault))?;
                }
            }
        }
        Ok(false)
    }

    /// Counts a bad row where these are skipped and are not too many.
    fn judge(&mut self, read: Result<(), Box<Fault>>) -> Result<(), Box<Fault>> {
        let Err(fault) = read else { return Ok(()) };
        if !self.skip {
            return Err(fault);
        }
        self.skipped.add(&fault);
        match self.max_bad.filter(|max| self.skipped.total > *max) {
            None => Ok(()),
            Some(max) => {
                let message =
                    format!("more than {max} bad row{}; the last: {}", if max == 1 { "" } else { "s" }, fault.message);
                Err(Box::new(Fault { message, ..*fault }))
            }
        }
    }

    /// Says so when the bad row is the last one and the file does not end its line.
    fn mark_cut(&mut self, fault: Box<Fault>) -> Box<Fault> {
        if self.rows.unended() { fault.cut_off() } else { fault }
    }

    fn no_rows(&self) -> Box<Fault> {
        if let Some(message) = self.sieve.as_ref().and_then(Sieve::nothing) {
            return Fault::file(message);
        }
        if self.spread.is_some() && self.read > 0 && self.skipped.total == 0 {
            return Fault::file(format!("none of the {} totals has a request", self.read));
        }
        match self.skipped.total {
            0 => Fault::file(format!("{} (read as {})", self.rows.nothing(), self.format.name)),
            total => Fault::file(format!("none of the {total} rows can be read: {}", self.skipped.text())),
        }
    }

    /// The format that the file is read as.
    pub fn format(&self) -> &'static Format {
        self.format
    }

    /// What times count from; known once a row was read.
    pub fn clock(&self) -> Clock {
        self.rows.clock()
    }

    /// Bytes taken from the file so far, before decompression.
    pub fn bytes_read(&self) -> u64 {
        self.progress.bytes_read()
    }

    /// 1-based line of the row read last.
    pub fn line(&self) -> u64 {
        self.rows.line()
    }

    /// Good rows so far, without those left out for others to play.
    pub fn rows(&self) -> u64 {
        self.good - self.past as u64
    }

    /// Bad rows so far.
    pub fn skipped(&self) -> u64 {
        self.skipped.total
    }

    /// Good rows so far of which the filter does not hold.
    pub fn filtered(&self) -> u64 {
        self.sieve.as_ref().map_or(0, Sieve::left_out)
    }

    /// Everything that was assumed, and every row that was left out; complete at the end.
    pub fn into_notes(mut self) -> Vec<Note> {
        self.rows.finish(&mut self.notes);
        if let Some(key_by) = &self.key_by {
            key_by.finish(&mut self.notes);
        }
        let Cached { read, written, priced } = self.cached;
        if read > 0 || written > 0 {
            let where_to = match priced {
                true => "only the price has them in it",
                false => "no row has a price, so that they count nowhere",
            };
            self.notes.guess(format!(
                "{read} tokens read from a cache and {written} written to one are not counted as input tokens; {where_to}"
            ));
        }
        if let Some((spread, setting)) = &self.spread {
            spread.finish(setting, self.good, &mut self.notes);
        }
        let filtered = self.filtered();
        let mut notes = self.notes.0;
        if let Some(sieve) = &self.sieve {
            notes.push(sieve.note());
        }
        if self.skipped.total > 0 {
            let all = self.read + filtered + self.skipped.total;
            let text = format!("{} of {all} rows left out: {}", self.skipped.total, self.skipped.text());
            notes.push(Note { kind: NoteKind::Skipped, text });
        }
        notes
    }
}

/// Bad rows by reason.
#[derive(Debug, Default)]
struct Skipped {
    total: u64,
    /// Reason, number, and the first line of each.
    reasons: Vec<(&'static str, u64, Option<u64>)>,
}

impl Skipped {
    fn add(&mut self, fault: &Fault) {
        self.total += 1;
        match self.reasons.iter_mut().find(|(reason, ..)| *reason == fault.reason) {
            Some((_, count, _)) => *count += 1,
            None => self.reasons.push((fault.reason, 1, fault.line)),
        }
    }

    fn text(&self) -> String {
        let reasons = self.reasons.iter().map(|(reason, count, line)| match line {
            Some(line) => format!("{count} × {reason} (first in line {line})"),
            None => format!("{count} × {reason}"),
        });
        reasons.collect::<Vec<_>>().join(", ")
    }
}
