//! `workbench compare`: two reports of the same traffic side by side.

use crate::cli::CompareArgs;
use crate::grid::Grid;
use crate::problem::{Problem, print};
use replay::rows::{OverheadRow, SummaryRow};
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

/// Prints both, with ratios.
pub fn compare(args: &CompareArgs) -> Result<(), Problem> {
    let (a, b) = (Side::read(&args.a)?, Side::read(&args.b)?);
    a.same_traffic(&b)?;
    let mut text = format!("A  {}\nB  {}\nratios are B over A\n", a.about(&args.a), b.about(&args.b));
    text.push_str(&decisions(&a, &b));
    text.push_str(&timing(&a, &b));
    print(&text)
}

/// What is compared of a report folder.
struct Side {
    name: String,
    run: Value,
    traffic: toml::Table,
    summary: Vec<SummaryRow>,
    overhead: Vec<OverheadRow>,
}

impl Side {
    fn read(folder: &Path) -> Result<Side, Problem> {
        let text = |name: &str| {
            let place = folder.join(name);
            std::fs::read_to_string(&place).map_err(|error| {
                Problem::input(format!(
                    "error: {}: {error}\n  = note: give report folders that `workbench run` wrote here; a committed one has no run.json",
                    place.display()
                ))
            })
        };
        let wrong = |name: &str, error: &dyn std::fmt::Display| {
            Problem::input(format!("error: {}: {error}", folder.join(name).display()))
        };
        let run = serde_json::from_str(&text("run.json")?).map_err(|error| wrong("run.json", &error))?;
        let mut scenario: toml::Table =
            text("scenario.toml")?.parse().map_err(|error| wrong("scenario.toml", &error))?;
        // What makes the traffic; limiters and expectations may differ, which is what there is to compare.
        scenario
            .retain(|key, _| ["traffic", "client", "upstream", "start", "duration", "seed", "patience"].contains(&key));
        Ok(Side {
            name: folder.display().to_string(),
            run,
            traffic: scenario,
            summary: rows(folder, "summary.csv", true)?,
            overhead: rows(folder, "overhead.csv", false)?,
        })
    }

    /// Refuses to compare what answered to different requests.
    fn same_traffic(&self, other: &Side) -> Result<(), Problem> {
        let differ = |what: &str, a: &dyn std::fmt::Display, b: &dyn std::fmt::Display| {
            Err(Problem::input(format!(
                "error: {what} differ: {a} in {}, {b} in {}\n  = note: only reports of the same traffic can be compared",
                self.name, other.name
            )))
        };
        let (a, b) = (&self.run, &other.run);
        if a["seed"] != b["seed"] {
            return differ("seeds", &a["seed"], &b["seed"]);
        }
        if a["seeds"] != b["seeds"] {
            return differ("numbers of seeds", &a["seeds"], &b["seeds"]);
        }
        let hashes = |run: &Value| -> Vec<String> {
            let files = run["inputs"].as_array().into_iter().flatten();
            files.map(|file| file["sha256"].as_str().unwrap_or("unknown").to_owned()).collect()
        };
        let (of_a, of_b) = (hashes(a), hashes(b));
        if of_a != of_b {
            return differ("traces (SHA-256)", &format!("{of_a:?}"), &format!("{of_b:?}"));
        }
        if of_a.iter().any(|hash| hash == "unknown") {
            return Err(Problem::input(
                "error: a trace came from standard input, so nothing says whether both reports saw the same\n  \
                 = note: run both again with --trace FILE",
            ));
        }
        // A trace given on the command line stands in for the traffic of the file.
        let differing = if of_a.is_empty() { self.traffic != other.traffic } else { false };
        if differing || a["requests"] != b["requests"] || a["start_ns"] != b["start_ns"] {
            let part = self
                .traffic
                .keys()
                .chain(other.traffic.keys())
                .find(|key| self.traffic.get(*key) != other.traffic.get(*key));
            let part = part.map_or("numbers of requests", String::as_str);
            return differ(&format!("the scenarios' {part}"), &a["requests"], &b["requests"]);
        }
        Ok(())
    }

