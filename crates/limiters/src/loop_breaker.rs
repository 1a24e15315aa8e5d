//! Loop breaker: refuses a call that repeats itself, whatever it costs.
//!
//! Rule: a call is refused when `identical` (K) of the last `among` (M) admitted calls equal it. The first refusal opens
//! the breaker for that call for `cooldown` (D); afterwards one probe passes for each D. With M = K this is "the (K+1)-th
//! identical call in a row"; a larger M also catches loops that alternate between calls.
//!
//! Bound: of one call with no other between, K are admitted, then one for each D: K + floor(τ/D) in any closed interval
//! of length τ. Proof: a probe needs the D of the refusal or the probe before it to have passed.
//!
//! Other calls pass while the breaker is open for one. A call whose hash is 0 is unknown: it passes and equals nothing.

use crate::{Nanos, Outcome, ParamError};
use std::collections::VecDeque;

/// A loop breaker with its memory of the last calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopBreaker {
    identical: usize,
    among: usize,
    cooldown: Nanos,
    /// Hashes of the last admitted calls, newest last; at most `among`.
    recent: VecDeque<u64>,
    /// Calls that are refused until a time. Each has K of the M recent calls, so there are at most M/K.
    open: Vec<(u64, Nanos)>,
}

impl LoopBreaker {
    /// A breaker that refuses a call equal to `identical` of the last `among` ones, and opens for `cooldown` nanoseconds.
    pub fn new(identical: usize, among: usize, cooldown: Nanos) -> Result<LoopBreaker, ParamError> {
        if identical == 0 {
            return Err(ParamError::new("identical", "0 would refuse every call; give at least 1"));
        }
        if among < identical {
            let message =
                format!("among {among} calls there are never {identical} identical ones; give {identical} or more");
            return Err(ParamError::new("among", message));
        }
        if cooldown == 0 {
            return Err(ParamError::new(
                "cooldown",
                "a breaker that opens for no time stops nothing; give at least 1ns",
            ));
        }
        Ok(LoopBreaker { identical, among, cooldown, recent: VecDeque::new(), open: Vec::new() })
    }

    /// The usual form: refuses the (`identical` + 1)-th identical call in a row.
    pub fn in_a_row(identical: usize, cooldown: Nanos) -> Result<LoopBreaker, ParamError> {
        LoopBreaker::new(identical, identical, cooldown)
    }

    /// Asks whether the call with this hash may be made at `now`, and remembers it. O(M).
    pub fn try_call(&mut self, now: Nanos, call: u64) -> Outcome {
        let outcome = self.peek(now, call);
        match outcome {
            Outcome::Admitted => self.admit(now, call),
            _ => self.trip(now, call),
        }
        outcome
    }

    /// The answer `try_call` would give, with nothing changed.
    pub fn peek(&self, now: Nanos, call: u64) -> Outcome {
        if !self.repeats(call) || self.open_until(call).is_some_and(|until| now >= until) {
            Outcome::Admitted
        } else {
            Outcome::Refused
        }
    }

    /// Remembers a call that passed.
    pub(crate) fn admit(&mut self, now: Nanos, call: u64) {
        if let Some((_, until)) = self.open.iter_mut().find(|(known, _)| *known == call) {
            *until = now.saturating_add(self.cooldown);
        }
        if self.recent.len() == self.among {
            self.recent.pop_front();
        }
        self.recent.push_back(call);
        let (recent, identical) = (&self.recent, self.identical);
        self.open.retain(|(known, _)| count(recent, *known) >= identical);
    }

    /// Opens for a call that was refused, unless it is open already.
    pub(crate) fn trip(&mut self, now: Nanos, call: u64) {
        if self.repeats(call) && self.open_until(call).is_none() {
            self.open.push((call, now.saturating_add(self.cooldown)));
        }
    }

    /// How many times in a row this call would pass at `now`; unlimited for an unknown call.
    pub fn remaining(&self, now: Nanos, call: u64) -> u64 {
        if call == 0 {
            return u64::MAX;
        }
        if self.repeats(call) {
            return self.peek(now, call).passes().into();
        }
        // After `more` further calls the ring holds them and the newest `among - more` of today's.
        let within = |more: usize| self.recent.iter().rev().take(self.among - more).filter(|&&c| c == call).count();
        (0..=self.identical).find(|&more| more + within(more) >= self.identical).unwrap_or(self.identical) as u64
    }

    /// Least wait until the call passes, once it has been refused: 0 when it passes now.
    pub fn retry_after(&self, now: Nanos, call: u64) -> Nanos {
        if self.peek(now, call).passes() {
            return 0;
        }
        self.open_until(call).map_or(self.cooldown, |until| until - now)
    }

    /// The parameters in words.
    pub fn parameters(&self) -> String {
        let LoopBreaker { identical, among, cooldown, .. } = self;
        if identical == among {
            format!("{identical} identical calls in a row, opens for {cooldown} ns")
        } else {
            format!("{identical} identical of {among} calls, opens for {cooldown} ns")
        }
    }

    fn repeats(&self, call: u64) -> bool {
        call != 0 && count(&self.recent, call) >= self.identical
    }

    fn open_until(&self, call: u64) -> Option<Nanos> {
        self.open.iter().find(|(known, _)| *known == call).map(|&(_, until)| until)
    }
}

fn count(recent: &VecDeque<u64>, call: u64) -> usize {
    recent.iter().filter(|&&known| known == call).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_catches_two_calls_that_alternate() {
        let mut row = LoopBreaker::in_a_row(3, 100).unwrap();
        let mut window = LoopBreaker::new(3, 8, 100).unwrap();
        let passed = |breaker: &mut LoopBreaker| (0..20).filter(|t| breaker.try_call(*t, 1 + t % 2).passes()).count();
        assert_eq!(passed(&mut row), 20);
        assert_eq!(passed(&mut window), 6);
        // Both are open on their own: one probe each, then nothing for another cooldown.
        let at_110 =
            [window.try_call(110, 1), window.try_call(110, 2), window.try_call(110, 1), window.try_call(110, 3)];
        assert_eq!(at_110.map(Outcome::passes), [true, true, false, true]);
    }

    #[test]
    fn unknown_calls_are_never_identical() {
        let mut breaker = LoopBreaker::in_a_row(1, 10).unwrap();
        assert!((0..5).all(|t| breaker.try_call(t, 0).passes()));
        assert_eq!(breaker.remaining(5, 0), u64::MAX);
    }

    #[test]
    fn parameters_are_checked_by_name() {
        let param = |result: Result<LoopBreaker, ParamError>| result.unwrap_err().param;
        assert_eq!(param(LoopBreaker::new(0, 1, 1)), "identical");
        assert_eq!(param(LoopBreaker::new(3, 2, 1)), "among");
        assert_eq!(param(LoopBreaker::new(3, 3, 0)), "cooldown");
    }
}
