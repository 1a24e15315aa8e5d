//! Demand: what recorded traffic asks of one limiter, or of one limiter per key.

use super::starts::Starts;
use crate::inspect::{Block, Loaded, Metered, Row, sliding};
use limiters::{AnyRule, Meter, Nanos, Outcome};
use traffic::TrafficError;
use traffic::traces::Columns;

/// Requests in time order with what one meter counts of them.
#[derive(Clone, Debug)]
pub struct Demand {
    /// When each comes, whose it is, and the permits that it asks for.
    pub asked: Metered,
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

impl Demand {
    /// What a file asks for under `meter`.
    ///
    /// # Errors
    /// When the file does not say how much that is, or cannot be read back.
    pub fn of(file: &Loaded, meter: Meter, per_key: bool) -> Result<Demand, String> {
        Ok(Demand { asked: Metered::of(file, meter)?, per_key })
    }

    /// Requests in columns of the same length, whose times never go back and whose keys are below `keys`.
    pub fn new(at: Vec<Nanos>, key: Vec<u64>, cost: Vec<u64>, keys: usize, per_key: bool) -> Demand {
        Demand { asked: Metered::new(Columns { at, key, amount: cost }, keys), per_key }
    }

    /// How many requests there are.
    pub fn len(&self) -> usize {
        self.asked.len() as usize
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.asked.is_empty()
    }

    /// How many keys there are.
    pub fn keys(&self) -> usize {
        self.asked.keys()
    }

    /// The requests before the absolute time `end`.
    ///
    /// # Errors
    /// As all that goes through the requests: when the temporary file with them cannot be read.
    pub fn until(&self, end: Nanos) -> Result<Demand, TrafficError> {
        Ok(Demand { asked: self.asked.until(end)?, per_key: self.per_key })
    }

    /// Limiters that the demand needs: one, or one per key.
    pub fn limiters(&self) -> usize {
        if self.per_key { self.keys() } else { 1 }
    }

    /// The limiter of a request, below [`limiters`](Demand::limiters).
    #[inline]
    pub fn limiter_of(&self, key: u64) -> usize {
        if self.per_key { key as usize } else { 0 }
    }

    /// Permits of all requests.
    pub fn permits(&self) -> u64 {
        self.asked.total()
    }

    /// The most permits of one request.
    pub fn largest(&self) -> u64 {
        self.asked.largest()
    }

    /// Whether every request asks for one permit or none.
    pub fn is_unit(&self) -> bool {
        self.largest() <= 1
    }

    /// Lets `rule`, fresh, decide everything; `see` hears each request and its outcome, in order.
    ///
    /// # Errors
    /// When the requests cannot be read back, and what `see` says.
    pub fn replay(
        &self,
        rule: &dyn AnyRule,
        mut see: impl FnMut(Row, Outcome) -> Result<(), TrafficError>,
    ) -> Result<(), TrafficError> {
        let mut store = rule.store(self.per_key);
        let mut out = Vec::new();
        let mut requests = self.asked.pass();
        while let Some(Block { at, key, amount }) = requests.next_block()? {
            out.resize(at.len(), Outcome::Refused);
            store.run(key, at, amount, &mut out);
            for (((&at, &key), &amount), &outcome) in at.iter().zip(key).zip(amount).zip(&out) {
                see(Row { at, key, amount }, outcome)?;
            }
        }
        Ok(())
    }

    /// Whether `rule` refuses at most so many requests. Looks no further once it refused more.
    ///
    /// # Errors
    /// When the requests cannot be read back.
    pub fn refuses_at_most(&self, rule: &dyn AnyRule, most: u64) -> Result<bool, TrafficError> {
        let mut store = rule.store(self.per_key);
        let (mut out, mut refused) = (Vec::new(), 0);
        let mut requests = self.asked.pass();
        while refused <= most
            && let Some(Block { at, key, amount }) = requests.next_block()?
        {
            out.resize(at.len(), Outcome::Refused);
            store.run(key, at, amount, &mut out);
            refused += out.iter().filter(|outcome| !outcome.passes()).count() as u64;
        }
        Ok(refused <= most)
    }

    /// What `rule` refuses from request `from` on, having seen all.
    ///
    /// # Errors
    /// When the requests cannot be read back.
    pub fn refused_from(&self, rule: &dyn AnyRule, from: usize) -> Result<Refused, TrafficError> {
        let (mut refused, mut seen) = (Refused::default(), 0);
        self.replay(rule, |row, outcome| {
            if seen >= from && !outcome.passes() {
                refused.requests += 1;
                refused.permits = refused.permits.saturating_add(row.amount);
            }
            seen += 1;
            Ok(())
        })?;
        Ok(refused)
    }

    /// What `rule` refuses.
    ///
    /// # Errors
    /// When the requests cannot be read back.
    pub fn refused(&self, rule: &dyn AnyRule) -> Result<Refused, TrafficError> {
        self.refused_from(rule, 0)
    }

    /// The most that `rule` lets start in any window of this length, over all keys: permits, or what `worth` says of the same
    /// requests. Decides everything twice, so that no window holds what started in it.
    ///
    /// # Errors
    /// When the requests cannot be read back.
    pub fn passed(&self, rule: &dyn AnyRule, worth: Option<&Metered>, window: Nanos) -> Result<u64, TrafficError> {
        let [mut ahead, mut behind] = [(); 2].map(|()| Starts::new(self, rule, worth));
        Ok(sliding(|| ahead.next(), || behind.next(), window)?.amount)
    }
}
