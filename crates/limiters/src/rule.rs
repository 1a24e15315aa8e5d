//! A rule is an algorithm: parameters on one side, a small state on the other, and what is proven about the two.

use crate::{KeyHash, Keyed, Level, Limiter, Nanos, Outcome, Single, Store};

/// An algorithm with its parameters. The state is apart so that a million keys share one rule and pay only for what
/// differs between them.
///
/// The methods mirror [`Limiter`] and keep its contract, with the state as an argument. Bounds are part of the rule:
/// [`envelope`](Rule::envelope) is what the documentation of each rule proves.
pub trait Rule: Clone + Send + Sync + 'static {
    /// What has to be remembered for one key. The default is what free places of a table hold; it is never asked and should
    /// own nothing.
    type State: Clone + Default + Send + 'static;

    /// The state of a key never seen before, at any time.
    fn fresh(&self) -> Self::State;

    /// See [`Limiter::try_acquire`].
    fn try_acquire(&self, state: &mut Self::State, now: Nanos, cost: u64) -> Outcome;

    /// See [`Limiter::peek`]. Override where cloning a state is dear.
    fn peek(&self, state: &Self::State, now: Nanos, cost: u64) -> Outcome {
        self.try_acquire(&mut state.clone(), now, cost)
    }

    /// See [`Limiter::remaining`].
    fn remaining(&self, state: &Self::State, now: Nanos) -> u64;

    /// See [`Limiter::retry_after`].
    fn retry_after(&self, state: &Self::State, now: Nanos, cost: u64) -> Option<Nanos>;

    /// See [`Limiter::reset_after`].
    fn reset_after(&self, state: &Self::State, now: Nanos) -> Option<Nanos>;

    /// See [`Limiter::charge`].
    fn charge(&self, state: &mut Self::State, now: Nanos, cost: u64);

    /// See [`Limiter::refund`].
    fn refund(&self, state: &mut Self::State, now: Nanos, taken_at: Nanos, cost: u64);

    /// See [`Limiter::level`].
    fn level(&self, state: &Self::State, now: Nanos) -> Level;

    /// Bytes a state owns beyond its own size.
    fn heap_bytes(&self, _state: &Self::State) -> usize {
        0
    }

    /// Whether a key may be forgotten at `now` because a fresh state would answer alike for ever.
    fn is_fresh(&self, state: &Self::State, now: Nanos) -> bool {
        self.reset_after(state, now) == Some(0) && self.reset_after(&self.fresh(), now) == Some(0)
    }

    /// Whether admitted requests may start later than they asked.
    fn delays(&self) -> bool {
        false
    }

    /// Permits that were handed to a fresh state until `end`, spent or overflowed, the initial ones included; `None` for
    /// rules that do not refill. Rounded down.
    fn supply(&self, _end: Nanos) -> Option<u128> {
        None
    }

    /// The proven envelope: the most permits this rule lets start in any closed interval `[s, s + tau]`, for requests of
    /// at most `max_cost` permits each, without charges or refunds. `None` where nothing is proven or nothing bounds it.
    fn envelope(&self, tau: Nanos, max_cost: u64) -> Option<u128>;

    /// Traffic that attains the envelope, where one is known.
    fn worst(&self) -> Option<Worst> {
        None
    }

    /// The parameters in words, as reports print them: `capacity 100, refill 100/min`.
    fn parameters(&self) -> String;
}

/// Traffic that makes a rule admit as much as its envelope allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worst {
    /// Requests in time order: time (of any origin that the rule's alignment allows) and cost. Some may be refused.
    pub requests: Vec<(Nanos, u64)>,
    /// Length of the closed interval in which the admitted permits equal the envelope.
    pub tau: Nanos,
}

/// One rule with one state: a limiter for one key.
#[derive(Clone, Debug)]
pub struct Plain<R: Rule> {
    rule: R,
    state: R::State,
}

impl<R: Rule> Plain<R> {
    /// A fresh limiter.
    pub fn new(rule: R) -> Plain<R> {
        Plain { state: rule.fresh(), rule }
    }

    /// The rule this limiter follows.
    pub fn rule(&self) -> &R {
        &self.rule
    }
}

impl<R: Rule> Limiter for Plain<R> {
    #[inline]
    fn try_acquire(&mut self, now: Nanos, cost: u64) -> Outcome {
        self.rule.try_acquire(&mut self.state, now, cost)
    }

    fn peek(&self, now: Nanos, cost: u64) -> Outcome {
        self.rule.peek(&self.state, now, cost)
    }

    fn remaining(&self, now: Nanos) -> u64 {
        self.rule.remaining(&self.state, now)
    }

    fn retry_after(&self, now: Nanos, cost: u64) -> Option<Nanos> {
        self.rule.retry_after(&self.state, now, cost)
    }

    fn reset_after(&self, now: Nanos) -> Option<Nanos> {
        self.rule.reset_after(&self.state, now)
    }

    fn charge(&mut self, now: Nanos, cost: u64) {
        self.rule.charge(&mut self.state, now, cost);
    }

    fn refund(&mut self, now: Nanos, taken_at: Nanos, cost: u64) {
        self.rule.refund(&mut self.state, now, taken_at, cost);
    }

    fn level(&self, now: Nanos) -> Level {
        self.rule.level(&self.state, now)
    }

    fn state_bytes(&self) -> usize {
        size_of::<R::State>() + self.rule.heap_bytes(&self.state)
    }
}

/// A rule whose type is not known until a scenario is read: what [`Algorithm::build`](crate::Algorithm) returns.
pub trait AnyRule: Send + Sync {
    /// A fresh limiter for one key.
    fn limiter(&self) -> Box<dyn Limiter + Send>;

    /// A fresh store: one limiter for everybody, or one per key.
    fn store(&self, per_key: bool) -> Box<dyn Store + Send>;

    /// See [`Rule::delays`].
    fn delays(&self) -> bool;

    /// See [`Rule::supply`].
    fn supply(&self, end: Nanos) -> Option<u128>;

    /// See [`Rule::envelope`].
    fn envelope(&self, tau: Nanos, max_cost: u64) -> Option<u128>;

    /// See [`Rule::worst`].
    fn worst(&self) -> Option<Worst>;

    /// See [`Rule::parameters`].
    fn parameters(&self) -> String;
}

impl<R: Rule> AnyRule for R {
    fn limiter(&self) -> Box<dyn Limiter + Send> {
        Box::new(Plain::new(self.clone()))
    }

    fn store(&self, per_key: bool) -> Box<dyn Store + Send> {
        if per_key {
            Box::new(Keyed::with_hasher(self.clone(), KeyHash::default()))
        } else {
            Box::new(Single::new(self.limiter()))
        }
    }

    fn delays(&self) -> bool {
        Rule::delays(self)
    }

    fn supply(&self, end: Nanos) -> Option<u128> {
        Rule::supply(self, end)
    }

    fn envelope(&self, tau: Nanos, max_cost: u64) -> Option<u128> {
        Rule::envelope(self, tau, max_cost)
    }

    fn worst(&self) -> Option<Worst> {
        Rule::worst(self)
    }

    fn parameters(&self) -> String {
        Rule::parameters(self)
    }
}
