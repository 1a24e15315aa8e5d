//! Fuzzes filters: an expression is read or refused at a place within it, and one that is read leaves out exactly the rows
//! that its negation keeps.
#![no_main]

use std::io::Cursor;
use traffic::spec::Trace;
use traffic::traces::{Row, Stream, Where};

const LOG: &str = "t_ms,key,method,path,status,user,cost,input_tokens,price,zone\n\
    1,a,GET,/api/v1?x=1,200,ann,1,10,0.5,eu\n\
    2,b,POST,/,404,,2,0,0.000001,\"12.50\"\n\
    3,\"\",\"\",\"\",,-,0,18446744073709551615,0,\n\
    4,grün,GET,/grün/ü,304,ann,3,1500,1e3,7\n";

fn kept(filter: String) -> Option<Vec<u64>> {
    let spec = Trace { path: "fuzz".into(), filter: Some(filter), ..Trace::default() };
    let mut stream = match Stream::from_reader(&spec, Cursor::new(LOG.as_bytes())) {
        Ok(stream) => stream,
        Err(error) => {
            // It names a field or column that the file does not have.
            assert!(error.message.starts_with("where: column "), "{error}");
            return None;
        }
    };
    let (mut row, mut kept) = (Row::default(), Vec::new());
    loop {
        match stream.next(&mut row) {
            Ok(true) => kept.push(row.at),
            Ok(false) => break,
            Err(error) => {
                assert!(kept.is_empty() && error.message.starts_with("none of the 4 rows"), "{error}");
                break;
            }
        }
    }
    assert_eq!(stream.filtered() + kept.len() as u64, 4);
    Some(kept)
}

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match Where::parse(text) {
        Err(error) => {
            assert!(text.get(error.place.clone()).is_some() && !error.message.is_empty());
            assert!(error.within(text).starts_with("column "));
        }
        Ok(_) => {
            // Within one more pair of parentheses it may be nested too deep.
            let negated = format!("not ({text})");
            let (Some(kept), Ok(_)) = (kept(text.to_owned()), Where::parse(&negated)) else { return };
            let others = self::kept(negated).expect("it names the same fields");
            let mut all: Vec<u64> = kept.into_iter().chain(others).collect();
            all.sort_unstable();
            assert_eq!(all, [1_000_000, 2_000_000, 3_000_000, 4_000_000]);
        }
    }
});
