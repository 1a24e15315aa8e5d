//! Demand: what recorded traffic asks of one limiter, or of one limiter per key.

use crate::inspect::Loaded;
use limiters::{AnyRule, Meter, Nanos, Outcome};

/// Requests in time order with what one meter counts of them.
#[derive(Clone, Debug)]
pub struct Demand {
    /// Absolute times, never going back.
    pub at: Vec<Nanos>,
    /// Whose they are.
    pub key: Vec<u64>,
    /// Permits each asks for.
    pub cost: Vec<u64>,
    /// How many keys there are; each number in `key` is below.
    pub keys: usize,
    /// Whether each key has a limiter of its own.
    pub per_key: bool,
}

/// What a limiter did with a demand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Requests refused, never fitting ones among them.
    pub requests: u64,
    /// Their permits.
    pub permits: u64,
}

/// Requests decided at once.
const BLOCK: usize = 16_384;

impl Demand {
    /// What a file asks for under `meter`.
    ///
    /// # Errors
    /// When the file does not say how much that is.
    pub fn of(file: &Loaded, meter: Meter, per_key: bool) -> Result<Demand, String> {
        let cost = file.amounts(meter)?;
        Ok(Demand {
            at: file.requests.at.clone(),
            key: file.requests.key.clone(),
            cost,
            keys: file.names.len(),
            per_key,
        })
    }

    /// How many requests there are.
    pub fn len(&self) -> usize {
        self.at.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.at.is_empty()
    }

    /// The requests before the absolute time `end`.
    pub fn until(&self, end: Nanos) -> Demand {
        let count = self.at.partition_point(|&at| at < end);
        Demand {
            at: self.at[..count].to_vec(),
            key: self.key[..count].to_vec(),
            cost: self.cost[..count].to_vec(),
            keys: self.keys,
            per_key: self.per_key,
        }
    }

    /// Limiters that the demand needs: one, or one per key.
    pub fn limiters(&self) -> usize {
        if self.per_key { self.keys } else { 1 }
    }

    /// The limiter of request `index`, below [`limiters`](Demand::limiters).
    #[inline]
    pub fn limiter_of(&self, index: usize) -> usize {
        if self.per_key { self.key[index] as usize } else { 0 }
    }

    /// Permits of all requests.
    pub fn permits(&self) -> u64 {
        self.cost.iter().fold(0, |sum, cost| sum.saturating_add(*cost))
    }

    /// Whether every request asks for one permit or none.
    pub fn is_unit(&self) -> bool {
        self.cost.iter().all(|&cost| cost <= 1)
    }

    /// Lets `rule`, fresh, decide everything; `see` hears each request's number and outcome, in order.
    pub fn replay(&self, rule: &dyn AnyRule, mut see: impl FnMut(usize, Outcome)) {
        let mut store = rule.store(self.per_key);
        let mut out = vec![Outcome::Refused; BLOCK.min(self.len())];
        for from in (0..self.len()).step_by(BLOCK) {
            let range = from..self.len().min(from + BLOCK);
            let out = &mut out[..range.len()];
            store.run(&self.key[range.clone()], &self.at[range.clone()], &self.cost[range], out);
            out.iter().enumerate().for_each(|(index, &outcome)| see(from + index, outcome));
        }
    }

    /// What `rule` refuses from request `from` on, having seen all.
    pub fn refused_from(&self, rule: &dyn AnyRule, from: usize) -> Refused {
        let mut refused = Refused::default();
        self.replay(rule, |index, outcome| {
            if index >= from && !outcome.passes() {
                refused.requests += 1;
                refused.permits = refused.permits.saturating_add(self.cost[index]);
            }
        });
        refused
    }

    /// What `rule` refuses.
    pub fn refused(&self, rule: &dyn AnyRule) -> Refused {
        self.refused_from(rule, 0)
    }
}
