//! `workbench overhead`: what a decision costs on this machine, in rows and tables.

use crate::check::load;
use crate::cli::OverheadArgs;
use crate::overhead_tables::{Keyed, keyed_table, one_thread, replay_table, shared_table};
use crate::problem::{Problem, print};
use crate::{memory, provenance};
use limiters::{ALGORITHMS, Batch, Meter, Nanos, Quota, Settings};
use replay::entry::{Comparison, Entry};
use replay::overhead::{
    Clock, Setting, Timed, by_hand, in_turn, keyed_subjects, measure, ratio, shared_subjects, timer_cost,
};
use replay::peers::PEERS;
use replay::rows::OverheadRow;
use report::Files;

/// What is timed when no scenario says otherwise.
const QUOTA: Quota = Quota { limit: 1_000, window: 1_000_000_000, burst: 1_000 };
/// A whole hour.
const START: Nanos = 472_222 * 3_600_000_000_000;
/// Decisions of a thread in one timed round.
const COUNT: usize = 20_000;
/// Keys of the store with many: 2^20.
const MANY: u64 = 1 << 20;

/// Times everything and prints it.
pub fn overhead(args: &OverheadArgs) -> Result<(), Problem> {
    let subject = Subject::new(args)?;
    let mut text = about(args);
    if args.replay {
        let taus = replay::usual_windows(subject.quota, []);
        let (rows, generating) =
            replay::overhead::replayed(&subject.entries, subject.quota, &taus, args.requests, subject.start);
        text.push_str(&replay_table(&rows, generating, args, taus.len(), subject.quota));
        return print(&text);
    }
    let rounds = usize::from(args.rounds);
    let mut entries = subject.entries;
    // A scenario's limiters have parameters of their own, which the loops written by hand do not know.
    if subject.traffic.is_none() {
        let floors: Vec<Entry> = entries.iter().filter_map(by_hand).collect();
        entries.extend(floors);
    }
    let mut rows = measure(&entries, subject.traffic.as_ref(), subject.start, rounds);
    text.push_str(&one_thread(&rows, args.markdown));
    let shared = shared(rounds.min(25));
    text.push_str(&shared_table(&shared, args.markdown));
    let keyed = keyed(rounds.min(15));
    text.push_str(&keyed_table(&keyed, args.markdown));
    rows.extend(shared);
    rows.extend(keyed.into_iter().flat_map(|keyed| keyed.rows));
    let written = Files::create(&args.out.join(&subject.name)).and_then(|mut files| {
        let place = files.table("overhead.csv", &rows)?;
        files.commit().map(|()| place)
    });
    let place = written.map_err(|error| Problem::input(format!("error: {error}")))?;
    text.push_str(&format!("\nrows: {}\n", place.display()));
    print(&text)
}

struct Subject {
    name: String,
    entries: Vec<Entry>,
    quota: Quota,
    start: Nanos,
    traffic: Option<Batch>,
}

impl Subject {
    fn new(args: &OverheadArgs) -> Result<Subject, Problem> {
        if let Some(path) = &args.scenario {
            let scenario = load(std::slice::from_ref(path))?.remove(0);
            let planned = replay::planned(&scenario).map_err(|text| Problem::Input(format!("error: {text}")))?;
            let (entries, start, traffic) = planned;
            let quota = scenario.quota.quota;
            return Ok(Subject { name: scenario.name, entries, quota, start, traffic: Some(traffic) });
        }
        let rules = ALGORITHMS.iter().map(|known| {
            let rule = (known.build)(&Settings::new(QUOTA).starting_at(START))?;
            Ok(Entry::of_rule(known.name, known.name, Comparison::EqualQuota, QUOTA, Meter::Requests, false, rule))
        });
        let peers = PEERS.iter().map(|peer| Entry::of_peer(peer.algorithm.name, peer, QUOTA, Meter::Requests, false));
        let entries: Result<Vec<Entry>, limiters::ParamError> = rules.chain(peers).collect();
        let entries = entries.map_err(|error| Problem::input(format!("error: {error}")))?;
        Ok(Subject { name: "overhead".into(), entries, quota: QUOTA, start: START, traffic: None })
    }
}

