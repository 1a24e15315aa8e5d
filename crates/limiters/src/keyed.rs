//! Limiters by key: one state a key, one rule for all of them, and fresh states forgotten.

use crate::{Level, Limiter, Nanos, Outcome, Rule};
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, RandomState};

/// One limiter per key under one rule. A key whose state equals a fresh one is forgotten by a sweep, which changes no
/// decision; a store with a key limit refuses new keys when full and counts them.
#[derive(Clone, Debug)]
pub struct Keyed<K, R: Rule, S = RandomState> {
    rule: R,
    states: HashMap<K, R::State, S>,
    max_keys: usize,
    turned_away: u64,
    swept_at: usize,
    max_live: usize,
}

/// Keys between two sweeps, at least.
const SWEEP: usize = 64;

impl<K: Hash + Eq, R: Rule> Keyed<K, R> {
    /// An empty store without a key limit.
    pub fn new(rule: R) -> Keyed<K, R> {
        Keyed::with_hasher(rule, RandomState::new())
    }
}

impl<K: Hash + Eq, R: Rule, S: BuildHasher> Keyed<K, R, S> {
    /// An empty store that hashes with `hasher`.
    pub fn with_hasher(rule: R, hasher: S) -> Keyed<K, R, S> {
        let states = HashMap::with_hasher(hasher);
        Keyed { rule, states, max_keys: usize::MAX, turned_away: 0, swept_at: SWEEP, max_live: 0 }
    }

    /// The same store, refusing keys beyond `max_keys` that are not forgotten yet.
    #[must_use]
    pub fn with_max_keys(self, max_keys: usize) -> Keyed<K, R, S> {
        Keyed { max_keys, ..self }
    }

    /// Asks for `cost` permits of `key`. See [`Limiter::try_acquire`].
    pub fn try_acquire(&mut self, key: K, now: Nanos, cost: u64) -> Outcome {
        if let Some(state) = self.states.get_mut(&key) {
            return self.rule.try_acquire(state, now, cost);
        }
        let mut state = self.rule.fresh();
        let outcome = self.rule.try_acquire(&mut state, now, cost);
        // A refused or free request leaves a fresh state, which need not be kept.
        if outcome.passes() && cost != 0 && !self.insert(key, state, now) {
            return Outcome::Refused;
        }
        outcome
    }

    /// Keeps a new state, or says that there is no room. Sweeping costs as much as the keys inserted since the last
    /// sweep paid for, so that an insertion is O(1) on average.
    fn insert(&mut self, key: K, state: R::State, now: Nanos) -> bool {
        if self.states.len() >= self.swept_at.min(self.max_keys) {
            self.sweep(now);
        }
        if self.states.len() >= self.max_keys {
            self.turned_away += 1;
            return false;
        }
        self.states.insert(key, state);
        self.max_live = self.max_live.max(self.states.len());
        true
    }

    /// Forgets every key whose state equals a fresh one at `now`. O(keys).
    pub fn sweep(&mut self, now: Nanos) {
        let rule = &self.rule;
        self.states.retain(|_, state| !rule.is_fresh(state, now));
        self.swept_at = (self.states.len() * 2).max(SWEEP);
    }

    /// The rule and the state of `key`, if one is kept.
    pub fn get(&self, key: &K) -> (&R, Option<&R::State>) {
        (&self.rule, self.states.get(key))
    }

    /// The state of `key` for a change, kept from now on.
    pub fn entry(&mut self, key: K, _now: Nanos) -> (&R, &mut R::State) {
        let rule = &self.rule;
        (rule, self.states.entry(key).or_insert_with(|| rule.fresh()))
    }

    /// Keys kept now.
    pub fn live_keys(&self) -> usize {
        self.states.len()
    }

    /// Most keys kept at once so far.
    pub fn max_live_keys(&self) -> usize {
        self.max_live
    }

    /// Requests of new keys refused because the store was full.
    pub fn turned_away(&self) -> u64 {
        self.turned_away
    }
}

