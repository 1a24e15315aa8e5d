//! A limiter on several nodes that do not talk to each other, behind a load balancer.
//!
//! Rule: each node keeps its own states; routing picks the node that decides a request. A node that restarts forgets
//! everything; a node that joins starts fresh and takes its share from then on.
//!
//! Bound: N nodes that each obey an envelope E admit at most N × E together, since each admits at most E of the requests
//! it is sent. A restart counts as one more node: what was admitted before and after it obeys E on each side. See
//! [`Replicated::states`].

use crate::hash::mix;
use crate::{Level, Nanos, Outcome, Store};

/// How a load balancer picks a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// One after the other.
    #[default]
    RoundRobin,
    /// By key: the same node for the same key, until a node joins and most keys move.
    KeyHash,
    /// Any, drawn from this seed and the number of the request.
    Random {
        /// Seed; equal seeds route alike.
        seed: u64,
    },
}

/// Which nodes there are, and when that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nodes {
    /// Nodes at first; at least 1.
    pub count: usize,
    /// How a node is picked.
    pub routing: Routing,
    /// When nodes lose their state, if they do.
    pub restart_at: Option<Nanos>,
    /// The only node that restarts; `None` restarts all of them.
    pub restarting: Option<usize>,
    /// When one more node joins, if it does.
    pub join_at: Option<Nanos>,
}

impl Nodes {
    /// `count` nodes that never restart.
    pub fn new(count: usize, routing: Routing) -> Nodes {
        Nodes { count, routing, restart_at: None, restarting: None, join_at: None }
    }

    fn count_at(&self, now: Nanos) -> usize {
        self.count + usize::from(self.join_at.is_some_and(|join| now >= join))
    }

    fn restarts(&self, node: usize) -> bool {
        node < self.count && self.restarting.is_none_or(|only| only == node)
    }
}

type Make = Box<dyn Fn() -> Box<dyn Store + Send> + Send>;

/// The same limiter on several nodes.
pub struct Replicated {
    nodes: Nodes,
    make: Make,
    stores: Vec<Box<dyn Store + Send>>,
    restarted: bool,
    asked: u64,
    selected: Option<usize>,
    last: usize,
}

impl Replicated {
    /// The stores that `make` gives, one a node. `None` without nodes, or when the node to restart does not exist.
    pub fn new(nodes: Nodes, make: impl Fn() -> Box<dyn Store + Send> + Send + 'static) -> Option<Replicated> {
        if nodes.count == 0 || nodes.restarting.is_some_and(|node| node >= nodes.count) {
            return None;
        }
        let stores = (0..nodes.count + usize::from(nodes.join_at.is_some())).map(|_| make()).collect();
        Some(Replicated { nodes, make: Box::new(make), stores, restarted: false, asked: 0, selected: None, last: 0 })
    }

    /// How many independent states a key can meet in all: the nodes, the one that joins, and those that restart. Any
    /// interval admits at most this many times the envelope of one node.
    pub fn states(&self) -> u64 {
        let restarts = match (self.nodes.restart_at, self.nodes.restarting) {
            (None, _) => 0,
            (Some(_), Some(_)) => 1,
            (Some(_), None) => self.nodes.count,
        };
        (self.stores.len() + restarts) as u64
    }

    /// The node that decides request number `sequence` of `key` at `at`.
    fn route(&self, sequence: u64, key: u64, at: Nanos) -> usize {
        let draw = match self.nodes.routing {
            Routing::RoundRobin => sequence,
            Routing::KeyHash => mix(key),
            Routing::Random { seed } => mix(mix(seed) ^ sequence),
        };
        (draw % self.nodes.count_at(at) as u64) as usize
    }

    /// The node that is asked next.
    fn next(&self, key: u64, now: Nanos) -> usize {
        self.selected.unwrap_or_else(|| self.route(self.asked, key, now))
    }

    /// The node that holds what a call took: the selected one, the key's own, or else the last that was asked.
    fn holder(&self, key: u64, now: Nanos) -> usize {
        match (self.selected, self.nodes.routing) {
            (Some(node), _) => node,
            (None, Routing::KeyHash) => self.route(0, key, now),
            (None, _) => self.last,
        }
    }

