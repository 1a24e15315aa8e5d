//! What the terminal tables say, as one JSON value.

use serde_json::{Value, json};

use crate::Report;
use crate::metrics::{group, sections};

/// The report as JSON: scenario, summary, the command, the rows of `summary.csv` by comparison with nanoseconds per
/// decision where measured, and the notes.
pub fn value(report: &Report) -> Value {
    let mut tables = serde_json::Map::new();
    for section in sections(report) {
        let rows = section.entries.iter().map(|entry| {
            let mut row = json!(entry.row);
            row["decision_ns"] = json!(entry.decision_ns);
            row
        });
        let name = group(section.entries[0].row).replace('-', "_");
        tables.insert(name, rows.collect());
    }
    json!({
        "scenario": report.name(),
        "summary": report.summary,
        "command": report.command(),
        "tables": tables,
        "notes": report.notes().collect::<Vec<_>>(),
    })
}