/// Limiters behind a key: what a guard asks. One for everybody ([`Single`]), or one per key ([`Keyed`], [`PerKey`]).
/// The methods are those of [`Limiter`] with the key in front.
pub trait Store {
    /// See [`Limiter::try_acquire`].
    fn try_acquire(&mut self, key: u64, now: Nanos, cost: u64) -> Outcome;
    /// See [`Limiter::peek`].
    fn peek(&self, key: u64, now: Nanos, cost: u64) -> Outcome;
    /// See [`Limiter::remaining`].
    fn remaining(&self, key: u64, now: Nanos) -> u64;
    /// See [`Limiter::retry_after`].
    fn retry_after(&self, key: u64, now: Nanos, cost: u64) -> Option<Nanos>;
    /// See [`Limiter::reset_after`].
    fn reset_after(&self, key: u64, now: Nanos) -> Option<Nanos>;
    /// See [`Limiter::charge`].
    fn charge(&mut self, key: u64, now: Nanos, cost: u64);
    /// See [`Limiter::refund`].
    fn refund(&mut self, key: u64, now: Nanos, taken_at: Nanos, cost: u64);
    /// See [`Limiter::level`].
    fn level(&self, key: u64, now: Nanos) -> Level;
    /// See [`Limiter::run`]; all four slices have the same length.
    fn run(&mut self, key: &[u64], at: &[Nanos], cost: &[u64], out: &mut [Outcome]);
    /// Bytes of state of one key.
    fn state_bytes(&self) -> usize;
    /// Most keys kept at once so far.
    fn max_live_keys(&self) -> usize;
}

/// One limiter for every key.
pub struct Single<L>(L);

impl<L: Limiter> Single<L> {
    /// A store whose keys all share `limiter`.
    pub fn new(limiter: L) -> Single<L> {
        Single(limiter)
    }
}

impl<L: Limiter> Store for Single<L> {
    fn try_acquire(&mut self, _: u64, now: Nanos, cost: u64) -> Outcome {
        self.0.try_acquire(now, cost)
    }
    fn peek(&self, _: u64, now: Nanos, cost: u64) -> Outcome {
        self.0.peek(now, cost)
    }
    fn remaining(&self, _: u64, now: Nanos) -> u64 {
        self.0.remaining(now)
    }
    fn retry_after(&self, _: u64, now: Nanos, cost: u64) -> Option<Nanos> {
        self.0.retry_after(now, cost)
    }
    fn reset_after(&self, _: u64, now: Nanos) -> Option<Nanos> {
        self.0.reset_after(now)
    }
    fn charge(&mut self, _: u64, now: Nanos, cost: u64) {
        self.0.charge(now, cost);
    }
    fn refund(&mut self, _: u64, now: Nanos, taken_at: Nanos, cost: u64) {
        self.0.refund(now, taken_at, cost);
    }
    fn level(&self, _: u64, now: Nanos) -> Level {
        self.0.level(now)
    }
    fn run(&mut self, _: &[u64], at: &[Nanos], cost: &[u64], out: &mut [Outcome]) {
        self.0.run(at, cost, out);
    }
    fn state_bytes(&self) -> usize {
        self.0.state_bytes()
    }
    fn max_live_keys(&self) -> usize {
        1
    }
}

