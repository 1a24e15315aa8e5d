//! Stacks: refused by one, charged to none; hints that are exact; blocks that decide as single requests do.

use crate::support::{S, alone, bucket, call, guard, rule};
use limiters::{
    Accounting, Answer, Batch, Clamp, Guard, Meter, Outcome, Request, Response, RetryAfter, Scope, Stack, Verdict,
};
use proptest::prelude::*;

const FOREVER: u64 = 1 << 60;

/// 100/min and 1/s flooded at 20/s for 70 s: 60 in the first minute and 10 after it; charging in turn leaves 10.
#[test]
fn flooding_a_stack_does_not_burn_the_wider_guard() {
    let guards = vec![guard(Meter::Requests, &*bucket(100, 100, 60 * S)), guard(Meter::Requests, &*bucket(1, 1, S))];
    let mut stack = Stack::new(guards);
    let admitted = (0..1400).filter(|i| stack.try_acquire(&call(i * S / 20, 0, 1)).outcome.passes()).count();
    assert_eq!(admitted, 70);
}

fn answered(stack: &mut Stack, request: &Request) -> (Verdict, Option<Answer>) {
    let verdict = stack.try_acquire(request);
    let answer = stack.answer(request, &verdict);
    (verdict, answer)
}

#[test]
fn the_guard_that_refuses_longest_answers() {
    let status = |status, retry_after| Response { status, retry_after, charge_on_reject: false };
    let mut stack = Stack::new(vec![
        guard(Meter::Requests, &*bucket(1, 1, S)).with_response(status(429, RetryAfter::NextPermit)),
        guard(Meter::Spend, &*bucket(10, 1, 60 * S)).with_response(status(402, RetryAfter::Full)),
    ]);
    let spend = |at, microusd| Request { at, requests: 1, microusd, ..Request::default() };
    assert!(answered(&mut stack, &spend(0, 9)).1.is_none());
    let (verdict, answer) = answered(&mut stack, &spend(0, 1));
    assert_eq!((verdict.refused_by, answer), (Some(0), Some(Answer { status: 429, retry_after: Some(S) })));
    let (verdict, answer) = answered(&mut stack, &spend(0, 3));
    assert_eq!((verdict.refused_by, answer), (Some(1), Some(Answer { status: 402, retry_after: Some(540 * S) })));
    let (verdict, answer) = answered(&mut stack, &spend(S, 11));
    assert_eq!((verdict.outcome, verdict.refused_by), (Outcome::NeverFits, Some(1)));
    assert_eq!(answer, Some(Answer { status: 402, retry_after: None }));
    assert!(verdict.ticket.is_none());
}

#[test]
fn each_retry_after_strategy_says_its_own() {
    for (retry_after, expected) in [
        (RetryAfter::None, None),
        (RetryAfter::NextPermit, Some(7 * S)),
        (RetryAfter::WindowReset(60 * S), Some(57 * S)),
        (RetryAfter::Full, Some(17 * S)),
    ] {
        let response = Response { retry_after, ..Response::default() };
        let mut stack = alone(guard(Meter::Requests, &*bucket(2, 1, 10 * S)).with_response(response));
        assert!(answered(&mut stack, &call(0, 0, 2)).1.is_none());
        let (_, answer) = answered(&mut stack, &call(3 * S, 0, 1));
        assert_eq!(answer, Some(Answer { status: 429, retry_after: expected }));
    }
}

#[test]
fn charging_refusals_locks_out_a_client_that_keeps_trying() {
    let admitted = |charge_on_reject| {
        let response = Response { charge_on_reject, ..Response::default() };
        let mut stack = alone(guard(Meter::Requests, &*bucket(10, 10, S)).with_response(response));
        // 12 a second, 20 % above the limit.
        let admitted = (0..1000).filter(|i| stack.try_acquire(&call(i * S / 12, 0, 1)).outcome.passes()).count();
        (admitted, stack.guards()[0].ledger())
    };
    let ((fair, ledger), (locked, charged)) = (admitted(false), admitted(true));
    assert_eq!((fair, ledger.spent, ledger.spent_on_refusals), (842, 842, 0));
    assert!(locked < 80, "{locked}");
    assert_eq!((charged.spent, charged.spent_on_refusals), (1000, 1000 - locked as u128));
}

#[test]
fn a_clamped_stack_stands_still_when_time_goes_back() {
    let mut stack = Clamp::new(alone(guard(Meter::Requests, &*bucket(1, 1, S))));
    let passes: Vec<bool> =
        (0..20).map(|i| stack.try_acquire(&call(if i % 2 == 0 { 10 * S } else { 0 }, 0, 1)).outcome.passes()).collect();
    assert_eq!((passes.iter().filter(|&&passed| passed).count(), stack.regressions()), (1, 10));
    assert_eq!(stack.retry_after(&call(0, 0, 1)), Some(S));
    let request = call(3 * S, 0, 1);
    let verdict = stack.try_acquire(&request);
    assert_eq!(stack.answer(&request, &verdict).unwrap().retry_after, Some(S));
}

#[test]
fn cancelling_gives_back_what_was_taken() {
    let mut stack = Stack::new(vec![
        guard(Meter::Requests, &*bucket(1, 1, S)),
        guard(Meter::Spend, &*bucket(10, 1, S)).with_accounting(Accounting::Reserve { estimate: Some(10) }),
    ]);
    let ticket = stack.try_acquire(&call(0, 0, 1)).ticket.unwrap();
    assert!(!stack.peek(&call(0, 0, 1)).passes());
    stack.cancel(0, ticket);
    assert!(stack.peek(&call(0, 0, 1)).passes());
    assert!(stack.guards().iter().all(|guard| guard.ledger() == limiters::Ledger::default()));
}