    /// Loses what restarting nodes knew, once the time has come.
    fn restart(&mut self, now: Nanos) {
        if self.restarted || self.nodes.restart_at.is_none_or(|at| now < at) {
            return;
        }
        for (index, store) in self.stores.iter_mut().enumerate() {
            if self.nodes.restarts(index) {
                *store = (self.make)();
            }
        }
        self.restarted = true;
    }

    fn ask<T>(&self, node: usize, now: Nanos, question: impl Fn(&dyn Store) -> T) -> T {
        let due = !self.restarted && self.nodes.restart_at.is_some_and(|at| now >= at);
        if due && self.nodes.restarts(node) { question(&*(self.make)()) } else { question(&*self.stores[node]) }
    }
}

/// Peeks and hints are those of the node that is asked next, or of the one last [selected](Store::select) by a stack. A
/// client that comes back may meet another node, so a hint is exact only with [`Routing::KeyHash`].
impl Store for Replicated {
    fn try_acquire(&mut self, key: u64, now: Nanos, cost: u64) -> Outcome {
        self.restart(now);
        let node = self.next(key, now);
        self.last = node;
        self.asked += u64::from(self.selected.is_none());
        self.stores[node].try_acquire(key, now, cost)
    }

    fn peek(&self, key: u64, now: Nanos, cost: u64) -> Outcome {
        self.ask(self.next(key, now), now, |store| store.peek(key, now, cost))
    }

    fn remaining(&self, key: u64, now: Nanos) -> u64 {
        self.ask(self.next(key, now), now, |store| store.remaining(key, now))
    }

    fn retry_after(&self, key: u64, now: Nanos, cost: u64) -> Option<Nanos> {
        self.ask(self.next(key, now), now, |store| store.retry_after(key, now, cost))
    }

    fn reset_after(&self, key: u64, now: Nanos) -> Option<Nanos> {
        let waits = (0..self.nodes.count_at(now)).map(|node| self.ask(node, now, |store| store.reset_after(key, now)));
        waits.into_iter().try_fold(0, |longest, wait| Some(wait?.max(longest)))
    }

    fn charge(&mut self, key: u64, now: Nanos, cost: u64) {
        self.restart(now);
        let node = self.holder(key, now);
        self.stores[node].charge(key, now, cost);
    }

    /// What a node took before it restarted is forgotten with the rest, and not given back.
    fn refund(&mut self, key: u64, now: Nanos, taken_at: Nanos, cost: u64) {
        self.restart(now);
        let node = self.holder(key, now);
        let forgotten = self.nodes.restarts(node) && self.nodes.restart_at.is_some_and(|at| taken_at < at && at <= now);
        if !forgotten {
            self.stores[node].refund(key, now, taken_at, cost);
        }
    }

    /// All nodes together.
    fn level(&self, key: u64, now: Nanos) -> Level {
        (0..self.nodes.count_at(now)).map(|node| self.ask(node, now, |store| store.level(key, now))).fold(
            Level { available_milli: 0, capacity_milli: 0 },
            |sum, level| Level {
                available_milli: sum.available_milli.saturating_add(level.available_milli),
                capacity_milli: sum.capacity_milli.saturating_add(level.capacity_milli),
            },
        )
    }

    fn run(&mut self, key: &[u64], at: &[Nanos], cost: &[u64], out: &mut [Outcome]) {
        self.selected = None;
        for (((&key, &at), &cost), out) in key.iter().zip(at).zip(cost).zip(out) {
            *out = self.try_acquire(key, at, cost);
        }
    }

    fn state_bytes(&self) -> usize {
        let one = self.stores[0].state_bytes();
        if self.nodes.routing == Routing::KeyHash { one } else { one * self.stores.len() }
    }

    /// The sum over nodes, which counts a key on each node that knows it.
    fn max_live_keys(&self) -> usize {
        self.stores.iter().map(|store| store.max_live_keys()).sum()
    }

    fn select(&mut self, sequence: u64, key: u64, at: Nanos) {
        self.selected = Some(self.route(sequence, key, at));
    }

    fn make_room(&mut self, key: u64, now: Nanos, cost: u64) {
        self.restart(now);
        let node = self.next(key, now);
        self.stores[node].make_room(key, now, cost);
    }
}
