//! Every algorithm against its definition, computed slowly: the whole history of admissions, exact integers, and hints
//! found by trying every cost and every nanosecond.

mod definition;
mod draw;
mod million;

use definition::{Definition, Model};
use draw::{NAMES, Random};
use limiters::{Limiter, Nanos, Outcome};

/// Runs random traffic past a limiter and its model; `hints` is how far to look for the least wait, if at all.
fn compare(name: &'static str, random: &mut Random, limit: u64, window: u64, hints: Option<u64>) -> [u32; 2] {
    let (quota, segments) = draw::quota(random, limit, window);
    let (rule, definition) = draw::rule(name, random, quota, segments).expect("parameters that fit");
    let mut limiter = rule.limiter();
    let context = format!("{name} ({}) {definition:?}", rule.parameters());
    let mut model = Model::<i128>::new(definition);
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
        let fits = model.fits(&at, &wide);
        if let Some(horizon) = hints {
            check_hints(&mut *limiter, &model, now, cost, horizon, &context);
        }
        let outcome = limiter.try_acquire(now, cost);
        assert_eq!(outcome.passes(), fits, "{context}");
        decided[usize::from(fits)] += 1;
        if fits && cost > 0 {
            if name == "leaky-bucket" {
                let delay = i128::from(outcome.starts(now).unwrap() - now);
                assert_eq!(delay, model.delay(&at), "{context}: delay");
            }
            model.history.push((at, wide));
        }
    }
    decided
}

fn check_hints(limiter: &mut dyn Limiter, model: &Model<i128>, now: Nanos, cost: u64, horizon: u64, context: &str) {
    let fits = |wait: u64, cost: u64| model.fits(&(i128::from(now) + i128::from(wait)), &cost.into());
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
    let empty = Model::new(model.definition.clone());
    assert_eq!(never, !empty.fits(&(i128::from(now) + (1 << 40)), &cost.into()), "{context}: never fits");
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
    assert_eq!(registered[0], "unlimited", "which admits everything");
    assert_eq!(registered[1..], NAMES);
}
