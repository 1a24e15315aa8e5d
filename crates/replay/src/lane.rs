//! A lane: one limiter with its measurements, fed the same batches as every other lane.

use crate::measure::{Measure, Setup};
use crate::world::{Cast, Record, World};
use limiters::{Batch, Level, Meter, Nanos, Outcome, Request, Stack, Store};
use std::ops::Range;

/// What a lane asks: a store of limiters under one meter, or a stack of guards.
pub trait Gate: Send {
    /// Decides requests `range` of the batch in order; `cost` is what the lane's meter counts, for the whole batch.
    fn run(&mut self, batch: &Batch, cost: &[u64], range: Range<usize>, out: &mut [Outcome]);
    /// The answer to a request, with nothing changed; `None` where that cannot be had.
    fn peek(&self, request: &Request) -> Option<Outcome>;
    /// See [`limiters::Limiter::retry_after`].
    fn retry_after(&self, request: &Request) -> Option<Nanos>;
    /// See [`limiters::Limiter::level`]; of key 0 where each key has its own.
    fn level(&self, now: Nanos) -> Option<Level>;
    /// Bytes of state of one key.
    fn state_bytes(&self) -> usize;
    /// Most keys kept at once.
    fn max_live_keys(&self) -> usize;
    /// The stack, for clients that are answered one by one.
    fn stack(&mut self) -> Option<&mut Stack> {
        None
    }
    /// The same to look at.
    fn guards(&self) -> Option<&Stack> {
        None
    }
}

/// A store of limiters.
pub struct StoreGate {
    /// The limiters.
    pub store: Box<dyn Store + Send>,
    /// What they count.
    pub meter: Meter,
}

impl Gate for StoreGate {
    fn run(&mut self, batch: &Batch, cost: &[u64], range: Range<usize>, out: &mut [Outcome]) {
        self.store.run(&batch.key[range.clone()], &batch.at[range.clone()], &cost[range], out);
    }
    fn peek(&self, request: &Request) -> Option<Outcome> {
        Some(self.store.peek(request.key, request.at, self.meter.of(request)))
    }
    fn retry_after(&self, request: &Request) -> Option<Nanos> {
        self.store.retry_after(request.key, request.at, self.meter.of(request))
    }
    fn level(&self, now: Nanos) -> Option<Level> {
        Some(self.store.level(0, now))
    }
    fn state_bytes(&self) -> usize {
        self.store.state_bytes()
    }
    fn max_live_keys(&self) -> usize {
        self.store.max_live_keys()
    }
}

/// A stack of guards. Open-loop traffic knows what a call costs when it asks, so calls are settled at once.
pub struct StackGate(pub Stack);

impl Gate for StackGate {
    fn run(&mut self, batch: &Batch, _: &[u64], range: Range<usize>, out: &mut [Outcome]) {
        for (index, out) in range.zip(out) {
            let request = batch.get(index);
            let verdict = self.0.try_acquire(&request);
            *out = verdict.outcome;
            if let Some(ticket) = verdict.ticket {
                self.0.settle(request.at, ticket, &request);
            }
        }
    }
    fn peek(&self, request: &Request) -> Option<Outcome> {
        Some(self.0.peek(request))
    }
    fn retry_after(&self, request: &Request) -> Option<Nanos> {
        self.0.retry_after(request)
    }
    fn level(&self, now: Nanos) -> Option<Level> {
        self.0.level(0, now)
    }
    fn state_bytes(&self) -> usize {
        self.0.guards().iter().filter_map(|guard| guard.store()).map(|store| store.state_bytes()).sum()
    }
    fn max_live_keys(&self) -> usize {
        self.0.guards().iter().filter_map(|guard| guard.store()).map(|store| store.max_live_keys()).max().unwrap_or(1)
    }
    fn stack(&mut self) -> Option<&mut Stack> {
        Some(&mut self.0)
    }
    fn guards(&self) -> Option<&Stack> {
        Some(&self.0)
    }
}

/// A limiter with its measurements.
pub struct Lane {
    gate: Box<dyn Gate>,
    meter: Meter,
    patience: Option<Nanos>,
    /// Everything measured so far.
    pub measure: Measure,
    /// Sampled refusals, and those whose retry-after was sufficient and tight.
    pub hints: (u64, u64),
    /// Times that went back and were clamped.
    pub regressions: u64,
    high_water: Nanos,
    seen: u64,
    amounts: Vec<u64>,
    clamped: Batch,
    out: Vec<Outcome>,
    /// Clients that react to this limiter.
    world: Option<World>,
}

/// The first so many requests are decided one at a time, so that short runs sample each refusal's hint.
const SAMPLE_ALL: u64 = 1_000;
/// Longest block that is decided at once.
const BLOCK: usize = 4_096;

impl Lane {
    /// A lane that has seen nothing.
    pub fn new(gate: Box<dyn Gate>, meter: Meter, patience: Option<Nanos>, setup: &Setup<'_>) -> Lane {
        Lane {
            gate,
            meter,
            patience,
            measure: Measure::new(setup),
            hints: (0, 0),
            regressions: 0,
            high_water: 0,
            seen: 0,
            amounts: Vec::new(),
            clamped: Batch::default(),
            out: Vec::new(),
            world: None,
        }
    }

