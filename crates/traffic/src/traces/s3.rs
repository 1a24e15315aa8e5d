//! Server access logs of Amazon S3.

use super::fault::Fault;
use super::field::{Field, Fields};
use super::format::{Clock, Format, Notes, Rows, Setup};
use super::http::{field, request_line, word};
use super::lines::Lines;
use super::number::digits;
use super::row::Row;
use super::time::Times;
use memchr::memchr;

/// The entry of the registry. Fields: AWS, "Amazon S3 server access log format".
pub(super) const FORMAT: Format = Format {
    name: "s3",
    summary: "server access log of Amazon S3",
    recognised_by: "OWNER BUCKET [06/Feb/2019:00:00:38 +0000] ADDRESS REQUESTER … \"REQUEST\" STATUS",
    time: "the stamp in brackets, when the request was received",
    key: "remote address",
    cost: "1",
    detect: |head| Entry::parse(head.first_line()).is_some(),
    open,
};

struct Entry<'a> {
    time: &'a [u8],
    address: &'a [u8],
    requester: &'a [u8],
    request: &'a [u8],
    status: &'a [u8],
}

impl<'a> Entry<'a> {
    fn parse(line: &'a [u8]) -> Option<Entry<'a>> {
        let (_owner, rest) = word(line);
        let (_bucket, rest) = word(rest);
        let rest = rest.strip_prefix(b"[")?;
        let close = memchr(b']', rest)?;
        let (time, mut rest) = (&rest[..close], &rest[close + 1..]);
        time.get(2).filter(|byte| **byte == b'/')?;
        // Address, requester, request id, operation, key, request, status.
        let mut fields: [&[u8]; 7] = [b""; 7];
        for next in &mut fields {
            (*next, rest) = field(rest)?;
        }
        let [address, requester, _, _, _, request, status] = fields;
        let sound = status == b"-" || status.len() == 3 && digits(status).is_some();
        sound.then_some(Entry { time, address, requester, request, status })
    }
}

struct S3 {
    lines: Lines,
    times: Times,
}

fn open(setup: Setup<'_>) -> Result<Box<dyn Rows>, Box<Fault>> {
    setup.no_columns(FORMAT.name)?;
    Ok(Box::new(S3 { lines: Lines::new(setup.input.reader), times: Times::new("time", None)? }))
}

impl Rows for S3 {
    fn next(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        let Some((number, line)) = self.lines.next()? else { return Ok(false) };
        let broken = || Fault::row("not an S3 log line", "not an S3 access log line").at(number).value(line);
        let entry = Entry::parse(line).ok_or_else(broken)?;
        row.at = self.times.read(entry.time).map_err(|fault| fault.at(number))?;
        row.key.extend_from_slice(entry.address);
        row.user.extend_from_slice(if entry.requester == b"-" { b"" } else { entry.requester });
        row.status = digits(entry.status).map_or(0, |status| status as u16);
        let (method, path) = request_line(entry.request);
        row.method.extend_from_slice(method);
        row.path.extend_from_slice(path);
        Ok(true)
    }

    fn fields(&self) -> Fields {
        Fields::of(&[Field::Key, Field::Cost, Field::Method, Field::Path, Field::Status, Field::User])
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line() {
        let line = b"79a5 amzn-bucket [06/Feb/2019:00:00:38 +0000] 192.0.2.3 - 3E57427F3EXAMPLE REST.GET.VERSIONING - \"GET /amzn-bucket?versioning HTTP/1.1\" 503 SlowDown 113 - 7 - \"-\" \"S3Console/0.4\" -";
        let entry = Entry::parse(line).unwrap();
        assert_eq!((entry.address, entry.requester, entry.status), (&b"192.0.2.3"[..], &b"-"[..], &b"503"[..]));
        assert_eq!(
            (entry.time, request_line(entry.request).1),
            (&b"06/Feb/2019:00:00:38 +0000"[..], &b"/amzn-bucket?versioning"[..])
        );
        assert!(Entry::parse(b"a - - [06/Feb/2019:00:00:38 +0000] \"GET / HTTP/1.1\" 200 1").is_none());
    }
}
