//! Rate limiters of other crates as entries, so that a scenario shows what they admit of the same traffic.
//!
//! They run in virtual time through their clock hooks. They answer and change nothing of what they are: parameters become
//! theirs in the way their documentation suggests. None can be asked without being charged, so nothing judges their hints,
//! they stand in no stack, and `patience` does not apply to them. They come with the cargo feature `peers`.

#[cfg(feature = "peers")]
mod clock;
#[cfg(feature = "peers")]
mod gate;
#[cfg(feature = "peers")]
mod governor;
#[cfg(feature = "peers")]
mod leaky_bucket;
#[cfg(feature = "peers")]
mod ratelimit;

#[cfg(feature = "peers")]
pub use clock::{Virtual, set_now};
#[cfg(feature = "peers")]
use gate::gate;
#[cfg(feature = "peers")]
pub(crate) use {governor::translated as translated_governor, ratelimit::built as built_ratelimit};

use crate::lane::Gate;
use limiters::{Algorithm, ParamError, Quota, Settings};

/// A limiter of another crate.
pub struct Peer {
    /// What the scenario format has to know of it. It is not a rule, so it cannot be built as one.
    pub algorithm: Algorithm,
    /// Its parameters in words for a quota, or why it cannot express it.
    pub parameters: fn(Quota) -> Result<String, ParamError>,
    /// Makes it, fresh: for everybody or one per key.
    pub make: fn(Quota, bool) -> Result<Box<dyn Gate>, ParamError>,
}

/// The names of all peers, whether or not they are compiled in.
pub const NAMES: [&str; 3] = ["peer-governor", "peer-ratelimit", "peer-leaky-bucket"];

/// Every peer that is compiled in: all or none.
pub const PEERS: &[Peer] = &[
    #[cfg(feature = "peers")]
    governor::PEER,
    #[cfg(feature = "peers")]
    ratelimit::PEER,
    #[cfg(feature = "peers")]
    leaky_bucket::PEER,
];

/// The peer called `name`, if it is compiled in.
pub fn peer(name: &str) -> Option<&'static Peer> {
    PEERS.iter().find(|peer| peer.algorithm.name == name)
}

#[cfg_attr(not(feature = "peers"), allow(dead_code))]
const fn algorithm(name: &'static str, summary: &'static str, source: &'static str) -> Algorithm {
    let build = |_: &Settings| Err(ParamError::new("algorithm", "a peer is not a rule of this crate"));
    Algorithm { name, summary, source, params: &[], default: false, build, strict: |_, _| Vec::new() }
}
