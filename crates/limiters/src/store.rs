//! Limiters behind a key, as one object: what a guard asks, whether everybody shares a limiter or each key has its own.

use crate::{Level, Limiter, Nanos, Outcome};
use std::collections::HashMap;

/// Limiters behind a key: one for everybody ([`Single`]), or one per key ([`Keyed`](crate::Keyed), [`PerKey`]). The
/// methods are those of [`Limiter`] with the key in front.
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

    /// Names the request that the following calls are about: its number, and key and time as it was asked. Until the
    /// next `select` or `run`, a store with several nodes answers for the node this request goes to.
    fn select(&mut self, _sequence: u64, _key: u64, _at: Nanos) {}

    /// Announces a request that will be peeked at before it is asked, so that both get the same answer from a store that
    /// has to forget old keys before it can take new ones.
    fn make_room(&mut self, _key: u64, _now: Nanos, _cost: u64) {}
}

/// One limiter for every key.
#[derive(Clone, Debug)]
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
