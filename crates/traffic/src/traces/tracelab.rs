//! Sessions of recorded agents for closed-loop replay, as TraceLab exports them (github.com/uw-syfi/TraceLab,
//! artifacts/trace_facts/csv_export): a session sends a round, waits for its answer, lets its tools work for
//! `tool_wait_after_ms`, and sends the next.
//!
//! The file says when a session arrives and how long its tools took, and for no round when it was sent: that depends on the
//! answers. Read as rows, rounds get the times of the undelayed schedule: the arrival, and for each further round the waits
//! before it, and the answers' own time where there is such a column.

use super::ahead::Totals;
use super::columns::{Columns, list};
use super::fault::Fault;
use super::format::{Clock, Format, Notes, Rows, Setup};
use super::header::DELIMITERS;
use super::input::{Head, Progress};
use super::number::{amount, decimal};
use super::role::Role;
use super::row::Row;
use super::time::Times;
use super::unit::{EPOCH, Unit};
use crate::spec::Trace;
use limiters::Nanos;
use std::collections::{HashMap, VecDeque};
use std::io::BufRead;

/// The entry of the registry.
pub(super) const FORMAT: Format = Format {
    name: "tracelab",
    summary: "sessions of recorded agents (TraceLab), replayed round by round as each is answered",
    recognised_by: "a header with session_id or id, round_idx and tool_wait_after_ms",
    time: "arrival_time of the session (ms unless its name says otherwise, 0 without it) and the waits of the rounds before",
    key: "session_id or id; or columns.key",
    cost: "1; input_len are input tokens, output_len output tokens, prefix_len tokens read from a cache",
    detect: |head| Header::of(head).is_some_and(|header| header.found().is_some()),
    open: |setup| Sessions::open(setup).map(|sessions| Box::new(sessions) as Box<dyn Rows>),
};

const SESSION: &[&str] = &["sessionid", "session", "conversationid", "id"];
const ROUND: &[&str] = &["roundidx", "roundindex", "round", "turnidx", "stepidx"];
const WAIT: &[&str] = &["toolwaitafterms", "waitafterms", "toolwaitms"];
const ANSWER: &[&str] =
    &["generationms", "generationtimems", "responsems", "responsetimems", "latencyms", "totaldurationms", "durationms"];

/// The names of the columns, from the first line that is no comment.
struct Header {
    names: Vec<String>,
    delimiter: u8,
}

/// Places of the columns that make a file one of sessions.
struct Found {
    session: usize,
    round: usize,
    wait: usize,
    answer: Option<usize>,
}

impl Header {
    fn of(head: &Head) -> Option<Header> {
        let (_, line) = head.lines().find(|(_, line)| !line.starts_with(b"#"))?;
        let count = |delimiter: &u8| line.iter().filter(|byte| *byte == delimiter).count();
        let delimiter = DELIMITERS.into_iter().rev().max_by_key(count)?;
        let mut reader = csv::ReaderBuilder::new().has_headers(false).delimiter(delimiter).from_reader(line);
        let mut record = csv::ByteRecord::new();
        reader.read_byte_record(&mut record).ok()?;
        let names = record.iter().map(|name| String::from_utf8_lossy(name.trim_ascii()).into_owned()).collect();
        Some(Header { names, delimiter })
    }

    fn place(&self, known: &[&str]) -> Option<usize> {
        let plain = |name: &String| name.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
        let names: Vec<String> = self.names.iter().map(plain).collect();
        known.iter().find_map(|known| names.iter().position(|name| name == known))
    }

    fn found(&self) -> Option<Found> {
        let (session, round, wait) = (self.place(SESSION)?, self.place(ROUND)?, self.place(WAIT)?);
        Some(Found { session, round, wait, answer: self.place(ANSWER) })
    }
}

