//! What is found by going through packed rows, some of them in a temporary file, is what its definition says of a list.

use limiters::{AnyRule, Meter, Nanos, Outcome, Rate, Settings, algorithm};
use proptest::prelude::*;
use replay::inspect::{Inspection, Loaded, Metered, inspect};
use replay::size::frontier::{Sides, frontier};
use replay::size::{Ask, Demand, Given, Sizable, keys, plan, rates, sigmas};
use std::collections::BTreeMap;
use std::fmt::Write;
use traffic::spec::Trace;
use traffic::traces::{Limits, Stream, read_within};

/// Time, key, cost, input tokens, output tokens, micro-dollars.
type Line = (Nanos, u64, [u64; 4]);

/// A file of these lines, of which few fit a block, a run and memory.
fn loaded(lines: &[Line], limits: &Limits) -> Loaded {
    let mut text = "at_ns,key,cost,input_tokens,output_tokens,price_microusd\n".to_owned();
    for (at, key, [cost, input, output, price]) in lines {
        writeln!(text, "{at},k{key},{cost},{input},{output},{price}").unwrap();
    }
    let spec = Trace { repeat: 1, ..Trace::default() };
    let stream = Stream::from_reader(&spec, std::io::Cursor::new(text.into_bytes())).unwrap();
    Loaded::new(read_within(&spec, stream, limits, &mut |_| {}).unwrap()).unwrap()
}

fn limits() -> impl Strategy<Value = Limits> {
    let memory = prop_oneof![Just(0), 0..2000usize];
    (1..9usize, 1..30usize, memory).prop_map(|(chunk, run, memory)| Limits {
        chunk,
        block: chunk.div_ceil(2),
        run,
        memory,
        folder: None,
    })
}

/// Mostly forward, in steps that meet windows, and sometimes back.
fn lines() -> impl Strategy<Value = Vec<Line>> {
    let step = prop_oneof![6 => 0i64..5, 2 => Just(10i64), 1 => -9i64..0, 1 => 0i64..3_000];
    let amounts = (0..4u64, 0..30u64, 0..30u64, 0..9u64);
    prop::collection::vec((step, 0..5u64, amounts), 1..90).prop_map(|lines| {
        let mut now = 0u64;
        let line = |(step, key, (cost, input, output, price))| {
            now = now.saturating_add_signed(step);
            (now, key, [cost, input, output, price])
        };
        lines.into_iter().map(line).collect()
    })
}

/// In time order with dense keys, numbered as they come in the file, and what a meter counts.
fn sorted(lines: &[Line], meter: Meter) -> Vec<(Nanos, u64, u64)> {
    let mut numbers = BTreeMap::new();
    for (_, key, _) in lines {
        let next = numbers.len() as u64;
        numbers.entry(*key).or_insert(next);
    }
    let amount = |[cost, input, output, price]: [u64; 4]| match meter {
        Meter::Requests => cost,
        Meter::InputTokens => input,
        Meter::OutputTokens => output,
        Meter::Tokens => input + output,
        Meter::Spend => price,
    };
    let mut rows: Vec<_> = lines.iter().map(|(at, key, amounts)| (*at, numbers[key], amount(*amounts))).collect();
    rows.sort_by_key(|(at, ..)| *at);
    rows
}

/// The most in any half-open window, and where the first that has it begins: at the oldest request that is less than
/// `window` before the last one in it.
fn busiest(rows: &[(Nanos, u64, u64)], window: Nanos) -> (u64, Nanos) {
    let sum =
        |from: Nanos, last: Nanos| rows.iter().filter(|row| from <= row.0 && row.0 <= last).map(|row| row.2).sum();
    let mut most = (0, 0);
    for &(last, ..) in rows {
        let from = rows.iter().map(|row| row.0).find(|at| last < at + window).unwrap();
        most = if sum(from, last) > most.0 { (sum(from, last), from) } else { most };
    }
    let any = rows.iter().map(|row| sum(row.0, row.0 + window - 1)).max();
    assert_eq!(most.0, any.unwrap_or(0));
    most
}

fn on_the_wall(rows: &[(Nanos, u64, u64)], window: Nanos) -> u64 {
    let mut sums = BTreeMap::new();
    rows.iter().for_each(|row| *sums.entry(row.0 / window).or_insert(0) += row.2);
    sums.into_values().max().unwrap_or(0)
}

fn of_key(rows: &[(Nanos, u64, u64)], key: u64) -> Vec<(Nanos, u64, u64)> {
    rows.iter().filter(|row| row.1 == key).copied().collect()
}

