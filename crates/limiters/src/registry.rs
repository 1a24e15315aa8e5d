//! The registry: every algorithm there is, in the order reports show them.

use crate::{AnyRule, Nanos, Param, ParamError, Settings};

/// An algorithm as the registry knows it.
pub struct Algorithm {
    /// Kebab-case name, as scenarios and CSV files write it.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// Its own parameters.
    pub params: &'static [Param],
    /// Whether a scenario that names no limiters runs it.
    pub default: bool,
    /// Makes the rule, or says which parameter is at fault.
    pub build: fn(&Settings) -> Result<Box<dyn AnyRule>, ParamError>,
    /// The settings that admit most while never admitting more than the given limit in any half-open window of the given
    /// length: none where no parameters can promise that, several where the best choice depends on the traffic.
    pub strict: fn(u64, Nanos) -> Vec<Settings>,
}

/// Every algorithm. Help, lists, contract tests, benches, colours and documentation iterate this list; adding an algorithm
/// is a file with its rule and a line here.
pub const ALGORITHMS: &[Algorithm] = &[
    crate::unlimited::ALGORITHM,
    crate::fixed_window::ALGORITHM,
    crate::sliding_window_log::ALGORITHM,
    crate::sliding_window_counter::ALGORITHM,
    crate::sliding_window_segments::ALGORITHM,
    crate::token_bucket::ALGORITHM,
    crate::token_bucket_interval::ALGORITHM,
    crate::leaky_bucket::ALGORITHM,
    crate::leaky_bucket_meter::ALGORITHM,
    crate::gcra::ALGORITHM,
    crate::spend_cap::ALGORITHM,
];

/// Limiters of servers, with the rounding of their own code: to compare a setting that runs somewhere with another one. They
/// run only where they are named, and promise what their server promises, not what the algorithms above do.
pub const SERVERS: &[Algorithm] = &[crate::nginx_limit_req::ALGORITHM];

/// The algorithm or server's limiter called `name`.
pub fn algorithm(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().chain(SERVERS).find(|algorithm| algorithm.name == name)
}
