//! Any limiter between threads: behind a mutex, or by key in shards that each have one.
//!
//! Threads that read a clock before they take a lock can arrive out of order, and limiters assume that time never goes
//! back: share a `Mutex<Clamp<L>>`. The shards clamp by themselves.

use crate::sync::{Mutex, MutexGuard};
use crate::table::{SHARD_BITS, spread};
use crate::{Clamp, Decision, Keyed, Level, Limiter, Nanos, Outcome, Rule, Store};
use std::hash::{BuildHasher, Hash, RandomState};

/// A lock on what `mutex` holds. A thread that panicked while it held the lock did so outside the limiters of this crate
/// or in their assertions, which come before they change anything, so what it left behind is used on.
fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// A block of requests is decided under one lock, and so is a decision with its hints.
impl<L: Limiter + ?Sized> Limiter for &Mutex<L> {
    fn try_acquire(&mut self, now: Nanos, cost: u64) -> Outcome {
        lock(self).try_acquire(now, cost)
    }
    fn peek(&self, now: Nanos, cost: u64) -> Outcome {
        lock(self).peek(now, cost)
    }
    fn remaining(&self, now: Nanos) -> u64 {
        lock(self).remaining(now)
    }
    fn retry_after(&self, now: Nanos, cost: u64) -> Option<Nanos> {
        lock(self).retry_after(now, cost)
    }
    fn reset_after(&self, now: Nanos) -> Option<Nanos> {
        lock(self).reset_after(now)
    }
    fn charge(&mut self, now: Nanos, cost: u64) {
        lock(self).charge(now, cost);
    }
    fn refund(&mut self, now: Nanos, taken_at: Nanos, cost: u64) {
        lock(self).refund(now, taken_at, cost);
    }
    fn level(&self, now: Nanos) -> Level {
        lock(self).level(now)
    }
    fn state_bytes(&self) -> usize {
        lock(self).state_bytes()
    }
    fn decide(&mut self, now: Nanos, cost: u64) -> Decision {
        lock(self).decide(now, cost)
    }
    fn run(&mut self, at: &[Nanos], cost: &[u64], out: &mut [Outcome]) {
        lock(self).run(at, cost, out);
    }
}

/// One limiter per key, for many threads: [`Keyed`] stores behind a mutex each, of which a key's hash picks one. Keys with
/// fresh states are forgotten, as there. Two threads wait for each other only when their keys are in the same shard.
///
/// A key is hashed once: the highest bits of its hash pick the shard and the others its place there, of which an answer reads
/// one cache line, or two where a neighbour is in the way. Memory is that of [`Keyed`].
pub struct ShardedKeyed<K, R: Rule, S = RandomState> {
    shards: Box<[Shard<K, R, S>]>,
    hasher: S,
}

/// On a cache line of its own (two, since processors fetch them in pairs).
#[repr(align(128))]
struct Shard<K, R: Rule, S>(Mutex<Clamp<Keyed<K, R, S>>>);

impl<K: Hash + Eq + Default, R: Rule> ShardedKeyed<K, R> {
    /// An empty store of 64 shards without a key limit.
    pub fn new(rule: R) -> ShardedKeyed<K, R> {
        ShardedKeyed::with_hasher(rule, RandomState::new(), 64, usize::MAX)
    }
}

impl<K: Hash + Eq + Default, R: Rule, S: BuildHasher + Clone> ShardedKeyed<K, R, S> {
    /// An empty store of as many shards as the next power of two from `shards`, at most 2^16. Each shard refuses new keys
    /// beyond its part of `max_keys`, so that some are refused a little before all shards are full.
    pub fn with_hasher(rule: R, hasher: S, shards: usize, max_keys: usize) -> ShardedKeyed<K, R, S> {
        let count = shards.clamp(1, 1 << SHARD_BITS).next_power_of_two();
        let each = if max_keys == usize::MAX { max_keys } else { max_keys.div_ceil(count) };
        let shard = || {
            let keyed = Keyed::with_hasher(rule.clone(), hasher.clone()).with_max_keys(each);
            Shard(Mutex::new(Clamp::new(keyed)))
        };
        ShardedKeyed { shards: (0..count).map(|_| shard()).collect(), hasher }
    }

    /// Asks for `cost` permits of `key`. See [`Limiter::try_acquire`]. Times of one shard are clamped.
    #[inline]
    pub fn try_acquire(&self, key: K, now: Nanos, cost: u64) -> Outcome {
        let hash = self.hash(&key);
        let mut shard = lock(self.shard(hash));
        let now = shard.now(now);
        shard.inner_mut().try_hashed(hash, key, now, cost)
    }

