//! Sliding window log: remembers every admission of the last window. The exact answer that the others approximate.
//!
//! Rule: a request of cost `c` at `t` passes iff the permits admitted in (t − W, t] plus `c` are at most N. An admission
//! exactly W old no longer counts; with the edge `closed` it still does, which is the same as a window of W + 1 ns.
//!
//! Bound, for a closed interval of length τ, with S = W (half-open) or W + 1 (closed): N · (floor(τ/S) + 1). Proof: split the
//! interval into floor(τ/S) + 1 half-open pieces no longer than S; each holds at most N, as the log said so at the last
//! admission in the piece. A request of cost c counts as c unit requests at one instant.
//!
//! Admissions at one instant share an entry. Entries carry running totals, so that the permits of any prefix are one
//! subtraction: what has expired is found by bisection and only when the limit is reached. A decision is O(1) when the
//! front answers it and O(log n) otherwise; memory is 16 B for each of at most min(N, distinct instants) entries.
//!
//! Source: Redis sorted-set limiters (ZREMRANGEBYSCORE, ZCARD, ZADD); the generalisation to costs is a weighted sum.

use crate::span::Span;
use crate::{Algorithm, AnyRule, Kind, Level, Nanos, Outcome, Param, ParamError, Quota, Rule, Settings, Worst};

/// The registry entry.
pub const ALGORITHM: Algorithm = Algorithm {
    name: "sliding-window-log",
    summary: "remembers every admission of the last window: exact, and the reference for the others",
    source: "Redis sorted-set limiters",
    params: &[Param {
        name: "edge",
        kind: Kind::Choice(&["half-open", "closed"]),
        doc: "whether an admission exactly one window old is forgotten or still counts (half-open)",
    }],
    default: true,
    build,
    strict: |limit, window| {
        if limit == 0 { Vec::new() } else { vec![Settings::new(Quota { limit, window, burst: limit })] }
    },
};

fn build(settings: &Settings) -> Result<Box<dyn AnyRule>, ParamError> {
    let (limit, window) = settings.limit_per_window()?;
    if settings.choice("edge") != Some("closed") {
        return Ok(Box::new(SlidingWindowLog::new(limit, window)));
    }
    let closed = SlidingWindowLog::closed(limit, window);
    let closed = closed.ok_or_else(|| ParamError::new("edge", "a closed window must be shorter than 2^64 − 1 ns"))?;
    Ok(Box::new(closed))
}

/// A sliding window log: `limit` permits in any window.
#[derive(Clone, Debug)]
pub struct SlidingWindowLog {
    limit: u64,
    /// How long an admission counts: W, or W + 1 with a closed edge.
    span: Nanos,
    closed: bool,
}

/// The admissions that may still count, oldest first, in a ring whose length is a power of two.
#[derive(Clone, Debug, Default)]
pub struct State {
    ring: Vec<Entry>,
    head: usize,
    len: usize,
    /// Running total before the front entry, modulo 2^64.
    before: u64,
    /// Running total through the back entry, modulo 2^64.
    total: u64,
}

/// All permits admitted at one instant; `through` is the running total that includes them.
#[derive(Clone, Copy, Debug, Default)]
struct Entry {
    at: Nanos,
    through: u64,
}

impl State {
    #[inline]
    fn slot(&self, index: usize) -> usize {
        (self.head + index) & (self.ring.len() - 1)
    }

    #[inline]
    fn entry(&self, index: usize) -> Entry {
        self.ring[self.slot(index)]
    }