    /// The same with clients that react to its limiter, which must be a stack.
    #[must_use]
    pub fn with_clients(mut self, cast: &Cast) -> Lane {
        self.world = self.gate.stack().map(|stack| World::new(cast, stack.guards(), self.meter));
        self
    }

    /// The clients and what came of them.
    pub fn world(&self) -> Option<&World> {
        self.world.as_ref()
    }

    /// Decides and measures a batch. `sink` sees each block with its decisions.
    pub fn feed(&mut self, batch: &Batch, mut sink: impl FnMut(&Batch, &[u64], Range<usize>, &[Outcome])) {
        let mut clamped = std::mem::take(&mut self.clamped);
        let batch = match self.clamp(batch, &mut clamped) {
            true => &clamped,
            false => batch,
        };
        if let (Some(world), Some(stack)) = (&mut self.world, self.gate.stack()) {
            let mut record = Record::new(&mut self.measure, self.meter, &mut sink);
            world.feed(batch, stack, &mut record);
            drop(record);
            self.clamped = clamped;
            return;
        }
        let mut scratch = std::mem::take(&mut self.amounts);
        let cost = batch.amounts(self.meter, &mut scratch);
        let mut from = 0;
        while from < batch.len() {
            let bin_end = self.measure.block_end(batch.at[from]);
            let longest = if self.seen < SAMPLE_ALL { 1 } else { BLOCK };
            let block = &batch.at[from..batch.len().min(from + longest)];
            let to = from + block.partition_point(|&at| at < bin_end);
            self.block(batch, cost, from..to);
            sink(batch, cost, from..to, &self.out);
            from = to;
        }
        self.amounts = scratch;
        self.clamped = clamped;
    }

    fn block(&mut self, batch: &Batch, cost: &[u64], range: Range<usize>) {
        let gate = &self.gate;
        self.measure.levels_until(batch.at[range.start], |at| gate.level(at).map(|level| level.available_milli));
        self.out.resize(range.len(), Outcome::Refused);
        match self.patience {
            None => self.gate.run(batch, cost, range.clone(), &mut self.out),
            Some(patience) => {
                for index in range.clone() {
                    // Who would have to wait longer leaves before joining, so the limiter is not charged.
                    let now = batch.at[index];
                    let start = self.gate.peek(&batch.get(index)).and_then(|outcome| outcome.starts(now));
                    let out = &mut self.out[index - range.start..][..1];
                    out[0] = Outcome::Refused;
                    if start.is_none_or(|start| start - now <= patience) {
                        self.gate.run(batch, cost, index..index + 1, out);
                    }
                }
            }
        }
        let (key, at) = (&batch.key[range.clone()], &batch.at[range.clone()]);
        self.measure.observe(key, at, &cost[range.clone()], &self.out);
        self.seen += range.len() as u64;
        let last = range.end - 1;
        if self.out[range.len() - 1] == Outcome::Refused {
            self.judge_hint(&batch.get(last));
        }
    }

    /// Whether the promised wait is enough, and not a nanosecond too long.
    fn judge_hint(&mut self, request: &Request) {
        let passes = |at| self.gate.peek(&Request { at, ..*request }).is_some_and(Outcome::passes);
        // With patience a refusal may come from the caller's side, which no limiter promises anything about.
        if self.gate.peek(request) != Some(Outcome::Refused) {
            return;
        }
        let now = request.at;
        let honest = match self.gate.retry_after(request) {
            Some(wait) => wait > 0 && passes(now.saturating_add(wait)) && !passes(now + wait - 1),
            None => !passes(Nanos::MAX / 4),
        };
        self.hints.0 += 1;
        self.hints.1 += u64::from(honest);
    }

    /// Copies `batch` into `into` with times that never go back; false when they do not, and nothing was copied.
    fn clamp(&mut self, batch: &Batch, into: &mut Batch) -> bool {
        if batch.at.is_sorted() && batch.at.first().is_none_or(|&first| first >= self.high_water) {
            self.high_water = batch.at.last().copied().unwrap_or(self.high_water);
            return false;
        }
        into.clone_from(batch);
        for at in &mut into.at {
            self.regressions += u64::from(*at < self.high_water);
            self.high_water = self.high_water.max(*at);
            *at = self.high_water;
        }
        true
    }

    /// Ends the run at the absolute time `end`. `sink` sees what clients still ask until then.
    pub fn finish(&mut self, end: Nanos, mut sink: impl FnMut(&Batch, &[u64], Range<usize>, &[Outcome])) {
        if let (Some(world), Some(stack)) = (&mut self.world, self.gate.stack()) {
            let mut record = Record::new(&mut self.measure, self.meter, &mut sink);
            world.finish(stack, &mut record);
            drop(record);
            self.hints = world.hints;
        }
        let gate = &self.gate;
        self.measure.levels_until(end, |at| gate.level(at).map(|level| level.available_milli));
        self.measure.finish();
    }

    /// The gate, for its figures.
    pub fn gate(&self) -> &dyn Gate {
        self.gate.as_ref()
    }
}
