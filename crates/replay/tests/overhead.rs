//! Benches that cannot lie: each path does what its name says, for every algorithm and every key.

use limiters::{ALGORITHMS, Meter, Nanos, Quota, Settings};
use replay::entry::{Comparison, Entry};
use replay::overhead::{
    BATCH, Case, Clock, Drive, Path, Setting, by_hand, in_turn, keyed_subjects, measure, sample, shared_subjects,
};

const START: Nanos = 472_222 * 3_600_000_000_000;

fn entries(limit: u64, per_key: bool) -> Vec<Entry> {
    let quota = Quota { limit, window: 1_000_000_000, burst: limit };
    let entry = |known: &limiters::Algorithm| {
        let rule = (known.build)(&Settings::new(quota).starting_at(START)).unwrap();
        Entry::of_rule(known.name, known.name, Comparison::EqualQuota, quota, Meter::Requests, per_key, rule)
    };
    // A spend cap without resets admits no second time.
    ALGORITHMS.iter().filter(|known| known.name != "spend-cap").map(entry).collect()
}

#[test]
fn every_algorithm_can_be_driven_down_every_path() {
    for (limit, keys) in [(10, 1), (100, 1), (100, 64), (10_000, 1)] {
        for entry in entries(limit, keys > 1) {
            for path in [Path::Admit, Path::Refuse, Path::Poisson] {
                for cost in [1, 5] {
                    let mut drive = Drive::new(&entry, Case { path, keys, cost }, None, START).unwrap();
                    let mut admitted = 0;
                    for _ in 0..12 {
                        drive.decide();
                        admitted += drive.admitted();
                        drive.advance();
                    }
                    let what = format!("{} {path:?} limit {limit} keys {keys} cost {cost}", entry.label);
                    assert!(drive.holds(12 * BATCH as u64, admitted), "{what}: {admitted} of {}", 12 * BATCH);
                }
            }
        }
    }
}

#[test]
fn loops_by_hand_admit_what_their_limiters_admit() {
    for limit in [10, 100, 1_000, 10_000] {
        let mut found = Vec::new();
        for entry in entries(limit, false) {
            let Some(floor) = by_hand(&entry) else { continue };
            found.push(entry.algorithm.clone());
            for path in [Path::Admit, Path::Refuse, Path::Poisson] {
                let [mut ours, mut theirs] = [&entry, &floor]
                    .map(|entry| Drive::new(entry, Case { path, ..Case::default() }, None, START).unwrap());
                for batch in 0..12 {
                    ours.decide();
                    theirs.decide();
                    assert_eq!(ours.outcomes(), theirs.outcomes(), "{} {path:?} {limit} {batch}", floor.label);
                    ours.advance();
                    theirs.advance();
                }
            }
        }
        let all = [
            "fixed-window",
            "gcra",
            "leaky-bucket-meter",
            "sliding-window-counter",
            "sliding-window-log",
            "token-bucket",
        ];
        found.sort();
        assert_eq!(found, all);
    }
}

#[test]
#[should_panic(expected = "decide alike")]
fn a_floor_that_admits_something_else_is_caught() {
    let entry = entries(100, false).into_iter().find(|entry| entry.algorithm == "gcra").unwrap();
    let other = entries(100, false).into_iter().find(|entry| entry.algorithm == "fixed-window").unwrap();
    let floor = by_hand(&entry).unwrap();
    let wrong = Entry { make: by_hand(&other).unwrap().make, ..floor };
    measure(&[entry, wrong], None, START, 3);
}

#[test]
fn a_limiter_that_does_not_limit_has_no_row() {
    let mut broken = entries(10, false).remove(0);
    assert_eq!(broken.algorithm, "unlimited");
    broken.algorithm = "broken".into();
    let rows = measure(&[broken], None, START, 3);
    assert_eq!(rows.iter().map(|row| row.path.as_str()).collect::<Vec<_>>(), ["admit"]);
}

#[test]
fn shared_subjects_admit_all_or_nothing_on_every_clock() {
    for clock in Clock::ALL {
        for subject in shared_subjects() {
            let Some(mut workers) = (subject.workers)(Setting::admit(clock, 2)) else { continue };
            if subject.algorithm != "spend-cap" {
                assert_eq!(sample(&mut workers, 1_000).admitted, 2_000, "{} {}", subject.label, clock.name());
            }
            let Some(mut workers) = (subject.workers)(Setting::refuse(clock, 2)) else { continue };
            let first = sample(&mut workers, 1_000).admitted;
            let later = sample(&mut workers, 1_000).admitted;
            let right = if subject.algorithm == "unlimited" { (2_000, 2_000) } else { (10, 0) };
            assert_eq!((first, later), right, "{} {}", subject.label, clock.name());
        }
    }
}

#[test]
fn keyed_subjects_admit_every_key() {
    for subject in keyed_subjects() {
        for threads in [1, 2] {
            let mut workers = (subject.workers)(threads, 1 << 12);
            if !workers.is_empty() {
                let sample = sample(&mut workers, 2_000);
                assert_eq!(sample.admitted, sample.decisions, "{}", subject.label);
            }
        }
    }
}

#[test]
fn a_sample_that_did_not_overlap_is_not_counted() {
    // The second worker sleeps, so its thread is not on a processor.
    let busy = Clock::Virtual.worker(0, 1, |now| std::hint::black_box(now) > 0);
    let asleep = Clock::Virtual.worker(0, 1, |_| {
        std::thread::sleep(std::time::Duration::from_millis(1));
        true
    });
    let timed = in_turn(&mut [vec![busy, asleep]], 5, 1);
    assert_eq!(timed[0].decisions, 0);
}
