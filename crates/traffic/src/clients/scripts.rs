//! Recorded calls as a client plays them: when each script starts, and its calls one after the other.

use limiters::Nanos;

/// One recorded call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Whose limits it counts against: a place in [`Scripts::keys`].
    pub key: u32,
    /// Nanoseconds from its answer to the next step.
    pub wait: Nanos,
    /// Nanoseconds until its answer, where they were recorded; otherwise the client's latency.
    pub takes: Option<Nanos>,
    /// Permits under the meter `requests`.
    pub cost: u64,
    /// Tokens sent, received, read from a cache and written to one.
    pub tokens: [u64; 4],
    /// Price in micro-dollars.
    pub microusd: u64,
}

/// A chain of steps: each is asked when the one before it is over and its wait has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Script {
    /// When its first step is asked, from [`Scripts::origin`].
    pub start: Nanos,
    /// Its first step: a place in [`Scripts::steps`].
    pub first: u32,
    /// How many steps it has; at least 1.
    pub steps: u32,
}

/// Every script of one recorded file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scripts {
    /// Names of the keys.
    pub keys: Vec<String>,
    /// The scripts, in order of their start.
    pub scripts: Vec<Script>,
    /// The steps of all of them. Scripts that do the same share them.
    pub steps: Vec<Step>,
    /// Absolute time from which starts count, where the file tells the time of day; otherwise they count from t = 0.
    pub origin: Option<Nanos>,
    /// How long a run should be, from `origin`, unless somebody says otherwise.
    pub length: Nanos,
}

impl Scripts {
    /// Steps of all scripts.
    pub fn calls(&self) -> u64 {
        self.scripts.iter().map(|script| u64::from(script.steps)).sum()
    }

    /// Least and most that a step costs, in micro-dollars; 0 and 0 without steps.
    pub fn prices(&self) -> (u64, u64) {
        let prices = || self.steps.iter().map(|step| step.microusd);
        (prices().min().unwrap_or(0), prices().max().unwrap_or(0))
    }

    /// The steps of a script.
    pub fn of(&self, script: &Script) -> &[Step] {
        &self.steps[script.first as usize..][..script.steps as usize]
    }
}
