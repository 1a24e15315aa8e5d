//! `workbench list`: what there is, from the same registries that everything else iterates.

use crate::cli::{ListArgs, Listing};
use crate::problem::{Problem, print};
use limiters::{ALGORITHMS, Kind, Param, SERVERS};
use replay::scenario::Scenario;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use traffic::clients::spec::{Client, Cost, Policy, Retry};
use traffic::clients::{LIBRARIES, PRESETS, PRICES_AS_OF};
use traffic::spec::Amount;

/// Prints one listing, or all of them.
pub fn list(args: &ListArgs) -> Result<(), Problem> {
    let sections: [(Listing, fn() -> String); 6] = [
        (Listing::Algorithms, algorithms),
        (Listing::Patterns, patterns),
        (Listing::Clients, clients),
        (Listing::Prices, prices),
        (Listing::Formats, formats),
        (Listing::Scenarios, scenarios),
    ];
    let chosen = sections.iter().filter(|(what, _)| args.what.is_none_or(|wanted| wanted == *what));
    let text: Vec<String> = chosen.map(|(_, section)| section()).collect();
    print(&text.join("\n"))
}

/// A name and what it is, in two columns.
fn line(text: &mut String, name: &str, what: &str) {
    let _ = writeln!(text, "  {name:<26} {what}");
}

fn algorithms() -> String {
    let mut text = "algorithms ([[limiter]] algorithm = \"…\"; * runs by default)\n".to_owned();
    for algorithm in ALGORITHMS.iter().chain(SERVERS) {
        let star = if algorithm.default { "*" } else { " " };
        line(&mut text, &format!("{star} {}", algorithm.name), algorithm.summary);
        for param in algorithm.params {
            line(&mut text, &format!("      {}", param.name), &format!("{}: {}", takes(param), param.doc));
        }
    }
    text
}

fn takes(param: &Param) -> String {
    match param.kind {
        Kind::Permits { .. } => "whole number".into(),
        Kind::Duration => "duration".into(),
        Kind::Rate => "rate".into(),
        Kind::Choice(words) => words.join(" | "),
        #[allow(unreachable_patterns)]
        _ => "see scenarios/README.md".into(),
    }
}

fn patterns() -> String {
    let mut text = "arrival patterns ([[traffic.NAME]])\n".to_owned();
    for pattern in traffic::PATTERNS {
        line(&mut text, pattern.name, pattern.summary);
    }
    text
}

fn clients() -> String {
    let mut text = "clients ([[client]] preset = \"…\"; median/p90 of a lognormal)\n".to_owned();
    for preset in PRESETS {
        line(&mut text, preset.name, preset.summary);
        line(&mut text, "", &parameters(&(preset.client)(preset.name)));
        line(&mut text, "", &format!("source: {}", preset.source));
    }
    text.push_str("\nretries of client libraries ([client.retry] library = \"…\")\n");
    for library in LIBRARIES {
        line(&mut text, library.name, library.summary);
        line(&mut text, "", &format!("source: {}", library.source));
    }
    text
}

fn parameters(client: &Client) -> String {
    let mut words = vec![
        format!("think {}", spread(&client.think, &time)),
        format!("latency {}", spread(&client.latency, &time)),
        format!("count {}", client.count),
        format!("concurrency {}", client.concurrency),
        format!("call {}", cost(&client.per_call)),
        format!("turn {}", cost(&client.per_turn)),
    ];
    if let Some(useful) = client.useful_calls {
        words.push(format!("useful calls {useful}"));
    }
    if let Some(turns) = client.limits.max_turns {
        words.push(format!("at most {turns} turns"));
    }
    if let Some((steps, wait)) = &client.requests {
        words.push(format!("{} steps, then {}", spread(steps, &|n| format!("{n}")), spread(wait, &time)));
    }
    if let Some(fan_out) = client.fan_out {
        let (children, depth) = (fan_out.children, fan_out.max_depth);
        words.push(format!("spawns {children} with probability {}, depth {depth}", fan_out.probability));
    }
    words.extend(client.retry.iter().map(retries));
    words.join(", ")
}

