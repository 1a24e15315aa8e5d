//! The overhead pass: how long a decision takes on this machine, beside the limiter that does nothing.
//!
//! Paths are never averaged: every request admitted, every request refused, Poisson arrivals at twice the limit, whose
//! branches no processor can predict, and the scenario's own traffic. Limiters take turns, so that a slow moment of the
//! machine hits all of them; figures are medians and percentiles over batches; each batch checks how many it admitted, and
//! nothing is set up within a timed batch.

mod clock;
mod drive;
mod floor;
mod keyed;
mod replayed;
mod shared;
mod threads;

pub use clock::{Clock, Worker, timer_cost};
pub use drive::{BATCH, Case, Drive, Path};
pub use floor::{BY_HAND, TARGET, by_hand, floor_of};
pub use keyed::{KEYED, KeyedSubject, keyed_subjects};
pub use replayed::{Replayed, replayed};
pub use shared::{Setting, SharedSubject, shared_subjects};
pub use threads::{Sample, Timed, in_turn, sample};

use crate::entry::Entry;
use crate::rows::{OverheadRow, six_decimals};
use limiters::{Batch, Nanos};
use std::time::Instant;

/// Times every entry on every path, `rounds` batches each, in turn. `traffic` is a piece of the scenario's own.
///
/// # Panics
/// When an entry [`by_hand`] did not admit as many as the limiter it is the floor of.
pub fn measure(entries: &[Entry], traffic: Option<&Batch>, start: Nanos, rounds: usize) -> Vec<OverheadRow> {
    let mut rows = Vec::new();
    let paths = Path::ALL.into_iter().filter(|path| *path != Path::Scenario || traffic.is_some());
    for path in paths {
        let case = Case { path, ..Case::default() };
        let drives = entries.iter().filter_map(|entry| Drive::new(entry, case, traffic, start));
        let mut drives: Vec<(Drive<'_>, Timed)> = drives.map(|drive| (drive, Timed::default())).collect();
        // The first round warms caches and branch predictors and is not counted.
        for round in 0..=rounds {
            for (drive, timed) in &mut drives {
                let begun = Instant::now();
                drive.decide();
                let nanos = begun.elapsed().as_nanos() as f64;
                if round > 0 {
                    timed.add(nanos, BATCH as u64, drive.admitted());
                }
                drive.advance();
            }
        }
        let floor = drives.iter().find(|(drive, _)| drive.entry().algorithm == "unlimited");
        let floor = floor.map(|(_, timed)| timed.percentile(0.5));
        let held = drives.into_iter().filter(|(drive, timed)| drive.holds(timed.decisions, timed.admitted));
        rows.extend(held.map(|(drive, timed)| row(&drive, &timed, floor)));
    }
    for row in &rows {
        if let Some(floor) = floor_of(&rows, row) {
            let counts = [row, floor].map(|row| (row.decisions, row.admitted));
            assert_eq!(counts[0], counts[1], "{} and {} decide alike: {}", row.limiter, floor.limiter, row.path);
        }
    }
    rows
}

fn row(drive: &Drive<'_>, timed: &Timed, floor: Option<f64>) -> OverheadRow {
    let (entry, case) = (drive.entry(), drive.case());
    timed.row(OverheadRow {
        limiter: entry.label.clone(),
        algorithm: entry.algorithm.clone(),
        path: case.path.name().into(),
        clock: Clock::Virtual.name().into(),
        keys: drive.keys(),
        threads: 1,
        cost: case.cost,
        ratio_to_noop: ratio(timed.percentile(0.5), floor),
        bytes_per_key: drive.state_bytes() as u64,
        ..OverheadRow::default()
    })
}

/// `nanos` over the floor's; 0 where there is none.
pub fn ratio(nanos: f64, floor: Option<f64>) -> f64 {
    six_decimals(floor.filter(|&floor| floor > 0.0).map_or(0.0, |floor| nanos / floor))
}
