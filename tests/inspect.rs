//! `workbench inspect` from outside: the figures known of published traces, conversion, and what it says to bad input.

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;

fn inspect(args: &[&str]) -> std::process::Output {
    Command::cargo_bin("workbench").unwrap().arg("inspect").args(args).output().unwrap()
}

fn json(args: &[&str]) -> Value {
    let output = inspect(&[args, &["--json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn windows<'a>(found: &'a Value, meter: &str) -> impl Iterator<Item = (u64, u64)> + use<'a> {
    let amount = found["amounts"].as_array().unwrap().iter().find(|amount| amount["meter"] == meter).unwrap();
    let of = |window: &Value, name: &str| window[name].as_u64().unwrap();
    amount["windows"].as_array().unwrap().iter().map(move |window| (of(window, "sliding"), of(window, "aligned")))
}

const AZURE: &str = "scenarios/traces/AzureLLMInferenceTrace_code.csv";

#[test]
fn azure_code_is_busiest_where_it_is_known_to_be() {
    let found = json(&[AZURE, "--window", "60s"]);
    assert_eq!((&found["rows"], &found["keys"], &found["backward_steps"]), (&8819.into(), &1.into(), &0.into()));
    assert_eq!(windows(&found, "requests").next(), Some((723, 585)));
    assert_eq!(windows(&found, "tokens").next().map(|(sliding, _)| sliding), Some(1_409_698));
}

#[test]
fn the_text_of_an_access_log() {
    let output = inspect(&["scenarios/traces/elastic_apache.log.gz", "--top", "3"]);
    insta::assert_snapshot!(String::from_utf8(output.stdout).unwrap());
}

#[test]
fn a_converted_file_holds_the_same_requests() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["own.csv", "own.csv.gz"] {
        let target = folder.path().join(name);
        let output = inspect(&[AZURE, "--convert", target.to_str().unwrap()]);
        let said = String::from_utf8(output.stdout).unwrap();
        assert!(said.contains("its times count from 2023-11-16T18:17:03.97996Z"), "{said}");
        let (mut before, mut after) = (json(&[AZURE]), json(&[target.to_str().unwrap()]));
        // Windows of the wall clock too: the file says what its times count from.
        assert_eq!(after["first"], "2023-11-16T18:17:03.97996Z");
        for own in ["file", "format", "bytes", "notes"] {
            (before[own], after[own]) = (Value::Null, Value::Null);
        }
        assert_eq!(before, after);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().filter(partial).count(), 0);
    }
}

fn partial(file: &std::io::Result<std::fs::DirEntry>) -> bool {
    file.as_ref().unwrap().file_name().to_string_lossy().contains("partial")
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_holds_the_same_requests() {
    let folder = tempfile::tempdir().unwrap();
    let elastic = "scenarios/traces/elastic_apache.log.gz";
    for (name, file) in [(AZURE, "azure.parquet"), (elastic, "elastic.parquet")] {
        let (target, csv) = (folder.path().join(file), folder.path().join(file.replace("parquet", "csv")));
        assert!(inspect(&[name, "--convert", target.to_str().unwrap()]).status.success());
        assert!(inspect(&[name, "--convert", csv.to_str().unwrap()]).status.success());
        let (mut one, mut other) = (json(&[target.to_str().unwrap()]), json(&[csv.to_str().unwrap()]));
        assert_eq!(one["format"], "parquet");
        for own in ["file", "format", "bytes", "notes"] {
            (one[own], other[own]) = (Value::Null, Value::Null);
        }
        assert_eq!(one, other);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().filter(partial).count(), 0);
    }
    // What comes from a pipe is read too, and what is cut is an error.
    let bytes = std::fs::read(folder.path().join("azure.parquet")).unwrap();
    let output = Command::cargo_bin("workbench")
        .unwrap()
        .args(["inspect", "-", "--json", "--where", "input-tokens >= 7000"])
        .write_stdin(bytes.clone())
        .output()
        .unwrap();
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["rows"], 483);
    let cut = folder.path().join("cut.parquet");
    std::fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let output = inspect(&[cut.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("cut off or damaged"));
}

/// Of this file some damage makes the `parquet` crate panic.
#[cfg(feature = "parquet")]
#[test]
fn damaged_parquet_is_an_error_whatever_is_damaged() {
    use traffic::traces::{Row, Stream};
    let bytes = std::fs::read("fuzz/seeds/own.parquet").unwrap();
    let spec = traffic::spec::Trace { path: "damaged.parquet".into(), ..Default::default() };
    let mut damaged = 0;
    for (place, bit) in (4..bytes.len()).flat_map(|place| (0..8).map(move |bit| (place, bit))) {
        let mut bytes = bytes.clone();
        bytes[place] ^= 1 << bit;
        let read = Stream::from_reader(&spec, std::io::Cursor::new(bytes)).and_then(|mut stream| {
            let mut row = Row::default();
            while stream.rows() < 1_000 && stream.next(&mut row)? {}
            Ok(stream.rows())
        });
        damaged += usize::from(read.is_err_and(|error| error.message.contains("its parts contradict each other")));
    }
    assert!(damaged > 0, "no panic was caught");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_how_to_get_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("log.parquet");
    std::fs::write(&file, b"PAR1\0\0\0\0").unwrap();
    for args in [&[file.to_str().unwrap()][..], &[AZURE, "--convert", "own.parquet"]] {
        let output = inspect(args);
        assert_eq!(output.status.code(), Some(2));
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.contains("cargo build --release --features parquet"), "{said}");
    }
}

