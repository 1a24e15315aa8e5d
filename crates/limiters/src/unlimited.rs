//! The limiter that admits everything: the offered load in every table, and the floor in every benchmark.
//!
//! Rule: every request passes. Nothing bounds it, so it has no envelope.

use crate::{Algorithm, AnyRule, Level, Nanos, Outcome, ParamError, Rule, Settings};

/// The registry entry.
pub const ALGORITHM: Algorithm = Algorithm {
    name: "unlimited",
    summary: "admits everything: the offered load, and the floor of what a decision costs",
    source: "the baseline",
    params: &[],
    default: true,
    build,
    strict: |_, _| Vec::new(),
};

fn build(_: &Settings) -> Result<Box<dyn AnyRule>, ParamError> {
    Ok(Box::new(Unlimited))
}

/// Admits everything and remembers nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unlimited;

impl Rule for Unlimited {
    type State = ();

    fn fresh(&self) {}

    #[inline]
    fn try_acquire(&self, _: &mut (), _: Nanos, _: u64) -> Outcome {
        Outcome::Admitted
    }

    fn remaining(&self, _: &(), _: Nanos) -> u64 {
        u64::MAX
    }

    fn retry_after(&self, _: &(), _: Nanos, _: u64) -> Option<Nanos> {
        Some(0)
    }

    fn reset_after(&self, _: &(), _: Nanos) -> Option<Nanos> {
        Some(0)
    }

    fn charge(&self, _: &mut (), _: Nanos, _: u64) {}

    fn refund(&self, _: &mut (), _: Nanos, _: Nanos, _: u64) {}

    fn level(&self, _: &(), _: Nanos) -> Level {
        Level { available_milli: i64::MAX, capacity_milli: i64::MAX }
    }

    fn envelope(&self, _: Nanos, _: u64) -> Option<u128> {
        None
    }

    fn parameters(&self) -> String {
        String::new()
    }
}
