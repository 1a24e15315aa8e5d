//! Access logs of web servers: the Common Log Format and what Apache and nginx make of it.

use super::fault::Fault;
use super::field::{Field, Fields};
use super::format::{Clock, Format, Notes, Rows, Setup};
use super::http::{closing_quote, request_line, word};
use super::lines::Lines;
use super::number::{Decimal, amount, decimal, digits};
use super::row::Row;
use super::time::Times;
use memchr::{memchr, memmem};
use std::net::IpAddr;

/// The entry of the registry.
pub(super) const FORMAT: Format = Format {
    name: "access-log",
    summary: "access log of Apache or nginx (common, combined, with a virtual host in front, with the request time behind)",
    recognised_by: "ADDRESS IDENT USER [10/Oct/2000:13:55:36 -0700] \"REQUEST\" STATUS BYTES",
    time: "the stamp in brackets; less the request time where nginx writes one behind, since it stamps completion",
    key: "client address; columns.key chooses user, path, method or vhost",
    cost: "1; columns.cost = \"bytes\" counts the bytes of the answer",
    detect: |head| Entry::parse(head.first_line()).is_ok(),
    open,
};

/// What a line says, as slices of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry<'a> {
    vhost: &'a [u8],
    client: &'a [u8],
    user: &'a [u8],
    time: &'a [u8],
    method: &'a [u8],
    path: &'a [u8],
    status: &'a [u8],
    bytes: &'a [u8],
    /// What follows the bytes: referer, user agent, and what a site adds.
    rest: &'a [u8],
}

/// A part of a line.
type Part = for<'a> fn(&Entry<'a>) -> &'a [u8];

/// The parts that `columns` can name.
const PARTS: [(&str, Part); 6] = [
    ("client", |entry| entry.client),
    ("user", |entry| entry.user),
    ("path", |entry| entry.path),
    ("method", |entry| entry.method),
    ("vhost", |entry| entry.vhost),
    ("bytes", |entry| entry.bytes),
];

impl<'a> Entry<'a> {
    fn parse(line: &'a [u8]) -> Result<Entry<'a>, &'static str> {
        let open = memmem::find(line, b" [").ok_or("no time in brackets")?;
        let close = open + memchr(b']', &line[open..]).ok_or("no time in brackets")?;
        let time = &line[open + 2..close];
        if time.get(2) != Some(&b'/') && time.get(4) != Some(&b'-') {
            return Err("no time in brackets");
        }
        let mut entry = Entry { time, ..Entry::default() };
        entry.who(&line[..open]);
        let rest = line[close + 1..].strip_prefix(b" \"").ok_or("no request in quotes")?;
        let end = closing_quote(rest).ok_or("no closing quote behind the request")?;
        (entry.method, entry.path) = request_line(&rest[..end]);
        let (status, rest) = word(&rest[end + 1..]);
        let (bytes, rest) = word(rest);
        if status != b"-" && !(status.len() == 3 && digits(status).is_some()) {
            return Err("no status of three digits behind the request");
        }
        if bytes != b"-" && digits(bytes).is_none() {
            return Err("no number of bytes behind the status");
        }
        (entry.status, entry.bytes, entry.rest) = (status, bytes, rest);
        Ok(entry)
    }

    /// `[VHOST ]CLIENT[, PROXY …] IDENT USER`. A user may have spaces, an ident never has.
    fn who(&mut self, text: &'a [u8]) {
        let (first, mut rest) = word(text);
        self.client = first;
        let (second, after) = word(rest);
        if !first.ends_with(b",")
            && second != b"-"
            && !after.is_empty()
            && is_host(second)
            && word(after).0 == b"-"
            && !is_address(first)
            || has_port(first) && is_address(second)
        {
            (self.vhost, self.client, rest) = (first, second, after);
        }
        // A list of addresses goes from the client to the last proxy.
        let mut last = self.client;
        while last.ends_with(b",") && !rest.is_empty() {
            (last, rest) = word(rest);
        }
        self.client = self.client.split(|byte| *byte == b',').next().unwrap_or(self.client);
        let (_ident, user) = word(rest);
        self.user = if user == b"-" { b"" } else { user };
    }

