//! Packed rows come back as a naive model has them, however small chunks, runs and memory are.

use super::super::pass::Columns;
use super::super::recorded::{Recorded, read_within};
use super::super::stream::Stream;
use super::Limits;
use crate::spec::Trace;
use crate::{Source, TrafficError};
use limiters::{Batch, Meter, Nanos};
use proptest::prelude::*;
use std::fmt::Write;

/// Time, key, cost, input tokens, output tokens, micro-dollars.
type Line = (Nanos, u8, [u64; 4]);

fn text(lines: &[Line]) -> String {
    let mut text = "at_ns,key,cost,input_tokens,output_tokens,price_microusd\n".to_owned();
    for (at, key, [cost, input, output, price]) in lines {
        writeln!(text, "{at},k{key},{cost},{input},{output},{price}").unwrap();
    }
    text
}

fn read(lines: &[Line], spec: &Trace, limits: &Limits) -> Result<Recorded, TrafficError> {
    let bytes = std::io::Cursor::new(text(lines).into_bytes());
    read_within(spec, Stream::from_reader(spec, bytes)?, limits, &mut |_| {})
}

/// Everything in one run in memory.
fn ample() -> Limits {
    Limits::default()
}

fn tiny(chunk: usize, run: usize, memory: usize) -> Limits {
    Limits { chunk, block: chunk.div_ceil(2), run, memory, folder: None }
}

/// Times, names of keys and amounts as they are played until `end`, and how many rows are not.
fn played(recorded: Recorded, end: Nanos, max: usize) -> (Vec<(Nanos, String, [u64; 4])>, u64) {
    let (mut source, cut) = recorded.into_source(0, end).unwrap();
    let mut batch = Batch::default();
    while source.fill(&mut batch, max).unwrap() > 0 {}
    let line = |index| {
        let request = batch.get(index);
        let amounts = [request.requests, request.input_tokens, request.output_tokens, request.microusd];
        (request.at, source.key_name(request.key), amounts)
    };
    ((0..batch.len()).map(line).collect(), cut)
}

fn model(lines: &[Line], spec: &Trace, end: Nanos) -> (Vec<(Nanos, String, [u64; 4])>, u64) {
    let mut lines = lines.to_vec();
    if !spec.as_is {
        lines.sort_by_key(|line| line.0);
    }
    let (multiply, divide) = spec.time_scale.unwrap_or((1, 1));
    let scaled = |at: Nanos| at * multiply / divide;
    let span = lines.iter().map(|line| scaled(line.0)).max().unwrap();
    let all = (0..spec.repeat).flat_map(|playing| {
        lines.iter().map(move |(at, key, amounts)| (scaled(*at) + playing * (span + 1), format!("k{key}"), *amounts))
    });
    let (within, late): (Vec<_>, Vec<_>) = all.partition(|(at, ..)| *at < end);
    (within, late.len() as u64)
}

/// Mostly forward, in small steps and large ones, and often back.
fn lines() -> impl Strategy<Value = Vec<Line>> {
    let step = prop_oneof![4 => 0i64..5, 1 => -9i64..0, 1 => 0i64..1_000_000_000, 1 => -1_000_000_000i64..0];
    let amount = |usual: u64| prop_oneof![6 => Just(usual), 1 => 0..300u64, 1 => any::<u32>().prop_map(u64::from)];
    let line = (step, 0..6u8, (amount(1), amount(0), amount(0), amount(0)));
    prop::collection::vec(line, 1..120).prop_map(|lines| {
        let mut now = 0u64;
        let line = |(step, key, (cost, input, output, price))| {
            now = now.saturating_add_signed(step);
            (now, key, [cost, input, output, price])
        };
        lines.into_iter().map(line).collect()
    })
}

proptest! {
    #[test]
    fn what_is_played_is_what_a_list_would_play(
        mut lines in lines(),
        in_order in any::<bool>(),
        as_is in any::<bool>(),
        repeat in 1..4u64,
        scale in prop::option::of((1..5u64, 1..5u64)),
        (chunk, run, memory) in (1..9usize, 1..30usize, prop_oneof![Just(0), 0..2000usize]),
        (part, max) in (1..=100u64, 1..40usize),
    ) {
        if in_order {
            lines.sort_by_key(|line| line.0);
        }
        let spec = Trace { as_is, repeat, time_scale: scale, ..Trace::default() };
        let recorded = read(&lines, &spec, &tiny(chunk, run, memory)).unwrap();
        prop_assert!(recorded.packed.runs.held <= memory);
        let packed = read(&lines, &spec, &tiny(chunk, run, usize::MAX)).unwrap().packed;
        prop_assert_eq!(recorded.packed.runs.file.is_some(), packed.runs.held > memory);
        let whole = read(&lines, &spec, &ample()).unwrap();
        let known = |recorded: &Recorded| {
            let Recorded { rows, keys, span, resolution, largest_burst, backward_steps, .. } = recorded;
            (*rows, *keys, *span, *resolution, *largest_burst, *backward_steps, recorded.notes.clone())
        };
        prop_assert_eq!(known(&recorded), known(&whole));
        let end = (recorded.duration() / 100 * part).max(1);
        let expected = model(&lines, &spec, end);
        if expected.0.is_empty() {
            prop_assert!(recorded.into_source(0, end).is_err());
            return Ok(());
        }
        prop_assert_eq!(played(recorded, end, max), expected.clone());
        prop_assert_eq!(played(whole, end, usize::MAX), expected);
    }
}

