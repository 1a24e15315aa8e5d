//! Random rules and their definitions.

use crate::definition::{Definition, Number};
use limiters::{AnyRule, Quota, Rate, Settings, Value, algorithm};

/// A small deterministic generator (xorshift64*).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    pub fn word(&mut self, words: &[&'static str]) -> &'static str {
        words[self.next() as usize % words.len()]
    }

    /// From 1 to 2^bits − 1, with every length of number as likely as any other.
    pub fn scale(&mut self, bits: u64) -> u64 {
        let length = self.between(1, bits);
        let (high, low) = (self.next(), self.next());
        1 << (length - 1) | (high << 32 ^ low) & ((1 << (length - 1)) - 1)
    }
}

/// Every algorithm but the one that admits everything.
pub const NAMES: [&str; 10] = [
    "fixed-window",
    "sliding-window-log",
    "sliding-window-counter",
    "sliding-window-segments",
    "token-bucket",
    "token-bucket-interval",
    "leaky-bucket",
    "leaky-bucket-meter",
    "gcra",
    "spend-cap",
];

/// A random quota; `limit` and `window` bound what is drawn. Segments divide its window.
pub fn quota(random: &mut Random, limit: u64, window: u64) -> (Quota, u64) {
    let segments = random.between(1, 6);
    let window = random.between(1, window / segments).max(1) * segments;
    (Quota { limit: random.between(1, limit), window, burst: random.between(1, limit) }, segments)
}

/// A random rule of `name` under this quota and its definition; `None` where its parameters do not fit.
pub fn rule<N: Number>(
    name: &'static str,
    random: &mut Random,
    quota: Quota,
    segments: u64,
) -> Option<(Box<dyn AnyRule>, Definition<N>)> {
    let window = quota.window;
    let offset = random.between(0, 2 * window);
    let plain = Settings::new(quota);
    let (limit, wide, burst) = (N::from(quota.limit), N::from(window), N::from(quota.burst));
    let rate = Rate::new(quota.limit, window).unwrap();
    let (gain, permit) = (N::from(rate.permits()), N::from(rate.per()));
    let bucket = |initial: u64, largest: u64| Definition::Bucket {
        capacity: burst.clone() * permit.clone(),
        initial: N::from(initial) * permit.clone(),
        gain: gain.clone(),
        permit: permit.clone(),
        largest: Some(N::from(largest)),
    };
    let choice = |name, word| (name, Value::Choice(word));
    let permits = |name, count| (name, Value::Permits(count));
    let (values, definition) = match name {
        "unlimited" => (vec![], Definition::Everything),
        "fixed-window" if random.next().is_multiple_of(2) => {
            let definition = Definition::FirstRequest { limit, window: wide };
            (vec![choice("anchor", "first-request")], definition)
        }
        "fixed-window" => {
            let definition = Definition::Fixed { limit, window: wide, offset: offset.into() };
            (vec![("offset", Value::Duration(offset))], definition)
        }
        "sliding-window-log" => {
            let edge = random.word(&["half-open", "closed"]);
            let span = wide + N::from(u64::from(edge == "closed"));
            (vec![choice("edge", edge)], Definition::Log { limit, span })
        }
        "sliding-window-counter" => {
            let rounding = random.word(&["floor", "exact"]);
            let exact = rounding == "exact";
            (vec![choice("rounding", rounding)], Definition::Counter { limit, window: wide, exact })
        }
        "sliding-window-segments" => {
            let mode = random.word(&["tight", "safe", "weighted"]);
            let values = vec![permits("segments", segments), choice("mode", mode)];
            let (segment, segments) = (N::from(window / segments), segments.into());
            (values, Definition::Segments { limit, segment, segments, mode })
        }
        "token-bucket" => {
            let initial = random.between(0, quota.burst);
            (vec![permits("initial", initial)], bucket(initial, quota.burst))
        }
        "token-bucket-interval" => {
            let per_tick = random.between(1, quota.burst + 1);
            let values = vec![permits("per-tick", per_tick), ("offset", Value::Duration(offset))];
            let (tick, offset, per_tick) = (wide, offset.into(), per_tick.into());
            (values, Definition::Ticks { capacity: burst, per_tick, tick, offset })
        }
        "leaky-bucket" => {
            let largest = random.between(1, quota.burst);
            let values = vec![permits("queue", quota.burst - 1), permits("largest-cost", largest)];
            (values, bucket(quota.burst, largest))
        }
        "leaky-bucket-meter" => (vec![], bucket(quota.burst, quota.burst)),
        "gcra" if random.next().is_multiple_of(2) => {
            let tolerance = random.between(0, 3 * window);
            let capacity = N::from(tolerance) * gain.clone() + permit.clone();
            let definition =
                Definition::Bucket { capacity: capacity.clone(), initial: capacity, gain, permit, largest: None };
            (vec![("tolerance", Value::Duration(tolerance))], definition)
        }
        "gcra" => (vec![], bucket(quota.burst, quota.burst)),
        "spend-cap" => {
            let check = random.word(&["strict", "check-before"]);
            let periodic = random.next().is_multiple_of(2);
            let mut values = vec![choice("check", check)];
            if periodic {
                values.extend([("every", Value::Duration(window)), ("offset", Value::Duration(offset))]);
            }
            let period = periodic.then_some((wide, offset.into()));
            (values, Definition::Cap { cap: limit, period, before: check == "check-before" })
        }
        other => panic!("no definition of {other}"),
    };
    let settings = values.into_iter().fold(plain, |settings, (name, value)| settings.with(name, value));
    let rule = (algorithm(name).unwrap().build)(&settings).ok()?;
    Some((rule, definition))
}
