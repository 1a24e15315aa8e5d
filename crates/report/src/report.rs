//! A report in memory: what its folder's data files say. Every picture and table is made from this.

use std::fs;
use std::path::Path;

use replay::rows::{NoteRow, SummaryRow};
use serde_json::Value;

use crate::{Error, Tables};

/// The data of a report, as read from its folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The rows of the CSV files.
    pub tables: Tables,
    /// One line from the scenario file on what it shows; may be empty.
    pub summary: String,
    /// What the scenario's author says about it; may be empty.
    pub analysis: String,
    /// `run.json`, where there is one: how this run came to be. It is not in git, so nothing deterministic uses it.
    pub run: Option<Value>,
}

impl Report {
    /// Reads the folder `dir`.
    ///
    /// # Errors
    /// When it is not a report, or one of its files is damaged.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        let tables = Tables::read(dir)?;
        let (summary, analysis) = read_scenario(&dir.join("scenario.toml"))?;
        Ok(Self { tables, summary, analysis, run: read_run(&dir.join("run.json"))? })
    }

    /// The scenario's name, or "report" where no limiter ran.
    pub fn name(&self) -> &str {
        self.tables.summary.first().map_or("report", |row| &row.scenario)
    }

    /// The scenario's promise, (limit, window in ns): what every equal-quota entry was given.
    pub fn quota(&self) -> Option<(u64, u64)> {
        let rows = &self.tables.summary;
        let row = rows.iter().find(|row| row.comparison == "equal-quota").or_else(|| rows.first())?;
        (row.window_ns > 0).then_some((row.limit, row.window_ns))
    }

    /// The command that makes this report again.
    pub fn command(&self) -> Option<&str> {
        self.tables.notes.iter().find(|note| note.kind == "command").map(|note| note.text.as_str())
    }

    /// What a reader must know, the command apart.
    pub fn notes(&self) -> impl Iterator<Item = &NoteRow> {
        self.tables.notes.iter().filter(|note| note.kind != "command")
    }

    /// The entries a figure with one panel each shows: those that keep the scenario's quota and the variants. The
    /// equal-guarantee entries have figures of their own; they stand in only where there is nothing else.
    pub fn panels(&self) -> Vec<&SummaryRow> {
        let others = |row: &&SummaryRow| row.comparison != "equal-guarantee";
        let rows = &self.tables.summary;
        if rows.iter().any(|row| others(&row)) { rows.iter().filter(others).collect() } else { rows.iter().collect() }
    }

    /// Those of [`panels`](Self::panels) that count what the quota counts, for figures whose panels share an axis of permits, and
    /// a sentence that names the others (empty where there are none).
    pub fn panels_of_quota(&self) -> (Vec<&SummaryRow>, String) {
        let panels = self.panels();
        let first = panels.iter().find(|row| row.comparison == "equal-quota").or(panels.first());
        let Some(meter) = first.map(|row| row.meter.clone()) else { return (panels, String::new()) };
        let (own, others): (Vec<_>, Vec<_>) = panels.into_iter().partition(|row| row.meter == meter);
        let mut words = String::new();
        let mut meters: Vec<&str> = others.iter().map(|row| row.meter.as_str()).collect();
        meters.sort_unstable();
        meters.dedup();
        for meter in meters {
            let of = others.iter().filter(|row| row.meter == meter);
            let names: Vec<String> = of.map(|row| format!("“{}”", row.limiter)).collect();
            let (counts, seen) = match meter {
                "spend" if !self.tables.spend.is_empty() => {
                    ("count money", "; what is spent behind them is in spend.png")
                }
                "spend" => ("count money", ""),
                "tokens" => ("count tokens", ""),
                _ => ("count something else", ""),
            };
            words.push_str(&format!(" Not drawn, since they {counts}: {}{seen}.", names.join(", ")));
        }
        (own, words)
    }
}

/// Name of an entry where entries of several comparisons stand together.
pub fn label(limiter: &str, comparison: &str) -> String {
    if comparison == "equal-guarantee" { format!("{limiter} (equal guarantee)") } else { limiter.to_owned() }
}

fn read_scenario(path: &Path) -> Result<(String, String), Error> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Default::default()),
        Err(error) => return Err(Error::at(path, error)),
    };
    // Only two words of the file are wanted; whether the rest is a good scenario was settled before the run.
    let table: toml::Table = toml::from_str(&text).map_err(|error| Error::at(path, error))?;
    let word = |key| table.get(key).and_then(toml::Value::as_str).unwrap_or_default().trim().to_owned();
    Ok((word("summary"), word("analysis")))
}

fn read_run(path: &Path) -> Result<Option<Value>, Error> {
    match fs::read_to_string(path) {
        Ok(text) => serde_json::from_str(&text).map(Some).map_err(|error| Error::at(path, error)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(Error::at(path, error)),
    }
}