impl<R: Rule, S: BuildHasher> Store for Keyed<u64, R, S> {
    fn try_acquire(&mut self, key: u64, now: Nanos, cost: u64) -> Outcome {
        Keyed::try_acquire(self, key, now, cost)
    }
    fn peek(&self, key: u64, now: Nanos, cost: u64) -> Outcome {
        self.ask(key, |rule, state| rule.peek(state, now, cost))
    }
    fn remaining(&self, key: u64, now: Nanos) -> u64 {
        self.ask(key, |rule, state| rule.remaining(state, now))
    }
    fn retry_after(&self, key: u64, now: Nanos, cost: u64) -> Option<Nanos> {
        self.ask(key, |rule, state| rule.retry_after(state, now, cost))
    }
    fn reset_after(&self, key: u64, now: Nanos) -> Option<Nanos> {
        self.ask(key, |rule, state| rule.reset_after(state, now))
    }
    fn charge(&mut self, key: u64, now: Nanos, cost: u64) {
        let (rule, state) = self.entry(key, now);
        rule.charge(state, now, cost);
    }
    fn refund(&mut self, key: u64, now: Nanos, taken_at: Nanos, cost: u64) {
        let (rule, state) = self.entry(key, now);
        rule.refund(state, now, taken_at, cost);
    }
    fn level(&self, key: u64, now: Nanos) -> Level {
        self.ask(key, |rule, state| rule.level(state, now))
    }
    fn run(&mut self, key: &[u64], at: &[Nanos], cost: &[u64], out: &mut [Outcome]) {
        for (((&key, &at), &cost), out) in key.iter().zip(at).zip(cost).zip(out) {
            *out = Keyed::try_acquire(self, key, at, cost);
        }
    }
    fn state_bytes(&self) -> usize {
        size_of::<R::State>() + self.states.values().next().map_or(0, |state| self.rule.heap_bytes(state))
    }
    fn max_live_keys(&self) -> usize {
        self.max_live
    }
}

impl<R: Rule, S: BuildHasher> Keyed<u64, R, S> {
    fn ask<T>(&self, key: u64, question: impl Fn(&R, &R::State) -> T) -> T {
        match self.states.get(&key) {
            Some(state) => question(&self.rule, state),
            None => question(&self.rule, &self.rule.fresh()),
        }
    }
}

/// One boxed limiter per key, for limiters that are not rules of this crate. Keys are never forgotten.
pub struct PerKey<F> {
    make: F,
    limiters: HashMap<u64, Box<dyn Limiter + Send>>,
}

impl<F: Fn() -> Box<dyn Limiter + Send>> PerKey<F> {
    /// A store that makes a limiter with `make` for each new key.
    pub fn new(make: F) -> PerKey<F> {
        PerKey { make, limiters: HashMap::new() }
    }

    fn of(&mut self, key: u64) -> &mut Box<dyn Limiter + Send> {
        self.limiters.entry(key).or_insert_with(&self.make)
    }

    fn ask<T>(&self, key: u64, question: impl Fn(&dyn Limiter) -> T) -> T {
        match self.limiters.get(&key) {
            Some(limiter) => question(limiter),
            None => question(&(self.make)()),
        }
    }
}

impl<F: Fn() -> Box<dyn Limiter + Send>> Store for PerKey<F> {
    fn try_acquire(&mut self, key: u64, now: Nanos, cost: u64) -> Outcome {
        self.of(key).try_acquire(now, cost)
    }
    fn peek(&self, key: u64, now: Nanos, cost: u64) -> Outcome {
        self.ask(key, |limiter| limiter.peek(now, cost))
    }
    fn remaining(&self, key: u64, now: Nanos) -> u64 {
        self.ask(key, |limiter| limiter.remaining(now))
    }
    fn retry_after(&self, key: u64, now: Nanos, cost: u64) -> Option<Nanos> {
        self.ask(key, |limiter| limiter.retry_after(now, cost))
    }
    fn reset_after(&self, key: u64, now: Nanos) -> Option<Nanos> {
        self.ask(key, |limiter| limiter.reset_after(now))
    }
    fn charge(&mut self, key: u64, now: Nanos, cost: u64) {
        self.of(key).charge(now, cost);
    }
    fn refund(&mut self, key: u64, now: Nanos, taken_at: Nanos, cost: u64) {
        self.of(key).refund(now, taken_at, cost);
    }
    fn level(&self, key: u64, now: Nanos) -> Level {
        self.ask(key, |limiter| limiter.level(now))
    }
    fn run(&mut self, key: &[u64], at: &[Nanos], cost: &[u64], out: &mut [Outcome]) {
        for (((&key, &at), &cost), out) in key.iter().zip(at).zip(cost).zip(out) {
            *out = self.of(key).try_acquire(at, cost);
        }
    }
    fn state_bytes(&self) -> usize {
        self.ask(0, |limiter| limiter.state_bytes())
    }
    fn max_live_keys(&self) -> usize {
        self.limiters.len()
    }
}
