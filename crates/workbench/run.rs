//! `workbench run`: scenarios in, reports out.

use crate::check::{load, load_without_traffic};
use crate::cli::RunArgs;
use crate::problem::{Problem, print};
use crate::progress::bar;
use crate::provenance::{self, Provenance};
use crate::seeds;
use crate::trace_args::trace;
use indicatif::ProgressBar;
use limiters::Meter;
use replay::rows::NoteRow;
use replay::scenario::Scenario;
use replay::servers;
use replay::{Options, Progress, Run};
use report::{Folder, Report, Tables};
use std::io::{IsTerminal, stdout};
use std::path::{Path, PathBuf};
use std::time::Instant;
use traffic::{Note, NoteKind};

/// Runs every scenario; all files are read before the first one runs.
pub fn run(args: &RunArgs) -> Result<(), Problem> {
    let trace = trace(&args.trace)?;
    let mut scenarios = match trace {
        Some(_) => load_without_traffic(&args.scenarios)?,
        None => load(&args.scenarios)?,
    };
    for (index, scenario) in scenarios.iter().enumerate() {
        if let Some(earlier) = scenarios[..index].iter().find(|earlier| earlier.name == scenario.name) {
            let (one, other, name) = (earlier.path.display(), scenario.path.display(), &scenario.name);
            return Err(Problem::input(format!("error: {one} and {other} would both write the report `{name}`")));
        }
    }
    for scenario in &mut scenarios {
        if let Some(trace) = &trace {
            scenario.replace_traffic(trace.clone());
        }
        if args.seed.is_some_and(|seed| seed != scenario.seed) && !std::mem::take(&mut scenario.expects).is_empty() {
            let text = "another seed than the scenario's was asked for, so its expectations are skipped".into();
            scenario.notes.push(Note { kind: NoteKind::Warning, text });
        }
        compare(scenario, &args.limiter)?;
    }
    let threads = args.jobs.map_or(0, usize::from);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    let pool = pool.map_err(|error| Problem::input(format!("error: --jobs {threads}: {error}")))?;
    let mut broken = Vec::new();
    let mut json = Vec::new();
    for scenario in &scenarios {
        let done = pool.install(|| one(scenario, args))?;
        broken.extend(done.broken);
        if args.json {
            json.push(report::to_json(&done.report));
        } else if !args.quiet {
            print(&format!("{}{}\n", done.text, done.paths))?;
        }
    }
    if args.json {
        print(&format!("{:#}\n", serde_json::Value::from(json)))?;
    }
    if broken.is_empty() { Ok(()) } else { Err(Problem::Broken(broken.join("\n"))) }
}

/// Adds the settings of servers among `wanted`, and narrows to the labels, if there are any.
fn compare(scenario: &mut Scenario, wanted: &[String]) -> Result<(), Problem> {
    let (settings, labels): (Vec<&String>, Vec<&String>) = wanted.iter().partition(|text| servers::is_setting(text));
    for text in settings {
        let setting = crate::text::one("--limiter", text, servers::read)?;
        if !scenario.labels().any(|label| label == text) {
            scenario.limiters.push(setting.limiter(scenario.quota.per_key));
            if scenario.quota.meter != Meter::Requests {
                let meter = scenario.quota.meter.name();
                let text =
                    format!("{text} counts requests, as that server does; the scenario's own limiters count {meter}");
                scenario.notes.push(Note { kind: NoteKind::Guess, text });
            }
        }
    }
    if labels.is_empty() {
        return Ok(());
    }
    scenario.narrow(wanted).map_err(|text| Problem::Input(format!("error: {text}")))
}

struct Done {
    report: Report,
    text: String,
    paths: String,
    broken: Vec<String>,
}

