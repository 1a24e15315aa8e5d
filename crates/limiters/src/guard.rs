//! A guard: one limiter in front of a call, with what it meters, when it charges and how it answers a refusal.

use crate::promises::Promises;
use crate::{Level, LoopBreaker, Meter, Nanos, Outcome, Rate, Request, Store};
use std::collections::HashMap;

/// When a guard charges what a call costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accounting {
    /// The request's own amount, when it is asked. Nothing is settled later.
    #[default]
    Immediate,
    /// An estimate when it is asked; the difference to the true amount is refunded or charged when the call is settled.
    /// With the true amount as the estimate the limiter is never overdrawn.
    Reserve {
        /// Permits to hold; `None` holds the request's own amount.
        estimate: Option<u64>,
    },
    /// Nothing when it is asked: a call passes while 1 permit is left. The true amount is charged when the call is
    /// settled, so the calls in flight can overdraw the limiter by all they cost.
    Post,
}

/// Whose requests share a guard's limiter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Everybody's.
    #[default]
    Global,
    /// Those with the same [`Request::key`].
    PerKey,
}

/// What a refused client is told about when to come back.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RetryAfter {
    /// Nothing.
    None,
    /// The least wait after which the same request would pass if nothing else came: exact, and the same instant for
    /// everybody who is refused.
    #[default]
    NextPermit,
    /// The end of the current window of this many nanoseconds on the wall clock, as servers with fixed windows say.
    WindowReset(Nanos),
    /// The time until the limiter is full again.
    Full,
    /// A place of the client's own in a virtual queue: the later of the next permit and of the last promise plus
    /// cost/rate, rounded up. Clients that obey come one at a time instead of all at once. The queue is empty again once
    /// time has passed the last promise; a client who pushes in takes the place of one who obeyed.
    QueueAware(Rate),
}

/// How a guard answers a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Response {
    /// HTTP status: 429 unless said otherwise.
    pub status: u16,
    /// What the client is told about when to come back.
    pub retry_after: RetryAfter,
    /// Whether a request that the stack refuses is charged to this guard all the same. A request that never fits is not.
    pub charge_on_reject: bool,
}

impl Default for Response {
    fn default() -> Response {
        Response { status: 429, retry_after: RetryAfter::default(), charge_on_reject: false }
    }
}

/// What has passed through a guard since it was made, in permits of its meter, over all keys.
///
/// With `available` as the limiter's balance (negative when overdrawn), a cap that never refills keeps
/// `spent + reserved + available = cap` at every event; a positive balance is what is unused, a negative one the overshoot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// Charged for good.
    pub spent: u128,
    /// Held for calls that are not settled yet.
    pub reserved: u128,
    /// Part of `spent` that was charged to refused requests.
    pub spent_on_refusals: u128,
}

/// A limiter in front of a call. Guards are asked through a [`Stack`](crate::Stack), alone or together.
pub struct Guard {
    label: String,
    meter: Meter,
    scope: Scope,
    limiter: Kind,
    accounting: Accounting,
    response: Response,
    promises: Option<Promises>,
    holds: HashMap<u64, Hold>,
    pub(crate) ledger: Ledger,
}

/// Estimates of one key that its limiter still counts, all taken before the same reset.
#[derive(Clone, Copy, Debug)]
struct Hold {
    since: Nanos,
    /// First instant at which they count no more.
    end: Nanos,
    permits: u64,
}

enum Kind {
    Store(Box<dyn Store + Send>),
    Breaker { fresh: LoopBreaker, by_key: HashMap<u64, LoopBreaker> },
}

impl Guard {
    /// A guard that charges `meter` to `store` at once and answers 429 with the next permit. `scope` says whether the
    /// store keeps its states by key.
    pub fn new(label: impl Into<String>, meter: Meter, scope: Scope, store: Box<dyn Store + Send>) -> Guard {
        Guard::of(label.into(), meter, scope, Kind::Store(store))
    }

    /// A guard that refuses identical calls ([`Request::call`]). It meters nothing. Its memory grows with the number of
    /// keys that called: a breaker never looks like a fresh one again.
    pub fn loop_breaker(label: impl Into<String>, scope: Scope, breaker: LoopBreaker) -> Guard {
        Guard::of(label.into(), Meter::Requests, scope, Kind::Breaker { fresh: breaker, by_key: HashMap::new() })
    }

    fn of(label: String, meter: Meter, scope: Scope, limiter: Kind) -> Guard {
        let (accounting, response) = (Accounting::default(), Response::default());
        Guard {
            label,
            meter,
            scope,
            limiter,
            accounting,
            response,
            promises: None,
            holds: HashMap::new(),
            ledger: Ledger::default(),
        }
    }

    /// The same guard with another accounting. A loop breaker has none to change.
    #[must_use]
    pub fn with_accounting(self, accounting: Accounting) -> Guard {
        Guard { accounting, ..self }
    }

