//! `run.json`: what made a report, so that somebody else can make it again.

use crate::cli::RunArgs;
use crate::trace_args;
use replay::Run;
use replay::scenario::Scenario;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::path::Path;
use std::time::Duration;

/// What is known of a run beside its rows.
pub struct Provenance<'a> {
    /// The scenario.
    pub scenario: &'a Scenario,
    /// The flags it was run with.
    pub args: &'a RunArgs,
    /// What came out.
    pub run: &'a Run,
    /// Time it took, reports apart.
    pub replaying: Duration,
    /// The scenario file's text.
    pub toml: &'a str,
}

impl Provenance<'_> {
    /// The content of `run.json`.
    pub fn json(&self) -> Value {
        let run = self.run;
        let files: Vec<Value> = run.files.iter().map(file).collect();
        let notes = |kind: &str| -> Vec<&str> {
            run.notes.iter().filter(|note| note.kind == kind).map(|note| note.text.as_str()).collect()
        };
        json!({
            "version": env!("CARGO_PKG_VERSION"),
            "revision": REVISION,
            "command": std::env::args_os().map(|arg| arg.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" "),
            "scenario": { "path": self.scenario.path.to_string_lossy(), "sha256": hex(&Sha256::digest(self.toml.as_bytes())) },
            "seed": self.args.seed.unwrap_or(self.scenario.seed),
            "seeds": self.args.seeds,
            "start_ns": run.start,
            "duration_ns": run.duration,
            "requests": run.requests,
            "inputs": files,
            "guesses": notes("guess"),
            "skipped": notes("skipped"),
            "warnings": notes("warning"),
            "broken": run.broken,
            "violations": run.violations,
            "replay_ns": self.replaying.as_nanos() as u64,
            "machine": machine(),
        })
    }
}

/// The command that makes the deterministic part of the report again; it names no machine and no folder.
pub fn command(scenario: &Scenario, args: &RunArgs) -> String {
    let mut command = format!("workbench run {}", scenario.path.display());
    for limiter in &args.limiter {
        command.push_str(&format!(" --limiter '{limiter}'"));
    }
    if let Some(seed) = args.seed {
        command.push_str(&format!(" --seed {seed}"));
    }
    if args.seeds > 1 {
        command.push_str(&format!(" --seeds {}", args.seeds));
    }
    if let Some(trace) = &args.trace.trace {
        command.push_str(&format!(" --trace {}{}", trace.display(), trace_args::written(&args.trace.read)));
        for (flag, value) in [("retry-as", &args.trace.retry_as), ("retry-within", &args.trace.retry_within)] {
            if let Some(value) = value {
                command.push_str(&format!(" --{flag} {value}"));
            }
        }
    }
    command
}

fn file(file: &replay::FileRead) -> Value {
    json!({
        "path": file.path.to_string_lossy(),
        "format": file.format,
        "rows": file.rows,
        "skipped": file.skipped,
        "out_of_order": file.backward_steps,
        "bytes": file.bytes,
        "sha256": sha256_of(&file.path),
    })
}

/// The hash of a file; none for what is gone once it is read, like standard input or a pipe.
fn sha256_of(path: &Path) -> Option<String> {
    let mut hash = Sha256::new();
    let mut file = std::fs::File::open(path).ok().filter(|file| file.metadata().is_ok_and(|kind| kind.is_file()))?;
    std::io::copy(&mut file, &mut Writer(&mut hash)).ok()?;
    Some(hex(&hash.finalize()))
}

struct Writer<'a>(&'a mut Sha256);

impl std::io::Write for Writer<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The commit that this program was built from, where it was built in a checkout; `+` behind it says that files had changed.
const REVISION: Option<&str> = option_env!("WORKBENCH_REVISION");

/// What timing depends on.
pub fn machine() -> Value {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model =
        cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(':').map(|(_, name)| name.trim()));
    json!({
        "os": std::env::consts::OS,
        "arch": std::env::consts::ARCH,
        "cpu": model,
        "cores": std::thread::available_parallelism().map_or(1, usize::from),
    })
}
