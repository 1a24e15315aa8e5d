//! The workbench's own form: one row per request, times in nanoseconds from the scenario's start.

use super::csv::Table;
use super::format::{Format, Rows};
use super::time::{Times, Unit};
use crate::{Source, TrafficError};
use limiters::{Batch, Nanos};
use std::io::{self, Write};

/// The entry of the registry.
pub(super) const FORMAT: Format = Format {
    name: "own",
    summary: "the workbench's own form, as `workbench traffic` writes it",
    recognised_by: "a first line that begins with at_ns,key,cost",
    time: "at_ns, nanoseconds from the scenario's start",
    key: "key",
    cost: "cost; input_tokens, output_tokens and price_microusd where there are such columns",
    detect: |head| head.first_line().starts_with(HEADER.as_bytes()),
    open: |setup| {
        let times = Times::relative("at_ns", Unit::NS);
        Table::open(setup, Some(times)).map(|table| Box::new(table) as Box<dyn Rows>)
    },
};

const HEADER: &str = "at_ns,key,cost";

/// Writes everything that `source` hands out, with times from `start` on, so that reading it back gives the same requests.
pub fn write(source: &mut dyn Source, start: Nanos, to: &mut dyn Write) -> Result<u64, TrafficError> {
    let failed = |error: io::Error| TrafficError {
        path: None,
        line: None,
        column: None,
        value: None,
        message: format!("cannot be written ({error})"),
    };
    let mut out = csv::Writer::from_writer(to);
    out.write_record([HEADER, "input_tokens,output_tokens,price_microusd"].join(",").split(','))
        .map_err(|error| failed(error.into()))?;
    let (mut batch, mut count) = (Batch::default(), 0);
    while source.fill(&mut batch, 4096)? > 0 {
        for index in 0..batch.len() {
            let request = batch.get(index);
            let numbers = [
                request.at.saturating_sub(start),
                request.requests,
                request.input_tokens,
                request.output_tokens,
                request.microusd,
            ];
            let [at, cost, input, output, price] = numbers.map(|number| number.to_string());
            let record = [at, source.key_name(request.key), cost, input, output, price];
            out.write_record(&record).map_err(|error| failed(error.into()))?;
        }
        count += batch.len() as u64;
        batch.clear();
    }
    out.flush().map_err(failed)?;
    Ok(count)
}