    /// The same guard with another answer to a refusal.
    #[must_use]
    pub fn with_response(self, response: Response) -> Guard {
        let promises = match response.retry_after {
            RetryAfter::QueueAware(rate) => Some(Promises::new(rate)),
            _ => None,
        };
        Guard { response, promises, ..self }
    }

    /// The name reports give it.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// What it counts.
    pub fn meter(&self) -> Meter {
        self.meter
    }

    /// When it charges.
    pub fn accounting(&self) -> Accounting {
        self.accounting
    }

    /// How it answers a refusal.
    pub fn response(&self) -> Response {
        self.response
    }

    /// What has passed through it so far.
    pub fn ledger(&self) -> Ledger {
        self.ledger
    }

    /// Its limiter; `None` for a loop breaker.
    pub fn store(&self) -> Option<&(dyn Store + Send)> {
        match &self.limiter {
            Kind::Store(store) => Some(&**store),
            Kind::Breaker { .. } => None,
        }
    }

    /// How full the limiter of `key` is; `None` for a loop breaker.
    pub fn level(&self, key: u64, now: Nanos) -> Option<Level> {
        self.store().map(|store| store.level(key, now))
    }

    /// Permits charged to `key` beyond what its limiter had: what it is overdrawn by, less the estimates of calls that are not
    /// settled yet. For a limiter that is given anew as a whole, as a spending cap is.
    pub fn overdrawn(&self, key: u64, now: Nanos) -> u64 {
        let Some(level) = self.level(key, now) else { return 0 };
        let held = self.holds.get(&self.scoped(key)).filter(|hold| now < hold.end).map_or(0, |hold| hold.permits);
        let below = (-level.available_milli.min(0)) as u128 / 1000;
        below.saturating_sub(held.into()).try_into().unwrap_or(u64::MAX)
    }

    /// Remembers an estimate that was just taken.
    fn hold(&mut self, request: &Request, held: u64) {
        let Kind::Store(store) = &self.limiter else { return };
        if held == 0 {
            return;
        }
        let (key, at) = (self.scoped(request.key), request.at);
        let end = store.reset_after(request.key, at).map_or(Nanos::MAX, |wait| at.saturating_add(wait));
        let hold = self.holds.entry(key).or_insert(Hold { since: at, end, permits: 0 });
        if hold.permits == 0 || hold.end <= at {
            *hold = Hold { since: at, end, permits: 0 };
        }
        hold.permits = hold.permits.saturating_add(held);
    }

    /// Forgets the estimate of a call that is over.
    fn release(&mut self, asked: &Request, held: u64) {
        let key = self.scoped(asked.key);
        if let Some(hold) = self.holds.get_mut(&key).filter(|hold| hold.since <= asked.at) {
            hold.permits = hold.permits.saturating_sub(held);
            if hold.permits == 0 {
                self.holds.remove(&key);
            }
        }
    }

    /// The permits that are taken when `request` is asked.
    fn held(&self, request: &Request) -> u64 {
        match self.accounting {
            Accounting::Immediate | Accounting::Reserve { estimate: None } => self.meter.of(request),
            Accounting::Reserve { estimate: Some(estimate) } => estimate,
            Accounting::Post => 0,
        }
    }

    /// The permits that have to be there when `request` is asked.
    fn needed(&self, request: &Request) -> u64 {
        if self.accounting == Accounting::Post { 1 } else { self.held(request) }
    }

    fn scoped(&self, key: u64) -> u64 {
        if self.scope == Scope::PerKey { key } else { 0 }
    }

    pub(crate) fn peek(&self, request: &Request) -> Outcome {
        match &self.limiter {
            Kind::Store(store) => store.peek(request.key, request.at, self.needed(request)),
            Kind::Breaker { .. } => self.breaker(request.key).peek(request.at, request.call),
        }
    }

    /// Least wait until this guard lets `request` pass, if nothing else happens.
    pub fn retry_after(&self, request: &Request) -> Option<Nanos> {
        match &self.limiter {
            Kind::Store(store) => store.retry_after(request.key, request.at, self.needed(request)),
            Kind::Breaker { .. } => Some(self.breaker(request.key).retry_after(request.at, request.call)),
        }
    }

    /// Prepares the store for a request that will be peeked at before it is asked; see [`Store::make_room`].
    pub(crate) fn make_room(&mut self, request: &Request) {
        let needed = self.needed(request);
        if let Kind::Store(store) = &mut self.limiter {
            store.make_room(request.key, request.at, needed);
        }
    }

    pub(crate) fn select(&mut self, sequence: u64, key: u64, at: Nanos) {
        if let Kind::Store(store) = &mut self.limiter {
            store.select(sequence, key, at);
        }
    }

