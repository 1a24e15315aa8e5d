//! A million random decisions each, shared against plain, in time order: no difference.

use crate::{S, rule, tokens};
use limiters::{ALGORITHMS, AtomicFixedWindow, AtomicGcra, Clamp, KeyHash, Keyed, Limiter, Rate, ShardedKeyed, Store};
use std::sync::Mutex;

/// Numbers from a 64-bit xorshift (Marsaglia 2003).
struct Draw(u64);

impl Draw {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

/// Ten parameter sets of 100,000 decisions: a capacity, a number of permits and a period of nanoseconds.
fn sets() -> impl Iterator<Item = (u64, u64, u64, Draw)> {
    (1..=10u64).map(|seed| {
        let mut draw = Draw(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (1 + draw.below(20), 1 + draw.below(9), 1 + draw.below(400), draw)
    })
}

fn same(shared: &mut dyn Limiter, plain: &mut dyn Limiter, capacity: u64, period: u64, draw: &mut Draw) -> [u64; 2] {
    let mut now = 1_700_000_000 * S;
    let mut passed = [0; 2];
    for _ in 0..100_000 {
        // Mostly within a period, sometimes far behind it.
        now += if draw.below(50) == 0 { draw.below(20 * period) } else { draw.below(period / 4 + 2) };
        let cost = draw.below(capacity.min(4) + 2);
        let outcome = plain.try_acquire(now, cost);
        assert_eq!(shared.try_acquire(now, cost), outcome, "{cost} at {now}");
        assert_eq!(shared.retry_after(now, cost), plain.retry_after(now, cost), "{cost} at {now}");
        passed[usize::from(outcome.passes())] += 1;
    }
    passed
}

/// Both answers were given often, or the comparison says little.
fn both_often(passed: impl Iterator<Item = [u64; 2]>) {
    let sum = passed.fold([0; 2], |sum, one| [sum[0] + one[0], sum[1] + one[1]]);
    assert_eq!(sum[0] + sum[1], 1_000_000);
    assert!(sum[0] > 100_000 && sum[1] > 100_000, "{sum:?}");
}

#[test]
fn gcra() {
    both_often(sets().map(|(capacity, permits, per, mut draw)| {
        let rate = Rate::new(permits, per).unwrap();
        let shared = AtomicGcra::new(capacity, rate, 1_600_000_000 * S, 300_000_000 * S).unwrap();
        let mut plain = rule("gcra", permits, per, capacity).limiter();
        same(&mut &shared, &mut plain, capacity, per, &mut draw)
    }));
}

#[test]
fn fixed_window() {
    both_often(sets().map(|(limit, _, window, mut draw)| {
        let shared = AtomicFixedWindow::new(limit, window, 1_699_999_999 * S, 100 * S).unwrap();
        let mut plain = rule("fixed-window", limit, window, limit).limiter();
        same(&mut &shared, &mut plain, limit, window, &mut draw)
    }));
}

/// Every algorithm as threads share it, a million decisions each.
#[test]
fn mutex() {
    for algorithm in ALGORITHMS {
        let passed = sets().map(|(capacity, permits, per, mut draw)| {
            let rule = rule(algorithm.name, permits, per * 10, capacity);
            let shared = Mutex::new(Clamp::new(rule.limiter()));
            same(&mut &shared, &mut rule.limiter(), capacity, per, &mut draw)
        });
        match algorithm.name {
            // Neither has two answers that come often.
            "unlimited" | "spend-cap" => assert_eq!(passed.flatten().sum::<u64>(), 1_000_000),
            _ => both_often(passed),
        }
    }
}

#[test]
fn shards() {
    both_often(sets().map(|(capacity, permits, per, mut draw)| {
        let rule = tokens(capacity, permits, per);
        let (shards, mut plain) =
            (ShardedKeyed::with_hasher(rule.clone(), KeyHash::default(), 8, usize::MAX), Keyed::<u64, _>::new(rule));
        let mut passed = [0; 2];
        let mut now = 0;
        for _ in 0..100_000 {
            now += draw.below(per / 40 + 2) * draw.below(2);
            // A few busy keys, and many that come once and are forgotten.
            let key = if draw.below(3) == 0 { draw.below(1 << 40) } else { draw.below(8) };
            let cost = draw.below(capacity.min(4) + 2);
            let outcome = plain.try_acquire(key, now, cost);
            assert_eq!(shards.try_acquire(key, now, cost), outcome);
            assert_eq!((&shards).retry_after(key, now, cost), plain.retry_after(key, now, cost));
            passed[usize::from(outcome.passes())] += 1;
        }
        passed
    }));
}
