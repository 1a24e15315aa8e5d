//! A stack of guards in front of one call: refused by one, charged to none.
//!
//! Rule: every guard is asked at the same instant whether the request would pass, and only if all say yes is it taken
//! from each. Charging one after the other instead loses what the first guards took for requests that a later one
//! refuses: 100/min and 1/s flooded at 20/s for 70 s admit 10 that way, where 70 are allowed.
//!
//! Bound: for one meter, at most the least of the guards' envelopes, since each guard sees only what all admit.
//!
//! Behind a shaper the request starts at the latest start that any guard names. The other guards are charged when it is
//! asked, not when it starts: that is when they were asked.

use crate::{Accounting, Batch, Guard, Level, Meter, Nanos, Outcome, Request};

/// Guards that are asked together.
#[derive(Default)]
pub struct Stack {
    guards: Vec<Guard>,
    asked: u64,
}

/// What a stack says to a request.
#[derive(Debug)]
pub struct Verdict {
    /// The answer: [`NeverFits`](Outcome::NeverFits) when it is so for any guard.
    pub outcome: Outcome,
    /// Which guard answers the client: the one that refused; of several the one that refuses longest, or else comes
    /// first.
    pub refused_by: Option<usize>,
    /// The claim to settle or cancel once the call is over; there when the request passes.
    pub ticket: Option<Ticket>,
    /// Which guards were asked: bit `i` for guard `i`.
    pub asked: u64,
}

/// A call that passed and is not settled. Dropped without settling, estimates stay held.
#[derive(Debug)]
#[must_use = "a call that is not settled keeps its estimate held, and a guard with post accounting never learns its cost"]
pub struct Ticket {
    sequence: u64,
    asked: Request,
    of: u64,
}

/// Every guard.
const ALL: u64 = u64::MAX;

/// Whether the guard at `index` is one of `of`. Guards beyond the 64th take part in everything.
fn is_of(of: u64, index: usize) -> bool {
    index >= 64 || (of >> index) & 1 == 1
}

impl Ticket {
    /// The request as it was asked.
    pub fn asked(&self) -> &Request {
        &self.asked
    }
}

/// What the client of a refused request is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// HTTP status.
    pub status: u16,
    /// When to come back, as a wait in nanoseconds; `None` when nothing is said. A header rounds it up to seconds.
    pub retry_after: Option<Nanos>,
}

impl Answer {
    /// The value of a `Retry-After` header: the wait in seconds, rounded up so that it is not too early.
    pub fn retry_after_seconds(&self) -> Option<u64> {
        self.retry_after.map(|wait| wait.div_ceil(1_000_000_000))
    }
}

impl Stack {
    /// A stack of these guards, in the order in which they are named when several refuse alike.
    pub fn new(guards: Vec<Guard>) -> Stack {
        Stack { guards, asked: 0 }
    }

    /// The guards.
    pub fn guards(&self) -> &[Guard] {
        &self.guards
    }

    /// Asks whether a request may pass, and takes what it costs from every guard or from none. Times must not go back;
    /// put a [`Clamp`](crate::Clamp) in front where they can.
    pub fn try_acquire(&mut self, request: &Request) -> Verdict {
        self.try_acquire_of(request, ALL)
    }

    /// The same, asking only the guards whose bit is set in `of`: guards of one stack may stand in different places, as a
    /// rate limit in front of a tool and a spending cap in front of the model call that leads to it.
    pub fn try_acquire_of(&mut self, request: &Request, of: u64) -> Verdict {
        let sequence = self.asked;
        self.asked += 1;
        for guard in among(&mut self.guards, of) {
            guard.select(sequence, request.key, request.at);
        }
        let (outcome, refused_by) = match &mut self.guards[..] {
            [guard] if is_of(of, 0) => {
                let outcome = guard.try_acquire(request);
                (outcome, (!outcome.passes()).then_some(0))
            }
            guards => {
                for guard in among(guards, of) {
                    guard.make_room(request);
                }
                self.two_phases(request, of)
            }
        };
        if outcome == Outcome::Refused {
            for guard in among(&mut self.guards, of) {
                guard.refused(request);
            }
        }
        let ticket = outcome.passes().then_some(Ticket { sequence, asked: *request, of });
        Verdict { outcome, refused_by, ticket, asked: of }
    }

