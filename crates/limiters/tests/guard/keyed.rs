//! Keyed stores: decisions as if every key had its own limiter, in memory for those that matter.

use crate::support::{MIN, S, alone, bucket, call, guard, rule};
use limiters::{Guard, Keyed, Limiter, Meter, Outcome, Plain, Rate, Scope, Stack, Store, TokenBucket};
use proptest::prelude::*;
use std::collections::HashMap;

fn tokens(capacity: u64, permits: u64, per: u64) -> TokenBucket<i64> {
    TokenBucket::new(capacity, Rate::new(permits, per).unwrap()).unwrap()
}

/// cyanheads/mcp-ts-core#405: the empty key is a key like any other.
#[test]
fn the_empty_key_is_a_key() {
    let mut store = Keyed::<&str, _>::new(tokens(1, 1, MIN));
    let passes: Vec<bool> = ["", "", "a"].iter().map(|key| store.try_acquire(key, 0, 1).passes()).collect();
    assert_eq!(passes, [true, false, true]);
    assert_eq!(store.live_keys(), 2);
}

/// boinkor-net/governor#171: 1,000,000 keys, one hit each, 1 s apart, 1 per 60 s. 60 keys matter at any time.
#[test]
fn forgetting_changes_no_decision_and_keeps_few_keys() {
    let window = rule("fixed-window", 1, MIN);
    let mut kept: HashMap<u64, Box<dyn Limiter + Send>> = HashMap::new();
    let mut store = window.store(true);
    let mut admitted = 0;
    for key in 0..1_000_000u64 {
        admitted += u64::from(store.try_acquire(key, key * S, 1).passes());
        // Each key's own limiter, never forgotten, for a sample and its second hits.
        if key % 1_000 < 3 {
            let again = key - key % 3;
            let limiter = kept.entry(again).or_insert_with(|| {
                let mut limiter = window.limiter();
                assert!(limiter.try_acquire(again * S, 1).passes());
                limiter
            });
            assert_eq!(store.peek(again, key * S, 1), limiter.peek(key * S, 1));
        }
    }
    assert_eq!(admitted, 1_000_000);
    // 60 live, and at most 64 new ones until the next sweep.
    assert!((60..=128).contains(&store.max_live_keys()), "{}", store.max_live_keys());
    assert!(kept.len() > 1_000);
}

#[test]
fn a_million_fresh_keys_at_one_instant_stay_linear() {
    let mut store = Keyed::<u64, _>::new(tokens(1, 1, MIN));
    assert!((0..1_000_000).all(|key| store.try_acquire(key, 7, 1).passes()));
    assert_eq!(store.live_keys(), 1_000_000);
    assert!(store.examined() <= 2_000_000, "{} states looked at", store.examined());
}

#[test]
fn a_flood_is_forgotten_and_its_table_given_back() {
    let mut store = Keyed::<u64, _>::new(tokens(1, 1, MIN));
    (0..100_000).for_each(|key| assert!(store.try_acquire(key, 0, 1).passes()));
    let before = store.examined();
    for (i, key) in (100_000..200_000).enumerate() {
        assert!(store.try_acquire(key, (200 + i as u64) * S, 1).passes());
    }
    assert!(store.live_keys() <= 128, "{}", store.live_keys());
    assert!(store.examined() - before <= 400_000, "{} states looked at", store.examined() - before);
}

#[test]
fn a_full_store_turns_new_keys_away_and_counts_them() {
    let mut store = Keyed::<u64, _>::new(tokens(2, 1, MIN)).with_max_keys(10);
    assert_eq!((0..15).filter(|&key| store.try_acquire(key, 0, 1).passes()).count(), 10);
    assert_eq!((store.turned_away(), store.live_keys()), (5, 10));
    assert!(store.try_acquire(3, 0, 1).passes(), "a known key has what it had");
    assert_eq!(store.try_acquire(99, 0, 0), Outcome::Admitted, "a peek needs no room");
    assert_eq!(store.try_acquire(99, 0, 3), Outcome::NeverFits);
    assert_eq!(
        (Store::peek(&store, 99, 0, 1), store.retry_after(99, 0, 1), store.remaining(99, 0)),
        (Outcome::Refused, None, 0)
    );
    assert_eq!(store.turned_away(), 5, "peeks are not counted");
}

/// A quiet hour later every key is forgotten, even though few new ones came.
#[test]
fn a_full_store_takes_a_new_key_once_the_old_ones_are_fresh() {
    let mut store = Keyed::<u64, _>::new(tokens(1, 1, MIN)).with_max_keys(1_000);
    (0..1_000).for_each(|key| assert!(store.try_acquire(key, 0, 1).passes()));
    assert!(!store.try_acquire(5_000, S, 1).passes());
    assert!(store.try_acquire(5_001, 60 * MIN, 1).passes());
    assert_eq!((store.live_keys(), store.turned_away()), (1, 1));
}

#[test]
fn a_full_store_in_a_stack_peeks_as_it_takes() {
    let keyed = Keyed::<u64, _>::new(tokens(1, 1, MIN)).with_max_keys(20);
    let mut stack = Stack::new(vec![
        Guard::new("keyed", Meter::Requests, Scope::PerKey, Box::new(keyed)),
        guard(Meter::Requests, &*bucket(1_000_000, 1, S)),
    ]);
    let mut passes = |from: u64, at: u64| {
        (from..from + 30).filter(|&key| stack.try_acquire(&call(at, key, 1)).outcome.passes()).count()
    };
    assert_eq!((passes(0, 0), passes(100, 10 * MIN)), (20, 20));
    assert_eq!(stack.guards()[1].ledger().spent, 40, "who is turned away is charged nowhere");
}

#[test]
fn post_accounting_charges_keys_that_are_not_kept() {
    let keyed = Keyed::<u64, _>::new(tokens(5, 1, MIN)).with_max_keys(2);
    let guarded = Guard::new("keyed", Meter::Requests, Scope::PerKey, Box::new(keyed));
    let mut stack = alone(guarded.with_accounting(limiters::Accounting::Post));
    let tickets: Vec<_> = (0..3).map(|key| stack.try_acquire(&call(0, key, 9)).ticket.unwrap()).collect();
    tickets.into_iter().enumerate().for_each(|(key, ticket)| stack.settle(1, ticket, &call(0, key as u64, 9)));
    assert_eq!(stack.guards()[0].store().unwrap().max_live_keys(), 3, "calls in flight are charged all the same");
    assert!((0..4).all(|key| !stack.try_acquire(&call(2, key, 9)).outcome.passes()));
}

proptest! {
    /// Each key is decided as by a limiter of its own, whatever is forgotten meanwhile.
    #[test]
    fn every_key_has_its_own_limiter(
        requests in prop::collection::vec((0u64..40, 0u64..200, 0u64..4), 1..1_500),
        capacity in 1u64..4,
    ) {
        let rule = tokens(capacity, 1, 50);
        let mut store = Keyed::<u64, _>::new(rule.clone());
        let mut plain: HashMap<u64, Plain<TokenBucket<i64>>> = HashMap::new();
        let mut now = 0;
        for (step, key, cost) in requests {
            now += step;
            let limiter = plain.entry(key).or_insert_with(|| Plain::new(rule.clone()));
            prop_assert_eq!(store.retry_after(key, now, cost), limiter.retry_after(now, cost));
            prop_assert_eq!(store.try_acquire(key, now, cost), limiter.try_acquire(now, cost));
            prop_assert_eq!(store.remaining(key, now), limiter.remaining(now));
        }
        prop_assert!(store.live_keys() <= plain.len());
    }
}