fn check(lines: &[Line], found: &Inspection, file: &Loaded, windows: &[Nanos]) {
    let keys = file.keys() as u64;
    for amount in &found.amounts {
        let meter = Meter::ALL.iter().find(|(_, name)| *name == amount.meter).unwrap().0;
        let rows = sorted(lines, meter);
        assert_eq!(amount.total, rows.iter().map(|row| row.2).sum::<u64>());
        assert_eq!(Some(amount.largest), rows.iter().map(|row| row.2).max());
        for (window, &length) in amount.windows.iter().zip(windows) {
            assert_eq!((window.sliding, window.sliding_from_ns), busiest(&rows, length), "{meter:?} {length}");
            assert_eq!(window.aligned, on_the_wall(&rows, length), "{meter:?} {length}");
            assert!(window.aligned <= window.sliding && window.sliding <= 2 * window.aligned);
            let one = (0..keys).map(|key| (busiest(&of_key(&rows, key), length).0, std::cmp::Reverse(key))).max();
            let (most, std::cmp::Reverse(key)) = one.unwrap();
            assert_eq!((window.one_key, &window.busiest_key), (most, &file.key_name(key)), "{meter:?} {length}");
        }
    }
    let rows = sorted(lines, Meter::Requests);
    let mut counts: Vec<(u64, u64)> = (0..keys).map(|key| (of_key(&rows, key).len() as u64, key)).collect();
    counts.sort_by_key(|(count, key)| (std::cmp::Reverse(*count), *key));
    let top: Vec<_> = found.top_keys.iter().map(|top| (top.requests, top.key.clone())).collect();
    let expected: Vec<_> = counts.iter().take(3).map(|(count, key)| (*count, file.key_name(*key))).collect();
    assert_eq!(top, expected);
    let mut gaps: Vec<Nanos> = rows.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    gaps.sort_unstable();
    let of = &found.gaps;
    assert_eq!(of.count, gaps.len() as u64);
    if gaps.is_empty() {
        return;
    }
    let at = |permille: usize| gaps[(gaps.len() * permille).div_ceil(1000).max(1) - 1];
    let quantiles = [of.p1_ns, of.p10_ns, of.p50_ns, of.p90_ns, of.p99_ns, of.max_ns];
    assert_eq!(quantiles, [10, 100, 500, 900, 990, 1000].map(at));
    assert_eq!(of.zero, gaps.iter().filter(|gap| **gap == 0).count() as u64);
    assert_eq!(of.mean_ns, gaps.iter().sum::<u64>() / gaps.len() as u64);
    for row in &of.rows {
        assert_eq!(row.gaps, gaps.iter().filter(|gap| **gap <= row.gap_ns).count() as u64);
    }
    assert_eq!(of.rows.last().map_or(0, |row| row.gap_ns), at(1000));
}

const NAMES: [&str; 7] = [
    "token-bucket",
    "gcra",
    "leaky-bucket",
    "token-bucket-interval",
    "fixed-window",
    "sliding-window-log",
    "sliding-window-counter",
];

/// The outcomes of a fresh store for each row, one at a time.
fn outcomes(rows: &[(Nanos, u64, u64)], rule: &dyn AnyRule, per_key: bool) -> Vec<Outcome> {
    let mut store = rule.store(per_key);
    rows.iter().map(|&(at, key, cost)| store.try_acquire(key, at, cost)).collect()
}

