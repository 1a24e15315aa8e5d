//! The vector files: recorded input with the right answer, row by row, for every algorithm.

use limiters::{AnyRule, Clamp, Limiter, Outcome, Plain, Quota, Rate, Settings, Unlimited, Value, algorithm};
use std::collections::HashMap;

/// File, rows that are run, rows that a `u64` cost cannot express (negative costs).
const FILES: [(&str, usize, usize); 13] = [
    ("01_seed_a_boundary_burst.csv", 3045, 0),
    ("02_seed_b_burst_then_loop.csv", 18150, 0),
    ("03_seed_c_leaky_queue.csv", 237, 0),
    ("04_boundaries.csv", 210, 0),
    ("05_costs.csv", 210, 15),
    ("06_clock_backwards.csv", 255, 0),
    ("07_sliding_counter_worst.csv", 1620, 0),
    ("08_worst_traces.csv", 326, 0),
    ("09_rational_rates.csv", 4230, 0),
    ("10_interval_refill.csv", 33, 0),
    ("14_spend_cap.csv", 14, 0),
    ("19_redis_cell_table.csv", 15, 0),
    ("20_random.csv", 8700, 0),
];

#[test]
fn every_row_of_every_file() {
    for (file, rows, negative) in FILES {
        let ran = run(file);
        assert_eq!(ran, (rows, negative), "{file}: rows run, rows with a negative cost");
    }
}

fn run(file: &str) -> (usize, usize) {
    let path = format!("{}/tests/vectors/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the vector file is part of the crate");
    let mut lines = text.lines().map(fields);
    assert_eq!(lines.next().unwrap()[..5], ["case", "algorithm", "params", "t_ns", "cost"]);
    let (mut ran, mut negative) = (0, 0);
    let mut case = String::new();
    let mut limiter: Clamp<Box<dyn Limiter + Send>> = Clamp::new(Box::new(Plain::new(Unlimited)));
    for (index, row) in lines.enumerate() {
        let [name, kind, params, at, cost, decision, remaining, retry, reset, delay, ..] = &row[..] else {
            panic!("{file}: a short row {row:?}")
        };
        let at: u64 = at.parse().unwrap();
        if *name != case {
            case.clone_from(name);
            limiter = Clamp::new(build(kind, params, at).limiter());
        }
        let Ok(cost) = cost.parse::<u64>() else {
            assert_eq!((decision.as_str(), cost.starts_with('-')), ("err_neg", true), "{row:?}");
            negative += 1;
            continue;
        };
        let context = format!("{file} line {}: {row:?}", index + 2);
        let peeked = limiter.peek(at, cost);
        let decided = limiter.decide(at, cost);
        let latest = limiter.high_water();
        assert_eq!(peeked, decided.outcome, "{context}");
        let word = match decided.outcome {
            Outcome::Admitted | Outcome::Delayed { .. } => "allow",
            Outcome::Refused => "deny",
            Outcome::NeverFits => "err_cost",
        };
        assert_eq!(word, decision, "{context}");
        assert_eq!(decided.remaining.to_string(), *remaining, "{context}");
        assert_eq!(wait(decided.retry_after), *retry, "{context}");
        assert_eq!(wait(decided.reset_after), *reset, "{context}");
        let delayed = decided.outcome.starts(latest).unwrap_or(latest) - latest;
        assert_eq!(delayed.to_string(), if delay.is_empty() { "0" } else { delay }, "{context}");
        ran += 1;
    }
    (ran, negative)
}

fn wait(wait: Option<u64>) -> String {
    wait.map_or("never".into(), |wait| wait.to_string())
}

/// The fields of a line; a quoted one may hold commas.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut quoted) = (vec![String::new()], false);
    for char in line.chars() {
        match char {
            '"' => quoted = !quoted,
            ',' if !quoted => fields.push(String::new()),
            _ => fields.last_mut().unwrap().push(char),
        }
    }
    fields
}

/// The vectors' own names for algorithms and parameters, translated. `first` is when the case starts.
fn build(kind: &str, params: &str, first: u64) -> Box<dyn AnyRule> {
    let params: HashMap<&str, &str> = params.split(';').filter_map(|param| param.split_once('=')).collect();
    let number = |name: &str| params[name].parse::<u64>().unwrap();
    let windows = || Settings::new(Quota { limit: number("limit"), window: number("window_ns"), burst: 1 });
    let rate = || Rate::new(number("tokens"), number("per_ns")).unwrap();
    let bucket = || {
        let quota = Quota { limit: number("tokens"), window: number("per_ns"), burst: number("capacity") };
        Settings::new(quota)
    };
    let word = |name: &str, choices: &[&'static str]| {
        let wanted = params[name].replace('_', "-");
        Value::Choice(choices.iter().find(|choice| **choice == wanted).expect("a known word"))
    };
    let plain = Quota { limit: 1, window: 1, burst: 1 };
    let (name, settings) = match kind {
        "fixed_window" => ("fixed-window", windows().with("anchor", Value::Choice("wall-clock"))),
        "fixed_window_first" => ("fixed-window", windows().with("anchor", Value::Choice("first-request"))),
        "sliding_log" => {
            let edge = if params["closed"] == "1" { "closed" } else { "half-open" };
            ("sliding-window-log", windows().with("edge", Value::Choice(edge)))
        }
        "sliding_counter" => {
            let rounding = word("rounding", &["floor", "exact"]);
            ("sliding-window-counter", windows().with("rounding", rounding))
        }
        "sub_buckets" => {
            let mode = word("mode", &["tight", "safe", "weighted"]);
            let settings = windows().with("segments", Value::Permits(number("buckets"))).with("mode", mode);
            ("sliding-window-segments", settings)
        }
        "token_bucket" => ("token-bucket", bucket()),
        "leaky_meter" => ("leaky-bucket-meter", bucket()),
        "gcra_scaled" => ("gcra", bucket()),
        "gcra" => {
            let settings = Settings::new(plain).with("emission-interval", Value::Duration(number("T_ns")));
            ("gcra", settings.with("tolerance", Value::Duration(number("tau_ns"))))
        }
        "token_bucket_interval" => {
            // Without an anchor, ticks count from the first request.
            let offset = params.get("anchor_ns").map_or(first, |anchor| anchor.parse().unwrap());
            let settings = Settings::new(plain)
                .with("capacity", Value::Permits(number("capacity")))
                .with("per-tick", Value::Permits(number("per_fill")))
                .with("tick", Value::Duration(number("interval_ns")))
                .with("offset", Value::Duration(offset));
            ("token-bucket-interval", settings)
        }
        "leaky_queue" => {
            let settings = Settings::new(plain).with("queue", Value::Permits(number("queue")));
            ("leaky-bucket", settings.with("drain", Value::Rate(rate())))
        }
        "spend_cap" => {
            let settings = Settings::new(plain).with("cap", Value::Permits(number("cap")));
            ("spend-cap", settings.with("check", word("mode", &["strict", "check-before"])))
        }
        other => panic!("no algorithm for {other}"),
    };
    (algorithm(name).unwrap().build)(&settings).unwrap()
}
