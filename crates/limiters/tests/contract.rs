//! The contract of [`Limiter`], for every algorithm of the registry under many parameters and random traffic.

mod common;

use common::{DAY, Step, Subject, steps, subjects};
use limiters::{Clamp, Limiter, Nanos, Outcome};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseResult, TestRunner};

fn for_each_subject(count: usize, cases: u32, check: impl Fn(&Subject, &[Step]) -> TestCaseResult) {
    for subject in subjects() {
        let config =
            ProptestConfig { cases, failure_persistence: None, max_shrink_iters: 5_000, ..ProptestConfig::default() };
        let mut runner = TestRunner::new_with_rng(
            config,
            proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
        );
        if let Err(failure) = runner.run(&steps(count), |steps| check(&subject, &steps)) {
            panic!("{}: {failure}", subject.label);
        }
    }
}

/// Everything a limiter says about an instant.
fn answers(limiter: &dyn Limiter, now: Nanos, cost: u64) -> (Outcome, u64, Option<Nanos>, Option<Nanos>) {
    (limiter.peek(now, cost), limiter.remaining(now), limiter.retry_after(now, cost), limiter.reset_after(now))
}

/// `remaining`, `retry_after` and `next_increase_after` are right and tight at `now`.
fn check_hints(subject: &Subject, limiter: &dyn Limiter, now: Nanos, cost: u64) -> TestCaseResult {
    let remaining = limiter.remaining(now);
    prop_assert!(remaining <= subject.capacity);
    if !subject.overshoots() {
        prop_assert!(limiter.peek(now, remaining).passes(), "what remains passes");
        prop_assert!(!limiter.peek(now, remaining + 1).passes(), "and not 1 more");
    }
    prop_assert_eq!(limiter.peek(now, 0), Outcome::Admitted, "a peek always passes");
    match (limiter.peek(now, cost), limiter.retry_after(now, cost)) {
        (Outcome::Admitted | Outcome::Delayed { .. }, wait) => prop_assert_eq!(wait, Some(0)),
        (Outcome::NeverFits, wait) => {
            prop_assert!(cost > subject.capacity);
            prop_assert_eq!(wait, None);
        }
        (Outcome::Refused, None) => {
            prop_assert!(cost <= subject.capacity || subject.overshoots());
            prop_assert!(!limiter.peek(u64::MAX, cost).passes(), "never is never");
        }
        (Outcome::Refused, Some(wait)) => {
            prop_assert!(cost <= subject.capacity || subject.overshoots());
            prop_assert!(wait > 0);
            // A permit a day for hundreds of years is due after the end of time.
            let Some(due) = now.checked_add(wait) else {
                prop_assert_eq!(limiter.peek(u64::MAX, cost), Outcome::Refused);
                return Ok(());
            };
            prop_assert!(limiter.peek(due, cost).passes(), "passes after {} ns", wait);
            prop_assert_eq!(limiter.peek(due - 1, cost), Outcome::Refused, "and not 1 ns before {}", wait);
        }
    }
    Ok(())
}

/// The wait until `remaining` grows is sufficient and tight.
fn check_increase(subject: &Subject, limiter: &dyn Limiter, now: Nanos, wait: Option<Nanos>) -> TestCaseResult {
    let remaining = limiter.remaining(now);
    match wait {
        None => prop_assert!(remaining == subject.capacity || limiter.remaining(u64::MAX) == remaining),
        Some(wait) => {
            prop_assert!(limiter.remaining(now + wait) > remaining);
            prop_assert_eq!(limiter.remaining(now + wait - 1), remaining);
        }
    }
    Ok(())
}

#[test]
fn decisions_are_whole_and_hints_are_exact() {
    for_each_subject(60, 24, |subject, steps| {
        let mut limiter = subject.rule.limiter();
        // Sees only what passed: a refusal and a peek must leave no trace.
        let mut shadow = subject.rule.limiter();
        let mut now = DAY;
        for step in steps {
            now += step.gap(subject.quota);
            let cost = step.cost(subject.capacity);
            check_hints(subject, &*limiter, now, cost)?;
            let before = answers(&*limiter, now, cost);
            prop_assert_eq!(before, answers(&*shadow, now, cost));
            prop_assert_eq!(before, answers(&*limiter, now, cost), "asking changes nothing");
            let decision = limiter.decide(now, cost);
            prop_assert_eq!(decision.outcome, before.0);
            if decision.outcome.passes() && cost > 0 {
                shadow.try_acquire(now, cost);
            }
            let taken = if decision.outcome.passes() { cost } else { 0 };
            if subject.counts_down() {
                prop_assert_eq!(decision.remaining, before.1.saturating_sub(taken), "all of the cost or nothing");
            }
            prop_assert_eq!(
                decision.retry_after,
                before.2.filter(|_| !decision.outcome.passes()).or(decision.outcome.passes().then_some(0))
            );
            prop_assert_eq!(decision.reset_after, limiter.reset_after(now));
            check_increase(subject, &*limiter, now, decision.next_increase_after)?;
            let level = limiter.level(now);
            prop_assert!(
                level.available_milli <= level.capacity_milli && (level.available_milli >= 0 || subject.overshoots())
            );
        }
        Ok(())
    });
}

