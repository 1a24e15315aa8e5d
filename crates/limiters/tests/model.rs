//! Every algorithm against its definition, computed slowly: the whole history of admissions, exact integers, and hints
//! found by trying every cost and every nanosecond.

use limiters::{AnyRule, Limiter, Nanos, Outcome, Quota, Rate, Settings, Value, algorithm};

/// What a definition needs to know.
#[derive(Clone, Debug)]
enum Definition {
    Fixed {
        limit: i128,
        window: i128,
        offset: i128,
    },
    FirstRequest {
        limit: i128,
        window: i128,
    },
    Log {
        limit: i128,
        span: i128,
    },
    Counter {
        limit: i128,
        window: i128,
        exact: bool,
    },
    Segments {
        limit: i128,
        segment: i128,
        segments: i128,
        mode: &'static str,
    },
    /// Units of 1/P permit: what a bucket holds, what it gains a nanosecond, what a permit costs.
    Bucket {
        capacity: i128,
        initial: i128,
        gain: i128,
        permit: i128,
        largest: i128,
    },
    Ticks {
        capacity: i128,
        per_tick: i128,
        tick: i128,
        offset: i128,
    },
    Cap {
        cap: i128,
        period: Option<(i128, i128)>,
        before: bool,
    },
}

/// A definition and every admission so far.
struct Model {
    definition: Definition,
    history: Vec<(i128, i128)>,
}

impl Model {
    fn sum(&self, counts: impl Fn(i128) -> bool) -> i128 {
        self.history.iter().filter(|(at, _)| counts(*at)).map(|(_, cost)| cost).sum()
    }

    /// The least of `allowance(t) − what was taken from t on`, over all admissions and the instant `now`.
    fn least(&self, now: i128, permit: i128, allowance: impl Fn(i128) -> i128) -> i128 {
        let mut taken = 0;
        self.history.iter().rev().fold(allowance(now), |least, (at, cost)| {
            taken += cost * permit;
            least.min(allowance(*at) - taken)
        })
    }

    fn fits(&self, now: i128, cost: i128) -> bool {
        if cost == 0 {
            return true;
        }
        match self.definition {
            Definition::Fixed { limit, window, offset } => {
                let index = |at: i128| (at - offset).div_euclid(window);
                self.sum(|at| index(at) == index(now)) + cost <= limit
            }
            Definition::FirstRequest { limit, window } => {
                let opened = self.history.iter().fold(None, |opened, (at, _)| match opened {
                    Some(start) if *at < start + window => opened,
                    _ => Some(*at),
                });
                let used = match opened {
                    Some(start) if now < start + window => self.sum(|at| at >= start),
                    _ => 0,
                };
                used + cost <= limit
            }
            Definition::Log { limit, span } => self.sum(|at| now - at < span) + cost <= limit,
            Definition::Counter { limit, window, exact } => {
                let (index, left) = (now / window, window - now % window);
                let current = self.sum(|at| at / window == index);
                let previous = self.sum(|at| at / window == index - 1);
                match exact {
                    true => previous * left + (current + cost) * window <= limit * window,
                    false => previous * left / window + current + cost <= limit,
                }
            }
            Definition::Segments { limit, segment, segments, mode } => {
                let age = |at: i128| now / segment - at / segment;
                let within = self.sum(|at| age(at) < segments);
                let oldest = self.sum(|at| age(at) == segments);
                let left = segment - now % segment;
                match mode {
                    "tight" => within + cost <= limit,
                    "safe" => within + oldest + cost <= limit,
                    _ => oldest * left + (within + cost) * segment <= limit * segment,
                }
            }
            Definition::Bucket { capacity, initial, gain, permit, largest } => {
                let conforms = cost * permit <= self.least(now, permit, |from| capacity + gain * (now - from));
                let total: i128 = self.sum(|_| true);
                conforms && cost <= largest && (total + cost) * permit <= initial + gain * now
            }
            Definition::Ticks { capacity, per_tick, tick, offset } => {
                let index = |at: i128| (at - offset).div_euclid(tick);
                cost <= self.least(now, 1, |from| capacity + per_tick * (index(now) - index(from)))
            }
            Definition::Cap { cap, period, before } => {
                let index = |at: i128| period.map_or(0, |(period, offset)| (at - offset).div_euclid(period));
                let spent = self.sum(|at| index(at) == index(now));
                if before { spent < cap } else { spent + cost <= cap }
            }
        }
    }

    /// How long what was accepted keeps a drain busy: the most, over all admissions, of what came since less what drained.
    fn delay(&self, now: i128) -> i128 {
        let Definition::Bucket { gain, permit, .. } = self.definition else { return 0 };
        let backlog = -self.least(now, permit, |from| gain * (now - from));
        (backlog.max(0) + gain - 1) / gain
    }
}

