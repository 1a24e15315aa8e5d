//! Cloudflare's HTTP request logs as Logpush and Logpull write them.

use super::format::{Format, Rows};
use super::jsonl::{Objects, has_fields};

/// The entry of the registry.
pub(super) const FORMAT: Format = Format {
    name: "cloudflare",
    summary: "Cloudflare HTTP request logs (Logpush)",
    recognised_by: "JSON lines with EdgeStartTimestamp and ClientIP",
    time: "EdgeStartTimestamp, when the edge received the request",
    key: "ClientIP, or columns.key",
    cost: "1, or columns.cost",
    detect: |head| {
        has_fields(head.first_line(), |line| !line["EdgeStartTimestamp"].is_null() && line["ClientIP"].is_string())
    },
    open: |setup| Objects::open(setup, None).map(|objects| Box::new(objects) as Box<dyn Rows>),
};
