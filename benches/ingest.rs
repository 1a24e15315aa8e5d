//! How fast recorded files are read, beside a bare loop of the `csv` crate over the same bytes, and how fast a whole run is
//! that reads them from standard input.
//!
//!     cargo bench --bench ingest                # ten million rows; and three million with quoted keys, and with a million random ones
//!     cargo bench --bench ingest -- --rows 1000000 --rounds 3
//!
//! Rounds are interleaved, medians are printed, and every figure comes with the same round's bare loop, so that a machine
//! that other work slows down slows both. `--quick` takes few rows. Files lie in a temporary folder.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use traffic::spec::Trace;
use traffic::traces::{self, Row, Stream};

/// A set of rows: so many, of so many keys.
struct Rows {
    count: u64,
    keys: u64,
    path: PathBuf,
    bytes: u64,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| args.iter().any(|arg| arg == flag);
    let number = |flag: &str| {
        let at = args.iter().position(|arg| arg == flag)?;
        Some(args.get(at + 1).and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{flag} needs a number")))
    };
    // A name among the arguments is a filter on benches.
    let values: Vec<usize> =
        ["--rows", "--rounds"].iter().filter_map(|flag| args.iter().position(|arg| arg == flag)).collect();
    let mut filters =
        args.iter().enumerate().filter(|(at, arg)| !arg.starts_with('-') && !values.contains(&at.wrapping_sub(1)));
    if has("--list") || filters.clone().count() > 0 && !filters.any(|(_, name)| "ingest".contains(name.as_str())) {
        return;
    }
    // Without --bench it is a test of this file, as with criterion's benches.
    let (usual, few) = match (has("--bench"), has("--quick")) {
        (false, _) => (2_000, true),
        (true, true) => (300_000, true),
        (true, false) => (10_000_000, false),
    };
    let count = number("--rows").unwrap_or(usual);
    let rounds = number("--rounds").unwrap_or(if few { 1 } else { 5 });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let fewer = (count / 10 * 3).max(1);
    for (name, count, keys, quote) in
        [("usual.csv", count, 10_000, ""), ("quoted.csv", fewer, 10_000, "\""), ("random.csv", fewer, 1_000_000, "")]
    {
        let rows = made(folder.path().join(name), count, keys, quote);
        println!("{count} rows of {keys} keys, {} MB: time,{quote}key{quote},cost", rows.bytes / 1_000_000);
        reading(&rows, rounds);
        if quote.is_empty() {
            whole_run(&rows, folder.path());
        }
    }
}

/// Writes the rows: a hundred a second on average, a cost of 0 to 6, keys at random and in quotes or not; the same ones every time.
fn made(path: PathBuf, count: u64, keys: u64, quote: &str) -> Rows {
    let mut out = BufWriter::with_capacity(1 << 18, File::create(&path).expect("a file"));
    writeln!(out, "ts_ms,user_id,cost").expect("room");
    let mut at = 1_767_225_600_000u64;
    for n in 0..count {
        // SplitMix64: any number of rows from a counter.
        let mut random = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        random = (random ^ (random >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        random = (random ^ (random >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        random ^= random >> 31;
        at += random & 15;
        let key = ((random >> 32) * keys) >> 32;
        writeln!(out, "{at},{quote}user-{key}{quote},{}", (random >> 8) % 7).expect("room");
    }
    drop(out.into_inner().expect("room"));
    let bytes = std::fs::metadata(&path).expect("the file").len();
    Rows { count, keys, path, bytes }
}

/// Parsing, and loading a whole file, beside the bare loop.
fn reading(rows: &Rows, rounds: u64) {
    let spec = Trace { path: rows.path.clone(), repeat: 1, ..Trace::default() };
    let bare = || {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(&rows.path).expect("the file");
        let (mut record, mut count) = (csv::ByteRecord::new(), 0);
        while reader.read_byte_record(&mut record).expect("a table") {
            count += 1;
        }
        assert_eq!(count, rows.count + 1, "rows of the bare loop and the header");
    };
    let parse = || {
        let (mut stream, mut row) = (Stream::open(&spec).expect("a log"), Row::default());
        while stream.next(&mut row).expect("rows") {}
        assert_eq!(stream.rows(), rows.count, "rows parsed");
    };
    let load = || {
        let recorded = traces::open(&spec).expect("a log");
        assert_eq!(recorded.rows, rows.count, "rows loaded");
        assert!(recorded.keys <= rows.keys && recorded.keys >= rows.keys.min(rows.count) / 3, "{} keys", recorded.keys);
    };
    let subjects: [(&str, &dyn Fn()); 3] = [
        ("bare csv loop, one thread", &bare),
        ("rows parsed, one thread", &parse),
        ("whole file loaded, two threads", &load),
    ];
    // The first round only warms up the page cache.
    subjects.iter().for_each(|(_, subject)| subject());
    let mut taken = [const { Vec::new() }; 3];
    for _ in 0..rounds {
        for (taken, (_, subject)) in taken.iter_mut().zip(&subjects) {
            taken.push(timed(subject));
        }
    }
    let bare = taken[0].clone();
    for ((name, _), mut taken) in subjects.iter().zip(taken) {
        let mut ratios: Vec<f64> = taken.iter().zip(&bare).map(|(own, bare)| bare / own).collect();
        let ratio = median(&mut ratios);
        let (low, high) = (ratios[0], ratios[ratios.len() - 1]);
        say(name, rows, median(&mut taken), &format!("{ratio:.2} of the bare loop ({low:.2} to {high:.2})"));
    }
}

/// The command itself, fed through a pipe: every algorithm of the registry decides every row.
fn whole_run(rows: &Rows, folder: &Path) {
    let out = folder.join("reports");
    let scenario = folder.join("every.toml");
    let names: Vec<&str> = limiters::ALGORITHMS.iter().map(|known| known.name).collect();
    let text = format!(
        "summary = \"Every algorithm.\"\nduration = \"1s\"\nlimiters = {names:?}\n[quota]\nlimit = 100\nwindow = \"1s\"\n[[traffic.constant]]\nrate = \"1/s\"\n"
    );
    std::fs::write(&scenario, text).expect("room");
    let begun = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_workbench"))
        .args(["run", "--trace", "-", "--no-overhead", "--json", "--out"])
        .args([&out, &scenario])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut pipe = child.stdin.take().expect("a pipe");
    let path = rows.path.clone();
    let feeder = std::thread::spawn(move || std::io::copy(&mut File::open(path)?, &mut pipe));
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let sampler = std::thread::spawn(move || {
        // The high-water mark only rises, so the last look before the end misses what comes in 10 ms.
        while let Some(now) = high_water(&status) {
            peak = now;
            std::thread::sleep(Duration::from_millis(10));
        }
        peak
    });
    let output = child.wait_with_output().expect("the command ends");
    let taken = begun.elapsed().as_secs_f64();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(feeder.join().expect("no panic").expect("the pipe takes all"), rows.bytes);
    let peak = sampler.join().expect("no panic");
    let summary = std::fs::read_to_string(out.join("every/summary.csv")).expect("a table");
    let limiters = checked(&summary, rows.count);
    let peak = if peak > 0 { format!("peak memory {} MiB", peak >> 10) } else { "peak memory unknown here".to_owned() };
    say("workbench run --trace -, all cores", rows, taken, &format!("{limiters} limiters, {peak}"));
}

/// How many limiters there are; each saw every row.
fn checked(summary: &str, rows: u64) -> usize {
    let mut reader = csv::Reader::from_reader(summary.as_bytes());
    let headers = reader.headers().expect("a header").clone();
    let column = |name: &str| headers.iter().position(|header| header == name).unwrap_or_else(|| panic!("no {name}"));
    let (limiter, algorithm, requests) = (column("limiter"), column("algorithm"), column("requests"));
    let lines: Vec<csv::StringRecord> = reader.records().collect::<Result<_, _>>().expect("rows");
    for line in &lines {
        assert_eq!(line[requests].parse(), Ok(rows), "requests of {}", &line[limiter]);
    }
    let missing = limiters::ALGORITHMS.iter().filter(|known| !lines.iter().any(|line| &line[algorithm] == known.name));
    let missing: Vec<&str> = missing.map(|known| known.name).collect();
    assert!(missing.is_empty(), "not run: {missing:?}");
    lines.len()
}

/// Most memory that a process has had, in KiB, where the system says so and the process is there.
fn high_water(status: &str) -> Option<u64> {
    let status = std::fs::read_to_string(status).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

fn timed(subject: &dyn Fn()) -> f64 {
    let begun = Instant::now();
    subject();
    begun.elapsed().as_secs_f64()
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn say(name: &str, rows: &Rows, seconds: f64, more: &str) {
    let per_second = rows.count as f64 / seconds / 1e6;
    let megabytes = rows.bytes as f64 / seconds / 1e6;
    println!("  {name:<34} {seconds:>7.2} s {per_second:>7.2} M rows/s {megabytes:>6.0} MB/s  {more}");
}
