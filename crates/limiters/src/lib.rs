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
//!
//! # A leash in front of a paid call
//!
//! A [`Stack`] of [`Guard`]s stands in front of a call: here 2 calls per second with 10 at once, *and* $5 in all. The
//! price is reserved before the call and settled after it, so the bill cannot pass the cap by calls in flight. Threads
//! share the leash behind a mutex that is not held during the call.
//!
//! ```
//! use limiters::{Accounting, Answer, Check, Clamp, Guard, Meter, Plain, Rate, Request, Resets, Response, RetryAfter};
//! use limiters::{Scope, Single, SpendCap, Stack, TokenBucket};
//! use std::sync::Mutex;
//! use std::time::Instant;
//!
//! struct Leash {
//!     since: Instant,
//!     stack: Mutex<Clamp<Stack>>,
//! }
//!
//! impl Leash {
//!     fn new() -> Leash {
//!         let calls = TokenBucket::<i64>::new(10, Rate::new(2, 1_000_000_000).unwrap()).unwrap();
//!         let bill = SpendCap::new(5_000_000, Check::Strict, Resets::Never).unwrap();
//!         // Agents come back after a 429 but give up on a 402, which is what an empty purse should make them do.
//!         let give_up = Response { status: 402, retry_after: RetryAfter::None, charge_on_reject: false };
//!         let stack = Stack::new(vec![
//!             Guard::new("calls", Meter::Requests, Scope::Global, Box::new(Single::new(Plain::new(calls)))),
//!             Guard::new("bill", Meter::Spend, Scope::Global, Box::new(Single::new(Plain::new(bill))))
//!                 .with_accounting(Accounting::Reserve { estimate: None })
//!                 .with_response(give_up),
//!         ]);
//!         Leash { since: Instant::now(), stack: Mutex::new(Clamp::new(stack)) }
//!     }
//!
//!     fn now(&self) -> u64 {
//!         self.since.elapsed().as_nanos() as u64
//!     }
//!
//!     /// Makes the call if it may be made now. `estimate` is the most it can cost and `paid_call` returns what it did
//!     /// cost, both in micro-dollars.
//!     fn call(&self, estimate: u64, paid_call: impl FnOnce() -> u64) -> Result<u64, Answer> {
//!         let request = Request { at: self.now(), requests: 1, microusd: estimate, ..Request::default() };
//!         let ticket = {
//!             let mut stack = self.stack.lock().unwrap();
//!             let verdict = stack.try_acquire(&request);
//!             if let Some(answer) = stack.answer(&request, &verdict) {
//!                 return Err(answer);
//!             }
//!             verdict.ticket.unwrap()
//!         };
//!         let cost = paid_call();
//!         let actual = Request { microusd: cost, ..request };
//!         self.stack.lock().unwrap().settle(self.now(), ticket, &actual);
//!         Ok(cost)
//!     }
//! }
//!
//! let leash = Leash::new();
//! for _ in 0..7 {
//!     leash.call(800_000, || 700_000).unwrap();
//! }
//! // $4.90 are spent: a call that may cost $0.80 is not made, and the agent is told not to come back.
//! assert_eq!(leash.call(800_000, || unreachable!()), Err(Answer { status: 402, retry_after: None }));
//! // A small loop meets the bucket instead, and is told when the next permit comes.
//! let refusal = (0..1_000).find_map(|_| leash.call(1, || 1).err()).unwrap();
//! assert_eq!((refusal.status, refusal.retry_after_seconds()), (429, Some(1)));
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
mod table;
mod word;

mod fixed_window;
mod gcra;
mod leaky_bucket;
mod leaky_bucket_meter;
mod nginx_limit_req;
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
pub use gcra::{Gcra, GcraWord};
pub use guard::{Accounting, Guard, Ledger, Response, RetryAfter, Scope};
pub use hash::{KeyHash, KeyHasher};
pub use keyed::Keyed;
pub use leaky_bucket::LeakyBucket;
pub use leaky_bucket_meter::LeakyBucketMeter;
pub use limiter::{Decision, Level, Limiter, Outcome};
pub use loop_breaker::LoopBreaker;
pub use nginx_limit_req::NginxLimitReq;
pub use params::{Kind, Param, ParamError, Quota, Settings, Value};
pub use rate::Rate;
pub use registry::{ALGORITHMS, Algorithm, SERVERS, algorithm};
pub use replicated::{Nodes, Replicated, Routing};
pub use request::{Batch, Meter, Request};
pub use rule::{AnyRule, Plain, Rule, Worst};
pub use shared::ShardedKeyed;
pub use sliding_window_counter::{Rounding, SlidingWindowCounter};
pub use sliding_window_log::SlidingWindowLog;
pub use sliding_window_segments::{Mode, SlidingWindowSegments};
pub use span::Span;
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