    #[inline]
    fn hash(&self, key: &K) -> u64 {
        spread(self.hasher.hash_one(key))
    }

    /// A table in a shard places keys by the bits that this leaves.
    #[inline]
    fn shard(&self, hash: u64) -> &Mutex<Clamp<Keyed<K, R, S>>> {
        &self.shards[(hash >> (u64::BITS - SHARD_BITS)) as usize & (self.shards.len() - 1)].0
    }

    fn sum(&self, of: impl Fn(&Keyed<K, R, S>) -> u64) -> u64 {
        self.shards.iter().map(|shard| of(lock(&shard.0).inner())).sum()
    }

    /// Keys kept now.
    pub fn live_keys(&self) -> usize {
        self.sum(|keyed| keyed.live_keys() as u64) as usize
    }

    /// The sum of the most keys that each shard kept at once: at least the most kept at once overall.
    pub fn max_live_keys(&self) -> usize {
        self.sum(|keyed| keyed.max_live_keys() as u64) as usize
    }

    /// Requests of new keys refused because their shard was full.
    pub fn turned_away(&self) -> u64 {
        self.sum(Keyed::turned_away)
    }

    /// Requests that came with an earlier time than one before them in their shard.
    pub fn clock_regressions(&self) -> u64 {
        self.shards.iter().map(|shard| lock(&shard.0).regressions()).sum()
    }

    /// States that sweeps have looked at so far.
    pub fn examined(&self) -> u64 {
        self.sum(Keyed::examined)
    }

    /// Forgets every key whose state equals a fresh one at `now`. O(keys), one shard at a time; also happens by itself.
    pub fn sweep(&self, now: Nanos) {
        for shard in &self.shards {
            let mut shard = lock(&shard.0);
            let now = shard.now(now);
            shard.inner_mut().sweep(now);
        }
    }
}

impl<R: Rule, S: BuildHasher + Clone> ShardedKeyed<u64, R, S> {
    fn ask<T>(&self, key: u64, now: Nanos, question: impl FnOnce(&Keyed<u64, R, S>, Nanos) -> T) -> T {
        let shard = lock(self.shard(self.hash(&key)));
        question(shard.inner(), now.max(shard.high_water()))
    }

    fn tell<T>(&self, key: u64, now: Nanos, change: impl FnOnce(&mut Keyed<u64, R, S>, Nanos) -> T) -> T {
        let mut shard = lock(self.shard(self.hash(&key)));
        let now = shard.now(now);
        change(shard.inner_mut(), now)
    }
}

impl<R: Rule, S: BuildHasher + Clone> Store for &ShardedKeyed<u64, R, S> {
    fn try_acquire(&mut self, key: u64, now: Nanos, cost: u64) -> Outcome {
        ShardedKeyed::try_acquire(self, key, now, cost)
    }
    fn peek(&self, key: u64, now: Nanos, cost: u64) -> Outcome {
        self.ask(key, now, |keyed, now| keyed.peek(key, now, cost))
    }
    fn remaining(&self, key: u64, now: Nanos) -> u64 {
        self.ask(key, now, |keyed, now| keyed.remaining(key, now))
    }
    fn retry_after(&self, key: u64, now: Nanos, cost: u64) -> Option<Nanos> {
        self.ask(key, now, |keyed, now| keyed.retry_after(key, now, cost))
    }
    fn reset_after(&self, key: u64, now: Nanos) -> Option<Nanos> {
        self.ask(key, now, |keyed, now| keyed.reset_after(key, now))
    }
    fn charge(&mut self, key: u64, now: Nanos, cost: u64) {
        self.tell(key, now, |keyed, now| keyed.charge(key, now, cost));
    }
    fn refund(&mut self, key: u64, now: Nanos, taken_at: Nanos, cost: u64) {
        self.tell(key, now, |keyed, now| keyed.refund(key, now, taken_at, cost));
    }
    fn level(&self, key: u64, now: Nanos) -> Level {
        self.ask(key, now, |keyed, now| keyed.level(key, now))
    }
    fn run(&mut self, key: &[u64], at: &[Nanos], cost: &[u64], out: &mut [Outcome]) {
        for (((&key, &at), &cost), out) in key.iter().zip(at).zip(cost).zip(out) {
            *out = ShardedKeyed::try_acquire(self, key, at, cost);
        }
    }
    fn state_bytes(&self) -> usize {
        self.ask(0, 0, |keyed, _| keyed.state_bytes())
    }
    fn max_live_keys(&self) -> usize {
        ShardedKeyed::max_live_keys(self)
    }
    fn make_room(&mut self, key: u64, now: Nanos, cost: u64) {
        self.tell(key, now, |keyed, now| keyed.make_room(key, now, cost));
    }
}