/// Time, name of the key and amount under `meter`, in one way through.
fn passed(recorded: &Recorded, meter: Meter) -> Vec<(Nanos, String, u64)> {
    let (mut pass, mut columns, mut all) = (recorded.pass(meter), Columns::default(), vec![]);
    while pass.next(&mut columns).unwrap() {
        let rows = columns.at.iter().zip(&columns.key).zip(&columns.amount);
        all.extend(rows.map(|((at, key), amount)| (*at, recorded.key_name(*key), *amount)));
    }
    all
}

proptest! {
    #[test]
    fn each_pass_is_what_a_list_would_play(
        lines in lines(),
        (as_is, settle) in any::<(bool, bool)>(),
        repeat in 1..4u64,
        scale in prop::option::of((1..5u64, 1..5u64)),
        (chunk, run, memory) in (1..9usize, 1..30usize, prop_oneof![Just(0), 0..2000usize]),
    ) {
        let spec = Trace { as_is, repeat, time_scale: scale, ..Trace::default() };
        let recorded = read(&lines, &spec, &tiny(chunk, run, memory)).unwrap();
        let recorded = if settle { recorded.settled().unwrap() } else { recorded };
        prop_assert!(!(settle && recorded.packed.overlap));
        prop_assert!(recorded.packed.runs.held <= memory);
        let rows = model(&lines, &spec, Nanos::MAX).0;
        for (meter, _) in Meter::ALL {
            let mut latest = 0;
            let expected: Vec<_> = rows.iter().map(|(at, key, [cost, input, output, price])| {
                // What stays out of order is clamped.
                latest = latest.max(*at);
                let amount = match meter {
                    Meter::Requests => *cost,
                    Meter::InputTokens => *input,
                    Meter::OutputTokens => *output,
                    Meter::Tokens => input + output,
                    Meter::Spend => *price,
                };
                (latest, key.clone(), amount)
            }).collect();
            // At the same time, which no pass may notice of another.
            let (one, other) = std::thread::scope(|scope| {
                let other = scope.spawn(|| passed(&recorded, meter));
                (passed(&recorded, meter), other.join().unwrap())
            });
            prop_assert_eq!(&one, &expected);
            prop_assert_eq!(&other, &expected);
        }
    }
}

#[test]
fn many_runs_need_a_block_each_and_no_more_memory_than_was_given() {
    let lines: Vec<Line> = (0..4000u64).map(|n| (n * 7919 % 4000, (n % 5) as u8, [n % 3, 0, 0, 0])).collect();
    let spec = Trace { repeat: 1, ..Trace::default() };
    for memory in [0, 500, 5000] {
        let recorded = read(&lines, &spec, &Limits { block: 10, ..tiny(10, 100, memory) }).unwrap();
        assert_eq!(recorded.packed.runs.list().len(), 40);
        assert!(recorded.packed.runs.held <= memory && recorded.packed.runs.held + 500 >= memory);
        let (end, expected) = (recorded.duration(), model(&lines, &spec, recorded.duration()));
        assert_eq!(played(recorded, end, 33), expected);
    }
}

#[test]
fn a_folder_that_takes_nothing_is_named() {
    let lines: Vec<Line> = (0..100).map(|n| (n, 0, [1, 0, 0, 0])).collect();
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing");
    let limits = Limits { folder: Some(missing.clone()), ..tiny(10, 20, 90) };
    let spec = Trace { path: "log.csv".into(), ..Trace::default() };
    let error = read(&lines, &spec, &limits).unwrap_err().to_string();
    let error = error.replace(&*missing.to_string_lossy(), "FOLDER");
    let start = "log.csv: its rows take more than the 0 MiB of memory for them, and the temporary file for the rest cannot grow beyond 0 MiB in FOLDER (";
    assert!(error.starts_with(start) && error.ends_with("; set TMPDIR to a folder with more room"), "{error}");
}

#[test]
fn rows_that_cannot_be_read_back_are_an_error_of_every_pass() {
    let lines: Vec<Line> = (0..100).map(|n| (n, 0, [1, 0, 0, 0])).collect();
    let spec = Trace { path: "log.csv".into(), ..Trace::default() };
    let recorded = read(&lines, &spec, &tiny(10, 20, 0)).unwrap();
    recorded.packed.runs.file.as_ref().unwrap().0.set_len(50).unwrap();
    let error = recorded.pass(Meter::Requests).next(&mut Columns::default()).unwrap_err().to_string();
    assert!(error.starts_with("log.csv: the temporary file in "), "{error}");
    assert!(error.contains(" with its rows cannot be read back ("), "{error}");
}
