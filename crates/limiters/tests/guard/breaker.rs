//! The loop breaker: its vector file, its bound, and its place in a stack.

use crate::support::{alone, bucket, guard};
use limiters::{Guard, LoopBreaker, Meter, Outcome, Request, Scope, Stack};
use proptest::prelude::*;

#[test]
fn vectors() {
    let mut rows = 0;
    let mut breaker = LoopBreaker::in_a_row(3, 10_000_000_000).unwrap();
    for line in include_str!("vectors/16_loop_breaker.csv").lines().skip(1) {
        let cell: Vec<&str> = line.split(',').collect();
        assert_eq!(cell[2], "max_identical=3;cooldown_ns=10000000000");
        let (now, call) = (cell[3].parse().unwrap(), u64::from(cell[10].as_bytes()[4]));
        let outcome = breaker.try_call(now, call);
        assert_eq!(outcome.passes(), cell[5] == "allow", "{line}");
        assert_eq!(breaker.remaining(now, call).to_string(), cell[6], "{line}");
        let wait = if outcome.passes() { 0 } else { breaker.retry_after(now, call) };
        assert_eq!(wait.to_string(), cell[7], "{line}");
        rows += 1;
    }
    assert_eq!(rows, 16);
}

fn request(at: u64, key: u64, call: u64) -> Request {
    Request { at, key, requests: 1, call, ..Request::default() }
}

#[test]
fn per_key_breakers_do_not_mix_callers_and_a_shared_one_does() {
    let breaker = || LoopBreaker::in_a_row(2, 100).unwrap();
    let passed = |scope| {
        let mut stack = alone(Guard::loop_breaker("loop", scope, breaker()));
        (0..12).filter(|&t| stack.try_acquire(&request(t, t % 3, 7)).outcome.passes()).count()
    };
    assert_eq!((passed(Scope::PerKey), passed(Scope::Global)), (6, 2));
}

#[test]
fn a_call_that_another_guard_refuses_is_not_seen() {
    let mut stack = Stack::new(vec![
        guard(Meter::Requests, &*bucket(1, 1, 1_000)),
        Guard::loop_breaker("loop", Scope::Global, LoopBreaker::in_a_row(2, 5_000).unwrap()),
    ]);
    let passed: Vec<u64> =
        (0..4_000).step_by(100).filter(|&t| stack.try_acquire(&request(t, 0, 7)).outcome.passes()).collect();
    assert_eq!(passed, [0, 1_000], "the bucket's refusals between are no calls");
    let refused = stack.try_acquire(&request(4_000, 0, 7));
    assert_eq!((refused.outcome, refused.refused_by), (Outcome::Refused, Some(1)));
    // The third identical call came at 1,100 and was refused by both: that opened the breaker.
    assert_eq!(stack.retry_after(&request(4_000, 0, 7)), Some(2_100));
    assert!(stack.try_acquire(&request(4_000, 0, 8)).outcome.passes(), "another call passes");
}

/// The definition of the consecutive form, with the state of the paper: last call, run, open until.
struct InARow {
    last: u64,
    run: usize,
    open_until: Option<u64>,
}

impl InARow {
    fn try_call(&mut self, k: usize, cooldown: u64, now: u64, call: u64) -> bool {
        if call != self.last {
            *self = InARow { last: call, run: 1, open_until: None };
            return true;
        }
        if self.run < k {
            self.run += 1;
            return true;
        }
        let probe = self.open_until.is_some_and(|until| now >= until);
        if probe || self.open_until.is_none() {
            self.open_until = Some(now + cooldown);
        }
        probe
    }
}

proptest! {
    #[test]
    fn k_of_the_last_k_is_k_in_a_row(
        k in 1usize..5,
        cooldown in 1u64..40,
        calls in prop::collection::vec((0u64..20, 1u64..4), 1..200),
    ) {
        let mut breaker = LoopBreaker::in_a_row(k, cooldown).unwrap();
        let mut model = InARow { last: 0, run: 0, open_until: None };
        let mut now = 0;
        for (step, call) in calls {
            now += step;
            let remaining = breaker.remaining(now, call);
            let passed = breaker.try_call(now, call).passes();
            prop_assert_eq!(passed, model.try_call(k, cooldown, now, call));
            prop_assert_eq!(passed, remaining > 0);
        }
    }

    #[test]
    fn one_call_passes_k_times_and_then_once_a_cooldown(
        k in 1usize..6,
        extra in 0usize..5,
        cooldown in 1u64..50,
        steps in prop::collection::vec(0u64..30, 1..300),
    ) {
        let mut breaker = LoopBreaker::new(k, k + extra, cooldown).unwrap();
        let mut now = 0;
        let passed: Vec<u64> = steps.iter().filter_map(|step| {
            now += step;
            breaker.try_call(now, 9).passes().then_some(now)
        }).collect();
        for (i, &from) in passed.iter().enumerate() {
            for (j, &to) in passed.iter().enumerate().skip(i) {
                prop_assert!((j - i + 1) as u64 <= k as u64 + (to - from) / cooldown);
            }
        }
    }
}
