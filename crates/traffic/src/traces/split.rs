//! Rows of a table split into fields: many lines at once where they have no quote, else row by row as the `csv` crate does.
//!
//! That crate looks at each byte in turn, which takes most of the time that reading a table takes. Between quotes a byte
//! means what the bytes before it make of it; without any, a delimiter ends a field and a line end a row, wherever they
//! are. So a block of whole lines is searched for what needs more care, and if it has nothing of it, for the ends of all
//! fields, eight bytes at a time. From the first such block on, if there is one, the `csv` crate reads the rest of the file.

use super::fault::Fault;
use super::input::{BUFFER, Progress};
use memchr::{memchr, memchr_iter, memchr2, memrchr};
use std::io::{self, BufRead, Chain, Cursor, Read};

/// A line that is longer is left to the `csv` crate. Positions within a block have 31 bits.
const LONGEST: usize = 1 << 24;
/// Marks the position at which not only a field ends, but its row.
const ROW: u32 = 1 << 31;

type Input = Box<dyn BufRead + Send>;

/// Reads rows.
pub(super) struct Split {
    input: Input,
    /// What was read and is not past yet, up to `filled`.
    buffer: Vec<u8>,
    filled: usize,
    ended: bool,
    /// Where fields end in the block at hand; those of the rows to come begin at `mark`.
    marks: Vec<u32>,
    mark: usize,
    /// Where the row at hand begins and ends, and its first mark.
    row: (usize, usize, usize),
    /// Where the next row begins.
    next: usize,
    /// Bytes before the buffer.
    before: u64,
    /// Lines that are past.
    lines: u64,
    shape: Shape,
    progress: Progress,
    careful: Option<Careful>,
}

/// How the table is written.
#[derive(Clone, Copy)]
pub(super) struct Shape {
    pub delimiter: u8,
    /// What lines that are comments begin with.
    pub comment: Option<u8>,
    /// Whether lines end in \r\n.
    pub crlf: bool,
}

/// What was read already, what was not, and what is put behind it.
type Rest = Chain<Chain<Cursor<Vec<u8>>, Input>, &'static [u8]>;

/// The `csv` crate at work, from some row on.
pub(super) struct Careful {
    reader: csv::Reader<Rest>,
    pub record: csv::ByteRecord,
    /// Whether a quote of the record is never closed.
    open: bool,
}

/// Put behind the file: the end of its last row and one more. A quote that is still open takes them in; the crate does not say
/// that one is.
const BEHIND: &[u8] = b"\n\0\n";

impl Split {
    /// Begins at the first row of `input`.
    pub fn new(input: Input, progress: Progress, shape: Shape) -> Split {
        Split::with_room(BUFFER, input, progress, shape)
    }

    /// The same, which reads at most `room` bytes at once while lines are no longer.
    fn with_room(room: usize, input: Input, progress: Progress, shape: Shape) -> Split {
        Split {
            input,
            buffer: vec![0; room],
            filled: 0,
            ended: false,
            marks: Vec::new(),
            mark: 0,
            row: (0, 0, 0),
            next: 0,
            before: 0,
            lines: 0,
            shape,
            progress,
            careful: None,
        }
    }