fn meter() -> impl Strategy<Value = Meter> {
    prop::sample::select(vec![Meter::Requests, Meter::InputTokens, Meter::Spend])
}

fn accounting() -> impl Strategy<Value = Accounting> {
    prop_oneof![
        3 => Just(Accounting::Immediate),
        1 => prop::option::of(0u64..9).prop_map(|estimate| Accounting::Reserve { estimate }),
        1 => Just(Accounting::Post),
    ]
}

/// Meter, capacity, permits per period, accounting, and whether states are kept by key.
type Part = (Meter, u64, u64, Accounting, bool);

fn parts() -> impl Strategy<Value = Vec<Part>> {
    prop::collection::vec((meter(), 1u64..12, 1u64..5, accounting(), any::<bool>()), 1..5)
}

fn build(parts: &[Part]) -> Stack {
    let guard = |&(meter, capacity, permits, accounting, per_key): &Part| {
        let scope = if per_key { Scope::PerKey } else { Scope::Global };
        let store = bucket(capacity, permits, 13).store(per_key);
        Guard::new("part", meter, scope, store).with_accounting(accounting)
    };
    Stack::new(parts.iter().map(guard).collect())
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    prop::collection::vec((0u64..9, 0u64..3, 0u64..4, 0u64..8, 0u64..14), 1..120).prop_map(|rows| {
        let mut at = 1_000;
        let row = |(step, key, requests, input_tokens, microusd)| {
            at += step;
            Request { at, key, requests, input_tokens, microusd, ..Request::default() }
        };
        rows.into_iter().map(row).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A twin that never hears of the refused requests stays equal in every guard.
    #[test]
    fn a_refusal_leaves_no_trace(parts in parts(), requests in requests()) {
        let (mut stack, mut twin) = (build(&parts), build(&parts));
        for request in &requests {
            let verdict = stack.try_acquire(request);
            if let Some(ticket) = verdict.ticket {
                let same = twin.try_acquire(request);
                prop_assert_eq!(same.outcome, verdict.outcome);
                stack.settle(request.at, ticket, request);
                twin.settle(request.at, same.ticket.unwrap(), request);
            } else {
                let refusing = &stack.guards()[verdict.refused_by.unwrap()];
                prop_assert!(refusing.retry_after(request) != Some(0));
            }
            for (one, other) in stack.guards().iter().zip(twin.guards()) {
                prop_assert_eq!(one.level(request.key, request.at), other.level(request.key, request.at));
                prop_assert_eq!(one.ledger(), other.ledger());
            }
        }
    }

    /// Obeyed, the hint is admitted; one nanosecond earlier it is not; `None` means never.
    #[test]
    fn the_wait_is_exact(parts in parts(), requests in requests()) {
        let mut stack = build(&parts);
        for request in &requests {
            let peeked = stack.peek(request);
            let wait = stack.retry_after(request);
            let verdict = stack.try_acquire(request);
            prop_assert_eq!(peeked, verdict.outcome);
            let later = |wait: u64| stack.peek(&Request { at: request.at + wait, ..*request });
            match wait {
                Some(0) => prop_assert!(verdict.outcome.passes()),
                Some(wait) => {
                    prop_assert_eq!(verdict.outcome, Outcome::Refused);
                    prop_assert!(later(wait).passes());
                    prop_assert!(!later(wait - 1).passes());
                }
                None => {
                    prop_assert_eq!(verdict.outcome, Outcome::NeverFits);
                    prop_assert!(!later(FOREVER).passes());
                }
            }
            if let Some(ticket) = verdict.ticket {
                stack.settle(request.at, ticket, request);
            }
        }
    }

    #[test]
    fn a_block_is_decided_as_its_requests_are(
        parts in parts(),
        requests in requests(),
        back in prop::collection::vec(0u64..20, 120),
    ) {
        let (mut block, mut single) = (Clamp::new(build(&parts)), Clamp::new(build(&parts)));
        let mut batch = Batch::default();
        for (request, back) in requests.iter().zip(back) {
            batch.push(&Request { at: request.at - back, ..*request });
        }
        let mut out = vec![Outcome::NeverFits; batch.len()];
        // Two blocks, so that the clamp has to remember between them.
        let half = batch.len() / 2;
        let mut first = Batch::default();
        let mut second = Batch::default();
        (0..batch.len()).for_each(|i| if i < half { first.push(&batch.get(i)) } else { second.push(&batch.get(i)) });
        block.run(&first, &mut out[..half]);
        block.run(&second, &mut out[half..]);
        for (i, &out) in out.iter().enumerate() {
            let request = batch.get(i);
            let verdict = single.try_acquire(&request);
            prop_assert_eq!(out, verdict.outcome);
            if let Some(ticket) = verdict.ticket {
                let now = single.high_water();
                single.settle(now, ticket, &request);
            }
        }
        prop_assert_eq!(block.regressions(), single.regressions());
        for (one, other) in block.inner().guards().iter().zip(single.inner().guards()) {
            let (one, other) = (one.ledger(), other.ledger());
            prop_assert_eq!(one.spent, other.spent + other.reserved);
        }
    }
}

#[test]
fn a_shaper_in_a_stack_delays_until_the_latest_start() {
    let mut stack = Stack::new(vec![
        guard(Meter::Requests, &*rule("leaky-bucket", 10, 10 * S)),
        guard(Meter::Requests, &*bucket(3, 1, 60 * S)),
    ]);
    let outcomes: Vec<Outcome> = (0..4).map(|_| stack.try_acquire(&call(0, 0, 1)).outcome).collect();
    let until = |seconds: u64| Outcome::Delayed { until: seconds * S };
    assert_eq!(outcomes, [Outcome::Admitted, until(1), until(2), Outcome::Refused]);
}
