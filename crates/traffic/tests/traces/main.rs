//! Recorded files: what is read from each, what is said about it, and how what cannot be read is refused.

mod chosen;
mod errors;
mod formats;
mod handmade;
mod notes;
mod playback;
mod prices;
mod public;
mod sessions;
mod speed;
mod spread;

use limiters::{Batch, Nanos};
use std::path::PathBuf;
use traffic::traces::{self, Recorded};
use traffic::{Source, TrafficError, spec};

/// A file of this folder.
fn data(name: &str) -> spec::Trace {
    spec::Trace { path: PathBuf::from("tests/traces/data").join(name), repeat: 1, ..Default::default() }
}

/// A file that ships with the workbench.
fn shipped(name: &str) -> spec::Trace {
    spec::Trace { path: PathBuf::from("../../scenarios/traces").join(name), repeat: 1, ..Default::default() }
}

/// Text as if it were a file `log`.
fn text(text: &str, spec: spec::Trace) -> Result<Recorded, TrafficError> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, text).unwrap();
    let hide = |error: TrafficError| TrafficError { path: error.path.map(|_| "log".into()), ..error };
    traces::open(&spec::Trace { path, ..spec }).map_err(hide)
}

/// Everything that a recorded file plays, from its own start on.
fn play(recorded: Recorded) -> Batch {
    let (start, duration) = (recorded.start.unwrap_or(0), recorded.duration());
    let (mut source, cut) = recorded.into_source(start, duration).unwrap();
    assert_eq!(cut, 0);
    let mut batch = Batch::default();
    while source.fill(&mut batch, 1000).unwrap() > 0 {}
    batch
}

/// Times from the first one on.
fn since_first(batch: &Batch) -> Vec<Nanos> {
    batch.at.iter().map(|at| at - batch.at[0]).collect()
}

const MS: Nanos = 1_000_000;
