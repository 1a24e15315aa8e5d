//! Limiters between threads: exactly the capacity at a frozen time, and the same decisions as the plain ones in order.

mod million;
mod range;

use limiters::{
    AnyRule, AtomicFixedWindow, AtomicGcra, Clamp, KeyHash, Keyed, Limiter, Outcome, Plain, Quota, Rate, Settings,
    ShardedKeyed, Store, TokenBucket, algorithm,
};
use proptest::prelude::*;
use std::sync::{Barrier, Mutex};

const S: u64 = 1_000_000_000;

fn rule(name: &str, limit: u64, window: u64, burst: u64) -> Box<dyn AnyRule> {
    let found = algorithm(name).unwrap_or_else(|| panic!("{name} is registered"));
    (found.build)(&Settings::new(Quota { limit, window, burst })).unwrap()
}

fn tokens(capacity: u64, permits: u64, per: u64) -> TokenBucket<i64> {
    TokenBucket::new(capacity, Rate::new(permits, per).unwrap()).unwrap()
}

/// What four threads that start together are admitted of `calls` each.
fn together(calls: u64, ask: impl Fn(u64) -> bool + Sync) -> u64 {
    let start = Barrier::new(4);
    let asking = |thread: u64| {
        start.wait();
        (0..calls).filter(|call| ask(call * 4 + thread)).count() as u64
    };
    let asking = &asking;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|thread| scope.spawn(move || asking(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).sum()
    })
}

#[test]
fn threads_at_a_frozen_time_are_admitted_exactly_the_capacity() {
    let (now, capacity) = (1_700_000_000 * S, 10_000);
    let gcra = AtomicGcra::new(capacity, Rate::new(3, S).unwrap(), now - S, 1_000 * S).unwrap();
    assert_eq!(together(10_000, |_| gcra.try_acquire(now, 1).passes()), capacity);
    let window = AtomicFixedWindow::new(capacity, 60 * S, now - 60 * S, 1_000 * S).unwrap();
    assert_eq!(together(10_000, |_| window.try_acquire(now, 1).passes()), capacity);
    let bucket = Mutex::new(Plain::new(tokens(capacity, 3, S)));
    assert_eq!(together(10_000, |_| (&bucket).try_acquire(now, 1).passes()), capacity);
    let boxed: Mutex<Box<dyn Limiter + Send>> = Mutex::new(rule("token-bucket", 3, S, capacity).limiter());
    assert_eq!(together(10_000, |_| (&boxed).try_acquire(now, 1).passes()), capacity);
}

#[test]
fn threads_and_keys_are_admitted_exactly_the_capacity_each() {
    let keyed = ShardedKeyed::with_hasher(tokens(10, 1, S), KeyHash::default(), 8, usize::MAX);
    // 100 keys, each asked for 400 times.
    assert_eq!(together(10_000, |call| keyed.try_acquire(call % 100, 5 * S, 1).passes()), 1_000);
    assert_eq!(keyed.live_keys(), 100);
    assert!((0..100).all(|key| (&keyed).remaining(key, 5 * S) == 0));
}

/// Time runs on while threads ask: what is admitted stays within the envelope of the whole run.
#[test]
fn threads_whose_clocks_interleave_stay_within_the_envelope() {
    let rate = Rate::new(1, 1_000).unwrap();
    let gcra = AtomicGcra::new(10, rate, 0, S).unwrap();
    let bucket = Mutex::new(Clamp::new(Plain::new(tokens(10, 1, 1_000))));
    let window = AtomicFixedWindow::new(10, 10_000, 0, S).unwrap();
    // Each thread walks through the same million nanoseconds at its own pace.
    let at = |call: u64| call / 4 * 100;
    assert_eq!(together(10_000, |call| gcra.try_acquire(at(call), 1).passes()), 10 + 999);
    assert_eq!(together(10_000, |call| (&bucket).try_acquire(at(call), 1).passes()), 10 + 999);
    let admitted = together(10_000, |call| window.try_acquire(at(call), 1).passes());
    assert!(admitted <= 1_000, "{admitted} in 100 windows of 10");
}

/// A flood of one-shot keys, 10 at each microsecond, under 1 per ms: 10,000 matter at a time.
#[test]
fn a_flood_of_keys_stays_within_its_bound() {
    let keyed = ShardedKeyed::with_hasher(tokens(1, 1, 1_000_000), KeyHash::default(), 16, usize::MAX);
    for key in 0..2_000_000u64 {
        assert!(keyed.try_acquire(key, key * 100, 1).passes());
    }
    // Each shard keeps at most twice those that are not fresh, or 64 more; a shard has 625 of 10,000 give or take.
    assert!(keyed.max_live_keys() <= 2 * 10_000 + 16 * 64 + 4_000, "{}", keyed.max_live_keys());
    assert!(keyed.examined() <= 3 * 2_000_000, "{} states looked at", keyed.examined());
}

