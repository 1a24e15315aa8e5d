//! `workbench check`: everything that is wrong with scenario files, without running them.

use crate::cli::CheckArgs;
use crate::problem::{Problem, print};
use replay::diagnose::Diagnostic;
use replay::scenario::{self, Scenario, load_all};
use std::path::PathBuf;

/// Checks every file, and says for each good one what it would run.
pub fn check(args: &CheckArgs) -> Result<(), Problem> {
    let mut text = String::new();
    for scenario in load(&args.scenarios)? {
        let (limiters, expects) = (scenario.limiters.len(), scenario.expects.len());
        let path = scenario.path.display();
        text.push_str(&format!("{path}: fine; {limiters} limiters, {expects} expectations\n"));
    }
    print(&text)
}

/// Loads every file, or shows the problems of all of them.
pub fn load(paths: &[PathBuf]) -> Result<Vec<Scenario>, Problem> {
    load_all(paths).map_err(|problems| show(&problems))
}

/// The same of files whose traffic is replaced, so that they need none.
pub fn load_without_traffic(paths: &[PathBuf]) -> Result<Vec<Scenario>, Problem> {
    scenario::load_without_traffic(paths).map_err(|problems| show(&problems))
}

fn show(problems: &[Diagnostic]) -> Problem {
    let shown: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let count = match problems.len() {
        1 => "1 problem".to_owned(),
        many => format!("{many} problems"),
    };
    Problem::Input(format!("{}\n\n{count}; nothing was run", shown.join("\n\n")))
}
