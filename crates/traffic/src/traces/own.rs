//! The workbench's own form: one row per request, times in nanoseconds from the scenario's start.

use super::calendar::calendar;
use super::csv::Table;
use super::fault::Fault;
use super::format::{Format, Notes, Rows};
use super::time::Times;
use super::unit::Unit;
use crate::COUNTS_FROM;

/// The entry of the registry.
pub(super) const FORMAT: Format = Format {
    name: "own",
    summary: "the workbench's own form, as `workbench traffic` writes it",
    recognised_by: "a first line that begins with at_ns,key,cost, behind a comment that names the start where there is one",
    time: "at_ns, nanoseconds from the scenario's start, or from the instant that the comment names",
    key: "key",
    cost: "cost; input_tokens, output_tokens and price_microusd where there are such columns",
    detect: |head| {
        let header = head.lines().map(|(_, line)| line).find(|line| start(line).is_none());
        header.is_some_and(|line| line.starts_with(HEADER.as_bytes()))
    },
    open: |setup| {
        let start = start(setup.input.head.first_line());
        let times = times(start, setup.notes)?;
        Table::open(setup, Some(times)).map(|table| Box::new(table) as Box<dyn Rows>)
    },
};

const HEADER: &str = "at_ns,key,cost";

/// What a first line names as the instant that times count from.
fn start(line: &[u8]) -> Option<&[u8]> {
    let comment = line.strip_prefix(b"#")?.trim_ascii_start();
    comment.strip_prefix(COUNTS_FROM.as_bytes()).map(<[u8]>::trim_ascii)
}

/// The times of a file that names this instant, or none.
pub(super) fn times(start: Option<&[u8]>, notes: &mut Notes) -> Result<Times, Box<Fault>> {
    let times = Times::relative("at_ns", Unit::NS);
    let Some(start) = start else { return Ok(times) };
    let (at, ..) = calendar(start, &mut ([0; 10], 0))
        .map_err(|why| Fault::file(format!("the instant that {COUNTS_FROM} is {why}")).value(start))?;
    notes.guess(format!("times count from {}, as the file says", String::from_utf8_lossy(start)));
    Ok(times.counted_from(at))
}
