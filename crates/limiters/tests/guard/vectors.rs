//! The vector files about clocks that step back and about composition, row by row.

use crate::support::{S, bucket, guard, rule, rule_with};
use limiters::{AnyRule, Clamp, Limiter, Meter, Outcome, Quota, Request, Settings, Stack, Value};

/// The cells of a CSV line; a cell in quotes may hold commas.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut quoted) = (vec![String::new()], false);
    for character in line.chars() {
        match character {
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(String::new()),
            _ => cells.last_mut().unwrap().push(character),
        }
    }
    cells
}

fn wait(wait: Option<u64>) -> String {
    wait.map_or("never".into(), |wait| wait.to_string())
}

/// The rule that a row of file 06 describes: four permits per 10 s in each algorithm's own words.
fn described(algorithm: &str, params: &str) -> Box<dyn AnyRule> {
    let quota = Settings::new(Quota { limit: 4, window: 10 * S, burst: 4 });
    let (name, settings) = match (algorithm, params) {
        ("fixed_window", "limit=4;window_ns=10000000000") => ("fixed-window", quota),
        ("fixed_window_first", "limit=4;window_ns=10000000000") => {
            ("fixed-window", quota.with("anchor", Value::Choice("first-request")))
        }
        ("gcra", "T_ns=2500000000;tau_ns=7500000000") => {
            let interval = quota.with("emission-interval", Value::Duration(2_500_000_000));
            ("gcra", interval.with("tolerance", Value::Duration(7_500_000_000)))
        }
        ("gcra_scaled", "capacity=4;tokens=4;per_ns=10000000000") => ("gcra", quota),
        ("leaky_meter", "capacity=4;tokens=4;per_ns=10000000000") => ("leaky-bucket-meter", quota),
        ("leaky_queue", "queue=3;tokens=4;per_ns=10000000000") => {
            ("leaky-bucket", quota.with("queue", Value::Permits(3)))
        }
        ("sliding_counter", "limit=4;window_ns=10000000000;rounding=exact") => {
            ("sliding-window-counter", quota.with("rounding", Value::Choice("exact")))
        }
        ("sliding_counter", "limit=4;window_ns=10000000000;rounding=floor") => ("sliding-window-counter", quota),
        ("sliding_log", "limit=4;window_ns=10000000000;closed=0") => ("sliding-window-log", quota),
        ("sliding_log", "limit=4;window_ns=10000000000;closed=1") => {
            ("sliding-window-log", quota.with("edge", Value::Choice("closed")))
        }
        ("sub_buckets", params) => {
            let mode = ["tight", "safe", "weighted"]
                .into_iter()
                .find(|mode| params == format!("limit=4;window_ns=10000000000;buckets=10;mode={mode}"));
            let segments = quota.with("segments", Value::Permits(10));
            ("sliding-window-segments", segments.with("mode", Value::Choice(mode.expect("a known mode"))))
        }
        ("token_bucket", "capacity=4;tokens=4;per_ns=10000000000") => ("token-bucket", quota),
        ("token_bucket_interval", "capacity=4;per_fill=4;interval_ns=10000000000;anchor_ns=0") => {
            ("token-bucket-interval", quota)
        }
        other => panic!("{other:?} is not in this file"),
    };
    rule_with(name, settings)
}

#[test]
fn clocks_that_step_back() {
    let (mut case, mut cases, mut rows) = (String::new(), 0, 0);
    let mut limiter: Option<Clamp<Box<dyn Limiter + Send>>> = None;
    for line in include_str!("vectors/06_clock_backwards.csv").lines().skip(1) {
        let cell = cells(line);
        if cell[0] != case {
            case.clone_from(&cell[0]);
            cases += 1;
            limiter = Some(Clamp::new(described(&cell[1], &cell[2]).limiter()));
        }
        let limiter = limiter.as_mut().expect("made at the first row of a case");
        let (now, cost) = (cell[3].parse().unwrap(), cell[4].parse().unwrap());
        let decision = limiter.decide(now, cost);
        assert_eq!(decision.outcome.passes(), cell[5] == "allow", "{line}");
        assert_eq!(decision.remaining.to_string(), cell[6], "{line}");
        assert_eq!(wait(decision.retry_after), cell[7], "{line}");
        assert_eq!(wait(decision.reset_after), cell[8], "{line}");
        if !cell[9].is_empty() && decision.outcome.passes() {
            let start = decision.outcome.starts(limiter.high_water()).unwrap();
            assert_eq!((start - limiter.high_water()).to_string(), cell[9], "{line}");
        }
        rows += 1;
    }
    assert_eq!((cases, rows), (15, 255));
}

fn parts(params: &str) -> Stack {
    Stack::new(match params {
        "parts=fixed_window(100/60s)+token_bucket(1,1/s);commit=and_two_phase" => {
            vec![guard(Meter::Requests, &*rule("fixed-window", 100, 60 * S)), guard(Meter::Requests, &*bucket(1, 1, S))]
        }
        "parts=token_bucket(5,1/s)+sliding_log(3/10s)+spend_cap(20,cost*2)" => vec![
            guard(Meter::Requests, &*bucket(5, 1, S)),
            guard(Meter::Requests, &*rule("sliding-window-log", 3, 10 * S)),
            guard(Meter::Spend, &*rule("spend-cap", 20, S)),
        ],
        other => panic!("{other} is not in this file"),
    })
}

#[test]
fn composition() {
    let (mut case, mut stack, mut rows) = (String::new(), Stack::default(), 0);
    for line in include_str!("vectors/11_composition.csv").lines().skip(1) {
        let cell = cells(line);
        assert_eq!(cell[1], "all", "only the right composition is kept");
        if cell[0] != case {
            case.clone_from(&cell[0]);
            stack = parts(&cell[2]);
        }
        let (at, requests): (u64, u64) = (cell[3].parse().unwrap(), cell[4].parse().unwrap());
        let request = Request { at, requests, microusd: 2 * requests, ..Request::default() };
        let outcome = stack.try_acquire(&request).outcome;
        let expected = match &cell[5][..] {
            "allow" => Outcome::Admitted,
            "deny" => Outcome::Refused,
            "err_cost" => Outcome::NeverFits,
            other => panic!("{other}"),
        };
        assert_eq!(outcome, expected, "{line}");
        // The file's remaining is the least over the parts, each in its own unit.
        let left = stack.guards().iter().map(|guard| guard.store().unwrap().remaining(0, at)).min().unwrap();
        assert_eq!(left.to_string(), cell[6], "{line}");
        let retry = if outcome.passes() { Some(0) } else { stack.retry_after(&request) };
        assert_eq!(wait(retry), cell[7], "{line}");
        let resets = stack.guards().iter().map(|guard| guard.store().unwrap().reset_after(0, at));
        let reset = resets.into_iter().try_fold(0, |longest, wait| Some(wait?.max(longest)));
        assert_eq!(wait(reset), cell[8], "{line}");
        rows += 1;
    }
    assert_eq!(rows, 1_411);
}
