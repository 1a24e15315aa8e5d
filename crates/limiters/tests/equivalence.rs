//! Algorithms that are the same one in other words decide alike, and no algorithm drifts.

mod common;

use common::{DAY, SECOND, quotas, steps};
use limiters::{AnyRule, Limiter, Nanos, Outcome, Quota, Rate, Settings, Value, algorithm};
use proptest::prelude::*;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};

fn rule(name: &str, quota: Quota, values: &[(&'static str, Value)]) -> Box<dyn AnyRule> {
    let settings =
        values.iter().fold(Settings::new(quota), |settings, (name, value)| settings.with(name, value.clone()));
    (algorithm(name).unwrap().build)(&settings).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Asserts that all rules agree on outcome, remaining, retry and reset; with debts and refunds where `charges` says so.
fn agree(quota: Quota, capacity: u64, charges: bool, rules: &[Box<dyn AnyRule>]) {
    let config = ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let result = runner.run(&steps(80), |steps| {
        let mut limiters: Vec<_> = rules.iter().map(|rule| rule.limiter()).collect();
        let mut times = vec![DAY];
        for (index, step) in steps.iter().enumerate() {
            let now = times[index] + step.gap(quota);
            times.push(now);
            // Refunds are of what was taken a few instants ago, which a window may have forgotten.
            let taken_at = times[(index + 1).saturating_sub(step.cost(8) as usize)];
            let cost = step.cost(capacity);
            let answers = limiters.iter_mut().map(|limiter| {
                match index % 8 {
                    3 if charges => limiter.charge(now, cost),
                    6 if charges => limiter.refund(now, taken_at, cost),
                    _ => {}
                }
                let decision = limiter.decide(now, cost);
                let word = if decision.outcome.passes() { Outcome::Admitted } else { decision.outcome };
                (word, decision.remaining, decision.retry_after, decision.next_increase_after, decision.reset_after)
            });
            let answers: Vec<_> = answers.collect();
            prop_assert!(answers.windows(2).all(|pair| pair[0] == pair[1]), "{:?}", answers);
        }
        Ok(())
    });
    let names: Vec<_> = rules.iter().map(|rule| rule.parameters()).collect();
    result.unwrap_or_else(|failure| panic!("{names:?}: {failure}"));
}

#[test]
fn token_bucket_is_leaky_meter_is_gcra_is_queue() {
    for quota in quotas() {
        let rules = ["token-bucket", "leaky-bucket-meter", "gcra", "leaky-bucket"].map(|name| rule(name, quota, &[]));
        agree(quota, quota.burst, true, &rules);
    }
}

#[test]
fn gcra_in_nanoseconds_is_gcra_as_a_rate() {
    let quota = Quota { limit: 10, window: 60 * SECOND, burst: 4 };
    let (interval, tolerance) = (6 * SECOND, 18 * SECOND);
    let direct = [("emission-interval", Value::Duration(interval)), ("tolerance", Value::Duration(tolerance))];
    agree(quota, 4, true, &[rule("gcra", quota, &[]), rule("gcra", quota, &direct)]);
}

#[test]
fn fixed_window_is_interval_refill_is_one_tight_segment() {
    for quota in quotas() {
        let quota = Quota { burst: quota.limit, ..quota };
        let one = [("segments", Value::Permits(1))];
        let rules = [
            rule("fixed-window", quota, &[]),
            rule("token-bucket-interval", quota, &[]),
            rule("sliding-window-segments", quota, &one),
        ];
        agree(quota, quota.limit, false, &rules);
        let offset = [("offset", Value::Duration(quota.window / 3))];
        let rules = [rule("fixed-window", quota, &offset), rule("token-bucket-interval", quota, &offset)];
        agree(quota, quota.limit, false, &rules);
    }
}

#[test]
fn one_weighted_segment_is_the_exact_counter() {
    for quota in quotas() {
        let weighted = [("segments", Value::Permits(1)), ("mode", Value::Choice("weighted"))];
        let rules = [
            rule("sliding-window-counter", quota, &[("rounding", Value::Choice("exact"))]),
            rule("sliding-window-segments", quota, &weighted),
        ];
        agree(quota, quota.limit, true, &rules);
    }
}

#[test]
fn segments_of_a_nanosecond_are_the_log() {
    for (limit, window) in [(1, 1), (3, 20), (5, 60), (7, 200)] {
        let quota = Quota { limit, window, burst: limit };
        let each = ("segments", Value::Permits(window));
        let tight = rule("sliding-window-segments", quota, std::slice::from_ref(&each));
        let safe = rule("sliding-window-segments", quota, &[each, ("mode", Value::Choice("safe"))]);
        agree(quota, limit, true, &[rule("sliding-window-log", quota, &[]), tight]);
        agree(quota, limit, true, &[rule("sliding-window-log", quota, &[("edge", Value::Choice("closed"))]), safe]);
    }
}

/// A client that asks for one permit whenever the limiter says it is due gets exactly what the rate allows, for days.
#[test]
fn no_drift_over_a_million_seconds() {
    let span = 1_000_000 * SECOND;
    for (permits, per) in [(3, 10 * SECOND), (7, 13 * SECOND), (1, 3 * SECOND)] {
        let quota = Quota { limit: permits, window: per, burst: 5 };
        let rate = Rate::new(permits, per).unwrap();
        for name in ["token-bucket", "leaky-bucket-meter", "gcra", "leaky-bucket"] {
            let mut limiter = rule(name, quota, &[]).limiter();
            let (mut now, mut admitted) = (DAY, 0);
            while now <= DAY + span {
                if limiter.try_acquire(now, 1).passes() {
                    admitted += 1;
                } else {
                    now += limiter.retry_after(now, 1).unwrap();
                }
            }
            assert_eq!(admitted, 5 + rate.in_time(span), "{name} at {rate}");
        }
        for name in ["fixed-window", "token-bucket-interval"] {
            let mut limiter = rule(name, Quota { burst: permits, ..quota }, &[]).limiter();
            let (mut now, mut admitted) = (0, 0);
            while now < span {
                let cost = limiter.remaining(now);
                assert!(limiter.try_acquire(now, cost).passes());
                admitted += u128::from(cost);
                now += limiter.reset_after(now).unwrap();
            }
            assert_eq!(admitted, u128::from(span.div_ceil(per)) * u128::from(permits), "{name} at {rate}");
        }
    }
}

/// How often a client asks does not change what it gets, as long as it never leaves a bucket full.
#[test]
fn hot_and_sparse_polling_agree_within_one() {
    let span = 2_000 * SECOND;
    for (permits, per) in [(3, SECOND), (7, SECOND), (10, 13 * SECOND)] {
        let quota = Quota { limit: permits, window: per, burst: 30 };
        for name in ["token-bucket", "leaky-bucket-meter", "gcra", "leaky-bucket"] {
            let taken = |gap: Nanos| {
                let mut limiter = rule(name, quota, &[]).limiter();
                let mut admitted = 0;
                for now in (0..=span).step_by(gap as usize) {
                    let cost = limiter.remaining(now);
                    admitted += if limiter.try_acquire(now, cost).passes() { cost } else { 0 };
                }
                admitted
            };
            // Both gaps divide the span, so that each asks a last time at its end.
            let (hot, sparse) = (taken(SECOND / 50), taken(2 * SECOND));
            assert!(hot.abs_diff(sparse) <= 1, "{name} at {permits} per {per} ns: {hot} hot, {sparse} sparse");
        }
    }
}
