//! The workbench's own form of a recorded trace as Parquet, with the same columns as CSV.

use crate::{COUNTS_FROM, Source};
use limiters::Batch;
use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use std::io::{Error, Result, Write};
use std::sync::Arc;

/// Rows of a row group, which are held in memory.
const GROUP: usize = 1 << 17;

/// As [`write_csv`](crate::write_csv), in Parquet: unsigned 64-bit numbers and UTF-8 keys, compressed with Zstandard. What `start`
/// is, where that is known, `counts_from` says as ISO 8601.
///
/// # Errors
///
/// What `out` says, and a [`TrafficError`](crate::TrafficError) inside an error of kind `Other`.
pub fn write_parquet(
    source: &mut dyn Source,
    start: limiters::Nanos,
    counts_from: Option<String>,
    out: impl Write + Send,
) -> Result<u64> {
    let (tokens, prices) = (source.has_tokens(), source.has_prices());
    let mut numbers = vec!["cost"];
    if tokens {
        numbers.extend(["input_tokens", "output_tokens"]);
    }
    if prices {
        numbers.push("price_microusd");
    }
    let number = |name: &&str| format!("REQUIRED INT64 {name} (INTEGER(64,false)); ");
    let more: String = numbers.iter().map(number).collect();
    let schema = format!("message own {{ {}REQUIRED BYTE_ARRAY key (UTF8); {more}}}", number(&"at_ns"));
    let schema = Arc::new(parse_message_type(&schema).map_err(failed)?);
    let properties = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_key_value_metadata(counts_from.map(|start| vec![KeyValue::new(COUNTS_FROM.to_owned(), start)]))
        .build();
    let mut file = SerializedFileWriter::new(out, schema, Arc::new(properties)).map_err(failed)?;
    let (mut batch, mut written) = (Batch::default(), 0);
    while source.fill(&mut batch, GROUP).map_err(Error::other)? > 0 {
        if let Some(early) = batch.at.iter().find(|at| **at < start) {
            return Err(Error::other(format!("a request at {early} ns is before `start`")));
        }
        let rows = || (0..batch.len()).map(|index| batch.get(index));
        let mut group = file.next_row_group().map_err(failed)?;
        let mut column = group.next_column().map_err(failed)?.ok_or_else(missing)?;
        // Parquet keeps unsigned numbers in the bits of signed ones.
        let at: Vec<i64> = rows().map(|request| (request.at - start) as i64).collect();
        column.typed::<Int64Type>().write_batch(&at, None, None).map_err(failed)?;
        column.close().map_err(failed)?;
        let mut column = group.next_column().map_err(failed)?.ok_or_else(missing)?;
        let keys: Vec<ByteArray> = rows().map(|request| source.key_name(request.key).as_str().into()).collect();
        column.typed::<ByteArrayType>().write_batch(&keys, None, None).map_err(failed)?;
        column.close().map_err(failed)?;
        for name in &numbers {
            let of = |request: limiters::Request| match *name {
                "cost" => request.requests,
                "input_tokens" => request.input_tokens,
                "output_tokens" => request.output_tokens,
                _ => request.microusd,
            };
            let values: Vec<i64> = rows().map(|request| of(request) as i64).collect();
            let mut column = group.next_column().map_err(failed)?.ok_or_else(missing)?;
            column.typed::<Int64Type>().write_batch(&values, None, None).map_err(failed)?;
            column.close().map_err(failed)?;
        }
        group.close().map_err(failed)?;
        written += batch.len() as u64;
        batch.clear();
    }
    file.close().map_err(failed)?;
    Ok(written)
}

fn failed(error: ParquetError) -> Error {
    match error {
        // What the disk said, as it said it.
        ParquetError::External(inner) => inner.downcast().map_or_else(Error::other, |disk| *disk),
        error => Error::other(error),
    }
}

fn missing() -> Error {
    Error::other("a column of the schema is missing")
}
