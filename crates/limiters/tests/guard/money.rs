//! Money and other amounts that are known late: estimates, settling, and a ledger from which nothing goes missing.

use crate::support::{MIN, S, alone, bucket, call, guard, paid, rule};
use limiters::{Accounting, Guard, Meter, Request, Stack, Ticket};
use proptest::prelude::*;

const RESERVE: Accounting = Accounting::Reserve { estimate: None };

fn cap(limit: u64, accounting: Accounting) -> Guard {
    guard(Meter::Spend, &*rule("spend-cap", limit, S)).with_accounting(accounting)
}

/// What a cap has left, in micro-dollars; negative when overdrawn.
fn available(guard: &Guard, now: u64) -> i128 {
    i128::from(guard.level(0, now).unwrap().available_milli) / 1000
}

/// lightninglabs/aperture#252: 10,000 tokens per 60 s; calls that reserve 4,000 and use 500, known 10 s later.
#[test]
fn estimates_are_released() {
    let run = |accounting| {
        let mut stack = alone(guard(Meter::Requests, &*rule("fixed-window", 10_000, MIN)).with_accounting(accounting));
        let ask = |stack: &mut Stack, at, calls| -> Vec<Ticket> {
            (0..calls).filter_map(|_| stack.try_acquire(&call(at, 0, 4_000)).ticket).collect()
        };
        let first = ask(&mut stack, 0, 5);
        let count = first.len();
        first.into_iter().for_each(|ticket| stack.settle(10 * S, ticket, &call(0, 0, 500)));
        (count, ask(&mut stack, 11 * S, 3).len())
    };
    assert_eq!(run(RESERVE), (2, 2));
    assert_eq!(run(Accounting::Reserve { estimate: Some(4_000) }), (2, 2));
    assert_eq!(run(Accounting::Post), (5, 3));
}

/// BerriAI/litellm#26672: a budget of $1.00, 8 calls of $0.60 at one instant, booked 5 s later.
#[test]
fn a_budget_that_is_booked_late_is_overspent() {
    let run = |accounting| {
        let mut stack = alone(cap(1_000_000, accounting));
        let tickets: Vec<Ticket> = (0..8).filter_map(|_| stack.try_acquire(&paid(0, 600_000)).ticket).collect();
        let admitted = tickets.len();
        tickets.into_iter().for_each(|ticket| stack.settle(5 * S, ticket, &paid(0, 600_000)));
        let guard = &stack.guards()[0];
        (admitted, guard.ledger().spent, -available(guard, 5 * S))
    };
    for atomic in [Accounting::Immediate, RESERVE] {
        assert_eq!(run(atomic), (1, 600_000, -400_000));
    }
    assert_eq!(run(Accounting::Post), (8, 4_800_000, 3_800_000));
}

#[test]
fn a_cap_that_is_overdrawn_admits_nothing_more() {
    let mut stack = alone(cap(100, Accounting::Post));
    let ticket = stack.try_acquire(&paid(0, 0)).ticket.unwrap();
    stack.settle(1, ticket, &paid(0, 250));
    let request = paid(1_000 * MIN, 1);
    let verdict = stack.try_acquire(&request);
    assert_eq!((verdict.refused_by, stack.retry_after(&request)), (Some(0), None));
    assert_eq!(stack.answer(&request, &verdict).unwrap().retry_after, None);
}

#[derive(Clone, Debug)]
enum Event {
    Ask { step: u64, estimate: u64, cost: u64 },
    Settle { which: usize },
    Cancel { which: usize },
}

fn events(honest: bool) -> impl Strategy<Value = Vec<Event>> {
    let ask = (0u64..4, 0u64..60, 0u64..60).prop_map(move |(step, estimate, cost)| {
        let cost = if honest { estimate } else { cost };
        Event::Ask { step, estimate, cost }
    });
    let event = prop_oneof![
        4 => ask,
        3 => (0usize..64).prop_map(|which| Event::Settle { which }),
        1 => (0usize..64).prop_map(|which| Event::Cancel { which }),
    ];
    prop::collection::vec(event, 1..150)
}

