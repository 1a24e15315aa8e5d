//! Rows are split as the `csv` crate splits them, whatever blocks they come in.

use super::*;
use crate::traces::input;
use proptest::prelude::*;

/// Fields, line and whether the file ends within it, of every row; and what is wrong behind them.
type Seen = (Vec<(Vec<Vec<u8>>, u64, bool)>, Option<Box<Fault>>);

fn seen(text: &[u8], room: usize, shape: Shape, careful: bool) -> Seen {
    let input = input::from_reader(Cursor::new(text.to_vec())).ok().unwrap();
    let mut split = Split::with_room(room, input.reader, input.progress, shape);
    if careful {
        split.beware();
    }
    let mut rows = Vec::new();
    let fault = loop {
        match split.next() {
            Ok(true) => {}
            Ok(false) => break None,
            Err(fault) => break Some(fault),
        }
        let fields: Vec<Vec<u8>> = split.fields().into_iter().map(<[u8]>::to_vec).collect();
        if split.careful().is_none() {
            assert_eq!(fields.len(), split.len());
        }
        rows.push((fields, split.line(), split.unended()));
    };
    assert!(!split.next().unwrap(), "the end stays the end");
    (rows, fault)
}

/// The crate itself, and whether a quote is open at the end, found by its rules.
fn by_the_crate(text: &str, Shape { delimiter, comment, .. }: Shape) -> (Vec<Vec<Vec<u8>>>, bool) {
    let mut builder = csv::ReaderBuilder::new();
    builder.has_headers(false).flexible(true).delimiter(delimiter).comment(comment);
    // Without a line end of its own the crate makes a row of a comment.
    let text = [text.as_bytes(), b"\n"].concat();
    let records = builder.from_reader(&text[..]).into_byte_records();
    let rows = records.map(|record| record.unwrap().iter().map(<[u8]>::to_vec).collect()).collect();
    let (mut at_row, mut at_field, mut open, mut comments) = (true, true, false, false);
    let mut bytes = text.iter().copied().peekable();
    while let Some(byte) = bytes.next() {
        if comments {
            comments = byte != b'\n';
        } else if open {
            if byte == b'"' && bytes.next_if_eq(&b'"').is_none() {
                open = false;
            }
        } else if at_row && Some(byte) == comment {
            comments = true;
        } else {
            open = at_field && byte == b'"';
            at_row = matches!(byte, b'\r' | b'\n');
            at_field = at_row || byte == delimiter;
        }
    }
    (rows, open)
}

fn shapes() -> impl Strategy<Value = (u8, Option<u8>)> {
    (prop::sample::select(vec![b',', b'\t', b';', b'|']), prop::option::of(Just(b'#')))
}

proptest! {
    #[test]
    fn any_bytes_are_split_as_the_csv_crate_does(
        text in "z[a1#, ;\t|\"\r\n]{0,80}", room in 1..40usize, (delimiter, comment) in shapes(), careful: bool,
    ) {
        let shape = Shape { delimiter, comment, crlf: false };
        let (mut expected, open) = by_the_crate(&text, shape);
        let (rows, fault) = seen(text.as_bytes(), room, shape, careful);
        if open {
            expected.pop();
        }
        prop_assert_eq!(rows.into_iter().map(|row| row.0).collect::<Vec<_>>(), expected);
        prop_assert_eq!(fault.is_some(), open);
    }

    #[test]
    fn lines_are_counted_with_care_as_without(
        rows in prop::collection::vec("[a1, ]{0,12}|#[a,]{0,5}|\"[a,\n]{1,4}\",b", 1..12),
        (crlf, last, room) in (any::<bool>(), any::<bool>(), 1..40usize),
    ) {
        let end = if crlf { "\r\n" } else { "\n" };
        let text = ["z", end, &rows.join(end), if last { end } else { "" }].concat();
        let shape = Shape { delimiter: b',', comment: Some(b'#'), crlf };
        let (with, without) = (seen(text.as_bytes(), room, shape, true), seen(text.as_bytes(), room, shape, false));
        prop_assert_eq!(without.0, with.0);
        prop_assert!(with.1.is_none() && without.1.is_none());
    }
}

#[test]
fn lines_longer_than_the_buffer_and_bytes_beyond_ascii() {
    let long = [&[0xff; 3000][..], b",\x80\x0a\xac\x8a,\x0b\n"].concat();
    let shape = Shape { delimiter: b',', comment: None, crlf: false };
    let (rows, _) = seen(&long, 16, shape, false);
    assert_eq!(rows, [(vec![vec![0xff; 3000], vec![0x80]], 1, false), (vec![vec![0xac, 0x8a], vec![0x0b]], 2, false),]);
}

#[test]
fn a_quote_that_is_never_closed_is_no_row() {
    for (text, line, fatal, value, message) in [
        ("a,b\n1,\"x\n", 2, false, "1,x", "a quote in it is never closed"),
        ("a,b\r\n1,\"x", 2, false, "1,x", "a quote in it is never closed"),
        ("a,b\n\"y\nz\",2\n1,\"x\n2,x", 4, true, "1,x", "takes in the 1 line after it"),
        ("a,b\n1,\"x\n2,x\n3,\"\"x\n", 2, true, "1,x", "takes in the 2 lines after it"),
    ] {
        let shape = Shape { delimiter: b',', comment: None, crlf: text.contains('\r') };
        let fault = seen(text.as_bytes(), 16, shape, false).1.unwrap();
        assert!(fault.message.contains(message), "{text:?}: {}", fault.message);
        assert_eq!((fault.line, fault.fatal, fault.value.as_deref()), (Some(line), fatal, Some(value)), "{text:?}");
    }
}
