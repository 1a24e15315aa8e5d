//! The workbench's own form: one row per request, times in nanoseconds from the scenario's start.

use super::csv::Table;
use super::format::{Format, Rows};
use super::time::Times;
use super::unit::Unit;

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
