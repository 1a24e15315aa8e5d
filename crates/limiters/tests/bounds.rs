//! What is proven about each rule, held against what it does: envelopes on random and hostile traffic, worst traces that
//! attain them, and the strict settings.

mod common;

use common::{DAY, SECOND, Subject, peak, quotas, run, steps, subjects};
use limiters::{ALGORITHMS, Limiter, Nanos, algorithm};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

fn runner(cases: u32) -> TestRunner {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha))
}

/// Lengths around which bounds step.
fn lengths(window: Nanos, limit: u64) -> Vec<Nanos> {
    let interval = window / limit;
    let around = |length: Nanos| [length.saturating_sub(1), length, length + 1];
    let edges = [0, interval, window / 10, window / 2, window * 9 / 10, window, 2 * window, 3 * window, 7 * window];
    let mut lengths: Vec<_> = edges.into_iter().flat_map(around).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

fn check_envelope(subject: &Subject, starts: &[(Nanos, u64)], max_cost: u64) -> Result<(), TestCaseError> {
    for tau in lengths(subject.quota.window, subject.quota.limit) {
        let measured = peak(starts, tau);
        if let Some(bound) = subject.rule.envelope(tau, max_cost) {
            prop_assert!(measured <= bound, "{measured} permits in {tau} ns pass the bound {bound}");
        }
    }
    Ok(())
}

#[test]
fn envelopes_hold_on_random_traffic() {
    for subject in subjects() {
        let result = runner(24).run(&steps(120), |steps| {
            let mut now = DAY;
            let requests: Vec<_> = steps
                .iter()
                .map(|step| {
                    now += step.gap(subject.quota);
                    (now, step.cost(subject.capacity))
                })
                .collect();
            let starts = run(&mut *subject.rule.limiter(), requests);
            check_envelope(&subject, &starts, starts.iter().map(|(_, cost)| *cost).max().unwrap_or(0))
        });
        result.unwrap_or_else(|failure| panic!("{}: {failure}", subject.label));
    }
}

/// Takes all that remains, again and again: at each instant at which something has become available, or at a random one.
fn flood(
    limiter: &mut dyn Limiter,
    from: Nanos,
    greed: impl Fn(usize, u64) -> u64,
    gap: impl Fn(usize) -> Nanos,
) -> Vec<(Nanos, u64)> {
    let mut now = from;
    let requests = (0..400).map_while(|turn| {
        // At first wait for a random phase; later take what is due.
        let wait = if turn % 7 == 0 { gap(turn) } else { limiter.retry_after(now, 1)?.max(gap(turn)) };
        now = now.checked_add(wait)?;
        let cost = greed(turn, limiter.remaining(now));
        let outcome = limiter.try_acquire(now, cost);
        Some(outcome.starts(now).filter(|_| cost > 0).map(|start| (start, cost)))
    });
    requests.collect::<Vec<_>>().into_iter().flatten().collect()
}

#[test]
fn envelopes_hold_under_greed() {
    for subject in subjects().iter().filter(|subject| subject.capacity != u64::MAX) {
        let window = subject.quota.window;
        for phase in [0, 1, window / 3, window - 1] {
            for (unit, pause) in [(true, 0), (false, 0), (false, window / 7)] {
                let greed = |_: usize, remaining: u64| if unit { 1 } else { remaining };
                let gap =
                    |turn: usize| if turn.is_multiple_of(7) { (turn as u64 / 7 * window / 11) % window } else { pause };
                let starts = flood(&mut *subject.rule.limiter(), DAY + phase, greed, gap);
                let max_cost = starts.iter().map(|(_, cost)| *cost).max().unwrap_or(0);
                let checked = check_envelope(subject, &starts, max_cost);
                checked.unwrap_or_else(|failure| panic!("{}: {failure}", subject.label));
            }
        }
    }
}

#[test]
fn worst_traffic_attains_the_envelope() {
    let mut without = Vec::new();
    for subject in subjects() {
        let Some(worst) = subject.rule.worst() else {
            without.push(subject.label);
            continue;
        };
        assert!(worst.requests.is_sorted_by_key(|(at, _)| *at), "{}: in time order", subject.label);
        let max_cost = worst.requests.iter().map(|(_, cost)| *cost).max().unwrap_or(0);
        let starts = run(&mut *subject.rule.limiter(), worst.requests);
        let bound = subject.rule.envelope(worst.tau, max_cost).expect("a rule with a worst case has an envelope");
        assert_eq!(peak(&starts, worst.tau), bound, "{}: within {} ns", subject.label, worst.tau);
    }
    // No bound at all; trickles that would need a permit a nanosecond or more; a drain whose starts are rounded most only
    // after billions of them.
    without.retain(|label| !label.starts_with("unlimited"));
    assert_eq!(without, WITHOUT_WORST);
}

const WITHOUT_WORST: [&str; 6] = [
    "sliding-window-counter (1000000000 per 1s, rounding floor)",
    "sliding-window-counter (1000000000 per 1s, rounding exact)",
    "sliding-window-segments (1 per 10ns, 10 segments, weighted)",
    "sliding-window-segments (3 per 20ns, 10 segments, weighted)",
    "sliding-window-segments (1000000000 per 1s, 10 segments, weighted)",
    "leaky-bucket (queue 10000000018, drain 10000000019/1000s)",
];

#[test]
fn the_windows_that_are_quoted() {
    let quota = limiters::Quota { limit: 100, window: 60 * SECOND, burst: 100 };
    let within = |name: &str, words: &[(&'static str, &'static str)], tau: Nanos| {
        let settings = words.iter().fold(limiters::Settings::new(quota), |settings, (name, word)| {
            settings.with(name, limiters::Value::Choice(word))
        });
        (algorithm(name).unwrap().build)(&settings).unwrap().envelope(tau, 1).unwrap()
    };
    let half_open = quota.window - 1;
    assert_eq!(within("fixed-window", &[], half_open), 200);
    assert_eq!(within("fixed-window", &[("anchor", "first-request")], half_open), 199);
    assert_eq!(within("sliding-window-log", &[], half_open), 100);
    assert_eq!(within("sliding-window-counter", &[], half_open), 200);
    assert_eq!(within("sliding-window-counter", &[("rounding", "exact")], half_open), 199);
    assert_eq!(within("sliding-window-segments", &[], half_open), 200);
    assert_eq!(within("sliding-window-segments", &[("mode", "safe")], half_open), 100);
    assert_eq!(within("sliding-window-segments", &[("mode", "weighted")], half_open), 199);
    assert_eq!(within("token-bucket", &[], half_open), 199);
    assert_eq!(within("leaky-bucket-meter", &[], half_open), 199);
    assert_eq!(within("gcra", &[], half_open), 199);
    assert_eq!(within("token-bucket-interval", &[], half_open), 200);
    assert_eq!(within("leaky-bucket", &[], half_open), 100);
}

/// No strict setting of any algorithm lets more than N permits start in a half-open window.
#[test]
fn strict_settings_keep_their_promise() {
    let promises = [(1, 10), (2, 20), (3, 7), (5, 1_000), (7, SECOND), (10, SECOND), (100, 60 * SECOND), (3, DAY)];
    for (limit, window) in promises {
        for algorithm in ALGORITHMS {
            for settings in (algorithm.strict)(limit, window) {
                let subject = Subject::of(algorithm, &settings);
                let promised = |starts: &[(Nanos, u64)], traffic: &str| {
                    let most = peak(starts, window - 1);
                    assert!(most <= limit.into(), "{limit} per {window} ns: {} lets {most} {traffic}", subject.label);
                };
                assert!(
                    subject.rule.envelope(window - 1, subject.capacity).is_some_and(|bound| bound <= limit.into()),
                    "{}",
                    subject.label
                );
                if let Some(worst) = subject.rule.worst() {
                    promised(&run(&mut *subject.rule.limiter(), worst.requests), "in its worst case");
                }
                for phase in [0, 1, window / 3, window - 1] {
                    for unit in [true, false] {
                        let greed = |_: usize, remaining: u64| if unit { 1 } else { remaining };
                        let gap = |turn: usize| {
                            if turn.is_multiple_of(7) { (turn as u64 / 7 * window / 11) % window } else { 0 }
                        };
                        promised(&flood(&mut *subject.rule.limiter(), DAY + phase, greed, gap), "under a flood");
                    }
                }
                let result = runner(4).run(&steps(150), |steps| {
                    let mut now = DAY;
                    let mut requests = Vec::new();
                    for step in &steps {
                        now += step.gap(subject.quota);
                        requests.push((now, step.cost(subject.capacity)));
                    }
                    promised(&run(&mut *subject.rule.limiter(), requests), "at random");
                    Ok(())
                });
                result.unwrap_or_else(|failure| panic!("{failure}"));
            }
        }
    }
}

#[test]
fn who_can_promise_what() {
    let able = |limit| -> Vec<&str> {
        let strict = |algorithm: &&limiters::Algorithm| !(algorithm.strict)(limit, SECOND).is_empty();
        ALGORITHMS.iter().filter(strict).map(|algorithm| algorithm.name).collect()
    };
    let log =
        ["sliding-window-log", "sliding-window-segments", "token-bucket", "leaky-bucket", "leaky-bucket-meter", "gcra"];
    assert_eq!(able(0), [""; 0]);
    assert_eq!(able(1), log);
    assert_eq!(
        able(2),
        [
            "fixed-window",
            "sliding-window-log",
            "sliding-window-counter",
            "sliding-window-segments",
            "token-bucket",
            "token-bucket-interval",
            "leaky-bucket",
            "leaky-bucket-meter",
            "gcra",
        ]
    );
}

/// The tests above mean little for the 128-bit rules unless some quotas need them.
#[test]
fn quotas_cover_narrow_and_wide_words() {
    let wide = |quota: &limiters::Quota| {
        let settings = limiters::Settings::new(*quota);
        let rate = settings.refill().unwrap();
        limiters::TokenBucket::<i64>::new(quota.burst, rate).is_none()
    };
    let (wide, narrow): (Vec<_>, Vec<_>) = quotas().into_iter().partition(wide);
    assert!(wide.len() >= 2 && narrow.len() >= 6, "{} wide, {} narrow", wide.len(), narrow.len());
}
