//! A flood of keys that come once: memory follows how long a key matters, not how many keys there were.

use limiters::{Gcra, KeyHash, Keyed, Outcome, Rate, ShardedKeyed};

/// Ten million where it is quick.
const KEYS: u64 = if cfg!(debug_assertions) { 1_000_000 } else { 10_000_000 };

/// One permit at 100/min is paid back after 600 ms, in which 200,000 keys come at one per 3 µs.
const GAP: u64 = 3_000;
const MATTER: usize = 200_000;

fn rule() -> Gcra<u64> {
    let rate = Rate::new(100, 60_000_000_000).unwrap();
    Gcra::new(rate, 99 * u128::from(rate.per())).unwrap()
}

#[test]
fn one_map_keeps_twice_what_matters() {
    let mut store = Keyed::with_hasher(rule(), KeyHash::default());
    for key in 0..KEYS {
        assert_eq!(store.try_acquire(key, key * GAP, 1), Outcome::Admitted);
    }
    assert!(store.max_live_keys() <= 2 * MATTER + 64, "{} keys kept", store.max_live_keys());
    assert!(store.examined() <= 3 * KEYS, "{} states looked at", store.examined());
}

#[test]
fn shards_keep_twice_what_matters_each() {
    let store = ShardedKeyed::with_hasher(rule(), KeyHash::default(), 16, usize::MAX);
    for key in 0..KEYS {
        assert_eq!(store.try_acquire(key, key * GAP, 1), Outcome::Admitted);
    }
    // Keys spread over shards at random: a shard may have a few more than its part.
    let bound = 2 * MATTER + 2 * MATTER / 10;
    assert!(store.max_live_keys() <= bound, "{} keys kept", store.max_live_keys());
    assert!(store.examined() <= 3 * KEYS, "{} states looked at", store.examined());
}
