//! The workbench's own form of a recorded trace: `at_ns,key,cost`, with token and price columns where there are any.

use crate::Source;
use limiters::{Batch, Nanos};
use std::collections::HashMap;
use std::io::{Error, Result, Write};

/// What stands before the instant that times count from, where a file has it: in a comment of a first line, `# at_ns counts from
/// 2026-01-01T00:00:00Z`, and in Parquet as a name in the file's metadata. Without it they count from a scenario's start.
pub const COUNTS_FROM: &str = "at_ns counts from";

/// Writes all requests of `source`, times counted from `start`, and returns how many.
///
/// The header is `at_ns,key,cost`, followed by `input_tokens,output_tokens` where the source has tokens and `price_microusd`
/// where it has prices. Read back, the file is the same traffic.
///
/// # Errors
///
/// What `out` says, and a [`TrafficError`](crate::TrafficError) inside an error of kind `Other`.
pub fn write_csv(source: &mut dyn Source, start: Nanos, out: impl Write) -> Result<u64> {
    let mut csv = csv::Writer::from_writer(out);
    let (tokens, prices) = (source.has_tokens(), source.has_prices());
    csv.write_field("at_ns")?;
    csv.write_field("key")?;
    csv.write_field("cost")?;
    if tokens {
        csv.write_field("input_tokens")?;
        csv.write_field("output_tokens")?;
    }
    if prices {
        csv.write_field("price_microusd")?;
    }
    csv.write_record(None::<&[u8]>)?;
    let (mut batch, mut names, mut digits) = (Batch::default(), HashMap::new(), Vec::new());
    let mut written = 0;
    while source.fill(&mut batch, 4096).map_err(Error::other)? > 0 {
        for index in 0..batch.len() {
            let request = batch.get(index);
            let before_start = || Error::other(format!("a request at {} ns is before `start`", request.at));
            let at = request.at.checked_sub(start).ok_or_else(before_start)?;
            let name = names.entry(request.key).or_insert_with(|| source.key_name(request.key));
            let mut number = |csv: &mut csv::Writer<_>, value: u64| -> Result<()> {
                digits.clear();
                write!(digits, "{value}")?;
                Ok(csv.write_field(&digits)?)
            };
            number(&mut csv, at)?;
            csv.write_field(&name)?;
            number(&mut csv, request.requests)?;
            if tokens {
                number(&mut csv, request.input_tokens)?;
                number(&mut csv, request.output_tokens)?;
            }
            if prices {
                number(&mut csv, request.microusd)?;
            }
            csv.write_record(None::<&[u8]>)?;
        }
        written += batch.len() as u64;
        batch.clear();
    }
    csv.flush()?;
    Ok(written)
}
