//! `workbench list`: what there is, from the same registries that everything else iterates.

use crate::cli::{ListArgs, Listing};
use crate::problem::{Problem, print};
use limiters::{ALGORITHMS, Kind, Param};
use replay::scenario::Scenario;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Prints one listing, or all of them.
pub fn list(args: &ListArgs) -> Result<(), Problem> {
    let sections: [(Listing, fn() -> String); 4] = [
        (Listing::Algorithms, algorithms),
        (Listing::Patterns, patterns),
        (Listing::Formats, formats),
        (Listing::Scenarios, scenarios),
    ];
    let chosen = sections.iter().filter(|(what, _)| args.what.is_none_or(|wanted| wanted == *what));
    let text: Vec<String> = chosen.map(|(_, section)| section()).collect();
    print(&text.join("\n"))
}

/// A name and what it is, in two columns.
fn line(text: &mut String, name: &str, what: &str) {
    let _ = writeln!(text, "  {name:<26} {what}");
}

fn algorithms() -> String {
    let mut text = "algorithms ([[limiter]] algorithm = \"…\"; * runs by default)\n".to_owned();
    for algorithm in ALGORITHMS {
        let star = if algorithm.default { "*" } else { " " };
        line(&mut text, &format!("{star} {}", algorithm.name), algorithm.summary);
        for param in algorithm.params {
            line(&mut text, &format!("      {}", param.name), &format!("{}: {}", takes(param), param.doc));
        }
    }
    text
}

fn takes(param: &Param) -> String {
    match param.kind {
        Kind::Permits { .. } => "whole number".into(),
        Kind::Duration => "duration".into(),
        Kind::Rate => "rate".into(),
        Kind::Choice(words) => words.join(" | "),
        #[allow(unreachable_patterns)]
        _ => "see scenarios/README.md".into(),
    }
}

fn patterns() -> String {
    let mut text = "arrival patterns ([[traffic.NAME]])\n".to_owned();
    for pattern in traffic::PATTERNS {
        line(&mut text, pattern.name, pattern.summary);
    }
    text
}

fn formats() -> String {
    let mut text = "formats of recorded traffic ([[traffic.trace]] format = \"…\", or --format)\n".to_owned();
    for format in traffic::traces::FORMATS {
        line(&mut text, format.name, format.summary);
    }
    text
}

fn scenarios() -> String {
    let mut text = "scenarios (workbench run FILE)\n".to_owned();
    let mut files: Vec<PathBuf> = std::fs::read_dir("scenarios")
        .map(|folder| folder.flatten().map(|entry| entry.path()).filter(|path| is_toml(path)).collect())
        .unwrap_or_default();
    files.sort();
    if files.is_empty() {
        text.push_str("  none: there is no folder `scenarios` with .toml files here\n");
    }
    for file in files {
        let what = match Scenario::load(&file) {
            Ok(scenario) => scenario.summary,
            Err(problems) => format!("{} problems: see workbench check {}", problems.len(), file.display()),
        };
        line(&mut text, &file.display().to_string(), &what);
    }
    text
}

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}