    /// Goes to the next row that is neither blank nor a comment; `false` at the end.
    ///
    /// # Errors
    /// When reading fails, or for a row whose quote is never closed.
    #[inline]
    pub fn next(&mut self) -> Result<bool, Box<Fault>> {
        while self.careful.is_none() {
            if self.mark == self.marks.len() {
                match self.refill() {
                    Ok(true) => continue,
                    Ok(false) => return Ok(false),
                    Err(error) => return Err(Fault::io(&error).at(self.reached())),
                }
            }
            let (begin, first) = (self.next, self.mark);
            let mut mark = self.marks[self.mark];
            while mark < ROW {
                self.mark += 1;
                mark = self.marks[self.mark];
            }
            self.mark += 1;
            let end = (mark - ROW) as usize;
            self.next = end + 1;
            self.lines += 1;
            let line = &self.buffer[begin..end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if line.is_empty() || line.first() == self.shape.comment.as_ref() {
                continue;
            }
            self.row = (begin, begin + line.len(), first);
            return Ok(true);
        }
        self.next_with_care()
    }

    fn next_with_care(&mut self) -> Result<bool, Box<Fault>> {
        let Some(careful) = &mut self.careful else { return Ok(false) };
        // With any number of fields allowed and no text expected, nothing but reading can fail.
        match careful.reader.read_byte_record(&mut careful.record).map_err(io::Error::from) {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(error) => return Err(Fault::io(&error).at(self.reached())),
        }
        // A last line that has no end ends with the first byte that was put behind it.
        if !self.progress.ends_before((self.before + careful.reader.position().byte()).saturating_sub(1)) {
            return Ok(true);
        }
        if careful.record.len() == 1 && careful.record[0] == BEHIND[1..2] {
            return Ok(false);
        }
        careful.open = true;
        let text = careful.record.iter().collect::<Vec<_>>().join(&self.shape.delimiter);
        let text = text.strip_suffix(BEHIND).unwrap_or(&text);
        let within = text.strip_suffix(b"\n").unwrap_or(text);
        let fault = match memchr_iter(b'\n', within).count() {
            0 => Fault::row("quote not closed", "a quote in it is never closed"),
            more => Fault::file(format!(
                "a quote in this row is never closed, so that it takes in the {more} {} after it",
                if more == 1 { "line" } else { "lines" }
            )),
        };
        let first = within.split(|byte| *byte == b'\n').next().unwrap_or_default();
        Err(fault.value(first).at(self.line()))
    }

    /// Reads on, up to the end of some line, and finds where its fields end; `false` at the end.
    #[cold]
    fn refill(&mut self) -> io::Result<bool> {
        self.next = self.next.min(self.filled);
        self.buffer.copy_within(self.next..self.filled, 0);
        self.before += self.next as u64;
        self.filled -= self.next;
        (self.next, self.mark) = (0, 0);
        self.marks.clear();
        let mut whole = 0;
        while whole == 0 {
            if self.ended {
                return Ok(false);
            }
            if self.filled == self.buffer.len() {
                if self.filled >= LONGEST {
                    return Ok(self.beware());
                }
                self.buffer.resize(self.filled * 2, 0);
            }
            match self.input.read(&mut self.buffer[self.filled..]) {
                Ok(0) => {
                    self.ended = true;
                    whole = self.filled;
                }
                Ok(count) => {
                    let more = &self.buffer[self.filled..self.filled + count];
                    whole = memrchr(b'\n', more).map_or(0, |end| self.filled + end + 1);
                    self.filled += count;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let block = &self.buffer[..whole];
        if needs_care(block) {
            return Ok(self.beware());
        }
        ends(block, self.shape.delimiter, &mut self.marks);
        if self.ended {
            // The last line of the file has no end of its own.
            self.marks.push(whole as u32 | ROW);
        }
        Ok(true)
    }

    /// Leaves all that is not past to the `csv` crate.
    fn beware(&mut self) -> bool {
        let mut rest = std::mem::take(&mut self.buffer);
        rest.truncate(self.filled);
        let rest = Cursor::new(rest).chain(std::mem::replace(&mut self.input, Box::new(io::empty()))).chain(BEHIND);
        let mut builder = csv::ReaderBuilder::new();
        builder.has_headers(false).flexible(true).delimiter(self.shape.delimiter).comment(self.shape.comment);
        builder.buffer_capacity(BUFFER);
        self.careful = Some(Careful { reader: builder.from_reader(rest), record: csv::ByteRecord::new(), open: false });
        true
    }

    /// The reader that takes care, where there is one, which then has the row at hand.
    #[inline]
    pub fn careful(&self) -> Option<&Careful> {
        self.careful.as_ref()
    }

    /// How many fields the row has that no care was needed for.
    #[inline]
    pub fn len(&self) -> usize {
        self.mark - self.row.2
    }

    /// A field of the row that no care was needed for; empty where it has none.
    #[inline]
    pub fn field(&self, at: usize) -> &[u8] {
        let (begin, end, first) = self.row;
        let marks = &self.marks[first..self.mark];
        let begin = if at == 0 { begin } else { marks[at - 1] as usize + 1 };
        let end = if at + 1 < marks.len() { marks[at] as usize } else { end };
        &self.buffer[begin..end]
    }

    /// All fields of the row.
    pub fn fields(&self) -> Vec<&[u8]> {
        match &self.careful {
            Some(careful) => careful.record.iter().collect(),
            None => (0..self.len()).map(|at| self.field(at)).collect(),
        }
    }

    /// 1-based line in which the row begins.
    pub fn line(&self) -> u64 {
        match &self.careful {
            None => self.lines,
            // The reader's own count for a record is that of the blank lines and comments before it, so count back from
            // its end. A record ends behind its \n, but before the \n of \r\n.
            Some(careful) => {
                let within = memchr_iter(b'\n', careful.record.as_slice()).count() as u64;
                let behind = u64::from(!careful.open && (!self.shape.crlf || self.unended()));
                self.reached() - within - behind
            }
        }
    }

    /// 1-based line that reading has come to.
    pub fn reached(&self) -> u64 {
        self.lines + self.careful.as_ref().map_or(1, |careful| careful.reader.position().line())
    }

    /// Whether the row ends with the file instead of a line end.
    pub fn unended(&self) -> bool {
        match &self.careful {
            None => self.progress.is_unended_at(self.before + self.next.min(self.filled) as u64),
            Some(Careful { open: true, .. }) => self.progress.is_unended(),
            Some(careful) => {
                let end = self.before + careful.reader.position().byte();
                end > 0 && self.progress.is_unended_at(end - 1)
            }
        }
    }
}

/// Whether a block of lines has anything but delimiters and line ends that is more than itself: a quote, or a \r without \n.
fn needs_care(block: &[u8]) -> bool {
    memchr2(b'"', b'\r', block).is_some_and(|at| {
        let rest = &block[at..];
        memchr(b'"', rest).is_some() || memchr_iter(b'\r', rest).any(|at| rest.get(at + 1) != Some(&b'\n'))
    })
}

/// Appends where the fields and rows of `block` end.
fn ends(block: &[u8], delimiter: u8, marks: &mut Vec<u32>) {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const LOW: u64 = 0x7f * ONES;
    // The highest bit of each byte that is 0, exactly: no byte carries into its neighbour.
    let zeros = |word: u64| !(((word & LOW) + LOW) | word | LOW);
    let delimiters = ONES * u64::from(delimiter);
    let mut words = block.chunks_exact(8);
    let mut at = 0;
    let mark = |at: u32, byte: u8| if byte == b'\n' { at | ROW } else { at };
    for bytes in &mut words {
        let word = u64::from_le_bytes(bytes.try_into().unwrap_or_default());
        let mut found = zeros(word ^ delimiters) | zeros(word ^ (ONES * u64::from(b'\n')));
        while found != 0 {
            let within = found.trailing_zeros() / 8;
            marks.push(mark(at + within, bytes[within as usize]));
            found &= found - 1;
        }
        at += 8;
    }
    let rest = (at..).zip(words.remainder()).filter(|(_, byte)| **byte == delimiter || **byte == b'\n');
    marks.extend(rest.map(|(at, byte)| mark(at, *byte)));
}

#[cfg(test)]
mod tests;
