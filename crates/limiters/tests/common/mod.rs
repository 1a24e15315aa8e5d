//! What the tests share: every algorithm under many parameters, random traffic, and a measure of peaks.
#![allow(dead_code)] // Each test file uses its part.

use limiters::{ALGORITHMS, Algorithm, AnyRule, Kind, Limiter, Nanos, Outcome, Quota, Rate, Settings, Value};
use proptest::prelude::*;

pub const SECOND: Nanos = 1_000_000_000;
pub const DAY: Nanos = 86_400 * SECOND;

/// A rule with the scale of its parameters, to aim traffic at its edges.
pub struct Subject {
    pub name: &'static str,
    pub label: String,
    pub rule: Box<dyn AnyRule>,
    /// Largest cost that can pass; `u64::MAX` without a limit.
    pub capacity: u64,
    pub quota: Quota,
}

impl Subject {
    pub fn of(algorithm: &Algorithm, settings: &Settings) -> Subject {
        let rule = (algorithm.build)(settings).unwrap_or_else(|error| panic!("{}: {error}", algorithm.name));
        let label = format!("{} ({})", algorithm.name, rule.parameters());
        let mut limiter = rule.limiter();
        limiter.refund(u64::MAX / 2, u64::MAX / 2, 0);
        let capacity = limiter.remaining(u64::MAX / 2);
        Subject { name: algorithm.name, label, rule, capacity, quota: settings.quota }
    }

    /// Whether a cost larger than what remains may pass: there is no limit, or a cap is only checked before.
    pub fn overshoots(&self) -> bool {
        self.capacity == u64::MAX || self.label.contains("check-before")
    }

    /// Whether `remaining` is all that is left, so that it falls by what is taken.
    pub fn counts_down(&self) -> bool {
        self.capacity != u64::MAX && !self.label.contains("costs to")
    }
}

/// Quotas from a permit a day to a permit a nanosecond; windows that ten segments divide, unless they are tiny.
pub fn quotas() -> Vec<Quota> {
    let quota = |limit, window, burst| Quota { limit, window, burst };
    vec![
        quota(1, 10, 1),
        quota(3, 20, 3),
        quota(7, 1_000, 4),
        quota(1, DAY, 3),
        quota(3, SECOND, 3),
        quota(7, SECOND, 10),
        quota(10, 60 * SECOND, 10),
        quota(30_000, SECOND, 50),
        quota(1_000_000_000, SECOND, 5),
        quota(1, DAY, 213_505),
        // N · W, B · P and their like pass 2^64.
        quota(10_000_000_019, 1_000 * SECOND, 10_000_000_019),
    ]
}

