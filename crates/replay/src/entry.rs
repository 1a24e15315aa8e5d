//! An entry: what a lane is made from. Plain algorithms, variants and equal-guarantee rivals are all entries.

use crate::lane::{Gate, StoreGate};
use crate::peers::Peer;
use limiters::{AnyRule, Meter, Nanos, ParamError, Quota};
use std::sync::Arc;

/// What an entry is compared under.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Tuned never to pass the quota's limit in any window.
    EqualGuarantee,
    /// The quota, translated by the algorithm.
    EqualQuota,
    /// A limiter that the scenario names.
    Variant,
}

impl Comparison {
    /// As CSV files write it.
    pub fn name(self) -> &'static str {
        match self {
            Comparison::EqualGuarantee => "equal-guarantee",
            Comparison::EqualQuota => "equal-quota",
            Comparison::Variant => "variant",
        }
    }
}

/// A bound on permits started in a closed interval: (length, largest cost of a request) to permits.
pub type Bound = Arc<dyn Fn(Nanos, u64) -> Option<u128> + Send + Sync>;

/// A bound on the permits of many keys together: (length, largest cost of a request, number of keys) to permits.
pub type BoundOfAll = Arc<dyn Fn(Nanos, u64, u64) -> Option<u128> + Send + Sync>;

/// Permits given until an absolute time.
pub type Supply = Arc<dyn Fn(Nanos) -> Option<u128> + Send + Sync>;

/// What is known of one guard of an entry.
#[derive(Clone)]
pub struct GuardInfo {
    /// What it counts.
    pub meter: Meter,
    /// Whether each key has a limiter of its own.
    pub per_key: bool,
    /// The budget of a spending cap, in micro-dollars.
    pub cap: Option<u64>,
    /// Its proven bound: of one key where each key has its own limiter.
    pub bound: Bound,
    /// Its proven bound of so many keys together.
    pub all: BoundOfAll,
}

/// A limiter to run, with what is known of it.
#[derive(Clone)]
pub struct Entry {
    /// What reports call it.
    pub label: String,
    /// Name in the registry, or what kind of stack it is.
    pub algorithm: String,
    /// Its parameters in words.
    pub parameters: String,
    /// What it is compared under.
    pub comparison: Comparison,
    /// The quota it answers to.
    pub quota: Quota,
    /// What it counts.
    pub meter: Meter,
    /// Whether each key has a limiter of its own.
    pub per_key: bool,
    /// Whether it delays.
    pub delays: bool,
    /// Whether its quota is a limit of its own permits in a window, which a budget that is not refilled and a loop breaker do
    /// not promise.
    pub windowed: bool,
    /// Its proven bound: of one key where each key has its own limiter.
    pub bound: Bound,
    /// Permits that it was given until an absolute time, spent or not; `None` where that is not a question.
    pub supply: Supply,
    /// The guards it is made of.
    pub guards: Vec<GuardInfo>,
    /// Makes it, fresh.
    pub make: Arc<dyn Fn() -> Box<dyn Gate> + Send + Sync>,
}

impl Entry {
    /// An entry of one rule.
    pub fn of_rule(
        label: &str,
        algorithm: &str,
        comparison: Comparison,
        quota: Quota,
        meter: Meter,
        per_key: bool,
        rule: Box<dyn AnyRule>,
    ) -> Entry {
        let rule: Arc<dyn AnyRule> = rule.into();
        let (bounding, supplying) = (Arc::clone(&rule), Arc::clone(&rule));
        Entry {
            label: label.into(),
            algorithm: algorithm.into(),
            parameters: rule.parameters(),
            comparison,
            quota,
            meter,
            per_key,
            delays: rule.delays(),
            windowed: algorithm != "spend-cap",
            bound: Arc::new(move |tau, max_cost| bounding.envelope(tau, max_cost)),
            supply: Arc::new(move |end| if per_key { None } else { supplying.supply(end) }),
            guards: Vec::new(),
            make: Arc::new(move || Box::new(StoreGate { store: rule.store(per_key), meter })),
        }
    }
    /// An entry of a limiter of another crate. Nothing is proven of it.
    ///
    /// # Errors
    /// What of the quota it cannot express.
    pub fn of_peer(
        label: &str,
        peer: &'static Peer,
        quota: Quota,
        meter: Meter,
        per_key: bool,
    ) -> Result<Entry, ParamError> {
        Ok(Entry {
            label: label.into(),
            algorithm: peer.algorithm.name.into(),
            parameters: (peer.parameters)(quota)?,
            comparison: Comparison::Variant,
            quota,
            meter,
            per_key,
            delays: false,
            windowed: true,
            bound: Arc::new(|_, _| None),
            supply: Arc::new(|_| None),
            guards: Vec::new(),
            make: Arc::new(move || (peer.make)(quota, per_key).expect("its parameters were accepted before")),
        })
    }
}