#[test]
fn the_figure_comes_with_its_table() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("made/here");
    assert!(inspect(&[AZURE, "--out", out.to_str().unwrap()]).status.success());
    for name in ["gaps.csv", "gaps.svg", "gaps.png"] {
        assert!(out.join(name).metadata().unwrap().len() > 1_000, "{name}");
    }
}

#[test]
fn bad_input_is_one_error_and_status_2() {
    let data = Path::new("crates/traffic/tests/traces/data");
    let file = |name: &str| data.join(name).display().to_string();
    let folder = tempfile::tempdir().unwrap();
    let taken = folder.path().join("taken.csv");
    std::fs::write(&taken, "").unwrap();
    let taken = taken.to_str().unwrap();
    let mut said = String::new();
    for args in [
        &[file("html_error_page.csv").as_str()][..],
        &[&file("lfs_pointer.log")],
        &[&file("empty.csv")],
        &[&file("header_only.csv")],
        &[&file("garbage.csv.gz")],
        &[&file("mixed_epoch_units.csv")],
        &["crates"],
        &["no-such-file.csv"],
        &[AZURE, "--window", "10"],
        &[AZURE, "--window", "0s"],
        &[AZURE, "--format", "cvs"],
        &[AZURE, "--where", "output-tokens > 5 and pth ~ \"^/api/\""],
        &[AZURE, "--where", "status = 429"],
        &[AZURE, "--where", "output-tokens > 1e9"],
        &[AZURE, "--key-by", "user,path"],
        &[AZURE, "--key-by", "user", "--column", "key=user"],
        &[AZURE, "--column", "time=when"],
        &[AZURE, "--spread"],
        &["-"],
        &[AZURE, "--convert", "own.txt"],
        &[AZURE, "--convert", taken],
    ] {
        let output = inspect(args);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
        said.push_str(&String::from_utf8(output.stderr).unwrap().replace(taken, "taken.csv"));
    }
    insta::assert_snapshot!(said);
}