/// Every algorithm under every quota, and under every word of each of its choices.
pub fn subjects() -> Vec<Subject> {
    let mut subjects = Vec::new();
    for algorithm in ALGORITHMS {
        for quota in quotas() {
            let plain = Settings::new(quota);
            subjects.push(Subject::of(algorithm, &plain));
            for param in algorithm.params {
                if let Kind::Choice(words) = param.kind {
                    // The first word is the default, which the plain settings have.
                    for word in &words[1..] {
                        subjects.push(Subject::of(algorithm, &plain.clone().with(param.name, Value::Choice(word))));
                    }
                }
            }
        }
    }
    let extra = |name, quota, values: Vec<(&'static str, Value)>| {
        let algorithm = limiters::algorithm(name).unwrap();
        let settings =
            values.into_iter().fold(Settings::new(quota), |settings, (name, value)| settings.with(name, value));
        Subject::of(algorithm, &settings)
    };
    let small = Quota { limit: 5, window: 60, burst: 5 };
    let (permits, duration) = (Value::Permits, Value::Duration);
    subjects.extend([
        extra("fixed-window", small, vec![("offset", duration(17))]),
        extra("sliding-window-segments", small, vec![("segments", permits(1))]),
        extra("sliding-window-segments", small, vec![("segments", permits(1)), ("mode", Value::Choice("weighted"))]),
        extra("sliding-window-segments", small, vec![("segments", permits(6)), ("mode", Value::Choice("safe"))]),
        extra("token-bucket", small, vec![("initial", permits(2))]),
        extra("token-bucket", small, vec![("refill", Value::Rate(Rate::new(5, 2).unwrap()))]),
        extra("token-bucket-interval", small, vec![("per-tick", permits(2)), ("tick", duration(7))]),
        extra("token-bucket-interval", small, vec![("per-tick", permits(9)), ("offset", duration(13))]),
        extra("leaky-bucket", small, vec![("queue", permits(0))]),
        extra("leaky-bucket", small, vec![("queue", permits(9)), ("largest-cost", permits(3))]),
        extra("gcra", small, vec![("emission-interval", duration(7)), ("tolerance", duration(24))]),
        extra("gcra", small, vec![("tolerance", duration(5))]),
        extra("spend-cap", small, vec![("every", duration(40)), ("offset", duration(3))]),
        extra("spend-cap", small, vec![("every", duration(40)), ("check", Value::Choice("check-before"))]),
    ]);
    let table = Settings::new(small).resetting_at([10, 11, 40, 500, 501]);
    subjects.push(Subject::of(limiters::algorithm("spend-cap").unwrap(), &table));
    subjects
}

/// A random step of traffic, in terms that each subject scales to its own edges.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    gap: u8,
    cost: u8,
    more: u64,
}

pub fn steps(count: usize) -> impl Strategy<Value = Vec<Step>> {
    let step = (0..12u8, 0..10u8, any::<u64>()).prop_map(|(gap, cost, more)| Step { gap, cost, more });
    prop::collection::vec(step, 1..count)
}

impl Step {
    /// Nanoseconds since the step before: often none, often an edge of a window or an emission interval.
    pub fn gap(&self, quota: Quota) -> Nanos {
        let interval = (quota.window / quota.limit).max(1);
        match self.gap {
            0..=2 => 0,
            3 => 1,
            4 => interval,
            5 => interval - 1,
            6 => self.more % (2 * interval),
            7 => self.more % quota.window,
            8 => quota.window - 1,
            9 => quota.window,
            10 => quota.window + 1,
            _ => self.more % (5 * quota.window),
        }
    }

    /// Permits: mostly one, sometimes none, sometimes more than can ever pass.
    pub fn cost(&self, capacity: u64) -> u64 {
        let capacity = capacity.min(1 << 40);
        match self.cost {
            0 => 0,
            1..=4 => 1,
            5 => self.more % (capacity + 1),
            6 => capacity,
            7 => capacity / 2 + 1,
            8 => self.more % capacity.min(4) + 1,
            _ => capacity + 1 + self.more % 3,
        }
    }
}

/// The most permits in any closed interval of length `tau`, given starts in time order.
pub fn peak(starts: &[(Nanos, u64)], tau: Nanos) -> u128 {
    let (mut first, mut sum, mut most) = (0, 0u128, 0u128);
    for &(at, permits) in starts {
        sum += u128::from(permits);
        while at - starts[first].0 > tau {
            sum -= u128::from(starts[first].1);
            first += 1;
        }
        most = most.max(sum);
    }
    most
}

/// Runs requests and returns when the admitted ones start, with their costs, in order of starts. Peeks start nothing.
pub fn run(limiter: &mut dyn Limiter, requests: impl IntoIterator<Item = (Nanos, u64)>) -> Vec<(Nanos, u64)> {
    let starts = requests.into_iter().filter_map(|(at, cost)| {
        let outcome: Outcome = limiter.try_acquire(at, cost);
        (cost > 0).then_some((outcome.starts(at)?, cost))
    });
    let starts: Vec<_> = starts.collect();
    assert!(starts.is_sorted_by_key(|(start, _)| *start), "starts keep the order of requests");
    starts
}