    /// Asks and takes. In a stack this follows a peek that passed.
    pub(crate) fn try_acquire(&mut self, request: &Request) -> Outcome {
        let held = self.held(request);
        let outcome = match &mut self.limiter {
            Kind::Breaker { .. } => {
                let (at, call) = (request.at, request.call);
                return self.breaker_mut(request.key).try_call(at, call);
            }
            Kind::Store(store) if self.accounting == Accounting::Post => {
                store.make_room(request.key, request.at, 1);
                return store.peek(request.key, request.at, 1);
            }
            Kind::Store(store) => store.try_acquire(request.key, request.at, held),
        };
        if outcome.passes() {
            match self.accounting {
                Accounting::Reserve { .. } => {
                    self.ledger.reserved += u128::from(held);
                    self.hold(request, held);
                }
                _ => self.ledger.spent += u128::from(held),
            }
        }
        outcome
    }

    /// What a refusal by the stack changes: a loop breaker that refuses opens, and a guard may charge refused requests.
    pub(crate) fn refused(&mut self, request: &Request) {
        let held = self.held(request);
        match &mut self.limiter {
            Kind::Breaker { by_key, .. } => {
                let key = if self.scope == Scope::PerKey { request.key } else { 0 };
                // A key without a memory has no call to repeat.
                if let Some(breaker) = by_key.get_mut(&key) {
                    breaker.trip(request.at, request.call);
                }
            }
            Kind::Store(store) if self.response.charge_on_reject => {
                store.charge(request.key, request.at, held);
                self.ledger.spent += u128::from(held);
                self.ledger.spent_on_refusals += u128::from(held);
            }
            Kind::Store(_) => {}
        }
    }

    /// Settles a call that passed: what was asked against what it came to.
    pub(crate) fn settle(&mut self, now: Nanos, asked: &Request, actual: &Request) {
        let (held, owed) = (self.held(asked), self.meter.of(actual));
        let Kind::Store(store) = &mut self.limiter else { return };
        match self.accounting {
            Accounting::Immediate => return,
            Accounting::Post => store.charge(asked.key, now, owed),
            Accounting::Reserve { .. } => {
                if owed > held {
                    store.charge(asked.key, now, owed - held);
                } else if owed < held {
                    store.refund(asked.key, now, asked.at, held - owed);
                }
                self.ledger.reserved = self.ledger.reserved.saturating_sub(held.into());
                self.release(asked, held);
            }
        }
        self.ledger.spent += u128::from(owed);
    }

    /// Charges what was spent without asking; a loop breaker counts nothing.
    pub(crate) fn charge(&mut self, spent: &Request) {
        let owed = self.meter.of(spent);
        if let Kind::Store(store) = &mut self.limiter {
            store.charge(spent.key, spent.at, owed);
            self.ledger.spent += u128::from(owed);
        }
    }

    /// Gives back everything that was taken for a call that did not happen.
    pub(crate) fn cancel(&mut self, now: Nanos, asked: &Request) {
        let held = self.held(asked);
        let Kind::Store(store) = &mut self.limiter else { return };
        if held > 0 {
            store.refund(asked.key, now, asked.at, held);
        }
        match self.accounting {
            Accounting::Reserve { .. } => {
                self.ledger.reserved = self.ledger.reserved.saturating_sub(held.into());
                self.release(asked, held);
            }
            _ => self.ledger.spent = self.ledger.spent.saturating_sub(held.into()),
        }
    }

    /// What the client of a refused request is told, by this guard's own strategy; only for a guard that would refuse.
    pub(crate) fn hint(&mut self, request: &Request, wait: Option<Nanos>) -> Option<Nanos> {
        match self.response.retry_after {
            RetryAfter::None => None,
            RetryAfter::NextPermit => wait,
            RetryAfter::WindowReset(window) => Some(window.max(1) - request.at % window.max(1)),
            RetryAfter::Full => match &self.limiter {
                Kind::Store(store) => store.reset_after(request.key, request.at),
                Kind::Breaker { .. } => wait,
            },
            RetryAfter::QueueAware(_) => {
                let (key, needed) = (self.scoped(request.key), self.needed(request));
                let queue = self.promises.as_mut()?;
                wait.map(|wait| queue.promise(key, request.at, wait, needed))
            }
        }
    }

    /// The store, where a block of requests can be given to it as it is: amounts known when asked, and no charge for a
    /// refusal.
    pub(crate) fn block(&mut self) -> Option<&mut (dyn Store + Send)> {
        let known = matches!(self.accounting, Accounting::Immediate | Accounting::Reserve { estimate: None });
        match &mut self.limiter {
            Kind::Store(store) if known && !self.response.charge_on_reject => Some(&mut **store),
            _ => None,
        }
    }

    fn breaker(&self, key: u64) -> &LoopBreaker {
        let key = self.scoped(key);
        match &self.limiter {
            Kind::Breaker { fresh, by_key } => by_key.get(&key).unwrap_or(fresh),
            Kind::Store(_) => unreachable!("asked only where the limiter is a breaker"),
        }
    }

    fn breaker_mut(&mut self, key: u64) -> &mut LoopBreaker {
        let key = self.scoped(key);
        match &mut self.limiter {
            Kind::Breaker { fresh, by_key } => by_key.entry(key).or_insert_with(|| fresh.clone()),
            Kind::Store(_) => unreachable!("asked only where the limiter is a breaker"),
        }
    }
}
