//! What a decision costs: algorithm × path × clock × keys × threads × cost × limit, in groups that each vary a few of them.
//!
//! Every group has the limiter that does nothing as its floor; conclusions are ratios within one run. Each bench checks how
//! many of its decisions were admitted and fails when a limiter did not limit. `METHODOLOGY.md` has the rules of measuring.

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use limiters::{ALGORITHMS, Meter, Nanos, Quota, Settings};
use replay::entry::{Comparison, Entry};
use replay::overhead::{BATCH, Case, Clock, Drive, Path, Setting, Worker, keyed_subjects, sample, shared_subjects};
use replay::peers::PEERS;
use std::time::{Duration, Instant};

/// A whole hour.
const START: Nanos = 472_222 * 3_600_000_000_000;
const SECOND: Nanos = 1_000_000_000;

fn quota(limit: u64) -> Quota {
    Quota { limit, window: SECOND, burst: limit }
}

/// Every algorithm, and every peer that is compiled in, under one quota. The spend cap is left out of what needs a
/// limiter that admits again: without a reset it does not.
fn entries(limit: u64, per_key: bool, path: Path) -> Vec<Entry> {
    let quota = quota(limit);
    let known = ALGORITHMS.iter().filter(|known| known.name != "spend-cap" || path == Path::Refuse);
    let rules = known.map(|known| {
        let rule = (known.build)(&Settings::new(quota).starting_at(START)).expect("every algorithm takes the quota");
        Entry::of_rule(known.name, known.name, Comparison::EqualQuota, quota, Meter::Requests, per_key, rule)
    });
    // leaky-bucket refills at whole milliseconds, which not every limit does.
    let peers =
        PEERS.iter().filter_map(|peer| Entry::of_peer(peer.algorithm.name, peer, quota, Meter::Requests, per_key).ok());
    rules.chain(peers).collect()
}

fn group<'a>(c: &'a mut Criterion, name: &str, decisions: usize) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group.throughput(Throughput::Elements(decisions as u64));
    group.sample_size(10).warm_up_time(Duration::from_millis(20)).measurement_time(Duration::from_millis(100));
    group
}

fn drive(group: &mut BenchmarkGroup<'_, WallTime>, entry: &Entry, case: Case, name: &str) {
    let mut drive = Drive::new(entry, case, None, START).expect("only a scenario's path needs its traffic");
    let (mut decisions, mut admitted) = (0, 0);
    group.bench_function(name, |b| {
        b.iter_custom(|batches| {
            let mut total = Duration::ZERO;
            for _ in 0..batches {
                let begun = Instant::now();
                drive.decide();
                total += begun.elapsed();
                decisions += BATCH as u64;
                admitted += drive.admitted();
                drive.advance();
            }
            total
        });
    });
    // A filter on the command line may have left it out.
    let held = decisions == 0 || drive.holds(decisions, admitted);
    assert!(held, "{name}: {admitted} of {decisions} decisions were admitted on the path {}", case.path.name());
}

/// One thread, one key, virtual time: each path apart.
fn paths(c: &mut Criterion) {
    for path in [Path::Admit, Path::Refuse, Path::Poisson] {
        let mut group = group(c, path.name(), BATCH);
        for entry in entries(1_000, false, path) {
            drive(&mut group, &entry, Case { path, ..Case::default() }, &entry.label.clone());
        }
        group.finish();
    }
}

/// Costs and limits, where branches cannot be predicted.
fn costs_and_limits(c: &mut Criterion) {
    for (cost, limit) in [(1, 10), (1, 10_000), (5, 10), (5, 100)] {
        let mut group = group(c, &format!("poisson-2x, cost {cost}, limit {limit}"), BATCH);
        let ours = entries(limit, false, Path::Poisson).into_iter().filter(|entry| !entry.label.starts_with("peer-"));
        for entry in ours {
            drive(&mut group, &entry, Case { path: Path::Poisson, cost, keys: 1 }, &entry.label.clone());
        }
        group.finish();
    }
}

