//! What a limiter lets pass, in the order in which it starts, which is not the order in which it was asked where limiters
//! make requests wait.

use super::Demand;
use crate::inspect::{Metered, Requests, Row};
use limiters::{AnyRule, Nanos, Store};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use traffic::TrafficError;

/// Goes through all that starts. Holds the requests that wait.
pub struct Starts<'a> {
    asked: Requests<'a>,
    worth: Option<Requests<'a>>,
    store: Box<dyn Store + Send>,
    /// Until when requests were asked; what comes later starts no earlier.
    asked_until: Nanos,
    /// When what passed starts, whose it is, and what it counts.
    waiting: BinaryHeap<Reverse<(Nanos, u64, u64)>>,
}

impl<'a> Starts<'a> {
    /// Before the first request, with a fresh `rule`; `worth` is what each counts, if not its permits.
    pub fn new(demand: &'a Demand, rule: &dyn AnyRule, worth: Option<&'a Metered>) -> Starts<'a> {
        Starts {
            asked: demand.asked.pass(),
            worth: worth.map(Metered::pass),
            store: rule.store(demand.per_key),
            asked_until: 0,
            waiting: BinaryHeap::new(),
        }
    }

    /// The next start; its time is never before that of another.
    ///
    /// # Errors
    /// When the requests cannot be read back.
    pub fn next(&mut self) -> Result<Option<Row>, TrafficError> {
        loop {
            if let Some(&Reverse((at, key, amount))) = self.waiting.peek()
                && at <= self.asked_until
            {
                self.waiting.pop();
                return Ok(Some(Row { at, key, amount }));
            }
            match self.asked.next_row()? {
                Some(row) => {
                    let worth = match &mut self.worth {
                        Some(worth) => worth.next_row()?.map_or(0, |row| row.amount),
                        None => row.amount,
                    };
                    self.asked_until = row.at;
                    let outcome = self.store.try_acquire(row.key, row.at, row.amount);
                    self.waiting.extend(outcome.starts(row.at).map(|start| Reverse((start, row.key, worth))));
                }
                None if self.waiting.is_empty() => return Ok(None),
                None => self.asked_until = Nanos::MAX,
            }
        }
    }
}
