//! Limiters by key: one state a key, one rule for all of them, and fresh states forgotten.
//!
//! Only a key whose state equals a fresh one is forgotten, which changes no decision. Forgetting is a sweep over all
//! keys, made when a new key comes and one of two things holds:
//!
//! * As many new keys came since the last sweep as it had left (at least 64). They pay for looking at all.
//! * Twice the mean time that the keys it had left needed to become fresh has passed. By Markov's inequality at least
//!   half of them are fresh by now or were asked again since, and these pay.
//!
//! So sweeps look at no more than three states for each new key or request on average, a clock that stands still
//! included: then they come at 64, 128, 256 … keys. At any time there are at most twice the keys that were not fresh at the
//! last sweep, or 64 more than those.

use crate::table::{Table, spread};
use crate::{Level, Nanos, Outcome, Rule, Store};
use std::hash::{BuildHasher, Hash, RandomState};

/// One limiter per key under one rule. A key costs 5/4 to 15/8 times `size_of::<(K, R::State)>()`: 20 to 30 bytes for 8-byte keys and
/// an 8-byte state.
#[derive(Clone, Debug)]
pub struct Keyed<K, R: Rule, S = RandomState> {
    rule: R,
    states: Table<K, R::State>,
    hasher: S,
    max_keys: usize,
    max_live: usize,
    turned_away: u64,
    arrivals: usize,
    sweep_after: usize,
    sweep_at: Nanos,
    examined: u64,
}

/// New keys between two sweeps, at least.
const SWEEP: usize = 64;

impl<K: Hash + Eq + Default, R: Rule> Keyed<K, R> {
    /// An empty store without a key limit.
    pub fn new(rule: R) -> Keyed<K, R> {
        Keyed::with_hasher(rule, RandomState::new())
    }
}

impl<K: Hash + Eq + Default, R: Rule, S: BuildHasher> Keyed<K, R, S> {
    /// An empty store that hashes with `hasher`.
    pub fn with_hasher(rule: R, hasher: S) -> Keyed<K, R, S> {
        Keyed {
            rule,
            states: Table::new(),
            hasher,
            max_keys: usize::MAX,
            max_live: 0,
            turned_away: 0,
            arrivals: 0,
            sweep_after: SWEEP,
            sweep_at: Nanos::MAX,
            examined: 0,
        }
    }

    /// The same store, refusing new keys while it keeps `max_keys`; they are counted. A refusal for that reason has no
    /// known end, so its retry-after is `None`. Charges to keys that are not kept (post accounting) go beyond the limit,
    /// by at most one key for each call in flight.
    #[must_use]
    pub fn with_max_keys(self, max_keys: usize) -> Keyed<K, R, S> {
        Keyed { max_keys, sweep_after: max_keys.clamp(1, SWEEP), ..self }
    }

    /// Asks for `cost` permits of `key`. See [`Limiter::try_acquire`](crate::Limiter::try_acquire). O(1) on average.
    #[inline]
    pub fn try_acquire(&mut self, key: K, now: Nanos, cost: u64) -> Outcome {
        self.try_hashed(self.hash(&key), key, now, cost)
    }

    /// The same for a key whose hash is known.
    #[inline]
    pub(crate) fn try_hashed(&mut self, hash: u64, key: K, now: Nanos, cost: u64) -> Outcome {
        match self.states.get_mut(hash, &key) {
            Some(state) => self.rule.try_acquire(state, now, cost),
            None => self.try_new(hash, key, now, cost),
        }
    }

    #[inline]
    fn hash(&self, key: &K) -> u64 {
        spread(self.hasher.hash_one(key))
    }

    #[cold]
    fn try_new(&mut self, hash: u64, key: K, now: Nanos, cost: u64) -> Outcome {
        let mut state = self.rule.fresh();
        let outcome = self.rule.try_acquire(&mut state, now, cost);
        // A refused or free request leaves a fresh state, which need not be kept.
        if !outcome.passes() || cost == 0 {
            return outcome;
        }
        if !self.has_room(now) {
            return Outcome::Refused;
        }
        self.keep(hash, key, state);
        outcome
    }

    fn keep(&mut self, hash: u64, key: K, state: R::State) {
        let hasher = &self.hasher;
        self.states.insert(hash, key, state, |key| spread(hasher.hash_one(key)));
        self.max_live = self.max_live.max(self.states.len());
    }

    /// Counts a new key and sweeps if it is time; whether there is room for it then.
    fn has_room(&mut self, now: Nanos) -> bool {
        self.arrivals += 1;
        if self.arrivals > self.sweep_after || now >= self.sweep_at {
            self.sweep(now);
        }
        let room = self.states.len() < self.max_keys;
        self.turned_away += u64::from(!room);
        room
    }

