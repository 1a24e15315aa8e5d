//! Fuzzes a file read as Parquet: its first rows, since a few bytes may stand for any number of them.
#![no_main]

use std::io::Cursor;
use traffic::spec::Trace;
use traffic::traces::{Row, Stream};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let spec = Trace { path: "fuzz".into(), format: Some("parquet".to_owned()), ..Trace::default() };
    let Ok(mut stream) = Stream::from_reader(&spec, Cursor::new(data.to_vec())) else { return };
    let mut row = Row::default();
    for _ in 0..5_000 {
        match stream.next(&mut row) {
            Ok(true) => {}
            Ok(false) => break,
            Err(error) => return assert!(!error.message.is_empty() && error.path.is_some()),
        }
    }
    assert!(stream.rows() > 0);
});