/// The machine, the clocks and how to read what follows.
fn about(args: &OverheadArgs) -> String {
    let machine = provenance::machine();
    let of = |name: &str| machine[name].as_str().unwrap_or("unknown").to_owned();
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().filter(|load| !load.is_empty()).unwrap_or("unknown").to_owned();
    let clocks: Vec<String> =
        timer_cost().iter().map(|(clock, nanos)| format!("{} {nanos:.1} ns", clock.name())).collect();
    let command = std::env::args().skip(1).collect::<Vec<_>>().join(" ");
    let lines = [
        format!("machine: {}, {} cores, {} {}, load {load}", of("cpu"), machine["cores"], of("os"), of("arch")),
        format!("reading a clock: {}", clocks.join(", ")),
        format!("workbench {} {command}{}", env!("CARGO_PKG_VERSION"), debug_note()),
    ];
    let mark = if args.markdown { "* " } else { "" };
    lines.iter().map(|line| format!("{mark}{line}\n")).collect()
}

fn debug_note() -> &'static str {
    if cfg!(debug_assertions) { "; built without optimisation: these figures mean nothing" } else { "" }
}

/// Shared limiters: one thread under every clock, two threads under each.
fn shared(rounds: usize) -> Vec<OverheadRow> {
    let mut rows = Vec::new();
    let subjects = shared_subjects();
    for threads in [1, 2] {
        for clock in Clock::ALL {
            for (path, setting) in
                [("admit", Setting::admit(clock, threads)), ("refuse", Setting::refuse(clock, threads))]
            {
                let workers = subjects.iter().filter_map(|subject| Some((subject, (subject.workers)(setting)?)));
                let (named, mut sets): (Vec<_>, Vec<_>) = workers.unzip();
                if path == "refuse" {
                    // Spends what there is.
                    for worker in sets.iter_mut().flatten() {
                        worker(64);
                    }
                }
                let timed = in_turn(&mut sets, COUNT, rounds);
                let floor = timed.first().map(|timed| timed.percentile(0.5));
                for (subject, timed) in named.iter().zip(&timed) {
                    let right = if path == "admit" || subject.algorithm == "unlimited" { timed.decisions } else { 0 };
                    if timed.decisions == 0 || timed.admitted != right {
                        continue;
                    }
                    rows.push(timed.row(OverheadRow {
                        limiter: subject.label.clone(),
                        algorithm: subject.algorithm.into(),
                        path: path.into(),
                        clock: clock.name().into(),
                        keys: 1,
                        threads: threads as u64,
                        cost: 1,
                        ratio_to_noop: ratio(timed.percentile(0.5), floor),
                        ..OverheadRow::default()
                    }));
                }
            }
        }
    }
    rows
}

/// Stores of a million keys.
fn keyed(rounds: usize) -> Vec<Keyed> {
    let subjects = keyed_subjects();
    let weigh = |fill: fn(u64) -> Box<dyn std::any::Any>| [100_000, 1_000_000].map(|keys| memory::per_key(keys, fill));
    let mut table: Vec<Keyed> = subjects
        .iter()
        .map(|subject| Keyed {
            label: subject.label,
            algorithm: subject.algorithm,
            bytes: weigh(subject.filled),
            rows: Vec::new(),
        })
        .collect();
    for threads in [1usize, 2] {
        let mut sets: Vec<_> = subjects.iter().map(|subject| (subject.workers)(threads, MANY)).collect();
        let present: Vec<usize> = (0..sets.len()).filter(|&index| !sets[index].is_empty()).collect();
        sets.retain(|workers| !workers.is_empty());
        let timed = in_turn(&mut sets, COUNT, rounds);
        let floor = timed.first().map(|timed: &Timed| timed.percentile(0.5));
        for (index, timed) in present.into_iter().zip(&timed) {
            let keyed = &mut table[index];
            if timed.decisions == 0 || timed.admitted != timed.decisions {
                continue;
            }
            let row = timed.row(OverheadRow {
                limiter: keyed.label.into(),
                algorithm: keyed.algorithm.into(),
                path: "admit".into(),
                clock: Clock::Virtual.name().into(),
                keys: MANY,
                threads: threads as u64,
                cost: 1,
                ratio_to_noop: ratio(timed.percentile(0.5), floor),
                bytes_per_key: keyed.bytes[1].unwrap_or(0.0) as u64,
                ..OverheadRow::default()
            });
            keyed.rows.push(row);
        }
    }
    table
}