    /// The time the request took, when the line has it behind the quoted fields: `rt=0.123`, `request_time=0.123` or the
    /// first number with a point, as nginx writes seconds.
    fn request_time(&self) -> Option<Decimal> {
        let mut rest = self.rest;
        while let Some(quoted) = rest.trim_ascii_start().strip_prefix(b"\"") {
            rest = &quoted[closing_quote(quoted)? + 1..];
        }
        let mut bare = None;
        for word in rest.split(|byte| *byte == b' ') {
            let word = word.strip_prefix(b"\"").and_then(|word| word.strip_suffix(b"\"")).unwrap_or(word);
            if let Some(named) = word.strip_prefix(b"rt=").or_else(|| word.strip_prefix(b"request_time=")) {
                return decimal(named);
            }
            if bare.is_none() && word.contains(&b'.') && word.first().is_some_and(u8::is_ascii_digit) {
                bare = decimal(word);
            }
        }
        bare
    }
}

fn is_address(text: &[u8]) -> bool {
    std::str::from_utf8(text).is_ok_and(|text| text.parse::<IpAddr>().is_ok())
}

fn is_host(text: &[u8]) -> bool {
    is_address(text)
        || text.contains(&b'.') && text.iter().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(byte))
}

fn has_port(text: &[u8]) -> bool {
    let colon = text.iter().rposition(|byte| *byte == b':');
    !is_address(text) && colon.is_some_and(|at| digits(&text[at + 1..]).is_some())
}

struct AccessLog {
    lines: Lines,
    times: Times,
    key: Part,
    bytes_cost: bool,
    /// Parts that are asked for.
    own: Vec<Part>,
    /// Rows whose stamp was moved back by the time the request took.
    moved: u64,
}

fn open(setup: Setup<'_>) -> Result<Box<dyn Rows>, Box<Fault>> {
    let mut key = PARTS[0].1;
    let mut bytes_cost = false;
    for (role, names) in &setup.spec.columns {
        let [name] = names.as_slice() else {
            let said = setup.spec.chosen(role, names);
            return Err(Fault::file(format!("{said}: {role} is one part of an access log")));
        };
        let part = PARTS.iter().find(|(part, _)| part == name);
        match (role.as_str(), part) {
            ("key", Some((_, get))) => key = *get,
            ("cost", Some(("bytes", _))) => bytes_cost = true,
            _ => {
                let said = setup.spec.chosen(role, names);
                return Err(Fault::file(format!(
                    "{said}: an access log has no {role} = \"{name}\"; valid are key = \"client\", \"user\", \"path\", \"method\", \"vhost\" or \"bytes\", and cost = \"bytes\""
                )));
            }
        }
    }
    let times = Times::new("time", None)?;
    Ok(Box::new(AccessLog { lines: Lines::new(setup.input.reader), times, key, bytes_cost, own: Vec::new(), moved: 0 }))
}

impl Rows for AccessLog {
    fn next(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        let Some((number, line)) = self.lines.next()? else { return Ok(false) };
        let entry = Entry::parse(line).map_err(|why| {
            Fault::row("not an access log line", format!("not an access log line: {why}")).at(number).value(line)
        })?;
        row.at = self.times.read(entry.time).map_err(|fault| fault.at(number))?;
        if let Some(took) = entry.request_time()
            && let Some((nanos, _)) = took.scaled(9)
            && !took.negative
        {
            row.at = row.at.saturating_sub(nanos);
            self.moved += 1;
        }
        row.key.extend_from_slice((self.key)(&entry));
        row.method.extend_from_slice(entry.method);
        row.path.extend_from_slice(entry.path);
        row.user.extend_from_slice(entry.user);
        row.status = digits(entry.status).map_or(0, |status| status as u16);
        if self.bytes_cost {
            let bytes = if entry.bytes == b"-" { b"0" } else { entry.bytes };
            row.cost = amount(bytes, "number of bytes").map_err(|fault| fault.at(number))?;
        }
        for (slot, get) in self.own.iter().enumerate() {
            row.put_own(slot, get(&entry));
        }
        Ok(true)
    }