/// One round as it is kept until the whole file is read; its time is made then.
struct Round {
    session: u32,
    round: u64,
    line: u64,
    at: Nanos,
    key: u32,
    wait: Nanos,
    takes: Option<Nanos>,
    cost: u64,
    tokens: [u64; 4],
    microusd: u64,
    /// The row as it was read, where a filter or the key may ask for more of it.
    row: Option<Box<Row>>,
}

/// Numbers of byte strings in the order of their first use.
#[derive(Default)]
struct Names {
    numbers: HashMap<Box<[u8]>, u32>,
    names: Vec<Box<[u8]>>,
}

impl Names {
    fn number(&mut self, name: &[u8]) -> Result<u32, Box<Fault>> {
        if let Some(number) = self.numbers.get(name) {
            return Ok(*number);
        }
        let number = u32::try_from(self.names.len() + 1).map_err(|_| Fault::file("more than 2^32 sessions or keys"))?;
        self.numbers.insert(name.into(), number - 1);
        self.names.push(name.into());
        Ok(number - 1)
    }
}

/// A file of sessions that is being read. Rounds may come in any order, so all are read before the first is handed out.
struct Sessions {
    reader: csv::Reader<Box<dyn BufRead + Send>>,
    record: csv::ByteRecord,
    header: Header,
    found: Found,
    columns: Columns,
    times: Option<Times>,
    spec: Trace,
    /// Whether rows have more than a round keeps.
    more: bool,
    progress: Progress,
    at_header: bool,
    sessions: Names,
    keys: Names,
    rounds: Vec<Round>,
    /// Rounds that the file has twice, found once it is read.
    faults: VecDeque<Box<Fault>>,
    /// The next round to hand out; `None` while the file is read.
    next: Option<usize>,
    line: u64,
}

impl Sessions {
    fn open(setup: Setup<'_>) -> Result<Sessions, Box<Fault>> {
        let Setup { spec, input, notes } = setup;
        let header = Header::of(&input.head).ok_or_else(|| Fault::file("the file has only comments"))?;
        let found = header.found().ok_or_else(|| {
            let names = list(&header.names);
            Fault::file(format!(
                "sessions need columns session_id (or id), round_idx and tool_wait_after_ms; the first line has {names}"
            ))
        })?;
        let columns = Columns::find(spec, &header.names, notes)?;
        let name = |place: usize| format!("\"{}\"", header.names[place]);
        let arrival = columns
            .one(Role::Time)
            .map_or("at time 0, for want of such a column".to_owned(), |place| format!("as {} says", name(place)));
        let answer = match found.answer {
            Some(place) => format!("an answer takes {}", name(place)),
            None => "no column says how long an answer takes".to_owned(),
        };
        let tokens = [
            (Role::Input, "input tokens"),
            (Role::CacheRead, "tokens read from a cache"),
            (Role::Output, "output tokens"),
        ];
        let tokens: Vec<String> = tokens
            .iter()
            .filter_map(|(role, what)| Some(format!(", {what} are {}", name(columns.one(*role)?))))
            .collect();
        notes.guess(format!(
            "sessions are told apart by {}, arrive {arrival}, go by {}, and wait {} behind each answer; {answer}{}",
            name(found.session),
            name(found.round),
            name(found.wait),
            tokens.concat()
        ));
        let reader = csv::ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .comment(Some(b'#'))
            .delimiter(header.delimiter)
            .buffer_capacity(1 << 16)
            .from_reader(input.reader);
        let roles = [Role::Status, Role::Method, Role::Path, Role::User];
        let more = roles.iter().any(|role| columns.one(*role).is_some());
        Ok(Sessions {
            reader,
            record: csv::ByteRecord::new(),
            found,
            columns,
            times: None,
            spec: spec.clone(),
            more,
            progress: input.progress,
            at_header: true,
            header,
            sessions: Names::default(),
            keys: Names::default(),
            rounds: Vec::new(),
            faults: VecDeque::new(),
            next: None,
            line: 0,
        })
    }