fn one(scenario: &Scenario, args: &RunArgs) -> Result<Done, Problem> {
    let place = args.out.join(&scenario.name);
    let folder = Folder::create(&place).map_err(|error| Problem::input(format!("error: {error}")))?;
    let begun = Instant::now();
    let first = args.seed.unwrap_or(scenario.seed);
    let replayed = replayed(scenario, args, first, Some(folder.path()))?;
    let mut others = Vec::new();
    for seed in first + 1..first + u64::from(args.seeds) {
        others.push(replayed_once(scenario, args, seed)?);
    }
    let replaying = begun.elapsed();
    let text = std::fs::read_to_string(&scenario.path).map_err(|error| unreadable(&scenario.path, &error))?;
    let provenance = Provenance { scenario, args, run: &replayed, replaying, toml: &text };
    let json = provenance.json();
    let mut broken = replayed.broken.clone();
    let unkept = broken.len();
    broken.extend(replayed.violations.clone());
    let mut tables = tables(replayed);
    tables.notes.push(NoteRow { kind: "command".into(), text: provenance::command(scenario, args) });
    tables.bills.extend(others.iter().flatten().filter_map(replay::money::bill));
    let seeds = seeds::Seeds::new(&tables.summary, &others);
    if let Some(seeds) = &seeds {
        seeds.write(folder.path()).map_err(|error| Problem::input(format!("error: {error}")))?;
    }
    let report = folder.fill(&tables, &text, Some(&json)).map_err(|error| Problem::input(format!("error: {error}")))?;
    let place = folder.commit().map_err(|error| Problem::input(format!("error: {error}")))?;
    let mut text = report::terminal_tables(&report, width(), colour());
    if let Some(seeds) = &seeds {
        text.push_str(&seeds.table());
    }
    if !scenario.expects.is_empty() {
        let count = scenario.expects.iter().map(|expect| expect.checks.len()).sum::<usize>();
        let kept = if unkept == 0 { "all hold".to_owned() } else { format!("{unkept} do not hold") };
        text.push_str(&format!("\n{count} expectations: {kept}\n"));
    }
    Ok(Done { report, text, paths: paths(&place), broken })
}

fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    Problem::input(format!("error: {}: {error}", path.display()))
}

/// The summary of one more seed.
fn replayed_once(scenario: &Scenario, args: &RunArgs, seed: u64) -> Result<Vec<replay::rows::SummaryRow>, Problem> {
    let mut scenario = scenario.clone();
    // What is expected is expected of the scenario's own seed.
    scenario.expects.clear();
    Ok(replayed(&scenario, args, seed, None)?.summary)
}

fn replayed(scenario: &Scenario, args: &RunArgs, seed: u64, folder: Option<&Path>) -> Result<Run, Problem> {
    let bar = bar(&scenario.name, args.quiet);
    let progress = |progress| advance(&bar, progress);
    let options = Options {
        seed,
        overhead: folder.is_some() && !args.no_overhead,
        decisions: folder.filter(|_| args.decisions),
        progress: &progress,
    };
    let run = replay::run(scenario, &options).map_err(|text| Problem::Input(format!("error: {text}")));
    bar.finish_and_clear();
    run
}

fn advance(bar: &ProgressBar, progress: Progress) {
    match progress {
        Progress::Reading(reading) => crate::progress::reading(bar, reading),
        Progress::Expected(total) => crate::progress::expect(bar, total),
        Progress::Seen(more) => bar.inc(more),
    }
}

fn tables(run: Run) -> Tables {
    Tables {
        summary: run.summary,
        timeline: run.timeline,
        envelope: run.envelope,
        guarantee: run.guarantee,
        waits: run.waits,
        keys: run.keys,
        notes: run.notes,
        overhead: run.overhead,
        clients: run.clients,
        spend: run.spend,
        bills: run.bills,
    }
}

fn paths(place: &Path) -> String {
    let mut text = format!("\nreport: {}\n", place.join("report.html").display());
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(place).map(|dir| dir.flatten().map(|file| file.path()).collect()).unwrap_or_default();
    files.sort();
    let of = |extension: &str| -> Vec<String> {
        let named = files.iter().filter(|file| file.extension().is_some_and(|found| found == extension));
        named.filter_map(|file| Some(file.file_stem()?.to_string_lossy().into_owned())).collect()
    };
    text.push_str(&format!("tables: {}/{{{}}}.csv\n", place.display(), of("csv").join(",")));
    text.push_str(&format!("figures: {}/{{{}}}.png\n", place.display(), of("png").join(",")));
    text
}

fn width() -> usize {
    terminal_size::terminal_size().map_or(120, |(width, _)| usize::from(width.0))
}

fn colour() -> bool {
    stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