#[test]
fn full_shards_turn_new_keys_away() {
    let keyed = ShardedKeyed::with_hasher(tokens(1, 1, S), KeyHash::default(), 4, 100);
    let admitted = (0..1_000).filter(|&key| keyed.try_acquire(key, 0, 1).passes()).count();
    assert_eq!((admitted, keyed.live_keys(), keyed.turned_away()), (100, 100, 900));
    assert!(keyed.try_acquire(2_000, 10 * S, 1).passes());
    keyed.sweep(20 * S);
    assert_eq!(keyed.live_keys(), 0);
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Ask(u64),
    Charge(u64),
    /// Permits, and how long ago they were taken.
    Refund(u64, u64),
}

fn events() -> impl Strategy<Value = Vec<(u64, Event)>> {
    let event = prop_oneof![
        8 => (0u64..7).prop_map(Event::Ask),
        1 => (0u64..7).prop_map(Event::Charge),
        1 => (0u64..7, 0u64..200).prop_map(|(cost, ago)| Event::Refund(cost, ago)),
    ];
    prop::collection::vec((0u64..60, event), 1..300)
}

/// Both limiters live through the same events and say the same.
fn same(
    shared: &mut dyn Limiter,
    plain: &mut dyn Limiter,
    origin: u64,
    events: &[(u64, Event)],
) -> Result<(), TestCaseError> {
    let mut now = origin;
    for &(step, event) in events {
        now += step;
        match event {
            Event::Ask(cost) => {
                prop_assert_eq!(shared.peek(now, cost), plain.peek(now, cost));
                prop_assert_eq!(shared.decide(now, cost), plain.decide(now, cost), "at {}", now);
            }
            Event::Charge(cost) => {
                shared.charge(now, cost);
                plain.charge(now, cost);
            }
            Event::Refund(cost, ago) => {
                shared.refund(now, now.saturating_sub(ago).max(origin), cost);
                plain.refund(now, now.saturating_sub(ago).max(origin), cost);
            }
        }
        prop_assert_eq!(shared.level(now), plain.level(now), "at {}", now);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn gcra_decides_as_the_plain_one(
        (capacity, permits, per) in (1u64..6, 1u64..8, 1u64..100),
        origin in prop_oneof![Just(0), 0u64..1_000, Just(1_700_000_000 * S)],
        events in events(),
    ) {
        let shared = AtomicGcra::new(capacity, Rate::new(permits, per).unwrap(), origin, 1_000_000).unwrap();
        let mut plain = rule("gcra", permits, per, capacity).limiter();
        same(&mut &shared, &mut plain, origin, &events)?;
    }

    #[test]
    fn fixed_window_decides_as_the_plain_one(
        (limit, window) in (1u64..6, 1u64..100),
        origin in prop_oneof![Just(0), 0u64..1_000, Just(1_700_000_000 * S + 7)],
        events in events(),
    ) {
        let shared = AtomicFixedWindow::new(limit, window, origin, 1_000_000).unwrap();
        let mut plain = rule("fixed-window", limit, window, limit).limiter();
        same(&mut &shared, &mut plain, origin, &events)?;
    }

    /// Each clock that steps back is read as no later than the newest, so nothing more is admitted than by a clamp.
    #[test]
    fn clocks_that_step_back_gain_nothing(
        (capacity, window) in (1u64..6, 1u64..100),
        times in prop::collection::vec((0u64..2_000, 1u64..4), 1..300),
    ) {
        let gcra = AtomicGcra::new(capacity, Rate::new(capacity, window).unwrap(), 0, 10_000).unwrap();
        let fixed = AtomicFixedWindow::new(capacity, window, 0, 10_000).unwrap();
        let count = |ask: &dyn Fn(u64, u64) -> Outcome| {
            times.iter().filter(|&&(now, cost)| ask(now, cost).passes()).map(|&(_, cost)| cost).sum::<u64>()
        };
        let last = times.iter().map(|&(now, _)| now).max().unwrap_or(0);
        prop_assert!(count(&|now, cost| gcra.try_acquire(now, cost)) <= capacity + last * capacity / window);
        prop_assert!(count(&|now, cost| fixed.try_acquire(now, cost)) <= capacity * (last / window + 1));
    }

    #[test]
    fn shards_decide_as_one_store(
        requests in prop::collection::vec((0u64..40, 0u64..200, 0u64..4), 1..1_000),
        capacity in 1u64..4,
    ) {
        let rule = tokens(capacity, 1, 50);
        let shards = ShardedKeyed::with_hasher(rule.clone(), KeyHash::default(), 4, usize::MAX);
        let mut store = Keyed::<u64, _>::new(rule);
        let mut now = 0;
        for (step, key, cost) in requests {
            now += step;
            prop_assert_eq!((&shards).retry_after(key, now, cost), store.retry_after(key, now, cost));
            prop_assert_eq!(shards.try_acquire(key, now, cost), store.try_acquire(key, now, cost));
            prop_assert_eq!((&shards).remaining(key, now), store.remaining(key, now));
        }
    }
}