/// A small deterministic generator (xorshift64*).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.next() % (high - low + 1)
    }

    fn word(&mut self, words: &[&'static str]) -> &'static str {
        words[self.next() as usize % words.len()]
    }
}

const NAMES: [&str; 10] = [
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

/// A random rule of `name` and its definition. `limit` and `window` bound the quota that is drawn.
fn draw(name: &'static str, random: &mut Random, limit: u64, window: u64) -> (Box<dyn AnyRule>, Definition) {
    let segments = random.between(1, 6);
    let window = random.between(1, window / segments).max(1) * segments;
    let quota = Quota { limit: random.between(1, limit), window, burst: random.between(1, limit) };
    let offset = random.between(0, 2 * window);
    let plain = Settings::new(quota);
    let (limit, wide, burst) = (i128::from(quota.limit), i128::from(window), i128::from(quota.burst));
    let rate = Rate::new(quota.limit, window).unwrap();
    let (gain, permit) = (i128::from(rate.permits()), i128::from(rate.per()));
    let bucket = |initial: i128, largest: i128| {
        let capacity = burst * permit;
        Definition::Bucket { capacity, initial: initial * permit, gain, permit, largest }
    };
    let choice = |name, word| (name, Value::Choice(word));
    let permits = |name, count| (name, Value::Permits(count));
    let (values, definition) = match name {
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
            let span = wide + i128::from(edge == "closed");
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
            let (segment, segments) = (wide / i128::from(segments), segments.into());
            (values, Definition::Segments { limit, segment, segments, mode })
        }
        "token-bucket" => {
            let initial = random.between(0, quota.burst);
            (vec![permits("initial", initial)], bucket(initial.into(), burst))
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
            (values, bucket(burst, largest.into()))
        }
        "leaky-bucket-meter" => (vec![], bucket(burst, burst)),
        "gcra" if random.next().is_multiple_of(2) => {
            let tolerance = random.between(0, 3 * window);
            let capacity = i128::from(tolerance) * gain + permit;
            let definition = Definition::Bucket { capacity, initial: capacity, gain, permit, largest: i128::MAX };
            (vec![("tolerance", Value::Duration(tolerance))], definition)
        }
        "gcra" => (vec![], bucket(burst, burst)),
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
    let rule = (algorithm(name).unwrap().build)(&settings).unwrap_or_else(|error| panic!("{name}: {error}"));
    (rule, definition)
}

/// Runs random traffic past a limiter and its model; `hints` is how far to look for the least wait, if at all.
fn compare(name: &'static str, random: &mut Random, limit: u64, window: u64, hints: Option<u64>) -> [u32; 2] {
    let (rule, definition) = draw(name, random, limit, window);
    let mut limiter = rule.limiter();
    let context = format!("{name} ({}) {definition:?}", rule.parameters());
    let mut model = Model { definition, history: Vec::new() };
    let mut now: Nanos = random.between(0, 3 * window);
    let mut decided = [0, 0];
    for _ in 0..40 {
        now += match random.between(0, 5) {
            0..=2 => 0,
            3 => random.between(0, window / limit + 1),
            4 => random.between(0, window),
            _ => random.between(0, 3 * window),
        };
        let cost = match random.between(0, 4) {
            0 => random.between(0, limit + 2),
            1 => random.between(1, limit),
            2 => random.between(1, limit.div_ceil(4)),
            _ => 1,
        };
        let context = format!("{context} after {:?}: {cost} at {now}", model.history);
        let (at, wide) = (i128::from(now), i128::from(cost));
        let fits = model.fits(at, wide);
        if let Some(horizon) = hints {
            check_hints(&mut *limiter, &model, now, cost, horizon, &context);
        }
        let outcome = limiter.try_acquire(now, cost);
        assert_eq!(outcome.passes(), fits, "{context}");
        decided[usize::from(fits)] += 1;
        if fits && cost > 0 {
            if name == "leaky-bucket" {
                let delay = i128::from(outcome.starts(now).unwrap() - now);
                assert_eq!(delay, model.delay(at), "{context}: delay");
            }
            model.history.push((at, wide));
        }
    }
    decided
}

fn check_hints(limiter: &mut dyn Limiter, model: &Model, now: Nanos, cost: u64, horizon: u64, context: &str) {
    let fits = |wait: u64, cost: u64| model.fits(i128::from(now) + i128::from(wait), cost.into());
    let least = |cost| (0..=horizon).find(|wait| fits(*wait, cost));
    assert_eq!(limiter.retry_after(now, cost), least(cost), "{context}: retry");
    let never = limiter.peek(now, cost) == Outcome::NeverFits;
    let remaining = limiter.remaining(now);
    if let Definition::Cap { cap, before: true, .. } = model.definition {
        assert!(!never && i128::from(remaining) <= cap, "{context}");
        return;
    }
    let largest = (0..=horizon).take_while(|cost| fits(0, *cost)).last();
    assert_eq!(Some(remaining), largest, "{context}: remaining");
    // What never fits does not fit the empty history either.
    let empty = Model { definition: model.definition.clone(), history: Vec::new() };
    assert_eq!(never, !empty.fits(i128::from(now) + (1 << 40), cost.into()), "{context}: never fits");
}

#[test]
fn tiny_parameters_with_every_hint() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for name in NAMES {
        let mut decided = [0, 0];
        for _ in 0..60 {
            let counts = compare(name, &mut random, 6, 24, Some(400));
            decided = [decided[0] + counts[0], decided[1] + counts[1]];
        }
        assert!(decided.iter().all(|count| *count > 300), "{name}: {decided:?} refused and admitted");
    }
}

#[test]
fn large_parameters() {
    let mut random = Random(0xD1B5_4A32_D192_ED03);
    let scales = [(100, 60_000_000_000), (1_000_000, 1_000_000_000), (10_000_000_000, 86_400_000_000_000)];
    for name in NAMES {
        let mut decided = [0, 0];
        for turn in 0..90 {
            let (limit, window) = scales[turn % scales.len()];
            let counts = compare(name, &mut random, limit, window, None);
            decided = [decided[0] + counts[0], decided[1] + counts[1]];
        }
        assert!(decided.iter().all(|count| *count > 300), "{name}: {decided:?} refused and admitted");
    }
}

#[test]
fn every_algorithm_has_a_definition() {
    let registered: Vec<_> = limiters::ALGORITHMS.iter().map(|algorithm| algorithm.name).collect();
    assert_eq!(registered[0], "unlimited", "which needs none");
    assert_eq!(registered[1..], NAMES);
}
