//! What runs: a registered algorithm, a variant of it, or a stack.

use super::QuotaSpec;
use crate::peers::Peer;
use limiters::{
    Accounting, Algorithm, AnyRule, Meter, Nanos, ParamError, Quota, Response, RetryAfter, Settings, algorithm,
};

/// A limiter that runs, or a part of a stack.
#[derive(Clone, Debug)]
pub struct LimiterSpec {
    /// What tables, files and expectations call it; no other that runs has the same.
    pub label: String,
    /// The label before a sweep made it one of several.
    pub swept_from: Option<String>,
    /// A registered algorithm under the scenario's quota, not a variant of the file's.
    pub registered: bool,
    /// What decides.
    pub what: What,
    /// What a permit is; a stack's is its first part's.
    pub meter: Meter,
    /// One state per key; a stack's is its first part's.
    pub per_key: bool,
    /// Replicas with a state each; at least 1.
    pub nodes: u64,
    /// Which replica sees a request.
    pub routing: Routing,
    /// Time from t = 0 at which everything is forgotten.
    pub restart_at: Option<Nanos>,
    /// Whether it runs alone, or only within stacks.
    pub compare: bool,
    /// When it charges.
    pub accounting: Accounting,
    /// How it answers a refusal.
    pub response: Response,
}

/// What decides for a limiter.
#[derive(Clone, Debug)]
pub enum What {
    /// An algorithm of the registry.
    Algorithm {
        /// Its name there.
        name: &'static str,
        /// Its quota and parameters; the origin is 0 until [`LimiterSpec::build`] sets it.
        settings: Settings,
    },
    /// Several limiters that must all admit; none is a stack itself.
    AllOf(Vec<LimiterSpec>),
    /// A breaker of loops: see [`limiters::LoopBreaker`].
    LoopBreaker {
        /// Identical calls that pass.
        identical: u64,
        /// Among so many.
        among: u64,
        /// Nanoseconds until a probe passes.
        cooldown: Nanos,
    },
}

/// The name of a loop breaker among algorithms.
pub(crate) const LOOP_BREAKER: &str = "loop-breaker";

/// Which replica sees a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// One after the other.
    #[default]
    RoundRobin,
    /// Always the same for a key.
    KeyHash,
    /// Any, drawn from the seed.
    Random,
}

impl LimiterSpec {
    /// The algorithm's name as CSV files say it; `all-of` for a stack.
    pub fn algorithm(&self) -> &'static str {
        match &self.what {
            What::Algorithm { name, .. } => name,
            What::AllOf(_) => "all-of",
            What::LoopBreaker { .. } => LOOP_BREAKER,
        }
    }

    /// The quota it runs under; a stack's is its first part's.
    pub fn quota(&self) -> Option<Quota> {
        match &self.what {
            What::Algorithm { settings, .. } => Some(settings.quota),
            What::AllOf(parts) => parts.first().and_then(LimiterSpec::quota),
            What::LoopBreaker { .. } => None,
        }
    }

    /// Its rule with t = 0 at `origin`; `None` for a stack and for a peer. A checked scenario builds without errors at its own start.
    pub fn build(&self, origin: Nanos) -> Option<Result<Box<dyn AnyRule>, ParamError>> {
        match &self.what {
            What::Algorithm { name, settings } => {
                algorithm(name).map(|known| (known.build)(&settings.clone().starting_at(origin)))
            }
            What::AllOf(_) | What::LoopBreaker { .. } => None,
        }
    }

    /// The limiter of another crate that it is.
    pub fn peer(&self) -> Option<&'static Peer> {
        match &self.what {
            What::Algorithm { name, .. } => crate::peers::peer(name),
            What::AllOf(_) | What::LoopBreaker { .. } => None,
        }
    }

    /// The single limiters it is made of: itself, or the parts of a stack.
    pub fn parts(&self) -> impl Iterator<Item = &LimiterSpec> {
        match &self.what {
            What::Algorithm { .. } | What::LoopBreaker { .. } => std::slice::from_ref(self).iter(),
            What::AllOf(parts) => parts.iter(),
        }
    }

    /// Whether `label` is its label, or that of the sweep it comes from.
    pub fn answers_to(&self, label: &str) -> bool {
        self.label == label || self.swept_from.as_deref() == Some(label)
    }

    pub(crate) fn registered(known: &'static Algorithm, quota: QuotaSpec) -> LimiterSpec {
        LimiterSpec {
            label: known.name.to_string(),
            swept_from: None,
            registered: true,
            what: What::Algorithm { name: known.name, settings: Settings::new(quota.quota) },
            meter: quota.meter,
            per_key: quota.per_key,
            nodes: 1,
            routing: Routing::RoundRobin,
            restart_at: None,
            compare: true,
            accounting: Accounting::Immediate,
            response: default_response(quota.meter),
        }
    }
}

/// How a guard answers unless it is told otherwise: 429 with the next permit, of which a guard on money says nothing.
pub(crate) fn default_response(meter: Meter) -> Response {
    let retry_after = if meter == Meter::Spend { RetryAfter::None } else { RetryAfter::NextPermit };
    Response { retry_after, ..Response::default() }
}
