//! The bytes of a recorded file: from disk or standard input, decompressed, with its beginning in hand.

use super::compression::decompress;
use super::fault::Fault;
use super::parquet::MAGIC;
use memchr::memchr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};

/// Bytes of the beginning that formats are recognised by.
const HEAD: usize = 64 * 1024;
/// Bytes that are read at once.
pub(super) const BUFFER: usize = 256 * 1024;

/// A file that is being read.
pub(super) struct Input {
    pub head: Head,
    /// Everything from the first byte on, a byte order mark apart.
    pub reader: Box<dyn BufRead + Send>,
    /// The file itself, where it is one that must be read from its end.
    #[cfg_attr(not(feature = "parquet"), allow(dead_code))]
    pub file: Option<File>,
    pub progress: Progress,
}

/// How far reading has come.
#[derive(Clone, Default)]
pub(super) struct Progress {
    read: Arc<AtomicU64>,
    tail: Arc<Tail>,
}

/// The end of what was read, after decompression.
#[derive(Default)]
struct Tail {
    length: AtomicU64,
    last: AtomicU8,
    ended: AtomicBool,
}

impl Progress {
    /// Bytes taken from the file, before decompression.
    pub fn bytes_read(&self) -> u64 {
        self.read.load(Relaxed)
    }

    /// Whether the file ended, without a line end, at `position` in its decompressed bytes.
    pub fn is_unended_at(&self, position: u64) -> bool {
        self.is_unended() && self.tail.length.load(Relaxed) == position
    }

    /// Whether the file ended, without a line end.
    pub fn is_unended(&self) -> bool {
        self.tail.ended.load(Relaxed) && self.tail.last.load(Relaxed) != b'\n'
    }

    /// Whether the file ended before `position` in its decompressed bytes.
    pub fn ends_before(&self, position: u64) -> bool {
        self.tail.ended.load(Relaxed) && self.tail.length.load(Relaxed) < position
    }
}

/// Opens `path`, or standard input for `-`. Compression is recognised by its first bytes, whatever the file's name.
pub(super) fn open(path: &Path) -> Result<Input, Box<Fault>> {
    let raw: Box<dyn Read + Send> = if path == Path::new("-") {
        Box::new(io::stdin())
    } else {
        let file = File::open(path).map_err(|error| Fault::io(&error))?;
        if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return Err(Fault::file("this is a directory; name a file in it"));
        }
        if file.metadata().is_ok_and(|metadata| metadata.is_file()) {
            return from_file(file);
        }
        Box::new(file)
    };
    from_reader(raw)
}

/// The same from a file that can be read anywhere, which Parquet is.
fn from_file(file: File) -> Result<Input, Box<Fault>> {
    let again = file.try_clone().map_err(|error| Fault::io(&error))?;
    let input = from_reader(file)?;
    let is_parquet = input.head.bytes.starts_with(MAGIC);
    if is_parquet && let Ok(metadata) = again.metadata() {
        input.progress.read.store(metadata.len(), Relaxed);
    }
    Ok(Input { file: is_parquet.then_some(again), ..input })
}

/// The same from any reader.
pub(super) fn from_reader(raw: impl Read + Send + 'static) -> Result<Input, Box<Fault>> {
    let progress = Progress::default();
    let counted = Counted { inner: raw, read: progress.read.clone() };
    let mut plain: Box<dyn Read + Send> = decompress(BufReader::with_capacity(BUFFER, counted))?;
    let mut bytes = vec![0; HEAD];
    let mut length = 0;
    while length < HEAD {
        match plain.read(&mut bytes[length..]).map_err(|error| Fault::io(&error))? {
            0 => break,
            count => length += count,
        }
    }
    bytes.truncate(length);
    let whole = length < HEAD;
    if bytes.starts_with(b"\xef\xbb\xbf") {
        bytes.drain(..3);
    }
    let head = Head::new(bytes, whole);
    refuse_stubs(&head)?;
    let tailed = Tailed { inner: Cursor::new(head.bytes.clone()).chain(plain), tail: progress.tail.clone() };
    Ok(Input { head, reader: Box::new(BufReader::with_capacity(BUFFER, tailed)), file: None, progress })
}

/// The beginning of a file, after decompression and without a byte order mark.
pub(super) struct Head {
    pub bytes: Vec<u8>,
    /// Whether the file ends within it.
    pub whole: bool,
}

impl Head {
    pub fn new(bytes: Vec<u8>, whole: bool) -> Head {
        Head { bytes, whole }
    }

    /// The lines of the beginning that are not blank, with their 1-based numbers and without line ends; the last one may
    /// be cut where the beginning is.
    pub fn lines(&self) -> impl Iterator<Item = (u64, &[u8])> {
        (1..)
            .zip(self.bytes.split(|byte| *byte == b'\n'))
            .map(|(n, line)| (n, line.trim_ascii()))
            .filter(|(_, line)| !line.is_empty())
    }

    /// The first JSON object, of a list or of lines, as far as it lies in the beginning; what is no object is empty.
    pub fn first_object(&self) -> &[u8] {
        let text = self.bytes.trim_ascii_start();
        let text = text.strip_prefix(b"[").map_or(text, <[u8]>::trim_ascii_start);
        let mut values = serde_json::Deserializer::from_slice(text).into_iter::<serde::de::IgnoredAny>();
        match values.next() {
            Some(Ok(_)) if text.starts_with(b"{") => &text[..values.byte_offset()],
            _ => b"",
        }
    }

    /// The first line that is not blank.
    pub fn first_line(&self) -> &[u8] {
        self.lines().next().map_or(b"", |(_, line)| line)
    }
}

/// Refuses what was never a log: an empty file, a Git LFS pointer, a web page, text in two-byte letters, a binary file.
fn refuse_stubs(head: &Head) -> Result<(), Box<Fault>> {
    let first = head.first_line();
    let message = if head.bytes.is_empty() {
        "the file is empty (0 bytes)"
    } else if first.starts_with(b"version https://git-lfs.github.com/spec/") {
        "this is a Git LFS pointer, not the file itself; fetch it with `git lfs pull`"
    } else if [&b"<!doctype html"[..], b"<html"].iter().any(|tag| starts_with_any_case(first, tag)) {
        "this is an HTML page, not a log; the download probably gave an error or a login page"
    } else if starts_with_any_case(first, b"<?xml") {
        "this is XML, not a log; the download probably gave an error message"
    } else if head.bytes.starts_with(b"\xff\xfe") || head.bytes.starts_with(b"\xfe\xff") {
        "this is UTF-16 text; save it as UTF-8"
    } else if memchr(0, first).is_some() && !head.bytes.starts_with(MAGIC) {
        "this is a binary file (its first line has zero bytes), not a log in text"
    } else if first.is_empty() && head.whole {
        "the file has only blank lines"
    } else {
        return Ok(());
    };
    Err(Fault::file(message))
}

fn starts_with_any_case(text: &[u8], prefix: &[u8]) -> bool {
    text.len() >= prefix.len() && text[..prefix.len()].eq_ignore_ascii_case(prefix)
}

/// Counts the bytes that pass.
struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.read.fetch_add(count as u64, Relaxed);
        Ok(count)
    }
}

/// Remembers the last byte that passed, and the end.
struct Tailed<R> {
    inner: R,
    tail: Arc<Tail>,
}

impl<R: Read> Read for Tailed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.tail.length.fetch_add(count as u64, Relaxed);
        match buffer[..count].last() {
            Some(last) => self.tail.last.store(*last, Relaxed),
            None => self.tail.ended.store(!buffer.is_empty(), Relaxed),
        }
        Ok(count)
    }
}
