//! Expectations against what a run came out with: a scenario is a test.

use crate::rows::SummaryRow;
use crate::scenario::{Bound, Check, Number, Scenario};
use limiters::{Nanos, Span};
use std::collections::HashMap;
use std::sync::OnceLock;

/// A column of summary.csv, as the rows themselves name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// As the file has it: `peak_window`.
    pub name: String,
    /// As expectations have it: `peak-window`.
    pub kebab: String,
    /// Not a number.
    pub text: bool,
    /// A number that need not be whole.
    pub decimal: bool,
}

/// Every column of summary.csv, in order.
pub fn columns() -> &'static [Column] {
    static COLUMNS: OnceLock<Vec<Column>> = OnceLock::new();
    COLUMNS.get_or_init(|| {
        let cells = cells(&SummaryRow::default());
        let types = serde_json::to_value(SummaryRow::default()).unwrap_or_default();
        cells
            .into_iter()
            .map(|(name, _)| {
                let kind = &types[&name];
                // An optional column is null here: a count or a time where its name says so, else maybe not whole.
                let decimal = kind.is_f64() || kind.is_null() && !COUNTED.iter().any(|end| name.ends_with(end));
                Column { kebab: name.replace('_', "-"), text: kind.is_string(), decimal, name }
            })
            .collect()
    })
}

const COUNTED: &[&str] = &["_ns", "_microusd", "_bound", "_lost", "_permits"];

/// The cells of a row by column, as the CSV file has them.
fn cells(row: &SummaryRow) -> Vec<(String, String)> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    // Writing to memory does not fail, and a row is a flat struct.
    let written = writer.serialize(row).ok().and_then(|()| writer.into_inner().ok()).unwrap_or_default();
    let mut reader = csv::Reader::from_reader(written.as_slice());
    let names = reader.headers().cloned().unwrap_or_default();
    let record = reader.records().next().and_then(Result::ok).unwrap_or_default();
    names.iter().map(str::to_string).zip(record.iter().map(str::to_string)).collect()
}

/// Every expectation that does not hold, one line each, in the order of the file. `peak_within` is the most permits that
/// the limiter with this label let start in any half-open interval of this length; `None` where it was not measured.
pub fn broken(
    scenario: &Scenario,
    rows: &[SummaryRow],
    peak_within: impl Fn(&str, Nanos) -> Option<u64>,
) -> Vec<String> {
    let mut broken = Vec::new();
    for expect in &scenario.expects {
        let row = rows.iter().find(|row| {
            let comparison =
                expect.comparison.map_or(row.comparison != "equal-guarantee", |wanted| row.comparison == wanted);
            row.limiter == expect.limiter && comparison
        });
        let cells: HashMap<String, String> = row
            .map(|row| cells(row).into_iter().map(|(name, cell)| (name.replace('_', "-"), cell)).collect())
            .unwrap_or_default();
        for check in &expect.checks {
            let (what, cell) = match expect.within {
                Some(within) if check.column == "peak" => {
                    let peak = peak_within(&expect.limiter, within).map(|peak| peak.to_string());
                    (format!("peak within {}", Span(within)), peak)
                }
                _ => (check.column.to_string(), cells.get(check.column).cloned()),
            };
            let got = match cell.as_deref() {
                _ if row.is_none() => "no row of it".to_string(),
                None => "no such figure".to_string(),
                Some("") => "an empty cell".to_string(),
                Some(cell) if holds(check, cell) => continue,
                Some(cell) => in_words(check.column, cell),
            };
            broken.push(format!(
                "{}:{}:{}: expected {} {what} {}, got {got}",
                scenario.path.display(),
                check.place.line,
                check.place.column,
                expect.limiter,
                wanted(&check.bound),
            ));
        }
    }
    broken
}

/// A time as a person writes it, anything else as the file has it.
fn in_words(column: &str, cell: &str) -> String {
    match cell.parse() {
        Ok(nanos) if column.ends_with("-ns") => Span(nanos).to_string(),
        _ => cell.to_string(),
    }
}

fn wanted(bound: &Bound) -> String {
    match bound {
        Bound::Exactly(number) => format!("= {}", number.written),
        Bound::Between(Some(min), Some(max)) => format!("from {} to {}", min.written, max.written),
        Bound::Between(Some(min), None) => format!(">= {}", min.written),
        Bound::Between(None, Some(max)) => format!("<= {}", max.written),
        Bound::Between(None, None) => "anything".to_string(),
    }
}

/// Half a unit of the last of the six decimals that ratios are rounded to.
const HALF: f64 = 0.000_000_5;

fn holds(check: &Check, cell: &str) -> bool {
    let compare = |number: &Number| match (cell.parse::<u64>(), number.whole) {
        (Ok(cell), Some(whole)) => Some(cell.cmp(&whole)),
        _ => {
            let cell: f64 = cell.parse().ok()?;
            if (cell - number.value).abs() <= HALF {
                Some(std::cmp::Ordering::Equal)
            } else {
                cell.partial_cmp(&number.value)
            }
        }
    };
    match &check.bound {
        Bound::Exactly(number) => compare(number).is_some_and(|order| order.is_eq()),
        Bound::Between(min, max) => {
            min.as_ref().is_none_or(|min| compare(min).is_some_and(|order| order.is_ge()))
                && max.as_ref().is_none_or(|max| compare(max).is_some_and(|order| order.is_le()))
        }
    }
}