    fn fields(&self) -> Fields {
        Fields::of(&[Field::Key, Field::Cost, Field::Method, Field::Path, Field::Status, Field::User])
    }

    fn names(&self) -> Vec<String> {
        PARTS.iter().map(|(name, _)| (*name).to_owned()).collect()
    }

    fn ask(&mut self, name: &str) -> Option<usize> {
        let (_, part) = PARTS.iter().find(|(part, _)| *part == name)?;
        self.own.push(*part);
        Some(self.own.len() - 1)
    }

    fn plays(&self, name: &str) -> Option<Field> {
        match name {
            "user" => Some(Field::User),
            "path" => Some(Field::Path),
            "method" => Some(Field::Method),
            _ => None,
        }
    }

    fn clock(&self) -> Clock {
        Clock::Wall
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
                "{} rows have a request time; the stamp is taken as the completion (nginx) and moved back by it to the arrival",
                self.moved
            ));
        } else {
            notes.guess(
                "stamps are taken as arrivals; nginx stamps completions, so with nginx add $request_time to the log's end",
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(line: &str) -> [String; 7] {
        let entry = Entry::parse(line.as_bytes()).unwrap();
        let Entry { vhost, client, user, method, path, status, bytes, .. } = entry;
        [vhost, client, user, method, path, status, bytes].map(|part| String::from_utf8(part.to_vec()).unwrap())
    }

    const TIME: &str = "[10/Oct/2000:13:55:36 -0700]";

    #[test]
    fn lines_of_every_kind() {
        for (line, expected) in [
            (
                format!("127.0.0.1 - frank {TIME} \"GET /a HTTP/1.0\" 200 23"),
                ["", "127.0.0.1", "frank", "GET", "/a", "200", "23"],
            ),
            (format!("2001:db8::1 - - {TIME} \"-\" 408 -"), ["", "2001:db8::1", "", "", "", "408", "-"]),
            (
                format!("example.com:443 ::1 - - {TIME} \"GET / HTTP/1.1\" 200 5 \"-\" \"ua\""),
                ["example.com:443", "::1", "", "GET", "/", "200", "5"],
            ),
            (
                format!("example.com 10.0.0.1 - - {TIME} \"GET / HTTP/1.1\" 200 5"),
                ["example.com", "10.0.0.1", "", "GET", "/", "200", "5"],
            ),
            (
                format!("10.0.0.1, 10.0.0.2 - john doe {TIME} \"GET / HTTP/1.1\" 200 5"),
                ["", "10.0.0.1", "john doe", "GET", "/", "200", "5"],
            ),
            (
                format!("h - - {TIME} \"GET /a \\\"b\\\" c HTTP/1.1\" 404 5"),
                ["", "h", "", "GET", "/a \\\"b\\\" c", "404", "5"],
            ),
            (format!("h - - {TIME} \"\\x16\\x03\" 400 0"), ["", "h", "", "", "", "400", "0"]),
        ] {
            assert_eq!(parts(&line), expected.map(str::to_owned), "{line}");
        }
        for line in [
            "",
            "a - - [x] \"GET /\" 200 1",
            "a - - [10/Oct/2000:13:55:36 -0700] \"GET /",
            "a - - [10/Oct/2000:13:55:36 -0700] \"GET /\" abc 1",
        ] {
            assert!(Entry::parse(line.as_bytes()).is_err(), "{line}");
        }
    }

    #[test]
    fn the_request_time_is_seconds_behind_the_quotes() {
        for (tail, nanos) in [
            ("\"-\" \"ua\" 0.123", Some(123_000_000)),
            ("\"-\" \"ua 1.5\" \"-\" rt=0.25 uct=0.001", Some(250_000_000)),
            ("\"-\" \"ua\" \"0.004\"", None),
            ("\"-\" \"ua\" 123456", None),
            ("\"-\" \"ua\"", None),
            ("", None),
        ] {
            let line = format!("h - - {TIME} \"GET / HTTP/1.1\" 200 5 {tail}");
            let took = Entry::parse(line.as_bytes()).unwrap().request_time();
            assert_eq!(took.and_then(|took| took.scaled(9)).map(|(nanos, _)| nanos), nanos, "{tail}");
        }
    }
}
