//! A limiter driven down one path in virtual time, a batch at a time.

use crate::entry::Entry;
use crate::lane::Gate;
use limiters::{Batch, Meter, Nanos, Outcome, Quota, Rate};
use traffic::spec::{Amount, Keys, Pattern, Shape, Trace};
use traffic::{Settings, Source, Traffic, TrafficError};

/// Decisions in one timed batch.
pub const BATCH: usize = 4_096;

/// A path through a limiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Path {
    /// Half the rate of the limit: everything is admitted.
    Admit,
    /// Everything is refused.
    Refuse,
    /// Poisson arrivals at twice the limit.
    Poisson,
    /// The scenario's own traffic.
    Scenario,
}

impl Path {
    /// All of them.
    pub const ALL: [Path; 4] = [Path::Admit, Path::Refuse, Path::Poisson, Path::Scenario];

    /// As CSV files write it.
    pub fn name(self) -> &'static str {
        match self {
            Path::Admit => "admit",
            Path::Refuse => "refuse",
            Path::Poisson => "poisson-2x",
            Path::Scenario => "scenario",
        }
    }
}

/// What a limiter is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Case {
    /// The path.
    pub path: Path,
    /// Keys that requests are spread over evenly, when the entry has a limiter for each.
    pub keys: u64,
    /// Permits of a request, but on the scenario's own path.
    pub cost: u64,
}

impl Default for Case {
    fn default() -> Case {
        Case { path: Path::Poisson, keys: 1, cost: 1 }
    }
}

/// A limiter on its path.
pub struct Drive<'a> {
    entry: &'a Entry,
    case: Case,
    gate: Box<dyn Gate>,
    span: Nanos,
    cost: Vec<u64>,
    batch: Batch,
    out: Vec<Outcome>,
    /// What the next key is made from.
    picked: u64,
}