    /// Reads one row; `false` at the end of the file.
    fn read(&mut self) -> Result<bool, Box<Fault>> {
        let more = self.reader.read_byte_record(&mut self.record).map_err(|error| match error.into_kind() {
            csv::ErrorKind::Io(error) => Fault::io(&error),
            kind => Fault::file(format!("not a table ({kind:?})")),
        });
        if !more.map_err(|fault| fault.at(self.reader.position().line()))? {
            return Ok(false);
        }
        self.line = self.record.position().map_or(0, |position| position.line());
        if std::mem::take(&mut self.at_header) {
            return Ok(true);
        }
        let round = self.round().map_err(|fault| fault.at(self.line))?;
        self.rounds.push(round);
        Ok(true)
    }

    fn round(&mut self) -> Result<Round, Box<Fault>> {
        let (width, seen) = (self.header.names.len(), self.record.len());
        if seen != width {
            let reason = if seen < width { "too few columns" } else { "too many columns" };
            let shown: Vec<&[u8]> = self.record.iter().collect();
            let message = format!("the row has {seen} columns instead of {width}");
            return Err(Fault::row(reason, message).value(&shown.join(&self.header.delimiter)));
        }
        let (record, names) = (&self.record, &self.header.names);
        let length = |place: usize, what: &'static str| {
            milliseconds(&record[place], what).map_err(|fault| fault.column(&names[place]).value(&record[place]))
        };
        let mut row = Row::default();
        row.reset();
        let times = match &mut self.times {
            Some(times) => times,
            none => none.insert(times(&self.columns, names, record, &self.spec)?),
        };
        self.columns.fill(times, &mut row, |place| &record[place])?;
        let session = record[self.found.session].trim_ascii();
        if session.is_empty() {
            return Err(Fault::row("missing session", "the session is missing").column(&names[self.found.session]));
        }
        let place = self.found.round;
        let round = amount(&record[place], "round").map_err(|fault| fault.column(&names[place]))?;
        let wait = length(self.found.wait, "wait")?;
        // A session's last round waits for nothing, and an answer may be unknown; both may be left empty.
        let takes = match self.found.answer.filter(|place| !record[*place].trim_ascii().is_empty()) {
            Some(place) => Some(length(place, "time of the answer")?),
            None => None,
        };
        let kept = self.more.then(|| Box::new(row.clone()));
        Ok(Round {
            session: self.sessions.number(session)?,
            round,
            line: self.line,
            at: row.at,
            key: self.keys.number(&row.key)?,
            wait,
            takes,
            cost: row.cost,
            tokens: [row.input_tokens, row.output_tokens, row.cache_read_tokens, row.cache_write_tokens],
            microusd: row.microusd,
            row: kept,
        })
    }

    /// Makes the undelayed schedule of all rounds and puts them in its order.
    fn schedule(&mut self) {
        self.rounds.sort_by_key(|round| (round.session, round.round, round.line));
        let mut last: Option<(u32, u64, Option<Nanos>)> = None;
        let mut twice = VecDeque::new();
        let names = &self.sessions.names;
        self.rounds.retain_mut(|round| {
            let before = last.filter(|(session, ..)| *session == round.session);
            if before.is_some_and(|(_, number, _)| number == round.round) {
                let session = String::from_utf8_lossy(&names[round.session as usize]);
                let message = format!("round {} of session {session:?} comes a second time", round.round);
                twice.push_back(Fault::row("round twice", message).at(round.line));
                return false;
            }
            let at = before.map_or(Some(round.at), |(.., next)| next);
            let next = at.and_then(|at| at.checked_add(round.takes.unwrap_or(0))?.checked_add(round.wait));
            last = Some((round.session, round.round, next));
            match at {
                Some(at) => round.at = at,
                None => {
                    let message = "the waits before this round take it beyond the year 2554";
                    twice.push_back(Fault::row("time out of range", message).at(round.line));
                }
            }
            at.is_some()
        });
        // Equal times stay in the order of sessions and rounds.
        self.rounds.sort_by_key(|round| round.at);
        self.faults = twice;
        self.next = Some(0);
    }
}