    /// Forgets every key whose state equals a fresh one at `now`. O(keys); happens by itself.
    pub fn sweep(&mut self, now: Nanos) {
        self.examined += self.states.len() as u64;
        let (rule, hasher) = (&self.rule, &self.hasher);
        let (mut waits, mut fresh) = (0u128, false);
        for state in self.states.states() {
            if rule.is_fresh(state, now) {
                fresh = true;
            } else {
                waits += u128::from(rule.reset_after(state, now).unwrap_or(Nanos::MAX).max(1));
            }
        }
        if fresh {
            self.states.retain(|state| !rule.is_fresh(state, now), |key| spread(hasher.hash_one(key)));
        }
        let live = self.states.len();
        let patience =
            (2 * waits).checked_div(live as u128).map_or(Nanos::MAX, |wait| wait.try_into().unwrap_or(Nanos::MAX));
        self.sweep_at = now.saturating_add(patience);
        self.sweep_after = live.max(self.max_keys.clamp(1, SWEEP));
        self.arrivals = 0;
    }

    /// The rule that all keys follow.
    pub fn rule(&self) -> &R {
        &self.rule
    }

    /// The state of `key`, if one is kept.
    pub fn state(&self, key: &K) -> Option<&R::State> {
        self.states.get(self.hash(key), key)
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

    /// States that sweeps have looked at so far: what forgetting has cost.
    pub fn examined(&self) -> u64 {
        self.examined
    }

    fn ask<T>(&self, key: &K, question: impl Fn(&R, &R::State) -> T) -> T {
        match self.states.get(self.hash(key), key) {
            Some(state) => question(&self.rule, state),
            None => question(&self.rule, &self.rule.fresh()),
        }
    }

    /// Whether a request of this key and cost is refused only because there is no room for the key.
    fn shut_out(&self, key: &K, now: Nanos, cost: u64) -> bool {
        self.states.len() >= self.max_keys
            && cost != 0
            && self.state(key).is_none()
            && self.rule.peek(&self.rule.fresh(), now, cost).passes()
    }
}

impl<R: Rule, S: BuildHasher> Store for Keyed<u64, R, S> {
    fn try_acquire(&mut self, key: u64, now: Nanos, cost: u64) -> Outcome {
        Keyed::try_acquire(self, key, now, cost)
    }

    fn peek(&self, key: u64, now: Nanos, cost: u64) -> Outcome {
        if self.shut_out(&key, now, cost) {
            return Outcome::Refused;
        }
        self.ask(&key, |rule, state| rule.peek(state, now, cost))
    }

    fn remaining(&self, key: u64, now: Nanos) -> u64 {
        if self.shut_out(&key, now, 1) {
            return 0;
        }
        self.ask(&key, |rule, state| rule.remaining(state, now))
    }

    fn retry_after(&self, key: u64, now: Nanos, cost: u64) -> Option<Nanos> {
        if self.shut_out(&key, now, cost) {
            return None;
        }
        self.ask(&key, |rule, state| rule.retry_after(state, now, cost))
    }

    fn reset_after(&self, key: u64, now: Nanos) -> Option<Nanos> {
        self.ask(&key, |rule, state| rule.reset_after(state, now))
    }

    fn charge(&mut self, key: u64, now: Nanos, cost: u64) {
        if cost == 0 {
            return;
        }
        let hash = self.hash(&key);
        if let Some(state) = self.states.get_mut(hash, &key) {
            return self.rule.charge(state, now, cost);
        }
        self.arrivals += 1;
        if self.arrivals > self.sweep_after || now >= self.sweep_at {
            self.sweep(now);
        }
        let mut state = self.rule.fresh();
        self.rule.charge(&mut state, now, cost);
        self.keep(hash, key, state);
    }

    /// A key that is not kept is as fresh as can be, so there is nothing to give back to it.
    fn refund(&mut self, key: u64, now: Nanos, taken_at: Nanos, cost: u64) {
        let hash = self.hash(&key);
        if let Some(state) = self.states.get_mut(hash, &key) {
            self.rule.refund(state, now, taken_at, cost);
        }
    }

    fn level(&self, key: u64, now: Nanos) -> Level {
        self.ask(&key, |rule, state| rule.level(state, now))
    }

    fn run(&mut self, key: &[u64], at: &[Nanos], cost: &[u64], out: &mut [Outcome]) {
        for (((&key, &at), &cost), out) in key.iter().zip(at).zip(cost).zip(out) {
            *out = Keyed::try_acquire(self, key, at, cost);
        }
    }

    fn state_bytes(&self) -> usize {
        size_of::<R::State>() + self.states.states().next().map_or(0, |state| self.rule.heap_bytes(state))
    }

    fn max_live_keys(&self) -> usize {
        self.max_live
    }

    fn make_room(&mut self, key: u64, now: Nanos, cost: u64) {
        if self.shut_out(&key, now, cost) {
            self.has_room(now);
        }
    }
}
