//! Stores of many keys that threads share, and what a key costs in them.

use super::clock::{Clock, Worker};
use super::drive::keyed_index;
use super::shared::ORIGIN;
use limiters::{Gcra, KeyHash, Keyed, Nanos, Outcome, Quota, Rate, ShardedKeyed};
use std::any::Any;
use std::hint::black_box;
use std::sync::Arc;

/// The quota of each key.
pub const KEYED: Quota = Quota { limit: 100, window: 60_000_000_000, burst: 100 };

/// Virtual time between two decisions of a worker: short enough that no key becomes fresh between two of its own.
const STEP: Nanos = 10;

/// A store of a limiter per key.
pub struct KeyedSubject {
    /// What tables call it.
    pub label: &'static str,
    /// Name of the algorithm or peer.
    pub algorithm: &'static str,
    /// Workers for so many threads, over so many keys, on a store of its own that has seen them all.
    pub workers: fn(usize, u64) -> Vec<Worker>,
    /// A store that has seen so many keys, to be weighed.
    pub filled: fn(u64) -> Box<dyn Any>,
}

/// The floor, ours, and the peer that has one.
pub fn keyed_subjects() -> Vec<KeyedSubject> {
    vec![
        KeyedSubject {
            label: "unlimited",
            algorithm: "unlimited",
            workers: |threads, keys| workers(threads, keys, |key, now| black_box(key ^ now) > 0),
            filled: |_| Box::new(()),
        },
        KeyedSubject {
            label: "gcra, one map",
            algorithm: "gcra",
            workers: |threads, keys| {
                // A map for one thread has nothing to share.
                if threads > 1 {
                    return Vec::new();
                }
                let mut store = filled_map(keys);
                vec![worker(keys, 0, move |key, now| store.try_acquire(key, now, 1) == Outcome::Admitted)]
            },
            filled: |keys| Box::new(filled_map(keys)),
        },
        KeyedSubject {
            label: "gcra, sharded",
            algorithm: "gcra",
            workers: |threads, keys| {
                let store = Arc::new(filled_shards(keys));
                workers(threads, keys, move |key, now| store.try_acquire(key, now, 1) == Outcome::Admitted)
            },
            filled: |keys| Box::new(filled_shards(keys)),
        },
        #[cfg(feature = "peers")]
        KeyedSubject {
            label: "peer-governor, dashmap",
            algorithm: "peer-governor",
            workers: |threads, keys| {
                let store = Arc::new(governor::filled(keys));
                workers(threads, keys, move |key, now| {
                    crate::peers::set_now(now);
                    store.check_key(&key).is_ok()
                })
            },
            filled: |keys| Box::new(governor::filled(keys)),
        },
    ]
}

fn worker(keys: u64, from: u64, mut ask: impl FnMut(u64, Nanos) -> bool + Send + 'static) -> Worker {
    let mut count = from;
    Clock::Virtual.worker(ORIGIN, STEP, move |now| {
        count = count.wrapping_add(1);
        ask(keyed_index(count, keys), now)
    })
}

/// Threads walk over the keys from places far apart.
fn workers(threads: usize, keys: u64, ask: impl FnMut(u64, Nanos) -> bool + Clone + Send + 'static) -> Vec<Worker> {
    let far = keys / threads.max(1) as u64;
    (0..threads).map(|thread| worker(keys, thread as u64 * far, ask.clone())).collect()
}

fn rule() -> Gcra<u64> {
    let rate = Rate::new(KEYED.limit, KEYED.window).expect("a limit and a window above zero");
    Gcra::new(rate, u128::from(KEYED.burst - 1) * u128::from(rate.per())).expect("100 a minute fit 64 bits")
}

fn filled_map(keys: u64) -> Keyed<u64, Gcra<u64>, KeyHash> {
    let mut store = Keyed::with_hasher(rule(), KeyHash::default());
    for key in 0..keys {
        store.try_acquire(key, ORIGIN, 1);
    }
    store
}

fn filled_shards(keys: u64) -> ShardedKeyed<u64, Gcra<u64>, KeyHash> {
    let store = ShardedKeyed::with_hasher(rule(), KeyHash::default(), 64, usize::MAX);
    for key in 0..keys {
        store.try_acquire(key, ORIGIN, 1);
    }
    store
}

#[cfg(feature = "peers")]
mod governor {
    use super::{KEYED, KeyHash, ORIGIN};
    use crate::peers::{Virtual, set_now, translated_governor};
    use governor::RateLimiter;
    use governor::middleware::NoOpMiddleware;
    use governor::nanos::Nanos;
    use governor::state::keyed::DashMapStateStore;

    type Store = RateLimiter<u64, DashMapStateStore<u64, KeyHash>, Virtual, NoOpMiddleware<Nanos>>;

    /// With the hasher that ours has.
    pub fn filled(keys: u64) -> Store {
        set_now(ORIGIN);
        let quota = translated_governor(KEYED).expect("100 a minute are 600 ms each");
        let store = RateLimiter::new(quota, DashMapStateStore::default(), Virtual { origin: ORIGIN });
        for key in 0..keys {
            let _ = store.check_key(&key);
        }
        store
    }
}
