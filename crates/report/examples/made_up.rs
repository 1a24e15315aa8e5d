//! Writes the made-up report of the tests to a folder, for looking at every figure: `cargo run -p report --example made_up -- DIR`.

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

#[path = "../tests/made_up/mod.rs"]
mod made_up;

fn main() -> ExitCode {
    let Some(place) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: made_up DIR");
        return ExitCode::from(2);
    };
    let run = serde_json::json!({ "version": "0.1.0", "seed": 42, "inputs": { "scenario.toml": "sha256 …" } });
    let start = Instant::now();
    match report::write(&place, &made_up::tables(), made_up::SCENARIO, Some(&run)) {
        Ok(report) => {
            print!("{}", report::terminal_tables(&report, 120, false));
            eprintln!("{} written in {:.0} ms", place.display(), start.elapsed().as_secs_f64() * 1e3);
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