    fn about(&self, folder: &Path) -> String {
        let run = &self.run;
        let text = |value: &Value| value.as_str().unwrap_or("unknown").chars().take(12).collect::<String>();
        format!(
            "{}: workbench {} ({}), {} requests, seed {}",
            folder.display(),
            text(&run["version"]),
            text(&run["revision"]),
            run["requests"],
            run["seed"]
        )
    }
}

fn rows<T: DeserializeOwned>(folder: &Path, name: &str, required: bool) -> Result<Vec<T>, Problem> {
    let place = folder.join(name);
    if !required && !place.exists() {
        return Ok(Vec::new());
    }
    let read = csv::Reader::from_path(&place).and_then(|mut reader| reader.deserialize().collect());
    read.map_err(|error| Problem::input(format!("error: {}: {error}", place.display())))
}

/// `b / a` for people.
fn over(a: f64, b: f64) -> String {
    match (a, b) {
        (a, b) if a == b => "=".into(),
        (0.0, _) => "new".into(),
        (a, b) => format!("{:.3}", b / a),
    }
}

fn decisions(a: &Side, b: &Side) -> String {
    type Column = (&'static str, fn(&SummaryRow) -> Option<u64>);
    const COLUMNS: [Column; 6] = [
        ("admitted", |row| Some(row.admitted)),
        ("refused", |row| Some(row.refused + row.never_fits)),
        ("peak in a window", |row| Some(row.peak_window)),
        ("over-admitted", |row| row.over_admitted),
        ("falsely refused", |row| row.falsely_refused),
        ("wait p99 ns", |row| row.wait_p99_ns),
    ];
    let mut grid = Grid::new(&["limiter", "figure", "A", "B", "ratio"]);
    let (mut same, mut only) = (0, Vec::new());
    let key = |row: &SummaryRow| (row.comparison.clone(), row.limiter.clone());
    for row in &a.summary {
        let Some(other) = b.summary.iter().find(|other| key(other) == key(row)) else {
            only.push(format!("{} ({}) is only in A", row.limiter, row.comparison));
            continue;
        };
        let mut differs = false;
        for (name, of) in COLUMNS {
            let (left, right) = (of(row), of(other));
            if left == right {
                continue;
            }
            differs = true;
            let shown = |value: Option<u64>| value.map_or("-".into(), |value| value.to_string());
            let ratio = left.zip(right).map_or("-".into(), |(left, right)| over(left as f64, right as f64));
            let label = format!("{} ({})", row.limiter, row.comparison);
            grid.row(vec![label, name.into(), shown(left), shown(right), ratio]);
        }
        same += u64::from(!differs);
    }
    let missing = b.summary.iter().filter(|row| !a.summary.iter().any(|other| key(other) == key(row)));
    only.extend(missing.map(|row| format!("{} ({}) is only in B", row.limiter, row.comparison)));
    let mut text = format!("\ndecisions: {same} limiters do the same in both\n");
    if !grid.is_empty() {
        text.push_str(&grid.text(false));
    }
    only.iter().for_each(|line| text.push_str(&format!("  {line}\n")));
    text
}

fn timing(a: &Side, b: &Side) -> String {
    if a.overhead.is_empty() || b.overhead.is_empty() {
        return "\ntiming: one of them has none\n".into();
    }
    if a.run["machine"] != b.run["machine"] {
        return "\ntiming: they come from different machines, so it is not compared\n".into();
    }
    let mut grid = Grid::new(&["limiter", "path", "A ns", "B ns", "ratio", "A x no-op", "B x no-op"]);
    let key =
        |row: &OverheadRow| (row.limiter.clone(), row.path.clone(), row.clock.clone(), row.keys, row.threads, row.cost);
    for row in &a.overhead {
        let Some(other) = b.overhead.iter().find(|other| key(other) == key(row)) else { continue };
        let (left, right) = (row.batch_mean_p50_ns, other.batch_mean_p50_ns);
        grid.row(vec![
            row.limiter.clone(),
            row.path.clone(),
            format!("{left:.2}"),
            format!("{right:.2}"),
            over(left, right),
            format!("{:.2}", row.ratio_to_noop),
            format!("{:.2}", other.ratio_to_noop),
        ]);
    }
    format!("\ntiming, medians of batches; the ratios to the no-op limiter are the ones to trust\n{}", grid.text(false))
}
