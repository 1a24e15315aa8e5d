//! How fast tables are read, beside a bare loop over the same file in the same run. Not run by default:
//! `cargo test --release -p traffic --test traces -- --ignored --nocapture speed`.

use super::*;
use std::io::Write;
use std::sync::LazyLock;
use std::time::Instant;
use traffic::traces::{Row, Stream, open};

const ROWS: u64 = 2_000_000;

/// Nanoseconds that this thread has computed, so that other work on the machine does not count; else time of day.
fn computed() -> f64 {
    let spent = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let spent = spent.and_then(|text| text.split(' ').next()?.parse().ok());
    spent.unwrap_or_else(|| EPOCH.elapsed().as_nanos() as f64)
}

static EPOCH: LazyLock<Instant> = LazyLock::new(Instant::now);

/// Best of five, in seconds.
fn best(mut run: impl FnMut()) -> f64 {
    let time = |run: &mut dyn FnMut()| {
        let start = computed();
        run();
        (computed() - start) / 1e9
    };
    (0..5).map(|_| time(&mut run)).fold(f64::INFINITY, f64::min)
}

#[test]
#[ignore = "a measurement: needs a release build and a quiet machine"]
fn speed_of_tables_beside_a_bare_loop() {
    let folder = tempfile::tempdir().unwrap();
    for (name, header, keys) in [
        ("iso", "timestamp,user_id,cost", 10_000),
        ("epoch-ms", "ts_ms,user_id,cost", 10_000),
        ("epoch-ms", "ts_ms,user_id,cost", 1_000_000),
        ("wide", "timestamp,ip,method,path,status,bytes", 10_000),
    ] {
        let path = folder.path().join(name);
        let mut file = std::io::BufWriter::new(std::fs::File::create(&path).unwrap());
        writeln!(file, "{header}").unwrap();
        for n in 0..ROWS {
            let (second, milli) = (n / 50, n * 20 % 1000);
            let key = ((n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) * keys) >> 32;
            let iso = format!(
                "2026-01-{:02}T{:02}:{:02}:{:02}.{milli:03}Z",
                1 + second / 86_400,
                second / 3600 % 24,
                second / 60 % 60,
                second % 60
            );
            match name {
                "iso" => writeln!(file, "{iso},user-{key},{}", n % 7),
                "epoch-ms" => writeln!(file, "{},user-{key},{}", 1_767_225_600_000 + n * 20, n % 7),
                _ => writeln!(
                    file,
                    "{iso},10.{}.{}.{},GET,/api/v1/items/{key}/details,200,{}",
                    key >> 16,
                    key >> 8 & 255,
                    key & 255,
                    n % 10_000
                ),
            }
            .unwrap();
        }
        drop(file);
        let megabytes = std::fs::metadata(&path).unwrap().len() as f64 / 1e6;
        let spec = spec::Trace { path: path.clone(), repeat: 1, ..Default::default() };
        let bare = best(|| {
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_path(&path).unwrap();
            let (mut record, mut count) = (csv::ByteRecord::new(), 0);
            while reader.read_byte_record(&mut record).unwrap() {
                count += 1;
            }
            assert_eq!(count, ROWS + 1);
        });
        let rows = best(|| {
            let (mut stream, mut row) = (Stream::open(&spec).unwrap(), Row::default());
            while stream.next(&mut row).unwrap() {}
            assert_eq!(stream.rows(), ROWS);
        });
        let whole = best(|| assert_eq!(open(&spec).unwrap().rows, ROWS));
        let per_second = |seconds: f64| megabytes / seconds;
        println!(
            "{name}, {keys} keys: bare csv loop {:.0} MB/s, rows {:.0} MB/s ({:.2} of it), whole file with keys and checks {:.0} MB/s ({:.2}), {:.1} M rows/s",
            per_second(bare),
            per_second(rows),
            bare / rows,
            per_second(whole),
            bare / whole,
            ROWS as f64 / whole / 1e6
        );
        assert!(rows < 2.0 * bare, "{name}: rows take {rows} s, the bare loop {bare} s");
    }
}
