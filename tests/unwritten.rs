//! What cannot be written whole is not written at all: no half-written file, no mixture of old and new ones.

use assert_cmd::Command;
use std::fs;
use std::path::Path;

const CODE: &str = "scenarios/traces/AzureLLMInferenceTrace_code.csv";

/// Names and contents of everything below `folder`, hidden or not.
fn all(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let content = if path.is_dir() { Vec::new() } else { fs::read(&path).unwrap() };
        found.push((path.display().to_string(), content));
        if path.is_dir() {
            found.extend(all(&path));
        }
    }
    found.sort();
    found
}

/// Standard error of a call that must be refused.
fn refused(mut command: Command) -> String {
    let output = command.current_dir(env!("CARGO_MANIFEST_DIR")).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{error}");
    error
}

fn workbench(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("workbench").unwrap();
    command.args(args);
    command
}

/// The calls that write tables and figures, each with the last file that it writes.
const CALLS: &[(&[&str], &str)] = &[
    (&["size", "--trace", CODE, "--rate", "5/s"], "size.png"),
    (
        &["size", "--scenario", "scenarios/neighbour.toml", "--rogue", "runaway", "--per-key", "--rate", "5/min"],
        "frontier.png",
    ),
    (&["inspect", CODE], "gaps.png"),
];

#[test]
fn a_folder_in_the_place_of_one_file_leaves_all_as_they_were() {
    for (call, last) in CALLS {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path().to_str().unwrap();
        fs::create_dir(folder.path().join(last)).unwrap();
        fs::write(folder.path().join(last).join("thesis.txt"), "mine").unwrap();
        for old in ["size.csv", "frontier.csv", "gaps.csv", "other.txt"] {
            fs::write(folder.path().join(old), "old").unwrap();
        }
        let before = all(folder.path());
        let scenario = folder.path().join("mine.toml");
        let write = if call[0] == "size" { "--write" } else { "--convert" };
        let target = if call[0] == "size" { scenario } else { folder.path().join("own.csv") };
        let error = refused(workbench(&[call, &["--out", out, write, target.to_str().unwrap()][..]].concat()));
        assert_eq!(error, format!("error: {out}/{last}: a folder stands where this file should\n"));
        assert_eq!(all(folder.path()), before);
    }
}

#[test]
fn a_file_in_the_place_of_the_folder_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("taken");
    fs::write(&taken, "mine").unwrap();
    let before = all(folder.path());
    for (call, _) in CALLS {
        let error = refused(workbench(&[call, &["--out", taken.to_str().unwrap()][..]].concat()));
        assert_eq!(error, format!("error: {}: not a folder\n", taken.display()));
        let below = taken.join("deeper");
        let error = refused(workbench(&[call, &["--out", below.to_str().unwrap()][..]].concat()));
        assert!(error.starts_with(&format!("error: {}: ", below.display())), "{error}");
        assert_eq!(all(folder.path()), before);
    }
}

/// The command where no file may grow beyond half a kilobyte (as if the disk were full then), or a kilobyte in other shells.
#[cfg(unix)]
fn cramped(args: &[&str]) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\""]);
    command.arg(env!("CARGO_BIN_EXE_workbench")).args(args);
    command
}

#[cfg(unix)]
#[test]
fn a_full_disk_leaves_nothing_half_written() {
    for (call, _) in CALLS {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("new/deeper");
        let error = refused(cramped(&[call, &["--out", new.to_str().unwrap()][..]].concat()));
        assert!(error.contains("too large") && !error.contains("partial"), "{error}");
        assert_eq!(all(folder.path()), [], "folders that were made are gone");
        fs::write(folder.path().join("size.csv"), "old").unwrap();
        let before = all(folder.path());
        refused(cramped(&[call, &["--out", folder.path().to_str().unwrap()][..]].concat()));
        assert_eq!(all(folder.path()), before);
    }
}

#[cfg(unix)]
#[test]
fn a_scenario_or_a_converted_file_is_written_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).display().to_string();
    let mut targets = vec!["own.csv", "own.csv.gz"];
    if cfg!(feature = "parquet") {
        targets.push("own.parquet");
    }
    for name in targets {
        let error = refused(cramped(&["inspect", CODE, "--convert", &place(name)]));
        let wanted = format!("error: --convert {}: File too large", place(name));
        assert!(error.starts_with(&wanted), "{error}");
    }
    for (call, _) in &CALLS[..2] {
        let error = refused(cramped(&[call, &["--write", &place("mine.toml")][..]].concat()));
        assert!(error.starts_with(&format!("error: --write {}: File too large", place("mine.toml"))), "{error}");
    }
    assert_eq!(all(folder.path()), []);
}
