//! A million random decisions of each algorithm against its definition, at hostile times: equal instants, steps of a
//! nanosecond, jumps of years, the first and the last years there are, and the edges that the state itself names, with a
//! nanosecond on either side. A tenth of the decisions has parameters up to the end of their range, for which the definition
//! is computed in integers without bounds.

use crate::definition::{Definition, Model, Number};
use crate::draw::{NAMES, Random, quota, rule};
use limiters::{Limiter, Nanos, Outcome, Quota};
use num_bigint::BigInt;
use num_traits::ToPrimitive;

const DECISIONS: u64 = 1_000_000;
const YEAR: Nanos = 365 * 86_400_000_000_000;

/// What was decided: refused and admitted, and how many hints were checked.
#[derive(Debug, Default)]
struct Count {
    refused: u64,
    admitted: u64,
    hints: u64,
}

fn million(name: &'static str) -> Count {
    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ name.len() as u64);
    let mut count = Count::default();
    let mut turn = 0u64;
    while count.refused + count.admitted < DECISIONS {
        let left = DECISIONS - count.refused - count.admitted;
        // Every tenth stretch of a short history and one in forty of a long one.
        let length = if turn.is_multiple_of(40) { 600 } else { 60 }.min(left);
        match turn % 10 {
            9 => extreme(name, &mut random, length, &mut count),
            scale => usual(name, &mut random, scale as usize % 4, length, &mut count),
        }
        turn += 1;
    }
    count
}

/// Parameters for which products of a time, a limit and a history stay far below 2^127.
fn usual(name: &'static str, random: &mut Random, scale: usize, length: u64, count: &mut Count) {
    const SCALES: [(u64, u64); 4] =
        [(6, 24), (100, 60_000_000_000), (1_000_000, 1_000_000_000), (10_000_000_000, 86_400_000_000_000)];
    let (limit, window) = SCALES[scale];
    let (quota, segments) = quota(random, limit, window);
    let (rule, definition) = rule(name, random, quota, segments).expect("usual parameters fit");
    let context = format!("{name} ({}) {definition:?}", rule.parameters());
    stretch(&mut *rule.limiter(), Model::<i128>::new(definition), random, quota, length, count, &context);
}

/// Parameters up to the largest, most of which every algorithm takes.
fn extreme(name: &'static str, random: &mut Random, length: u64, count: &mut Count) {
    let (rule, definition, quota) = loop {
        let segments = random.between(1, 6);
        let window = random.scale(60).div_ceil(segments) * segments;
        let quota = Quota { limit: random.scale(62), window, burst: random.scale(62) };
        if let Some((rule, definition)) = rule(name, random, quota, segments) {
            break (rule, definition, quota);
        }
    };
    let context = format!("{name} ({}) {definition:?}", rule.parameters());
    stretch(&mut *rule.limiter(), Model::<BigInt>::new(definition), random, quota, length, count, &context);
}

/// One limiter and its model, `length` decisions long.
fn stretch<N: Number + ToPrimitive>(
    limiter: &mut dyn Limiter,
    mut model: Model<N>,
    random: &mut Random,
    quota: Quota,
    length: u64,
    count: &mut Count,
    context: &str,
) {
    let mut now = match random.between(0, 4) {
        0 => random.between(0, 3 * (quota.window >> 2)),
        1 => u64::MAX - random.between(0, YEAR),
        2 => random.scale(63),
        _ => 1_700_000_000_000_000_000 + random.between(0, YEAR),
    };
    let last = last(&model);
    for _ in 0..length {
        let cost = cost(random, quota);
        now = later(now, cost, limiter, &model, random, quota).min(last);
        let (at, wide) = (N::from(now), N::from(cost));
        let fits = model.fits(&at, &wide);
        let say = || format!("{context} after {:?}: {cost} at {now}", model.history);
        if random.between(0, 5) == 0 {
            hints(limiter, &model, now, cost, fits, &say);
            count.hints += 1;
        }
        let outcome = limiter.try_acquire(now, cost);
        assert_eq!(outcome.passes(), fits, "{}", say());
        if !fits {
            assert_eq!(outcome == Outcome::NeverFits, model.never(&wide), "{}", say());
            count.refused += 1;
            continue;
        }
        count.admitted += 1;
        if cost > 0 {
            if let Outcome::Delayed { until } = outcome {
                let delay = at.clone() + model.delay(&at);
                // A queue that outlasts time ends with it.
                assert_eq!(N::from(until), delay.min(N::from(u64::MAX)), "{}", say());
                assert!(until > now || now == u64::MAX, "{}", say());
            } else if context.starts_with("leaky-bucket (") {
                assert!(model.delay(&at).is_zero(), "{}", say());
            }
            model.history.push((at, wide));
        }
    }
}

/// The last time at which a model is followed. A GCRA in 64 bits gives up before the end of time, as its file says.
fn last<N: Number + ToPrimitive>(model: &Model<N>) -> Nanos {
    match &model.definition {
        Definition::Bucket { capacity, gain, .. } if gain.is_one() => {
            u64::MAX - capacity.to_u64().filter(|capacity| *capacity <= 1 << 62).unwrap_or(0)
        }
        _ => u64::MAX,
    }
}