#[test]
fn what_is_given_back_at_once_was_never_taken() {
    for_each_subject(40, 12, |subject, steps| {
        let mut limiter = subject.rule.limiter();
        let mut shadow = subject.rule.limiter();
        let mut now = DAY;
        for (index, step) in steps.iter().enumerate() {
            now += step.gap(subject.quota);
            let cost = step.cost(subject.capacity);
            let outcome = limiter.try_acquire(now, cost);
            if index % 3 == 0 && outcome.passes() {
                limiter.refund(now, now, cost);
            } else {
                prop_assert_eq!(outcome, shadow.try_acquire(now, cost));
            }
            prop_assert_eq!(answers(&*limiter, now, 1), answers(&*shadow, now, 1));
        }
        Ok(())
    });
}

#[test]
fn debts_hold_everything_back_until_they_are_paid() {
    for_each_subject(40, 12, |subject, steps| {
        let mut limiter = subject.rule.limiter();
        let mut now = DAY;
        let mut taken: Vec<(Nanos, u64)> = Vec::new();
        for (index, step) in steps.iter().enumerate() {
            now += step.gap(subject.quota);
            let cost = step.cost(subject.capacity);
            let before = limiter.remaining(now);
            match index % 4 {
                0 => {
                    limiter.charge(now, cost);
                    if subject.counts_down() {
                        prop_assert_eq!(limiter.remaining(now), before.saturating_sub(cost));
                    }
                    taken.push((now, cost));
                }
                1 if !taken.is_empty() => {
                    let (taken_at, cost) = taken[step.cost(1 << 20) as usize % taken.len()];
                    limiter.refund(now, taken_at, cost);
                    let after = limiter.remaining(now);
                    prop_assert!(before <= after && after <= subject.capacity);
                    prop_assert!(u128::from(after) <= u128::from(before) + u128::from(cost));
                }
                _ => {
                    if limiter.try_acquire(now, cost).passes() {
                        taken.push((now, cost));
                    }
                }
            }
            check_hints(subject, &*limiter, now, cost)?;
        }
        if let Some(end) = limiter.reset_after(now).and_then(|reset| now.checked_add(reset)) {
            prop_assert_eq!(limiter.remaining(end), subject.capacity, "debts are paid in the end");
        }
        Ok(())
    });
}

#[test]
fn after_a_reset_a_limiter_cannot_be_told_from_a_fresh_one() {
    for_each_subject(40, 12, |subject, steps| {
        let (first, second) = steps.split_at(steps.len() / 2);
        let mut limiter = subject.rule.limiter();
        let mut now = DAY;
        for step in first {
            now += step.gap(subject.quota);
            limiter.try_acquire(now, step.cost(subject.capacity));
        }
        let Some(end) = limiter.reset_after(now).and_then(|reset| now.checked_add(reset)) else { return Ok(()) };
        now = end;
        let mut fresh = subject.rule.limiter();
        for step in second {
            let cost = step.cost(subject.capacity);
            prop_assert_eq!(answers(&*limiter, now, cost), answers(&*fresh, now, cost));
            prop_assert_eq!(limiter.try_acquire(now, cost), fresh.try_acquire(now, cost));
            now += step.gap(subject.quota);
        }
        Ok(())
    });
}

#[test]
fn a_clock_that_steps_back_admits_what_a_stopped_one_does() {
    for_each_subject(60, 12, |subject, steps| {
        let mut clamped = Clamp::new(subject.rule.limiter());
        let mut plain = subject.rule.limiter();
        let (mut clock, mut high, mut back) = (DAY, 0, 0);
        for (index, step) in steps.iter().enumerate() {
            let gap = step.gap(subject.quota);
            clock = if index % 3 == 2 { clock - gap.min(clock) } else { clock + gap };
            back += u64::from(clock < high);
            high = clock.max(high);
            let cost = step.cost(subject.capacity);
            prop_assert_eq!(clamped.try_acquire(clock, cost), plain.try_acquire(high, cost));
            prop_assert_eq!(clamped.regressions(), back);
        }
        Ok(())
    });
}

#[test]
fn blocks_decide_as_single_requests_do() {
    for_each_subject(60, 4, |subject, steps| {
        let mut now = DAY;
        let times: Vec<Nanos> = steps
            .iter()
            .map(|step| {
                now += step.gap(subject.quota);
                now
            })
            .collect();
        let costs: Vec<u64> = steps.iter().map(|step| step.cost(subject.capacity)).collect();
        let mut block = vec![Outcome::Refused; steps.len()];
        subject.rule.limiter().run(&times, &costs, &mut block);
        let mut single = subject.rule.limiter();
        let singly: Vec<Outcome> = times.iter().zip(&costs).map(|(&at, &cost)| single.try_acquire(at, cost)).collect();
        prop_assert_eq!(block, singly);
        Ok(())
    });
}

/// What a limiter remembers depends on its parameters and on the traffic of a window, not on how long it has run.
#[test]
fn memory_does_not_grow_with_time() {
    for subject in subjects() {
        let mut limiter = subject.rule.limiter();
        let gap = subject.quota.window / 3 + 1;
        let mut run = |turns: std::ops::Range<u64>| {
            turns.for_each(|turn| _ = limiter.try_acquire(turn * gap, 1));
            limiter.state_bytes()
        };
        assert_eq!(run(0..20), run(20..2_000), "{}", subject.label);
    }
}