impl<'a> Drive<'a> {
    /// A drive that is ready to be timed: drained on the path of refusals, past its first burst on that of Poisson
    /// arrivals. `traffic` is a piece of a scenario's own, in time order; `None` when its path is asked for without it.
    pub fn new(entry: &'a Entry, case: Case, traffic: Option<&Batch>, start: Nanos) -> Option<Drive<'a>> {
        let batch = match case.path {
            Path::Scenario => tiled(traffic.filter(|traffic| !traffic.is_empty())?, entry.quota.window),
            _ => template(entry.quota, case, start),
        };
        let mut scratch = Vec::new();
        let meter = if case.path == Path::Scenario { entry.meter } else { Meter::Requests };
        let cost = batch.amounts(meter, &mut scratch).to_vec();
        let length = batch.at[BATCH - 1] - batch.at[0];
        let span = match case.path {
            Path::Admit | Path::Scenario => whole_windows(length, entry.quota.window),
            Path::Refuse => 0,
            // Where one batch ends, the next begins.
            Path::Poisson => length + length / BATCH as u64,
        };
        let out = vec![Outcome::Refused; BATCH];
        let mut drive = Drive { entry, case, gate: (entry.make)(), span, cost, batch, out, picked: 0 };
        drive.pick_keys();
        let permits = entry.quota.limit.max(entry.quota.burst).saturating_mul(case.keys);
        let warm_up = match case.path {
            // Asked at one instant until nothing is left, what is asked at the same instant is refused. Keys come in turn.
            Path::Refuse => permits.div_ceil(case.cost) / BATCH as u64 + 2,
            Path::Poisson => 2 * permits.div_ceil(case.cost) / BATCH as u64 + 1,
            Path::Admit | Path::Scenario => 0,
        };
        for _ in 0..warm_up {
            drive.decide();
            drive.advance();
        }
        Some(drive)
    }

    /// Decides [`BATCH`] requests: what is timed.
    #[inline]
    pub fn decide(&mut self) {
        self.gate.run(&self.batch, &self.cost, 0..BATCH, &mut self.out);
    }

    /// How many the last batch admitted.
    pub fn admitted(&self) -> u64 {
        self.out.iter().filter(|outcome| outcome.passes()).count() as u64
    }

    /// What the last batch was answered.
    pub fn outcomes(&self) -> &[Outcome] {
        &self.out
    }

    /// Makes the next batch, which comes after the last one, so that the state moves on as it would in a run.
    pub fn advance(&mut self) {
        for at in &mut self.batch.at {
            *at = at.saturating_add(self.span);
        }
        self.pick_keys();
    }

    /// Keys are drawn at random, so that each sees Poisson arrivals of its own; on the path of refusals they come in turn,
    /// so that all are drained.
    fn pick_keys(&mut self) {
        if self.case.keys < 2 || self.case.path == Path::Scenario {
            return;
        }
        for key in &mut self.batch.key {
            *key = match self.case.path {
                Path::Refuse => {
                    self.picked = self.picked.wrapping_add(1);
                    keyed_index(self.picked, self.case.keys)
                }
                _ => {
                    // Knuth's linear congruential generator, whose high bits are good enough to pick keys with.
                    self.picked = self.picked.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    (self.picked >> 32) % self.case.keys
                }
            };
        }
    }

    /// Whether batches did what their path says, of so many decisions. A limiter that cannot be driven onto a path has no
    /// row there.
    pub fn holds(&self, decisions: u64, admitted: u64) -> bool {
        let unlimited = self.entry.algorithm == "unlimited";
        decisions > 0
            && match self.case.path {
                Path::Admit => admitted == decisions,
                Path::Refuse => admitted == if unlimited { decisions } else { 0 },
                Path::Poisson if unlimited => admitted == decisions,
                // About half; a short run may be off by what windows hold.
                Path::Poisson => (decisions / 5..=decisions * 4 / 5).contains(&admitted),
                Path::Scenario => admitted > 0,
            }
    }

    /// What is driven.
    pub fn entry(&self) -> &Entry {
        self.entry
    }

    /// Down which path.
    pub fn case(&self) -> Case {
        self.case
    }

    /// Distinct keys that were asked at most.
    pub fn keys(&self) -> u64 {
        match self.case.path {
            Path::Scenario => 1 + self.batch.key.iter().max().copied().unwrap_or(0),
            _ => self.case.keys,
        }
    }

    /// Bytes of state of a key.
    pub fn state_bytes(&self) -> usize {
        self.gate.state_bytes()
    }
}

/// The key of the `count`-th request: all keys in each run of `keys` requests when `keys` is a power of two.
#[inline]
pub(super) fn keyed_index(count: u64, keys: u64) -> u64 {
    if keys.is_power_of_two() {
        // An odd factor only permutes; its high bits would repeat, its low bits do not.
        count.wrapping_mul(0x9e37_79b9_7f4a_7c15) & (keys - 1)
    } else {
        count % keys
    }
}

/// One batch of arrival times from `start`.
fn template(quota: Quota, case: Case, start: Nanos) -> Batch {
    // Half the rate, and one more nanosecond, is admitted by every algorithm, strict parameters included.
    let half_rate = (2 * u128::from(quota.window) * u128::from(case.cost)).div_ceil(quota.limit.into()) as Nanos + 1;
    let mut batch = match case.path {
        Path::Admit => evenly(start, half_rate),
        Path::Refuse => evenly(start, 0),
        Path::Poisson | Path::Scenario => {
            poisson(quota, case, start).unwrap_or_else(|| evenly(start, (half_rate / 4 / case.keys).max(1)))
        }
    };
    batch.requests.fill(case.cost);
    batch
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
        let at = start.saturating_add(index.saturating_mul(gap));
        batch.push(&limiters::Request { at, requests: 1, ..limiters::Request::default() });
    }
    batch
}

/// Arrivals at twice the limit. `None` when that rate cannot be expressed.
fn poisson(quota: Quota, case: Case, start: Nanos) -> Option<Batch> {
    let permits = quota.limit.checked_mul(2)?.checked_mul(case.keys)?;
    let rate = Rate::new(permits, quota.window.checked_mul(case.cost)?)?;
    let mut traffic = poisson_traffic(rate, start)?;
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

/// Endless Poisson arrivals of one permit each.
pub(super) fn poisson_traffic(rate: Rate, start: Nanos) -> Option<Traffic> {
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
    Traffic::open(&[pattern], &settings, no_traces).ok()
}