/// Mostly one, sometimes nothing, sometimes what just fits or just does not, sometimes more than there are.
fn cost(random: &mut Random, quota: Quota) -> u64 {
    match random.between(0, 15) {
        0 => 0,
        1 => quota.limit,
        2 => quota.burst,
        3 => quota.limit.max(quota.burst) + 1,
        4 => [u64::MAX, u64::MAX - 1, 1 << 63][random.next() as usize % 3],
        5..=7 => random.between(1, quota.limit),
        8..=10 => random.between(1, quota.burst.div_ceil(4)),
        _ => 1,
    }
}

/// When to ask next.
fn later<N: Number + ToPrimitive>(
    now: Nanos,
    cost: u64,
    limiter: &mut dyn Limiter,
    model: &Model<N>,
    random: &mut Random,
    quota: Quota,
) -> Nanos {
    let interval = quota.window / quota.limit + 1;
    // An edge, or a nanosecond before or after it.
    let edge = |at: Nanos, random: &mut Random| at.saturating_add(random.between(0, 2)).saturating_sub(1).max(now);
    let step = match random.between(0, 15) {
        0..=3 => 0,
        4 => 1,
        5..=6 => random.between(0, interval),
        7 => random.between(0, quota.window),
        8 => 3 * random.between(0, quota.window),
        9 if random.between(0, 9) == 0 => random.between(1, 20) * YEAR,
        9 => return edge(now, random),
        10..=12 => {
            let wait = limiter.retry_after(now, cost).unwrap_or(0);
            return edge(now.saturating_add(wait), random);
        }
        13 => return edge(now.saturating_add(limiter.reset_after(now).unwrap_or(0)), random),
        _ => {
            let Some((at, _)) = model.history.get(random.next() as usize % model.history.len().max(1)) else {
                return now;
            };
            let at = at.to_u64().expect("a time that was asked");
            return edge(at.saturating_add(quota.window), random);
        }
    };
    now.saturating_add(step)
}

/// The hints before a decision: what remains is the most that fits, and the wait is enough and not a nanosecond too long.
fn hints<N: Number>(
    limiter: &dyn Limiter,
    model: &Model<N>,
    now: Nanos,
    cost: u64,
    fits: bool,
    say: &impl Fn() -> String,
) {
    let (at, wide) = (N::from(now), N::from(cost));
    assert_eq!(limiter.peek(now, cost).passes(), fits, "{}: peek", say());
    match limiter.retry_after(now, cost) {
        Some(0) => assert!(fits, "{}: no wait", say()),
        Some(wait) => {
            assert!(!fits, "{}: a wait of {wait}", say());
            let then = at.clone() + N::from(wait);
            assert!(!model.fits(&(then.clone() - N::one()), &wide), "{}: a wait of {wait} is too long", say());
            // Time ends there, and so do promises.
            if then <= N::from(u64::MAX) {
                assert!(model.fits(&then, &wide), "{}: a wait of {wait} is too short", say());
            }
        }
        None => assert!(!fits && !model.fits(&N::from(u64::MAX), &wide), "{}: never", say()),
    }
    let remaining = limiter.remaining(now);
    assert!(model.fits(&at, &N::from(remaining)), "{}: {remaining} remain", say());
    if let Some(more) = remaining.checked_add(1)
        && !matches!(model.definition, Definition::Cap { before: true, .. })
    {
        assert!(!model.fits(&at, &N::from(more)), "{}: more than {remaining} remain", say());
    }
}

/// Beyond the range of 64 bits a GCRA is asked at an instant that stands still.
#[test]
fn gcra_runs_dry_at_the_end_of_time() {
    let quota = Quota { limit: 1, window: 1_000, burst: 5 };
    let build = limiters::algorithm("gcra").unwrap().build;
    let mut gcra = build(&limiters::Settings::new(quota)).unwrap().limiter();
    let begins = u64::MAX - 5_000;
    let admitted = (0..100_000).filter(|step| gcra.try_acquire(begins.saturating_add(step / 2), 1).passes()).count();
    assert_eq!(admitted, 5);
    assert_eq!((gcra.remaining(u64::MAX), gcra.peek(u64::MAX, 1)), (0, Outcome::Refused));
}

/// Both answers were given often, or the comparison says little.
fn compare(name: &'static str) {
    let count = million(name);
    assert_eq!(count.refused + count.admitted, DECISIONS);
    let least = count.refused.min(count.admitted);
    assert!(least > DECISIONS / 10 && count.hints > DECISIONS / 10, "{name}: {count:?}");
}

#[test]
fn unlimited() {
    let count = million("unlimited");
    assert_eq!((count.admitted, count.refused), (DECISIONS, 0));
}

/// A test for each, so that they run side by side.
macro_rules! compare {
    ($($test:ident $name:literal)*) => {
        $(#[test] fn $test() { compare($name); })*

        #[test]
        fn all_are_compared() {
            assert_eq!([$($name),*], NAMES);
        }
    };
}
compare! {
    fixed_window "fixed-window"
    sliding_window_log "sliding-window-log"
    sliding_window_counter "sliding-window-counter"
    sliding_window_segments "sliding-window-segments"
    token_bucket "token-bucket"
    token_bucket_interval "token-bucket-interval"
    leaky_bucket "leaky-bucket"
    leaky_bucket_meter "leaky-bucket-meter"
    gcra "gcra"
    spend_cap "spend-cap"
}