/// A session log that names its models and has no price.
fn session(folder: &Path) -> String {
    let path = folder.join("session.jsonl");
    let answer = |second: u64, model: &str| {
        format!(
            "{{\"timestamp\":\"2026-05-01T10:00:{second:02}Z\",\"sessionId\":\"s\",\"message\":{{\"id\":\"m{second}\",\"model\":\"{model}\",\
             \"usage\":{{\"input_tokens\":1000,\"output_tokens\":100,\"cache_read_input_tokens\":10000}}}}}}\n"
        )
    };
    let log: String = (0..20)
        .map(|second| answer(second, if second < 15 { "claude-sonnet-4-5" } else { "claude-opus-4-5" }))
        .collect();
    std::fs::write(&path, log).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn a_session_log_without_prices_is_priced_by_its_models() {
    let folder = tempfile::tempdir().unwrap();
    let log = session(folder.path());
    // $3, $15 and $0.30 a million: $0.0075 a call, 15 of them; the model that is not listed costs nothing.
    let found = json(&[&log, "--window", "60s"]);
    assert_eq!(windows(&found, "spend").next().map(|(sliding, _)| sliding), Some(15 * 7_500));
    // $5, $25 and $0.50 for the other five.
    let given = ["--prices", "claude-opus-4-5=5/25/0.5/6.25", "--window", "60s"];
    let found = json(&[&[&log[..]], &given[..]].concat());
    assert_eq!(windows(&found, "spend").next().map(|(sliding, _)| sliding), Some(15 * 7_500 + 5 * 12_500));
    let dear = json(&[&[&log[..]], &given[..], &["--where", "price > 0.01"]].concat());
    assert_eq!(dear["rows"], 5);
    // The scenario that is written has the prices too.
    let (target, out) = (folder.path().join("mine.toml"), folder.path().join("out"));
    let (target, out) = (target.to_str().unwrap(), out.to_str().unwrap());
    let size = ["size", "--trace", &log, "--meter", "spend", "--rate", "$0.01/min", "--write", target];
    let run = |args: &[&str]| Command::cargo_bin("workbench").unwrap().args(args).output().unwrap();
    assert!(run(&[&size[..], &given[..2]].concat()).status.success());
    assert!(std::fs::read_to_string(target).unwrap().contains("\"claude-opus-4-5\" = \"5/25/0.5/6.25\""));
    let said = run(&["run", target, "--no-overhead", "--out", out]);
    assert!(String::from_utf8_lossy(&said.stdout).contains("expectations: all hold"), "{said:?}");
}

#[test]
fn times_of_a_column_can_be_compared_as_texts() {
    let later = std::fs::read_to_string(AZURE).unwrap();
    let later = later.lines().skip(1).filter(|line| *line >= "2023-11-16 18:30").count();
    let found = json(&[AZURE, "--where", "column(\"TIMESTAMP\") >= \"2023-11-16 18:30\""]);
    assert_eq!(found["rows"], later);
    assert!(later > 1_000 && later < 8_819);
}

#[test]
fn wrong_prices_and_filters_on_time_are_errors() {
    let folder = tempfile::tempdir().unwrap();
    let log = session(folder.path());
    let mut said = String::new();
    for args in [
        &[&log[..], "--prices", "claude-opus-4-5"][..],
        &[&log, "--prices", "=5/25"],
        &[&log, "--prices", "claude-opus-4-5=5"],
        &[&log, "--prices", "claude-opus-4-5=claude-opus"],
        &[AZURE, "--prices", "gpt-4o=gpt-4o"],
        &[AZURE, "--where", "time > 5"],
        &[AZURE, "--where", "at >= \"2023-11-16T18:00:00Z\""],
        &[AZURE, "--where", "timestamp < 10 and cost > 1"],
    ] {
        let output = inspect(args);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
        said.push_str(&String::from_utf8(output.stderr).unwrap().replace(&log, "session.jsonl"));
    }
    insta::assert_snapshot!(said);
}

#[test]
fn totals_of_tokens_are_spread_over_a_chosen_number_of_requests() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("usage.csv");
    std::fs::write(
        &log,
        "bucket_start,user,input_tokens\n2026-01-01T00:00:00Z,ann,5000\n2026-01-01T01:00:00Z,ann,7000\n",
    )
    .unwrap();
    let log = log.to_str().unwrap();
    let found = json(&[log, "--spread=100", "--window", "3600s"]);
    assert_eq!(found["rows"], 200);
    // A sliding hour of two levels holds no more than the larger.
    assert_eq!(windows(&found, "tokens").next(), Some((7_000, 7_000)));
    for value in ["0", "-1", "yes", "1.5", ""] {
        let output = inspect(&[log, &format!("--spread={value}")]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{value}");
        let said = String::from_utf8(output.stderr).unwrap();
        let right = format!(
            "error: --spread {value}: true, false, or over how many requests each total is spread, from 1 to 4294967295\n"
        );
        assert!(said == right || value.is_empty() && said.starts_with("error: "), "{said}");
    }
    let (target, out) = (folder.path().join("mine.toml"), folder.path().join("out"));
    let (target, out) = (target.to_str().unwrap(), out.to_str().unwrap());
    let run = |args: &[&str]| Command::cargo_bin("workbench").unwrap().args(args).output().unwrap();
    let size = ["size", "--trace", log, "--meter", "tokens", "--spread=100", "--write", target];
    assert!(run(&size).status.success());
    assert!(std::fs::read_to_string(target).unwrap().contains("spread = 100"));
    let said = run(&["run", target, "--no-overhead", "--out", out]);
    assert!(String::from_utf8_lossy(&said.stdout).contains("expectations: all hold"), "{said:?}");
}

#[test]
fn a_log_that_begins_late_has_the_rate_of_its_requests() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("late.csv");
    std::fs::write(&file, "t_s,user,cost\n46080.5,a,1\n64080.5,a,1\n82080.5,b,2\n").unwrap();
    let output = inspect(&[file.to_str().unwrap()]);
    let said = String::from_utf8(output.stdout).unwrap();
    assert!(said.contains("span           10 h, first 12.8 h after the start\n"), "{said}");
    assert!(said.contains("mean rate      7.2/d\n"), "{said}");
    let found = json(&[file.to_str().unwrap()]);
    assert_eq!((&found["first_ns"], &found["span_ns"]), (&46_080_500_000_000u64.into(), &36_000_000_000_000u64.into()));
}