/// A limiter per key.
fn keys(c: &mut Criterion) {
    // A run is shorter than a window of a million keys, so only rules that forget as time goes are in a steady state.
    const SOME: [&str; 4] = ["unlimited", "token-bucket", "leaky-bucket-meter", "gcra"];
    for keys in [1, 1 << 10, 1 << 20] {
        let mut group = group(c, &format!("poisson-2x, {keys} keys"), BATCH);
        let entries = entries(10, true, Path::Poisson);
        for entry in entries.iter().filter(|entry| SOME.contains(&entry.label.as_str())) {
            drive(&mut group, entry, Case { path: Path::Poisson, keys, cost: 1 }, &entry.label);
        }
        group.finish();
    }
}

/// Decisions of a thread in one round.
const ROUND: usize = 20_000;

/// Benches `workers`, of which `right` of all decisions must be admitted; rounds whose threads took turns do not count.
fn work(group: &mut BenchmarkGroup<'_, WallTime>, name: &str, mut workers: Vec<Worker>, all: bool) {
    if !(0..2_000).any(|_| sample(&mut workers, ROUND).overlapped) {
        println!("{name}: left out, its threads never were on processors at the same time");
        return;
    }
    group.bench_function(name, |b| {
        b.iter_custom(|rounds| {
            let (mut nanos, mut kept) = (0.0, 0);
            let most = rounds.saturating_mul(50).max(5_000);
            for _ in 0..most {
                let sample = sample(&mut workers, ROUND);
                let right = if all { sample.decisions } else { 0 };
                assert_eq!(sample.admitted, right, "{name}: of {} decisions", sample.decisions);
                if sample.overlapped {
                    nanos += sample.nanos * ROUND as f64;
                    kept += 1;
                }
                if kept == rounds {
                    break;
                }
            }
            assert!(kept > 0, "{name}: its threads took turns in all of {most} rounds");
            Duration::from_nanos((nanos * rounds as f64 / kept as f64) as u64)
        });
    });
}

/// Limiters that threads share, under each clock, on one thread and on two.
fn shared(c: &mut Criterion) {
    for threads in [1, 2] {
        for clock in Clock::ALL {
            for (path, setting) in
                [("admit", Setting::admit(clock, threads)), ("refuse", Setting::refuse(clock, threads))]
            {
                let mut group = group(c, &format!("shared by {threads}, {path}, {}", clock.name()), ROUND);
                // A mutex costs what it costs, whatever it guards; under clocks one of them is enough.
                let kept = |label: &str| {
                    clock == Clock::Virtual || !label.ends_with("mutex") || label == "token-bucket, mutex"
                };
                for subject in shared_subjects().into_iter().filter(|subject| kept(&subject.label)) {
                    let Some(mut workers) = (subject.workers)(setting) else { continue };
                    let all = path == "admit" || subject.algorithm == "unlimited";
                    if subject.algorithm == "spend-cap" && all {
                        continue;
                    }
                    if !all {
                        // Spends what there is.
                        for worker in &mut workers {
                            worker(64);
                        }
                    }
                    work(&mut group, &subject.label, workers, all);
                }
                group.finish();
            }
        }
    }
}

/// A million keys that threads share.
fn shared_keys(c: &mut Criterion) {
    for threads in [1, 2] {
        let mut group = group(c, &format!("{} keys shared by {threads}, admit", 1 << 20), ROUND);
        for subject in keyed_subjects() {
            let workers = (subject.workers)(threads, 1 << 20);
            if !workers.is_empty() {
                work(&mut group, subject.label, workers, true);
            }
        }
        group.finish();
    }
}

criterion_group! {
    name = benches;
    // Figures come from `workbench overhead`; drawing two hundred plots would take longer than measuring.
    config = Criterion::default().without_plots().nresamples(1_000);
    targets = paths, costs_and_limits, keys, shared, shared_keys
}
criterion_main!(benches);
