//! Rate limiters with exact integer arithmetic: no clock, no I/O, no dependencies.
//!
//! Time is an argument. [`Limiter::try_acquire`] is asked "at `now`, may `cost` permits pass?" and answers with an
//! [`Outcome`]; the caller decides where `now` comes from. An algorithm is a [`Rule`]: its parameters and what they say
//! about a small state. [`Plain`] holds one state, [`Keyed`] one per key, and [`ALGORITHMS`] lists every rule there is.
//!
//! ```
//! use limiters::{Limiter, Outcome, Plain, Rate, TokenBucket};
//! let rate = Rate::new(2, 1_000_000_000).unwrap(); // 2 permits per second
//! let mut bucket = Plain::new(TokenBucket::<i64>::new(10, rate).unwrap());
//! for _ in 0..10 {
//!     assert_eq!(bucket.try_acquire(0, 1), Outcome::Admitted);
//! }
//! assert_eq!(bucket.try_acquire(0, 1), Outcome::Refused);
//! assert_eq!(bucket.retry_after(0, 1), Some(500_000_000));
//! ```

mod atomic_fixed_window;
mod atomic_gcra;
mod clamp;
mod guard;
mod hash;
mod keyed;
mod limiter;
mod loop_breaker;
mod params;
mod params_strict;
mod promises;
mod rate;
mod registry;
mod replicated;
mod request;
mod rule;
mod shared;
mod span;
mod stack;
mod store;
mod sync;
mod word;

mod fixed_window;
mod gcra;
mod leaky_bucket;
mod leaky_bucket_meter;
mod sliding_window_counter;
mod sliding_window_log;
mod sliding_window_segments;
mod spend_cap;
mod token_bucket;
mod token_bucket_interval;
mod unlimited;

pub use atomic_fixed_window::AtomicFixedWindow;
pub use atomic_gcra::AtomicGcra;
pub use clamp::Clamp;
pub use fixed_window::{Anchor, FixedWindow};
pub use gcra::{Gcra, Instant};
pub use guard::{Accounting, Guard, Ledger, Response, RetryAfter, Scope};
pub use hash::{KeyHash, KeyHasher};
pub use keyed::Keyed;
pub use leaky_bucket::LeakyBucket;
pub use leaky_bucket_meter::LeakyBucketMeter;
pub use limiter::{Decision, Level, Limiter, Outcome};
pub use loop_breaker::LoopBreaker;
pub use params::{Kind, Param, ParamError, Quota, Settings, Value};
pub use rate::Rate;
pub use registry::{ALGORITHMS, Algorithm, algorithm};
pub use replicated::{Nodes, Replicated, Routing};
pub use request::{Batch, Meter, Request};
pub use rule::{AnyRule, Plain, Rule, Worst};
pub use shared::ShardedKeyed;
pub use sliding_window_counter::{Rounding, SlidingWindowCounter};
pub use sliding_window_log::SlidingWindowLog;
pub use sliding_window_segments::{Mode, SlidingWindowSegments};
pub use spend_cap::{Check, Resets, SpendCap};
pub use stack::{Answer, Stack, Ticket, Verdict};
pub use store::{PerKey, Single, Store};
pub use token_bucket::TokenBucket;
pub use token_bucket_interval::TokenBucketInterval;
pub use unlimited::Unlimited;
pub use word::Word;

/// A point in time or a length of time in whole nanoseconds. Points count from the Unix epoch wherever an algorithm is
/// aligned to the wall clock; the range ends in the year 2554.
pub type Nanos = u64;
