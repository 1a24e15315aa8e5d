//! A clamp on time: the outermost wrapper, under which a clock that steps back is read as standing still.
//!
//! Rule: the effective time is `max(t, largest t seen so far)`. Time that went back therefore never admits more than a
//! clock that had stopped, and whatever is inside may assume that `now` never goes back.
//!
//! Why it is needed: a bucket that sets `last = t` on a step back credits the same nanoseconds twice, and a clock that
//! swings by ±1/rate then admits everything (golang/go#56287).

use crate::{Answer, Batch, Decision, Level, Limiter, Nanos, Outcome, Request, Stack, Ticket, Verdict};

/// Something that is asked about time, behind the high-water mark of all times it was asked about.
#[derive(Clone, Debug, Default)]
pub struct Clamp<T> {
    inner: T,
    high: Nanos,
    regressions: u64,
}

impl<T> Clamp<T> {
    /// `inner` behind a clamp that has seen no time yet.
    pub fn new(inner: T) -> Clamp<T> {
        Clamp { inner, high: 0, regressions: 0 }
    }

    /// The effective time of an event at `t`; counts a regression when that is later than `t`.
    #[inline]
    pub fn now(&mut self, t: Nanos) -> Nanos {
        self.regressions += u64::from(t < self.high);
        self.high = self.high.max(t);
        self.high
    }

    /// The effective times of a block of events: `at` itself when it never goes back, else a clamped copy in `scratch`.
    pub fn monotone<'a>(&mut self, at: &'a [Nanos], scratch: &'a mut Vec<Nanos>) -> &'a [Nanos] {
        if at.first().is_none_or(|&first| first >= self.high) && at.is_sorted() {
            self.high = at.last().copied().unwrap_or(self.high);
            return at;
        }
        scratch.clear();
        scratch.extend(at.iter().map(|&t| self.now(t)));
        scratch
    }

    /// The largest time seen.
    pub fn high_water(&self) -> Nanos {
        self.high
    }

    /// How many events were earlier than one before them.
    pub fn regressions(&self) -> u64 {
        self.regressions
    }

    /// What is behind the clamp.
    pub fn inner(&self) -> &T {
        &self.inner
    }

    /// What is behind the clamp, for a change; ask it nothing about a time before [`high_water`](Clamp::high_water).
    pub fn inner_mut(&mut self) -> &mut T {
        &mut self.inner
    }

    /// What is behind the clamp, without the clamp.
    pub fn into_inner(self) -> T {
        self.inner
    }

    fn seen(&self, t: Nanos) -> Nanos {
        t.max(self.high)
    }
}

/// Hints count from the effective time.
impl<L: Limiter> Limiter for Clamp<L> {
    #[inline]
    fn try_acquire(&mut self, now: Nanos, cost: u64) -> Outcome {
        let now = self.now(now);
        self.inner.try_acquire(now, cost)
    }

    fn peek(&self, now: Nanos, cost: u64) -> Outcome {
        self.inner.peek(self.seen(now), cost)
    }

    fn remaining(&self, now: Nanos) -> u64 {
        self.inner.remaining(self.seen(now))
    }

    fn retry_after(&self, now: Nanos, cost: u64) -> Option<Nanos> {
        self.inner.retry_after(self.seen(now), cost)
    }

    fn reset_after(&self, now: Nanos) -> Option<Nanos> {
        self.inner.reset_after(self.seen(now))
    }

    fn charge(&mut self, now: Nanos, cost: u64) {
        let now = self.now(now);
        self.inner.charge(now, cost);
    }

    fn refund(&mut self, now: Nanos, taken_at: Nanos, cost: u64) {
        let now = self.now(now);
        self.inner.refund(now, taken_at.min(now), cost);
    }

    fn level(&self, now: Nanos) -> Level {
        self.inner.level(self.seen(now))
    }

    fn state_bytes(&self) -> usize {
        self.inner.state_bytes()
    }

    fn decide(&mut self, now: Nanos, cost: u64) -> Decision {
        let now = self.now(now);
        self.inner.decide(now, cost)
    }

    fn run(&mut self, at: &[Nanos], cost: &[u64], out: &mut [Outcome]) {
        let mut scratch = Vec::new();
        let at = self.monotone(at, &mut scratch);
        self.inner.run(at, cost, out);
    }
}

/// The methods of [`Stack`], with times that may step back.
impl Clamp<Stack> {
    /// See [`Stack::try_acquire`].
    pub fn try_acquire(&mut self, request: &Request) -> Verdict {
        let at = self.now(request.at);
        self.inner.try_acquire(&Request { at, ..*request })
    }

    /// See [`Stack::peek`].
    pub fn peek(&self, request: &Request) -> Outcome {
        self.inner.peek(&Request { at: self.seen(request.at), ..*request })
    }

    /// See [`Stack::retry_after`].
    pub fn retry_after(&self, request: &Request) -> Option<Nanos> {
        self.inner.retry_after(&Request { at: self.seen(request.at), ..*request })
    }

    /// See [`Stack::answer`].
    pub fn answer(&mut self, request: &Request, verdict: &Verdict) -> Option<Answer> {
        let at = self.seen(request.at);
        self.inner.answer(&Request { at, ..*request }, verdict)
    }

    /// See [`Stack::settle`].
    pub fn settle(&mut self, now: Nanos, ticket: Ticket, actual: &Request) {
        let now = self.now(now);
        self.inner.settle(now, ticket, actual);
    }

    /// See [`Stack::cancel`].
    pub fn cancel(&mut self, now: Nanos, ticket: Ticket) {
        let now = self.now(now);
        self.inner.cancel(now, ticket);
    }

    /// See [`Stack::run`].
    pub fn run(&mut self, batch: &Batch, out: &mut [Outcome]) {
        let mut scratch = Vec::new();
        let at = self.monotone(&batch.at, &mut scratch);
        self.inner.run_at(at, batch, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Plain, Rate, TokenBucket};

    #[test]
    fn alternating_stamps_admit_one() {
        // golang/go#56287: capacity 1, 1/s, stamps 10 s, 0 s, 10 s, 0 s …
        let rate = Rate::new(1, 1_000_000_000).unwrap();
        let mut bucket = Clamp::new(Plain::new(TokenBucket::<i64>::new(1, rate).unwrap()));
        let stamps: Vec<Nanos> = (0..20).map(|i| if i % 2 == 0 { 10_000_000_000 } else { 0 }).collect();
        let admitted = stamps.iter().filter(|&&t| bucket.try_acquire(t, 1).passes()).count();
        assert_eq!((admitted, bucket.regressions()), (1, 10));
    }

    #[test]
    fn blocks_are_copied_only_when_they_step_back() {
        let mut clamp = Clamp::new(());
        let (forward, mut scratch) = ([1, 5, 5], Vec::new());
        assert_eq!(clamp.monotone(&forward, &mut scratch).as_ptr(), forward.as_ptr());
        assert_eq!(clamp.monotone(&[4, 6], &mut scratch), [5, 6]);
        assert_eq!(clamp.monotone(&[7, 6, 8], &mut scratch), [7, 7, 8]);
        assert_eq!(clamp.monotone(&[], &mut scratch), []);
        assert_eq!((clamp.high_water(), clamp.regressions()), (8, 2));
    }
}
