//! Azure's published traces of requests to language models (AzurePublicDataset, 2023 and 2024).

use super::csv::Table;
use super::format::{Format, Rows};

/// The entry of the registry.
pub(super) const FORMAT: Format = Format {
    name: "azure-llm",
    summary: "Azure LLM inference traces",
    recognised_by: "the header TIMESTAMP,ContextTokens,GeneratedTokens",
    time: "TIMESTAMP, to 100 ns, without a zone and read as UTC",
    key: "none: all requests are of one key",
    cost: "1; ContextTokens are input tokens, GeneratedTokens output tokens",
    detect: |head| head.first_line() == b"TIMESTAMP,ContextTokens,GeneratedTokens",
    open: |setup| Table::open(setup, None).map(|table| Box::new(table) as Box<dyn Rows>),
};