    fn two_phases(&mut self, request: &Request, of: u64) -> (Outcome, Option<usize>) {
        let (outcome, refused_by) = self.ask(request, of);
        if outcome.passes() {
            for guard in among(&mut self.guards, of) {
                let taken = guard.try_acquire(request);
                debug_assert!(taken.passes(), "{} passed a peek and then refused", guard.label());
            }
        }
        (outcome, refused_by)
    }

    /// The answer of all guards together, with nothing changed.
    fn ask(&self, request: &Request, of: u64) -> (Outcome, Option<usize>) {
        let mut start = request.at;
        let (mut first, mut refusing) = (None, 0);
        for (index, guard) in self.guards.iter().enumerate().filter(|(index, _)| is_of(of, *index)) {
            match guard.peek(request) {
                Outcome::Admitted => {}
                Outcome::Delayed { until } => start = start.max(until),
                Outcome::NeverFits => return (Outcome::NeverFits, Some(index)),
                Outcome::Refused => {
                    first = first.or(Some(index));
                    refusing += 1;
                }
            }
        }
        match (first, refusing) {
            (None, _) if start > request.at => (Outcome::Delayed { until: start }, None),
            (None, _) => (Outcome::Admitted, None),
            (first, 1) => (Outcome::Refused, first),
            _ => (Outcome::Refused, self.longest(request, of)),
        }
    }

    /// The first of the guards that refuse longest.
    fn longest(&self, request: &Request, of: u64) -> Option<usize> {
        let wait = |guard: &Guard| guard.retry_after(request).map_or(u128::from(Nanos::MAX) + 1, u128::from);
        let asked = self.guards.iter().enumerate().filter(|(index, _)| is_of(of, *index));
        let refusing = asked.filter(|(_, guard)| !guard.peek(request).passes());
        refusing.max_by_key(|(index, guard)| (wait(guard), std::cmp::Reverse(*index))).map(|(index, _)| index)
    }

    /// The answer [`try_acquire`](Stack::try_acquire) would give, with nothing changed.
    pub fn peek(&self, request: &Request) -> Outcome {
        self.peek_of(request, ALL)
    }

    /// The answer [`try_acquire_of`](Stack::try_acquire_of) would give, with nothing changed.
    pub fn peek_of(&self, request: &Request, of: u64) -> Outcome {
        self.ask(request, of).0
    }

    /// Least wait after which the same request passes if nothing else happens: the longest of all guards', since what
    /// one guard admits it goes on admitting while nothing happens. `None` for never.
    pub fn retry_after(&self, request: &Request) -> Option<Nanos> {
        self.guards.iter().try_fold(0, |longest, guard| Some(guard.retry_after(request)?.max(longest)))
    }

    /// What to tell the client of a request that was refused, by the responses of the guards that refuse it: the status
    /// of [`Verdict::refused_by`], and the longest of their waits, or none when one of them gives none. `None` for a
    /// verdict that passes. Ask once a refusal: a queue hands out a place each time.
    pub fn answer(&mut self, request: &Request, verdict: &Verdict) -> Option<Answer> {
        let status = self.guards.get(verdict.refused_by?)?.response().status;
        if verdict.outcome == Outcome::NeverFits {
            return Some(Answer { status, retry_after: None });
        }
        let mut longest = Some(0);
        for guard in among(&mut self.guards, verdict.asked) {
            let wait = guard.retry_after(request);
            if wait != Some(0) {
                let hint = guard.hint(request, wait);
                longest = longest.and_then(|longest| Some(hint?.max(longest)));
            }
        }
        Some(Answer { status, retry_after: longest })
    }

    /// Settles a call that is over: estimates become what it truly cost, and guards with post accounting are charged.
    /// The key is the one that was asked with.
    pub fn settle(&mut self, now: Nanos, ticket: Ticket, actual: &Request) {
        for guard in among(&mut self.guards, ticket.of) {
            guard.select(ticket.sequence, ticket.asked.key, ticket.asked.at);
            guard.settle(now, &ticket.asked, actual);
        }
    }

