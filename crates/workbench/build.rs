//! Tells the program which commit it is built from.

use std::path::Path;
use std::process::Command;

fn git(args: &[&str]) -> Option<String> {
    let output = Command::new("git").args(args).output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn main() {
    println!("cargo:rerun-if-changed=crates/workbench/build.rs");
    // Every commit and checkout adds a line there.
    let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists()) else {
        return;
    };
    println!("cargo:rerun-if-changed={log}");
    println!("cargo:rerun-if-changed=crates");
    if let Some(commit) = git(&["rev-parse", "HEAD"]) {
        let changed = git(&["status", "--porcelain", "--", "crates", "Cargo.toml", "Cargo.lock"]);
        let mark = if changed.is_some_and(|files| files.is_empty()) { "" } else { "+" };
        println!("cargo:rustc-env=WORKBENCH_REVISION={commit}{mark}");
    }
}
