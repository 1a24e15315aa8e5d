//! The overhead pass: how long a decision takes on this machine, beside the limiter that does nothing.
//!
//! Four paths, never averaged: every request admitted, every request refused, Poisson arrivals at twice the limit, whose
//! branches no processor can predict, and the scenario's own traffic. Limiters take turns, so that a slow moment of the machine hits all of them; figures are
//! medians and percentiles over batches; each batch checks how many it admitted. Time is virtual, so no clock is read
//! within a batch.

use crate::entry::Entry;
use crate::rows::{OverheadRow, six_decimals};
use limiters::{Batch, Meter, Nanos, Outcome, Quota, Rate};
use std::time::Instant;
use traffic::spec::{Amount, Keys, Pattern, Shape, Trace};
use traffic::{Settings, Source, Traffic, TrafficError};

/// Decisions in one timed batch.
const BATCH: usize = 4_096;

/// A path through a limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    Admit,
    Refuse,
    Poisson,
    Scenario,
}

impl Path {
    const ALL: [(Path, &'static str); 4] =
        [(Path::Admit, "admit"), (Path::Refuse, "refuse"), (Path::Poisson, "poisson-2x"), (Path::Scenario, "scenario")];
}

/// Times every entry on every path, `rounds` batches each, in turn. `traffic` is a piece of the scenario's own.
pub fn measure(entries: &[Entry], traffic: &Batch, start: Nanos, rounds: usize) -> Vec<OverheadRow> {
    let mut rows = Vec::new();
    for (path, name) in Path::ALL {
        let mut timings: Vec<Timing> = entries.iter().map(|entry| Timing::new(entry, path, traffic, start)).collect();
        // The first round warms caches and branch predictors and is not counted.
        for round in 0..=rounds {
            for timing in &mut timings {
                timing.batch(round > 0);
            }
        }
        let floor = timings.iter_mut().find(|timing| timing.entry.algorithm == "unlimited").map(|t| t.percentile(0.5));
        rows.extend(timings.into_iter().filter_map(|timing| timing.row(name, floor)));
    }
    rows
}

struct Timing<'a> {
    entry: &'a Entry,
    path: Path,
    gate: Box<dyn crate::lane::Gate>,
    span: Nanos,
    cost: Vec<u64>,
    batch: Batch,
    out: Vec<Outcome>,
    nanos: Vec<f64>,
    admitted: u64,
}

impl<'a> Timing<'a> {
    fn new(entry: &'a Entry, path: Path, traffic: &Batch, start: Nanos) -> Timing<'a> {
        let mut gate = (entry.make)();
        let batch = match path {
            Path::Scenario => tiled(traffic, entry.quota.window),
            _ => template(entry.quota, path, start),
        };
        let mut scratch = Vec::new();
        let cost =
            batch.amounts(if path == Path::Scenario { entry.meter } else { Meter::Requests }, &mut scratch).to_vec();
        let mut out = vec![Outcome::Refused; BATCH];
        if path == Path::Refuse {
            // Ask at one instant until nothing is left; what is asked afterwards at the same instant is refused.
            for _ in 0..=entry.quota.limit.saturating_mul(2) / BATCH as u64 {
                gate.run(&batch, &cost, 0..BATCH, &mut out);
            }
        }
        let span = match path {
            Path::Refuse => 0,
            _ => whole_windows(batch.at[BATCH - 1] - batch.at[0], entry.quota.window),
        };
        Timing { entry, path, gate, span, cost, batch, out, nanos: Vec::new(), admitted: 0 }
    }

    fn batch(&mut self, count: bool) {
        let begun = Instant::now();
        self.gate.run(&self.batch, &self.cost, 0..BATCH, &mut self.out);
        let nanos = begun.elapsed().as_nanos() as f64 / BATCH as f64;
        let admitted = self.out.iter().filter(|outcome| outcome.passes()).count() as u64;
        if count {
            self.nanos.push(nanos);
            self.admitted += admitted;
        }
        // The next batch comes after this one, so that the state moves on as it would in a run.
        for at in &mut self.batch.at {
            *at = at.saturating_add(self.span);
        }
    }

    fn percentile(&mut self, share: f64) -> f64 {
        self.nanos.sort_unstable_by(f64::total_cmp);
        let rank = (share * self.nanos.len() as f64).ceil() as usize;
        self.nanos.get(rank.saturating_sub(1)).copied().unwrap_or(0.0)
    }

    /// Whether the batches did what their name says; a limiter that cannot be driven onto a path has no row there.
    fn holds(&self, decisions: u64) -> bool {
        match self.path {
            Path::Admit => self.admitted == decisions,
            Path::Refuse => self.admitted == if self.entry.algorithm == "unlimited" { decisions } else { 0 },
            Path::Poisson | Path::Scenario => self.admitted > 0,
        }
    }

    fn row(mut self, path: &str, floor: Option<f64>) -> Option<OverheadRow> {
        let decisions = (self.nanos.len() * BATCH) as u64;
        if decisions == 0 || !self.holds(decisions) {
            return None;
        }
        let mean = self.nanos.iter().sum::<f64>() / self.nanos.len() as f64;
        let (p50, p99) = (self.percentile(0.5), self.percentile(0.99));
        Some(OverheadRow {
            limiter: self.entry.label.clone(),
            algorithm: self.entry.algorithm.clone(),
            path: path.into(),
            clock: "virtual".into(),
            keys: 1 + self.batch.key.iter().max().copied().unwrap_or(0),
            threads: 1,
            cost: 1,
            decisions,
            admitted: self.admitted,
            mean_ns: six_decimals(mean),
            batch_mean_p50_ns: six_decimals(p50),
            batch_mean_p99_ns: six_decimals(p99),
            ratio_to_noop: six_decimals(floor.filter(|&floor| floor > 0.0).map_or(0.0, |floor| p50 / floor)),
            bytes_per_key: self.gate.state_bytes() as u64,
        })
    }
}

/// One batch of arrival times from `start`.
fn template(quota: Quota, path: Path, start: Nanos) -> Batch {
    // Half the rate, and one more nanosecond, is admitted by every algorithm, strict parameters included.
    let half_rate = (2 * u128::from(quota.window)).div_ceil(quota.limit.into()) as Nanos + 1;
    match path {
        Path::Admit => evenly(start, half_rate),
        Path::Refuse => evenly(start, 0),
        Path::Poisson | Path::Scenario => poisson(quota, start).unwrap_or_else(|| evenly(start, half_rate / 4)),
    }
}

/// The next multiple of the window above `span`, so that what follows is aligned to the wall clock in the same way.
fn whole_windows(span: Nanos, window: Nanos) -> Nanos {
    (span / window + 1).saturating_mul(window)
}

/// The first requests of `traffic`, repeated after whole windows until they fill a batch.
fn tiled(traffic: &Batch, window: Nanos) -> Batch {
    let count = traffic.len().min(BATCH);
    let mut batch = Batch::default();
    let mut shift: Nanos = 0;
    while batch.len() < BATCH {
        let missing = BATCH - batch.len();
        for index in 0..count.min(missing) {
            let request = traffic.get(index);
            batch.push(&limiters::Request { at: request.at.saturating_add(shift), ..request });
        }
        shift = shift.saturating_add(whole_windows(traffic.at[count - 1].saturating_sub(traffic.at[0]), window));
    }
    batch
}

fn evenly(start: Nanos, gap: Nanos) -> Batch {
    let mut batch = Batch::default();
    for index in 1..=BATCH as u64 {
        let at = start.saturating_add(index * gap);
        batch.push(&limiters::Request { at, requests: 1, ..limiters::Request::default() });
    }
    batch
}

/// Arrivals at twice the limit. `None` when that rate cannot be expressed.
fn poisson(quota: Quota, start: Nanos) -> Option<Batch> {
    let rate = Rate::new(quota.limit.checked_mul(2)?, quota.window)?;
    let pattern = Pattern {
        shape: Shape::Poisson { rate, start: 0, end: None },
        keys: Keys::One(String::new()),
        cost: Amount::Constant(1),
        input_tokens: None,
        output_tokens: None,
        price: None,
    };
    let settings = Settings { seed: 0, start, duration: Nanos::MAX - start, tokens: false };
    let no_traces = |trace: &Trace, _: &Pattern| -> Result<Box<dyn Source>, TrafficError> {
        unreachable!("no trace among the patterns: {}", trace.path.display())
    };
    let mut traffic = Traffic::open(&[pattern], &settings, no_traces).ok()?;
    let mut batch = Batch::default();
    let mut missing = BATCH;
    while missing > 0 {
        match traffic.fill(&mut batch, missing).ok()? {
            0 => return None,
            made => missing -= made,
        }
    }
    Some(batch)
}
