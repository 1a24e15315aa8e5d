//! Nodes that do not share: N times the limit, and what routing, restarts and joins change.

use crate::support::{MIN, S, alone, bucket, call, guard, rule};
use limiters::{Accounting, AnyRule, Guard, Meter, Nodes, Outcome, Replicated, Routing, Scope, Stack, Store};
use proptest::prelude::*;
use std::sync::Arc;

fn nodes(nodes: Nodes, rule: Box<dyn AnyRule>) -> Replicated {
    let rule: Arc<dyn AnyRule> = rule.into();
    Replicated::new(nodes, move || rule.store(true)).unwrap()
}

/// Kong/kong#6724: 60/min on three nodes, 300 requests within a minute.
#[test]
fn three_nodes_admit_three_times_the_limit() {
    let minute = || rule("fixed-window", 60, MIN);
    let ask = |store: &mut dyn Store| (0..300).filter(|i| store.try_acquire(0, i * S / 5, 1).passes()).count();
    let mut local = nodes(Nodes::new(3, Routing::RoundRobin), minute());
    assert_eq!((ask(&mut local), ask(&mut *minute().store(false))), (180, 60));
    assert_eq!(ask(&mut nodes(Nodes::new(3, Routing::KeyHash), minute())), 60, "one key stays on one node");
    assert_eq!(ask(&mut nodes(Nodes::new(3, Routing::Random { seed: 1 }), minute())), 180);
}

#[test]
fn a_refused_request_of_a_stack_moves_the_round_on() {
    // The second guard never refuses, so the stack peeks; a round that stood still would stay at the full node.
    let routed = Box::new(nodes(Nodes::new(3, Routing::RoundRobin), rule("fixed-window", 60, MIN)));
    let mut stack = Stack::new(vec![
        Guard::new("nodes", Meter::Requests, Scope::Global, routed),
        guard(Meter::Requests, &*rule("unlimited", 1, 1)),
    ]);
    // 100 requests meet each node in turn; the last 100 of 300 would not if refusals held the turn.
    assert_eq!((0..300).filter(|i| stack.try_acquire(&call(i * S / 5, 0, 1)).outcome.passes()).count(), 180);
}

#[test]
fn a_restart_forgets_and_counts_as_more_states() {
    let plan = |restarting| Nodes { restart_at: Some(50), restarting, ..Nodes::new(3, Routing::RoundRobin) };
    for (restarting, admitted, states) in [(None, 60, 6), (Some(1), 40, 4)] {
        let mut store = nodes(plan(restarting), bucket(10, 1, MIN));
        assert_eq!(store.states(), states);
        assert_eq!((0..100).filter(|&at| store.try_acquire(0, at, 1).passes()).count(), admitted);
    }
    assert!(Replicated::new(plan(Some(3)), || bucket(1, 1, 1).store(false)).is_none());
    assert!(Replicated::new(Nodes::new(0, Routing::RoundRobin), || bucket(1, 1, 1).store(false)).is_none());
}

#[test]
fn a_peek_after_the_restart_already_sees_it() {
    let plan = Nodes { restart_at: Some(50), ..Nodes::new(1, Routing::RoundRobin) };
    let mut store = nodes(plan, bucket(1, 1, MIN));
    assert_eq!(store.try_acquire(0, 0, 1), Outcome::Admitted);
    assert_eq!((store.peek(0, 49, 1), store.peek(0, 50, 1)), (Outcome::Refused, Outcome::Admitted));
}

#[test]
fn a_node_that_joins_brings_its_own_permits() {
    let plan = Nodes { join_at: Some(50), ..Nodes::new(1, Routing::RoundRobin) };
    let mut store = nodes(plan, bucket(10, 1, MIN));
    assert_eq!((0..100).filter(|&at| store.try_acquire(0, at, 1).passes()).count(), 20);
    assert_eq!(store.states(), 2);
}

#[test]
fn a_call_is_settled_where_it_was_admitted() {
    let routed = Box::new(nodes(Nodes::new(2, Routing::RoundRobin), bucket(10, 1, MIN)));
    let reserve = Guard::new("nodes", Meter::Requests, Scope::Global, routed)
        .with_accounting(Accounting::Reserve { estimate: Some(10) });
    let mut stack = alone(reserve);
    let first = stack.try_acquire(&call(0, 0, 1)).ticket.unwrap();
    let second = stack.try_acquire(&call(1, 0, 1)).ticket.unwrap();
    stack.settle(2, first, &call(0, 0, 0));
    let left = |stack: &mut Stack| {
        let store = stack.guards()[0].store().unwrap();
        store.level(0, 2).available_milli / 1000
    };
    assert_eq!(left(&mut stack), 10, "one node full again, the other empty");
    let next = stack.try_acquire(&call(3, 0, 1));
    assert!(next.outcome.passes(), "the turn is at the node that got its estimate back");
    assert!(!stack.try_acquire(&call(4, 0, 1)).outcome.passes());
    stack.settle(5, second, &call(0, 0, 10));
    assert_eq!(stack.guards()[0].ledger().spent, 10);
}

proptest! {
    /// At most `states` times the envelope of one node, for every routing and plan.
    #[test]
    fn the_bound_holds(
        count in 1usize..5,
        routing in prop_oneof![Just(Routing::RoundRobin), Just(Routing::KeyHash), (0u64..9).prop_map(|seed| Routing::Random { seed })],
        restart_at in prop::option::of(0u64..600),
        join_at in prop::option::of(0u64..600),
        requests in prop::collection::vec((0u64..5, 1u64..4), 1..200),
    ) {
        let one = bucket(5, 1, 7);
        let mut store = nodes(Nodes { count, routing, restart_at, restarting: None, join_at }, bucket(5, 1, 7));
        let mut now = 0;
        let mut admitted: Vec<(u64, u64)> = Vec::new();
        for (step, cost) in requests {
            now += step;
            let peeked = store.peek(3, now, cost);
            let outcome = store.try_acquire(3, now, cost);
            prop_assert_eq!(peeked, outcome);
            if outcome.passes() {
                admitted.push((now, cost));
            }
        }
        for (i, &(from, _)) in admitted.iter().enumerate() {
            let mut sum = 0u128;
            for &(at, cost) in &admitted[i..] {
                sum += u128::from(cost);
                let bound = one.envelope(at - from, 3).unwrap() * u128::from(store.states());
                prop_assert!(sum <= bound, "{} permits in {} ns, at most {}", sum, at - from, bound);
            }
        }
    }

    #[test]
    fn a_block_is_decided_as_its_requests_are(seed in 0u64..50, keys in prop::collection::vec(0u64..9, 1..100)) {
        let plan = Nodes::new(3, Routing::Random { seed });
        let (mut block, mut single) = (nodes(plan, bucket(2, 1, 10)), nodes(plan, bucket(2, 1, 10)));
        let at: Vec<u64> = (0..keys.len() as u64).collect();
        let mut out = vec![Outcome::Refused; keys.len()];
        block.run(&keys, &at, &vec![1; keys.len()], &mut out);
        let expected: Vec<Outcome> = keys.iter().zip(&at).map(|(&key, &at)| single.try_acquire(key, at, 1)).collect();
        prop_assert_eq!(out, expected);
    }
}

#[test]
fn equal_seeds_route_alike() {
    let run = |seed| {
        let mut store = nodes(Nodes::new(4, Routing::Random { seed }), bucket(3, 1, MIN));
        (0..40).map(|at| store.try_acquire(at % 5, at, 1)).collect::<Vec<_>>()
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}