/// How the arrival is written: in milliseconds from the start unless a setting, the column's name, its form or its magnitude
/// says otherwise.
fn times(columns: &Columns, names: &[String], record: &csv::ByteRecord, spec: &Trace) -> Result<Times, Box<Fault>> {
    let setting = spec.time_unit.as_deref();
    let new = |name: &str| Ok(Times::new(name, setting)?.named(spec));
    let Some(place) = columns.one(Role::Time) else { return new("arrival_time") };
    let name = &names[place];
    let small = decimal(record[place].trim_ascii())
        .is_some_and(|number| number.scaled(0).is_some_and(|(whole, _)| whole < EPOCH * 1_000));
    match setting {
        None if small && Unit::of_column(name).is_none() => Ok(Times::relative(name, Unit::MS)),
        _ => new(name),
    }
}

/// A length in milliseconds, 0 or more and rounded down to a nanosecond; empty is 0.
fn milliseconds(bytes: &[u8], what: &'static str) -> Result<Nanos, Box<Fault>> {
    let text = bytes.trim_ascii();
    if text.is_empty() {
        return Ok(0);
    }
    let number = decimal(text).ok_or_else(|| Fault::row("wait not a number", format!("the {what} is not a number")))?;
    if number.negative && number.mantissa != 0 {
        return Err(Fault::row("negative wait", format!("the {what} is negative")));
    }
    let scaled = number.scaled(6).map(|(nanos, _)| nanos);
    scaled.ok_or_else(|| Fault::row("wait too long", format!("the {what} is longer than 584 years")))
}

impl Rows for Sessions {
    fn next(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        while self.next.is_none() {
            if !self.read()? {
                self.schedule();
            }
        }
        if let Some(fault) = self.faults.pop_front() {
            self.line = fault.line.unwrap_or(self.line);
            return Err(fault);
        }
        let place = self.next.get_or_insert(0);
        let Some(round) = self.rounds.get(*place) else { return Ok(false) };
        *place += 1;
        self.line = round.line;
        if let Some(kept) = &round.row {
            row.clone_from(kept);
            row.key.clear();
        }
        (row.at, row.cost, row.microusd) = (round.at, round.cost, round.microusd);
        [row.input_tokens, row.output_tokens, row.cache_read_tokens, row.cache_write_tokens] = round.tokens;
        (row.session, row.takes) = (round.session + 1, round.takes);
        row.key.extend_from_slice(&self.keys.names[round.key as usize]);
        Ok(true)
    }

    fn columns(&self) -> Option<&Columns> {
        Some(&self.columns)
    }

    /// A row is one request, whatever its columns are called.
    fn totals(&self) -> Option<Totals> {
        None
    }

    fn ask(&mut self, name: &str) -> Option<usize> {
        self.more = true;
        self.columns.ask(name).map(|(_, slot)| slot)
    }

    fn clock(&self) -> Clock {
        self.times.as_ref().map_or(Clock::Relative, Times::clock)
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn unended(&self) -> bool {
        self.next.is_none() && self.progress.is_unended_at(self.reader.position().byte())
    }

    fn nothing(&self) -> String {
        "the file has a header and no rows".to_owned()
    }

    fn finish(&mut self, notes: &mut Notes) {
        if self.columns.one(Role::Time).is_some()
            && let Some(times) = &self.times
        {
            times.finish(notes);
        }
        let unknown = self.rounds.iter().filter(|round| round.takes.is_none()).count();
        let answers = match unknown {
            0 => String::new(),
            some if some == self.rounds.len() => ", an answer counting as no time".to_owned(),
            some => format!(", the answers whose time is unknown ({some}) counting as no time"),
        };
        notes.guess(format!(
            "{} rounds of {} sessions stand at the times of the undelayed schedule: arrival and the waits of the rounds before{answers}; \
             `run` sends a round only when the one before it is answered",
            self.rounds.len(),
            self.sessions.names.len()
        ));
    }
}