    /// Charges the guards whose bit is set in `of` for something that passed without asking them.
    pub fn charge_of(&mut self, request: &Request, of: u64) {
        for guard in among(&mut self.guards, of) {
            guard.charge(request);
        }
    }

    /// Gives back what every guard took for a call that did not happen. A loop breaker keeps having seen it.
    pub fn cancel(&mut self, now: Nanos, ticket: Ticket) {
        for guard in among(&mut self.guards, ticket.of) {
            guard.select(ticket.sequence, ticket.asked.key, ticket.asked.at);
            guard.cancel(now, &ticket.asked);
        }
    }

    /// The largest amount of `meter` that would pass at `now` for `key`: the least over the guards that count it and
    /// are charged when asked. `None` when no guard does.
    pub fn remaining(&self, key: u64, now: Nanos, meter: Meter) -> Option<u64> {
        let counting =
            self.guards.iter().filter(|guard| guard.meter() == meter && guard.accounting() == Accounting::Immediate);
        counting.filter_map(|guard| Some(guard.store()?.remaining(key, now))).min()
    }

    /// The level of the guard that has the least of its capacity left, for pictures; `None` when no guard has a level.
    pub fn level(&self, key: u64, now: Nanos) -> Option<Level> {
        // a/c < b/d as a·d < b·c, so that no share is rounded.
        self.guards.iter().filter_map(|guard| guard.level(key, now)).min_by(|a, b| {
            let share = |x: &Level, y: &Level| i128::from(x.available_milli) * i128::from(y.capacity_milli);
            share(a, b).cmp(&share(b, a))
        })
    }

    /// Decides a batch in order. A batch says nothing about when calls end, so they are settled at the instant they are
    /// asked, at the amounts of the batch. `out` is as long as the batch.
    ///
    /// A single guard that charges what is asked gets the columns as they are and pays for one virtual call a batch.
    pub fn run(&mut self, batch: &Batch, out: &mut [Outcome]) {
        self.run_at(&batch.at, batch, out);
    }

    /// The same with other times than the batch's own.
    pub(crate) fn run_at(&mut self, at: &[Nanos], batch: &Batch, out: &mut [Outcome]) {
        assert_eq!(batch.len(), out.len(), "a batch and the place for its outcomes have the same length");
        if let [guard] = &mut self.guards[..] {
            let meter = guard.meter();
            if let Some(store) = guard.block() {
                let mut scratch = Vec::new();
                let amounts = batch.amounts(meter, &mut scratch);
                store.run(&batch.key, at, amounts, out);
                guard.ledger.spent += passed(amounts, out);
                return;
            }
        }
        for (index, (&at, out)) in at.iter().zip(out).enumerate() {
            let request = Request { at, ..batch.get(index) };
            let verdict = self.try_acquire(&request);
            *out = verdict.outcome;
            if let Some(ticket) = verdict.ticket {
                self.settle(at, ticket, &request);
            }
        }
    }
}

/// The guards whose bit is set in `of`.
fn among(guards: &mut [Guard], of: u64) -> impl Iterator<Item = &mut Guard> {
    guards.iter_mut().enumerate().filter(move |(index, _)| is_of(of, *index)).map(|(_, guard)| guard)
}

/// The sum of the amounts that passed. Without a branch, since whether a request passes is as good as random, and in
/// halves, which cannot overflow in blocks of less than 2^32 requests.
fn passed(amounts: &[u64], out: &[Outcome]) -> u128 {
    let mut sum = 0;
    for (amounts, out) in amounts.chunks(1 << 31).zip(out.chunks(1 << 31)) {
        let (mut low, mut high) = (0u64, 0u64);
        for (&amount, out) in amounts.iter().zip(out) {
            let taken = amount & u64::from(out.passes()).wrapping_neg();
            low += taken & u64::from(u32::MAX);
            high += taken >> 32;
        }
        sum += (u128::from(high) << 32) + u128::from(low);
    }
    sum
}