/// Plays the events and calls `check` after each with the time.
fn play(stack: &mut Stack, events: Vec<Event>, mut check: impl FnMut(&Stack, u64)) {
    let mut now = 0;
    let mut flying: Vec<(Ticket, u64)> = Vec::new();
    for event in events {
        match event {
            Event::Ask { step, estimate, cost } => {
                now += step;
                let request = Request { at: now, requests: 1, microusd: estimate, ..Request::default() };
                flying.extend(stack.try_acquire(&request).ticket.map(|ticket| (ticket, cost)));
            }
            Event::Settle { which } if !flying.is_empty() => {
                let (ticket, cost) = flying.swap_remove(which % flying.len());
                stack.settle(now, ticket, &paid(0, cost));
            }
            Event::Cancel { which } if !flying.is_empty() => {
                let (ticket, _) = flying.swap_remove(which % flying.len());
                stack.cancel(now, ticket);
            }
            _ => {}
        }
        check(stack, now);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// spent + reserved + unused = cap + overshoot, at every event, under every accounting and beside other guards.
    #[test]
    fn money_never_goes_missing(
        limit in 1u64..300,
        fixed in prop::option::of(0u64..50),
        capacity in 1u64..20,
        events in events(false),
    ) {
        for accounting in [Accounting::Immediate, Accounting::Reserve { estimate: fixed }, Accounting::Post] {
            let mut stack = Stack::new(vec![cap(limit, accounting), guard(Meter::Requests, &*bucket(capacity, 1, 9))]);
            play(&mut stack, events.clone(), |stack, now| {
                let (ledger, available) = (stack.guards()[0].ledger(), available(&stack.guards()[0], now));
                let (unused, overshoot) = (available.max(0) as u128, (-available).max(0) as u128);
                assert_eq!(ledger.spent + ledger.reserved + unused, u128::from(limit) + overshoot);
            });
        }
    }

    #[test]
    fn reserving_the_true_cost_never_overshoots(limit in 1u64..300, events in events(true)) {
        let mut stack = alone(cap(limit, RESERVE));
        play(&mut stack, events, |stack, now| {
            let guard = &stack.guards()[0];
            assert!(available(guard, now) >= 0);
            assert!(guard.ledger().spent + guard.ledger().reserved <= u128::from(limit));
        });
    }

    /// Overdrawn at most by what the calls in flight cost, since a call passes only while something is left.
    #[test]
    fn post_overshoots_by_the_calls_in_flight(limit in 1u64..300, flying in 1u64..20, cost in 1u64..60) {
        let mut stack = alone(cap(limit, Accounting::Post));
        let mut now = 0;
        loop {
            let tickets: Vec<Ticket> = (0..flying).filter_map(|_| stack.try_acquire(&paid(now, 0)).ticket).collect();
            if tickets.is_empty() {
                break;
            }
            now += 1;
            tickets.into_iter().for_each(|ticket| stack.settle(now, ticket, &paid(0, cost)));
        }
        let overshoot = -available(&stack.guards()[0], now);
        prop_assert!((0..i128::from(flying * cost)).contains(&overshoot));
    }
}

/// Estimates of 30 for calls of 60 and 50: what is still held is not yet overdrawn.
#[test]
fn estimates_that_are_held_are_not_overdrawn() {
    let mut stack = alone(cap(100, Accounting::Reserve { estimate: Some(30) }));
    let mut tickets: Vec<Ticket> = (0..3).map(|_| stack.try_acquire(&paid(0, 0)).ticket.unwrap()).collect();
    let mut seen = Vec::new();
    for owed in [60, 50, 10] {
        stack.settle(S, tickets.remove(0), &paid(0, owed));
        let guard = &stack.guards()[0];
        seen.push((available(guard, S), guard.overdrawn(0, S)));
    }
    // 60 + 30 + 30 of 100 are taken, then 60 + 50 + 30, then 60 + 50 + 10.
    assert_eq!(seen, [(-20, 0), (-40, 10), (-20, 20)]);
}
