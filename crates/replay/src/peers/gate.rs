//! A gate of peers: one for everybody, or one per key.

use crate::lane::Gate;
use limiters::{Batch, KeyHash, Level, Nanos, Outcome, Request};
use std::collections::HashMap;
use std::ops::Range;

/// A peer of one key, made at the time it is first asked.
pub struct PeerGate<M, L> {
    make: M,
    per_key: bool,
    limiters: HashMap<u64, L, KeyHash>,
    bytes: usize,
}

/// A gate of peers that `make` makes at a time; `bytes` is the state of one.
pub fn gate<L, M>(make: M, per_key: bool, bytes: usize) -> Box<dyn Gate>
where
    L: FnMut(Nanos, u64) -> Outcome + Send + 'static,
    M: Fn(Nanos) -> L + Send + 'static,
{
    Box::new(PeerGate { make, per_key, limiters: HashMap::default(), bytes })
}

impl<M, L> Gate for PeerGate<M, L>
where
    L: FnMut(Nanos, u64) -> Outcome + Send,
    M: Fn(Nanos) -> L + Send,
{
    fn run(&mut self, batch: &Batch, cost: &[u64], range: Range<usize>, out: &mut [Outcome]) {
        let make = &self.make;
        if self.per_key {
            for (index, out) in range.zip(out) {
                let now = batch.at[index];
                let limiter = self.limiters.entry(batch.key[index]).or_insert_with(|| make(now));
                *out = limiter(now, cost[index]);
            }
            return;
        }
        let Some(&first) = batch.at.get(range.start) else { return };
        let limiter = self.limiters.entry(0).or_insert_with(|| make(first));
        for ((&now, &cost), out) in batch.at[range.clone()].iter().zip(&cost[range]).zip(out) {
            *out = limiter(now, cost);
        }
    }
    fn peek(&self, _: &Request) -> Option<Outcome> {
        None
    }
    fn retry_after(&self, _: &Request) -> Option<Nanos> {
        None
    }
    fn level(&self, _: Nanos) -> Option<Level> {
        None
    }
    fn state_bytes(&self) -> usize {
        self.bytes
    }
    fn max_live_keys(&self) -> usize {
        self.limiters.len().max(1)
    }
}
