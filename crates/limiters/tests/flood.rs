//! A flood of keys that come once: memory follows how long a key matters, not how many keys there were.

use limiters::{Gcra, KeyHash, Keyed, Outcome, Rate, ShardedKeyed};

const KEYS: u64 = 10_000_000;

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

#[test]
fn fresh_keys_at_one_instant_stay_linear() {
    for keys in [100_000, 1_000_000] {
        let mut one = Keyed::with_hasher(rule(), KeyHash::default());
        let shards = ShardedKeyed::with_hasher(rule(), KeyHash::default(), 16, usize::MAX);
        for key in 0..keys {
            assert_eq!(one.try_acquire(key, 0, 1), Outcome::Admitted);
            assert_eq!(shards.try_acquire(key, 0, 1), Outcome::Admitted);
        }
        // None can be forgotten, and looking in vain for some that can must not cost more with every key there is.
        assert_eq!([one.max_live_keys(), shards.max_live_keys()], [keys as usize; 2]);
        let looked = [one.examined(), shards.examined()];
        assert!(looked.iter().all(|looked| *looked <= 3 * keys), "{looked:?} states looked at for {keys} keys");
    }
}