    /// The first index from `from` on for which `found` holds, given that it holds for all later ones; `len` if none.
    fn bisect(&self, from: usize, found: impl Fn(Entry) -> bool) -> usize {
        let (mut low, mut high) = (from, self.len);
        while low < high {
            let middle = low + (high - low) / 2;
            if found(self.entry(middle)) { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// Permits held without the first `dropped` entries.
    #[inline]
    fn held(&self, dropped: usize) -> u64 {
        self.total.wrapping_sub(if dropped == 0 { self.before } else { self.entry(dropped - 1).through })
    }

    #[inline]
    fn drop_front(&mut self, dropped: usize) {
        if dropped > 0 {
            self.before = self.entry(dropped - 1).through;
            self.head = self.slot(dropped);
            self.len -= dropped;
        }
    }
}

impl SlidingWindowLog {
    /// At most `limit` permits in any (t − window, t]; both at least 1.
    pub fn new(limit: u64, window: Nanos) -> SlidingWindowLog {
        assert!(limit > 0 && window > 0, "a limit and a window above zero");
        SlidingWindowLog { limit, span: window, closed: false }
    }

    /// At most `limit` permits in any [t − window, t]. `None` when the window has no successor.
    pub fn closed(limit: u64, window: Nanos) -> Option<SlidingWindowLog> {
        Some(SlidingWindowLog { closed: true, ..SlidingWindowLog::new(limit, window.checked_add(1)?) })
    }

    #[inline]
    fn has_expired(&self, entry: Entry, now: Nanos) -> bool {
        now.saturating_sub(entry.at) >= self.span
    }

    fn expired(&self, state: &State, now: Nanos) -> usize {
        state.bisect(0, |entry| !self.has_expired(entry, now))
    }

    #[inline]
    fn has_room(&self, held: u64, cost: u64) -> bool {
        cost <= self.limit.saturating_sub(held)
    }

    /// How many entries from the front to drop so that `cost` fits; `None` when it does not fit.
    #[inline]
    fn fit(&self, state: &State, now: Nanos, cost: u64) -> Option<usize> {
        if self.has_room(state.held(0), cost) {
            return Some(0);
        }
        if state.len == 0 || !self.has_expired(state.entry(0), now) {
            return None;
        }
        if self.has_room(state.held(1), cost) {
            return Some(1);
        }
        let expired = self.expired(state, now);
        self.has_room(state.held(expired), cost).then_some(expired)
    }

    #[inline]
    fn push(&self, state: &mut State, now: Nanos, cost: u64) {
        state.total = state.total.wrapping_add(cost);
        if state.len > 0 {
            let back = state.slot(state.len - 1);
            if state.ring[back].at == now {
                state.ring[back].through = state.total;
                return;
            }
        }
        if state.len == state.ring.len() {
            self.make_room(state, now);
        }
        let next = state.slot(state.len);
        state.ring[next] = Entry { at: now, through: state.total };
        state.len += 1;
    }

    /// Forgets what has expired and, if that is nothing, doubles the ring.
    #[cold]
    fn make_room(&self, state: &mut State, now: Nanos) {
        let expired = self.expired(state, now);
        if expired > 0 {
            state.drop_front(expired);
            return;
        }
        state.ring.rotate_left(state.head);
        state.head = 0;
        state.ring.resize((state.ring.len() * 2).max(4), Entry::default());
    }
}

impl Rule for SlidingWindowLog {
    type State = State;

    fn fresh(&self) -> State {
        State::default()
    }

    #[inline]
    fn try_acquire(&self, state: &mut State, now: Nanos, cost: u64) -> Outcome {
        match self.fit(state, now, cost) {
            Some(dropped) => {
                if cost != 0 {
                    state.drop_front(dropped);
                    self.push(state, now, cost);
                }
                Outcome::Admitted
            }
            None if cost > self.limit => Outcome::NeverFits,
            None => Outcome::Refused,
        }
    }

    fn peek(&self, state: &State, now: Nanos, cost: u64) -> Outcome {
        match self.fit(state, now, cost) {
            Some(_) => Outcome::Admitted,
            None if cost > self.limit => Outcome::NeverFits,
            None => Outcome::Refused,
        }
    }

    fn remaining(&self, state: &State, now: Nanos) -> u64 {
        self.limit.saturating_sub(state.held(self.expired(state, now)))
    }

    fn retry_after(&self, state: &State, now: Nanos, cost: u64) -> Option<Nanos> {
        if cost > self.limit {
            return None;
        }
        let expired = self.expired(state, now);
        let held = state.held(expired);
        if self.has_room(held, cost) {
            return Some(0);
        }
        // Permits that must expire first: held + cost − N, in an order that cannot pass 2^64.
        let excess = held - (self.limit - cost);
        let start = state.total.wrapping_sub(held);
        let last = state.bisect(expired, |entry| entry.through.wrapping_sub(start) >= excess);
        Some(self.span - now.saturating_sub(state.entry(last).at))
    }

    fn reset_after(&self, state: &State, now: Nanos) -> Option<Nanos> {
        let back = state.len.checked_sub(1).map(|last| state.entry(last));
        Some(back.map_or(0, |back| self.span.saturating_sub(now.saturating_sub(back.at))))
    }

    fn charge(&self, state: &mut State, now: Nanos, cost: u64) {
        state.drop_front(self.expired(state, now));
        let cost = cost.min(u64::MAX - state.held(0));
        if cost != 0 {
            self.push(state, now, cost);
        }
    }

    fn refund(&self, state: &mut State, _now: Nanos, taken_at: Nanos, cost: u64) {
        let index = state.bisect(0, |entry| entry.at >= taken_at);
        if index == state.len || state.entry(index).at != taken_at {
            return;
        }
        let held = state.held(index).wrapping_sub(state.held(index + 1));
        let cost = cost.min(held);
        state.total = state.total.wrapping_sub(cost);
        let emptied = usize::from(cost == held);
        for later in index..state.len - emptied {
            let Entry { at, through } = state.entry(later + emptied);
            let slot = state.slot(later);
            state.ring[slot] = Entry { at, through: through.wrapping_sub(cost) };
        }
        state.len -= emptied;
    }

    fn level(&self, state: &State, now: Nanos) -> Level {
        let held = state.held(self.expired(state, now));
        Level::whole(i128::from(self.limit) - i128::from(held), self.limit)
    }

    fn heap_bytes(&self, state: &State) -> usize {
        state.ring.capacity() * size_of::<Entry>()
    }

    fn envelope(&self, tau: Nanos, _max_cost: u64) -> Option<u128> {
        Some(u128::from(self.limit) * (u128::from(tau / self.span) + 1))
    }

    fn worst(&self) -> Option<Worst> {
        Some(Worst { requests: vec![(0, self.limit), (self.span, self.limit)], tau: self.span })
    }

    fn parameters(&self) -> String {
        let window = Span(self.span - u64::from(self.closed));
        let edge = if self.closed { ", edge closed" } else { "" };
        format!("{} per {window}{edge}", self.limit)
    }
}
