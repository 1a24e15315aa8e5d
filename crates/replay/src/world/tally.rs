//! What came of a population, and how spending and attempts went over time.

use limiters::Nanos;
use traffic::clients::spec::{Client, Role};

/// Counts of one population. Times count from t = 0.
#[derive(Clone, Debug)]
#[allow(missing_docs)] // clients.csv says what each is
pub struct Tally {
    pub name: String,
    pub role: Role,
    pub agents: u64,
    /// Children that `max-agents` kept from being.
    pub not_spawned: u64,
    /// Turns begun: logical calls.
    pub turns: u64,
    /// Tool calls asked, and model calls refused.
    pub attempts: u64,
    pub admitted: u64,
    pub refused: u64,
    /// Admitted calls that the upstream answered with an error.
    pub failed: u64,
    pub gave_up: u64,
    /// Part of `gave_up`: for a status that is never retried.
    pub terminal: u64,
    /// Agents that their own loop detector stopped.
    pub detected: u64,
    pub useful: u64,
    pub wasted: u64,
    /// Attempts made when a server had said so, and those that were refused all the same.
    pub asked_again: u64,
    pub refused_again: u64,
    pub spent_turns: u128,
    pub spent_calls: u128,
    pub first_refusal: Option<Nanos>,
    pub last_attempt: Option<Nanos>,
    pub last_useful: Option<Nanos>,
    /// When the last agent had stopped for good; `None` while any goes on at the end of the run.
    pub stopped: Option<Nanos>,
}

impl Tally {
    pub(super) fn new(client: &Client) -> Tally {
        Tally {
            name: client.name.clone(),
            role: client.role,
            agents: 0,
            not_spawned: 0,
            turns: 0,
            attempts: 0,
            admitted: 0,
            refused: 0,
            failed: 0,
            gave_up: 0,
            terminal: 0,
            detected: 0,
            useful: 0,
            wasted: 0,
            asked_again: 0,
            refused_again: 0,
            spent_turns: 0,
            spent_calls: 0,
            first_refusal: None,
            last_attempt: None,
            last_useful: None,
            stopped: None,
        }
    }

    pub(super) fn finish(&mut self, all_stopped: bool) {
        self.stopped = self.last_attempt.filter(|_| all_stopped);
    }

    /// Micro-dollars spent.
    pub fn spent(&self) -> u128 {
        self.spent_turns + self.spent_calls
    }
}

/// Length of the slots in which attempts are counted for synchronisation.
pub const PULSE: Nanos = 100_000_000;
const MOST_BINS: u64 = 20_000;

/// One step of the curve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Micro-dollars spent in it.
    pub spent: u64,
    /// Attempts in it.
    pub attempts: u64,
    /// Most attempts in one 100 ms of it.
    pub peak: u64,
}

/// Spending and attempts over time.
#[derive(Clone, Debug)]
pub struct Curve {
    start: Nanos,
    /// Length of a step.
    pub bin: Nanos,
    /// The steps.
    pub steps: Vec<Step>,
    pulse: u64,
    in_pulse: u64,
    /// Most attempts in 100 ms.
    pub peak: u64,
    /// All attempts.
    pub attempts: u64,
}

impl Curve {
    pub(super) fn new(start: Nanos, duration: Nanos, bin: Nanos) -> Curve {
        let bin = bin.max(1).max(duration / MOST_BINS);
        let steps = vec![Step::default(); duration.div_ceil(bin).max(1) as usize];
        Curve { start, bin, steps, pulse: 0, in_pulse: 0, peak: 0, attempts: 0 }
    }

    fn step(&mut self, since: Nanos) -> &mut Step {
        let last = self.steps.len() - 1;
        &mut self.steps[((since / self.bin) as usize).min(last)]
    }

    #[inline]
    pub(super) fn spend(&mut self, at: Nanos, microusd: u64) {
        let since = at - self.start;
        let step = self.step(since);
        step.spent = step.spent.saturating_add(microusd);
    }

    #[inline]
    pub(super) fn attempt(&mut self, at: Nanos) {
        let since = at - self.start;
        if since / PULSE != self.pulse {
            self.close();
            self.pulse = since / PULSE;
        }
        self.in_pulse += 1;
        self.step(since).attempts += 1;
    }

    fn close(&mut self) {
        let (pulse, count) = (self.pulse, std::mem::take(&mut self.in_pulse));
        self.peak = self.peak.max(count);
        self.attempts += count;
        let step = self.step(pulse * PULSE);
        step.peak = step.peak.max(count);
    }

    pub(super) fn finish(&mut self) {
        self.close();
    }
}