/// A retry loop in words.
fn retries(retry: &Retry) -> String {
    let base = time(retry.base as f64);
    let wait = match retry.policy {
        Policy::None => return "no retries".into(),
        Policy::Immediate => "at once".to_owned(),
        Policy::Fixed => format!("after {base}"),
        Policy::Exponential => format!("after {base}·{}ⁿ", retry.multiplier),
    };
    match retry.max_attempts {
        0 => format!("retries {wait} for ever"),
        tries => format!("{tries} tries, retries {wait}"),
    }
}

fn time(nanos: f64) -> String {
    limiters::Span(nanos as u64).to_string()
}

fn money(micro: f64) -> String {
    format!("${}", micro / 1e6)
}

fn spread(amount: &Amount, unit: &dyn Fn(f64) -> String) -> String {
    match amount {
        Amount::Constant(value) => unit(*value as f64),
        Amount::Uniform { min, max } => format!("{} to {}", unit(*min as f64), unit(*max as f64)),
        Amount::Lognormal { median, p90, .. } => format!("{}/{}", unit(*median), unit(*p90)),
        Amount::Exponential { mean, .. } => format!("exponential, mean {}", unit(*mean)),
        Amount::Pareto { min, shape, .. } => format!("Pareto from {}, exponent {shape}", unit(*min)),
    }
}

fn cost(cost: &Cost) -> String {
    match cost {
        Cost::Free => "free".into(),
        Cost::Money(amount) => spread(amount, &money),
        Cost::Tokens { price, .. } => format!("tokens at {}", price.name),
        Cost::Context { base, grows, compact_at, price, .. } => {
            format!("{base} tokens and {grows} more each turn up to {compact_at}, at {}", price.name)
        }
    }
}

fn prices() -> String {
    let mut text =
        format!("prices as of {PRICES_AS_OF} (price = \"…\" in [client.cost], and --prices); tokens by the million\n");
    for price in traffic::clients::prices() {
        let dollars = |pico: u64, per: f64| format!("${}", pico as f64 * per / 1e12);
        let mut words = vec![price.what.clone()];
        if price.call > 0 {
            words.push(dollars(price.call, 1.0));
        }
        let tokens = [
            ("in", price.input),
            ("out", price.output),
            ("cache read", price.cache_read),
            ("cache write", price.cache_write),
            ("for an hour", if price.cache_write_hour == price.cache_write { 0 } else { price.cache_write_hour }),
        ];
        words.extend(
            tokens.iter().filter(|one| one.1 > 0).map(|(what, pico)| format!("{what} {}", dollars(*pico, 1e6))),
        );
        if !price.models.is_empty() {
            words.push(format!("in logs {}", price.models.join(" or ")));
        }
        line(&mut text, &price.name, &format!("{} ({})", words.join(", "), price.source));
    }
    text
}

fn formats() -> String {
    let mut text = "formats of recorded traffic ([[traffic.trace]] format = \"…\", or --format)\n".to_owned();
    for format in traffic::traces::FORMATS {
        line(&mut text, format.name, format.summary);
    }
    text.push_str(TIMES);
    text
}

/// How times may be written.
const TIMES: &str = "
times in any of them: 2026-01-31T13:05:01.5Z (ISO 8601), 31/Jan/2026:13:05:01 +0000 (Common Log Format), numbers of
  seconds down to nanoseconds, Sat, 31 Jan 2026 13:05:01 GMT (mail, HTTP), Sat Jan 31 13:05:01 UTC 2026 (date, ctime),
  31.01.2026 13:05:01. Without a zone they are UTC. Not read, since they can mean two things: 01/02/2026, zones such as
  CET, and a spreadsheet's days such as 46053.5
";

fn scenarios() -> String {
    let mut text = "scenarios (workbench run FILE)\n".to_owned();
    let mut files: Vec<PathBuf> = std::fs::read_dir("scenarios")
        .map(|folder| folder.flatten().map(|entry| entry.path()).filter(|path| is_toml(path)).collect())
        .unwrap_or_default();
    files.sort();
    if files.is_empty() {
        text.push_str("  none: there is no folder `scenarios` with .toml files here\n");
    }
    for file in files {
        let what = match Scenario::load(&file) {
            Ok(scenario) => scenario.summary,
            Err(problems) => format!("{} problems: see workbench check {}", problems.len(), file.display()),
        };
        line(&mut text, &file.display().to_string(), &what);
    }
    text
}

fn is_toml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "toml")
}
