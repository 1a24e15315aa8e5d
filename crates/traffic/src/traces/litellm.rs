//! LiteLLM's spend logs, as its proxy keeps them in the table `LiteLLM_SpendLogs`: JSON lines or one JSON list.

use super::format::{Format, Rows};
use super::jsonl::{Objects, has_fields};

/// The entry of the registry.
pub(super) const FORMAT: Format = Format {
    name: "litellm",
    summary: "LiteLLM spend logs",
    recognised_by: "JSON objects with startTime, api_key and spend",
    time: "startTime, when the call began",
    key: "api_key, or columns.key (user, team_id, end_user)",
    cost: "1; prompt_tokens are input tokens, completion_tokens output tokens, spend is the price in dollars",
    detect: |head| {
        has_fields(head.first_object(), |row| {
            ["startTime", "api_key", "spend"].iter().all(|name| row.get(name).is_some())
        })
    },
    open: |setup| Objects::open(setup, None).map(|objects| Box::new(objects) as Box<dyn Rows>),
};