proptest! {
    #[test]
    fn inspection_is_what_its_definitions_say(
        lines in lines(),
        limits in limits(),
        windows in prop::collection::vec(1..200u64, 1..4),
    ) {
        let file = loaded(&lines, &limits);
        check(&lines, &inspect(&file, &windows, 3).unwrap(), &file, &windows);
    }

    /// Whether requests are held in columns or unpacked each time, a plan is the same.
    #[test]
    fn plans_do_not_depend_on_what_is_held(
        lines in lines(),
        limits in limits(),
        name in prop::sample::select(&NAMES[..]),
        per_key in any::<bool>(),
        meter in any::<prop::sample::Index>(),
        given in prop::collection::vec((1..30u64, 1..300u64), 1..4),
        (blocked, holdout, keys_at) in (0..3u64, 0..3u64, prop::option::of(50..=100u64)),
    ) {
        let file = loaded(&lines, &limits);
        let meters: Vec<Meter> = file.meters().collect();
        let meter = *meter.get(&meters);
        let sized = Sizable::named(name).unwrap();
        let given: Vec<Given> = given.into_iter().map(|(limit, window)| Given { limit, window }).collect();
            let [packed, held] = [0, u64::MAX].map(|held| {
                let asked = Metered::within(&file, meter, held).unwrap();
                let prices = file.has.1.then(|| Metered::within(&file, Meter::Spend, held).unwrap());
                let demand = Demand { asked, per_key };
                let ask = Ask {
                    sized,
                    given: given.clone(),
                    blocked: (blocked, 10),
                    holdout: (holdout, 10),
                    peak: Some((20, 100)),
                    backend: Some((9, 50)),
                    spend: prices.as_ref().map(|prices| (30, 50, prices)),
                    keys_at: keys_at.map(|percent| (percent, 100)),
                };
                let plan = plan(&demand, &ask).unwrap();
                let rogue: Vec<bool> = (0..file.keys()).map(|key| key % 2 == 0).collect();
                let legit: Vec<bool> = rogue.iter().map(|rogue| !rogue).collect();
                let sides = Sides { rogue: &rogue, legit: &legit, worth: prices.as_ref(), unit: "micro-dollars" };
                let tried = frontier(&demand, &sized, &given[..1], &sides).unwrap();
                let facts = (demand.len(), demand.permits(), demand.largest(), demand.asked.ends());
                let rules = given.iter().filter_map(|given| given.rule(&sized, 3));
                let losses: Vec<_> = rules.map(|rule| keys::losses(&demand, rule.as_ref()).unwrap()).collect();
                let found = (plan.candidates, plan.knee, plan.chosen);
                (format!("{found:?}"), tried, facts, rates(&demand).unwrap(), losses)
            });
            prop_assert_eq!(packed, held);
    }

    #[test]
    fn what_is_refused_passes_and_is_needed_is_what_a_list_says(
        lines in lines(),
        limits in limits(),
        name in prop::sample::select(&NAMES[..]),
        per_key in any::<bool>(),
        (limit, length, value, window) in (1..30u64, 1..300u64, 1..9u64, 1..200u64),
        share in 0..=100u64,
    ) {
        let file = loaded(&lines, &limits);
        let demand = Demand { asked: Metered::within(&file, Meter::Requests, 0).unwrap(), per_key };
        let rows = sorted(&lines, Meter::Requests);
        let given = Given { limit, window: length };
        let sized = Sizable::named(name).unwrap();
        let rule = given.rule(&sized, value).unwrap();
        let outcomes = outcomes(&rows, rule.as_ref(), per_key);
        let from = rows.len() * share as usize / 100;
        let refused = demand.refused_from(rule.as_ref(), from).unwrap();
        let lost: Vec<_> = rows.iter().zip(&outcomes).skip(from).filter(|(_, outcome)| !outcome.passes()).collect();
        prop_assert_eq!(refused.requests, lost.len() as u64);
        prop_assert_eq!(refused.permits, lost.iter().map(|(row, _)| row.2).sum::<u64>());

        let starts = |amounts: &[(Nanos, u64, u64)]| {
            let all = rows.iter().zip(amounts).zip(&outcomes);
            let mut starts: Vec<_> =
                all.filter_map(|((row, counts), outcome)| Some((outcome.starts(row.0)?, 0, counts.2))).collect();
            starts.sort_by_key(|(at, ..)| *at);
            busiest(&starts, window).0
        };
        prop_assert_eq!(demand.passed(rule.as_ref(), None, window).unwrap(), starts(&rows));
        if file.has.1 {
            let prices = Metered::within(&file, Meter::Spend, 0).unwrap();
            let spent = demand.passed(rule.as_ref(), Some(&prices), window).unwrap();
            prop_assert_eq!(spent, starts(&sorted(&lines, Meter::Spend)));
        }

        let limiters = if per_key { file.keys() as u64 } else { 1 };
        let own = |limiter: u64| if per_key { of_key(&rows, limiter) } else { rows.clone() };
        let expected: Option<Vec<u64>> = match name {
            "sliding-window-log" => Some((0..limiters).map(|one| busiest(&own(one), length).0).collect()),
            "fixed-window" => Some((0..limiters).map(|one| on_the_wall(&own(one), length)).collect()),
            "token-bucket" | "gcra" | "leaky-bucket" => {
                let needed = |limiter| {
                    let strict = |capacity: u64| Given { limit, window: length }.quota(sized.family, capacity);
                    let nobody = |capacity: &u64| {
                        let rule = (algorithm(name).unwrap().build)(&Settings::new(strict(*capacity))).unwrap();
                        self::outcomes(&own(limiter), rule.as_ref(), false).iter().all(|outcome| outcome.passes())
                    };
                    if own(limiter).iter().all(|row| row.2 == 0) { 0 } else { (1..).find(nobody).unwrap() }
                };
                Some((0..limiters).map(needed).collect())
            }
            _ => None,
        };
        prop_assert_eq!(keys::needs(&demand, &sized, given).unwrap(), expected.clone());
        if let Some(expected) = expected.filter(|_| sized.obeys_sigma) {
            prop_assert_eq!(sigmas(&demand, Rate::new(limit, length).unwrap()).unwrap(), expected);
        }
    }
}
