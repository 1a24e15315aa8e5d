//! Mooncake's published traces of requests to language models (kvcache-ai/Mooncake, FAST 2025).

use super::format::{Format, Rows};
use super::jsonl::{Objects, has_fields};
use super::time::Times;
use super::unit::Unit;

/// The entry of the registry.
pub(super) const FORMAT: Format = Format {
    name: "mooncake",
    summary: "Mooncake traces of requests to language models",
    recognised_by: "JSON lines with timestamp (a small number), input_length and output_length",
    time: "timestamp, milliseconds from the scenario's start",
    key: "none: all requests are of one key",
    cost: "1; input_length are input tokens, output_length output tokens",
    detect: |head| {
        has_fields(head.first_line(), |line| {
            let small = line["timestamp"].as_u64().is_some_and(|at| at < 100_000_000_000);
            small && line["input_length"].is_u64() && line["output_length"].is_u64()
        })
    },
    open: |setup| {
        let times = Times::relative("timestamp", Unit::MS);
        Objects::open(setup, Some(times)).map(|objects| Box::new(objects) as Box<dyn Rows>)
    },
};
