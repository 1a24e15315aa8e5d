//! Fuzzes totals: reading ends with an error that says something, or with at least one request and as many as are counted.
#![no_main]

use std::io::Cursor;
use std::num::NonZeroU32;
use traffic::spec::Trace;
use traffic::traces::{Row, Stream};

/// Requests that are looked at; a total may be of any number.
const MOST: u64 = 10_000;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Some((settings, bytes)) = data.split_first() else { return };
    let spread = [None, Some(true), Some(true), Some(false)][usize::from(settings & 3)];
    let skip_bad_rows = settings & 4 != 0;
    let chosen = settings & 8 != 0 && spread == Some(true);
    let spread_over = NonZeroU32::new(u32::from(settings >> 4) + 1).filter(|_| chosen);
    let format = Some("csv".into());
    let spec = Trace { path: "fuzz".into(), format, spread, spread_over, skip_bad_rows, ..Trace::default() };
    let mut stream = match Stream::from_reader(&spec, Cursor::new(bytes.to_vec())) {
        Ok(stream) => stream,
        Err(error) => return assert!(!error.message.is_empty()),
    };
    let (mut row, mut count) = (Row::default(), 0);
    while count < MOST {
        match stream.next(&mut row) {
            Ok(true) => count += 1,
            Ok(false) => break,
            Err(error) => return assert!(!error.message.is_empty()),
        }
    }
    assert_eq!(stream.rows(), count);
    assert!(spread == Some(true) || count <= bytes.len() as u64);
    assert!(stream.into_notes().iter().all(|note| !note.text.is_empty()));
});
