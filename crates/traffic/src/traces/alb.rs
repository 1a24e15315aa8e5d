//! Access logs of AWS Application Load Balancers.

use super::fault::Fault;
use super::field::{Field, Fields};
use super::format::{Clock, Format, Notes, Rows, Setup};
use super::http::{field, request_line};
use super::lines::Lines;
use super::number::digits;
use super::row::Row;
use super::time::Times;

/// The entry of the registry. Fields: AWS, "Access logs for your Application Load Balancer".
pub(super) const FORMAT: Format = Format {
    name: "alb",
    summary: "access log of an AWS Application Load Balancer",
    recognised_by: "lines that begin with http, https, h2, grpcs, ws or wss, a time with a zone, and app/NAME/ID",
    time: "request_creation_time, when the balancer received the request; else the time of its answer",
    key: "client address, without the port",
    cost: "1",
    detect: |head| Entry::parse(head.first_line()).is_some(),
    open,
};

struct Entry<'a> {
    answered: &'a [u8],
    created: Option<&'a [u8]>,
    client: &'a [u8],
    status: &'a [u8],
    request: &'a [u8],
}

impl<'a> Entry<'a> {
    fn parse(line: &'a [u8]) -> Option<Entry<'a>> {
        let mut fields: [&[u8]; 22] = [b""; 22];
        let (mut rest, mut count) = (line, 0);
        while count < fields.len()
            && let Some((next, after)) = field(rest)
        {
            fields[count] = next;
            (rest, count) = (after, count + 1);
        }
        let kinds: [&[u8]; 6] = [b"http", b"https", b"h2", b"grpcs", b"ws", b"wss"];
        if count < 13 || !kinds.contains(&fields[0]) || !fields[2].starts_with(b"app/") {
            return None;
        }
        let port = fields[3].iter().rposition(|byte| *byte == b':')?;
        let created = (count == 22).then_some(fields[21]);
        Some(Entry { answered: fields[1], created, client: &fields[3][..port], status: fields[8], request: fields[12] })
    }
}

struct Alb {
    lines: Lines,
    times: Times,
    answered: u64,
}

fn open(setup: Setup<'_>) -> Result<Box<dyn Rows>, Box<Fault>> {
    setup.no_columns(FORMAT.name)?;
    Ok(Box::new(Alb { lines: Lines::new(setup.input.reader), times: Times::new("time", None)?, answered: 0 }))
}

impl Rows for Alb {
    fn next(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        let Some((number, line)) = self.lines.next()? else { return Ok(false) };
        let broken = || Fault::row("not an ALB log line", "not an ALB access log line").at(number).value(line);
        let entry = Entry::parse(line).ok_or_else(broken)?;
        let time = entry.created.unwrap_or(entry.answered);
        row.at = self.times.read(time).map_err(|fault| fault.at(number))?;
        self.answered += u64::from(entry.created.is_none());
        row.key.extend_from_slice(entry.client);
        row.status = digits(entry.status).and_then(|status| status.try_into().ok()).unwrap_or(0);
        let (method, path) = request_line(entry.request);
        row.method.extend_from_slice(method);
        row.path.extend_from_slice(path);
        Ok(true)
    }

    fn fields(&self) -> Fields {
        Fields::of(&[Field::Key, Field::Cost, Field::Method, Field::Path, Field::Status])
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
        if self.answered > 0 {
            notes.guess(format!(
                "{} rows have no request_creation_time and are taken at the time of their answer",
                self.answered
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_with_all_fields() {
        let line = "h2 2024-05-01T10:00:02.300000Z app/web/50dc6c495c0c9188 [2001:db8::1]:49152 10.0.0.1:80 0.000 0.048 0.000 429 429 0 57 \"GET https://example.com:443/a?b=c HTTP/2.0\" \"agent \\\"x\\\"\" ECDHE TLSv1.2 arn:aws:tg \"Root=1-2\" \"example.com\" \"-\" 0 2024-05-01T10:00:02.252000Z \"forward\" \"-\" \"-\"";
        let entry = Entry::parse(line.as_bytes()).unwrap();
        assert_eq!((entry.client, entry.status), (&b"[2001:db8::1]"[..], &b"429"[..]));
        assert_eq!(entry.created, Some(&b"2024-05-01T10:00:02.252000Z"[..]));
        assert_eq!(request_line(entry.request), (&b"GET"[..], &b"https://example.com:443/a?b=c"[..]));
        assert!(Entry::parse(b"GET / HTTP/1.1").is_none());
    }
}
