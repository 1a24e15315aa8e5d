//! Workers timed in turn, on one thread or several that must overlap.

use super::clock::Worker;
use crate::rows::{OverheadRow, six_decimals};
use cpu_time::ThreadTime;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// What was timed of one limiter.
#[derive(Clone, Debug, Default)]
pub struct Timed {
    /// Nanoseconds a decision, of each batch.
    nanos: Vec<f64>,
    /// Decisions made.
    pub decisions: u64,
    /// Decisions that admitted.
    pub admitted: u64,
}

impl Timed {
    /// Adds a batch of `decisions` that took `nanos` in all.
    pub fn add(&mut self, nanos: f64, decisions: u64, admitted: u64) {
        self.nanos.push(nanos / decisions as f64);
        self.decisions += decisions;
        self.admitted += admitted;
    }

    /// Nanoseconds a decision of the batch at this share of all; 0 when there is none.
    pub fn percentile(&self, share: f64) -> f64 {
        let mut nanos = self.nanos.clone();
        nanos.sort_unstable_by(f64::total_cmp);
        let rank = (share * nanos.len() as f64).ceil() as usize;
        nanos.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
    }

    /// `row` with what was timed.
    pub fn row(&self, row: OverheadRow) -> OverheadRow {
        OverheadRow {
            decisions: self.decisions,
            admitted: self.admitted,
            mean_ns: six_decimals(self.nanos.iter().sum::<f64>() / self.nanos.len().max(1) as f64),
            batch_mean_p50_ns: six_decimals(self.percentile(0.5)),
            batch_mean_p99_ns: six_decimals(self.percentile(0.99)),
            ..row
        }
    }
}

/// One round of workers that ran at the same time.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Mean nanoseconds a decision as each thread saw it.
    pub nanos: f64,
    /// Decisions of all threads.
    pub decisions: u64,
    /// Those that admitted.
    pub admitted: u64,
    /// Whether every thread was on a processor nine tenths of the time and all ran together for as much of it.
    pub overlapped: bool,
}

/// Lets every worker make `count` decisions, each on a thread of its own when there are several.
pub fn sample(workers: &mut [Worker], count: usize) -> Sample {
    let ready = AtomicUsize::new(0);
    let threads = workers.len();
    let one = |worker: &mut Worker| {
        ready.fetch_add(1, Ordering::AcqRel);
        while ready.load(Ordering::Acquire) < threads {
            std::hint::spin_loop();
        }
        let (begun, cpu) = (Instant::now(), ThreadTime::now());
        let admitted = worker(count);
        let (cpu, ended) = (cpu.elapsed(), Instant::now());
        (begun, ended, cpu, admitted)
    };
    let runs: Vec<_> = match workers {
        [only] => vec![one(only)],
        many => std::thread::scope(|scope| {
            let handles: Vec<_> = many.iter_mut().map(|worker| scope.spawn(|| one(worker))).collect();
            let joined = handles.into_iter().map(|handle| handle.join());
            joined.map(|run| run.unwrap_or_else(|panic| std::panic::resume_unwind(panic))).collect()
        }),
    };
    let walls: f64 = runs.iter().map(|(begun, ended, ..)| (*ended - *begun).as_secs_f64()).sum();
    let cpu: f64 = runs.iter().map(|(.., cpu, _)| cpu.as_secs_f64()).sum();
    let first_end = runs.iter().map(|(_, ended, ..)| *ended).min();
    let last_begin = runs.iter().map(|(begun, ..)| *begun).max();
    let together = match (first_end, last_begin) {
        (Some(end), Some(begin)) => end.saturating_duration_since(begin).as_secs_f64(),
        _ => 0.0,
    };
    let decisions = (count * threads) as u64;
    Sample {
        nanos: walls * 1e9 / decisions as f64,
        decisions,
        admitted: runs.iter().map(|(.., admitted)| admitted).sum(),
        overlapped: cpu >= 0.9 * walls && together * threads as f64 >= 0.9 * walls,
    }
}

/// Times all sets of workers in turn until each has `rounds` samples whose threads overlapped, or ten times as many were
/// tried. Whoever has none was never seen to overlap, and has no row.
pub fn in_turn(sets: &mut [Vec<Worker>], count: usize, rounds: usize) -> Vec<Timed> {
    let mut timed = vec![Timed::default(); sets.len()];
    for round in 0..=rounds * 10 {
        for (workers, timed) in sets.iter_mut().zip(&mut timed) {
            if timed.nanos.len() >= rounds {
                continue;
            }
            let sample = sample(workers, count);
            // The first round warms up.
            if round > 0 && sample.overlapped {
                timed.add(sample.nanos * sample.decisions as f64, sample.decisions, sample.admitted);
            }
        }
    }
    timed
}
