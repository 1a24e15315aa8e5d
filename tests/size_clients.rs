//! `workbench size --scenario` from outside: settings of one limiter in front of clients that react, held against runs of
//! variants that are written by hand.

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

const NEIGHBOUR: &str = "scenarios/neighbour.toml";
const LOOP: &str = "scenarios/agent-loop.toml";
const BRAKE: &str = "scenarios/brake-that-costs-more.toml";

fn workbench(args: &[&str]) -> Output {
    Command::cargo_bin("workbench").unwrap().args(args).output().unwrap()
}

fn size(scenario: &str, args: &[&str]) -> Output {
    workbench(&[&["size", "--scenario", scenario], args].concat())
}

fn text(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(scenario: &str, args: &[&str]) -> Value {
    serde_json::from_str(&text(size(scenario, &[args, &["--json"]].concat()))).unwrap()
}

/// The rows of a table as (column, cell) lookups.
fn rows(path: &Path) -> Vec<std::collections::HashMap<String, String>> {
    csv::Reader::from_path(path).unwrap().deserialize().map(Result::unwrap).collect()
}

#[test]
fn the_text_for_each_key_and_for_all() {
    let own = text(size(NEIGHBOUR, &["--rogue", "runaway", "--per-key"]));
    let shared = text(size(NEIGHBOUR, &["--rogue", "runaway", "--algorithm", "sliding-window-log"]));
    insta::assert_snapshot!(format!("{own}\n{shared}"));
}

#[test]
fn the_text_for_a_cap_and_for_a_brake_that_raises_the_bill() {
    let cap = text(size(LOOP, &["--rogue", "overnight loop", "--algorithm", "spend-cap"]));
    let silent =
        ["--rogue", "overnight loop", "--vary", "bucket 10, 1/min, silent", "--rate", "1/min", "--rate", "2/min"];
    let brake = text(size(BRAKE, &silent));
    let stack = text(size(LOOP, &["--rogue", "overnight loop", "--vary", "bucket and cap", "--rate", "10/h"]));
    insta::assert_snapshot!(format!("{cap}\n{brake}\n{stack}"));
}

/// The file with other limiters in place of its own, run as anybody would.
fn by_hand(folder: &Path, scenario: &str, limiters: &str) -> std::path::PathBuf {
    let whole = std::fs::read_to_string(scenario).unwrap();
    let own = whole.find("[[limiter]]").unwrap();
    let listed = whole.find("\nlimiters = [").map(|at| (at, at + 1 + whole[at + 1..].find('\n').unwrap()));
    let head = match listed {
        Some((from, to)) => format!("{}{}", &whole[..from], &whole[to..own]),
        None => whole[..own].to_owned(),
    };
    let path = folder.join("by-hand.toml");
    std::fs::write(&path, format!("{head}{limiters}")).unwrap();
    let out = folder.join("out");
    text(workbench(&["run", path.to_str().unwrap(), "--no-overhead", "--out", out.to_str().unwrap()]));
    out.join("by-hand")
}

#[test]
fn each_row_is_what_a_run_of_that_variant_says() {
    let folder = tempfile::tempdir().unwrap();
    let args = ["--rate", "5/min", "--rate", "100/min", "--burst", "4", "--burst", "66"];
    for (scenario, rogue, scope, per_key) in [
        (NEIGHBOUR, "runaway", "global", false),
        (NEIGHBOUR, "runaway", "per-key", true),
        (LOOP, "overnight loop", "global", false),
    ] {
        let keyed: &[&str] = if per_key { &["--per-key"] } else { &[] };
        let found = json(scenario, &[&["--rogue", rogue], &args[..], keyed].concat());
        let found = found["rows"].as_array().unwrap();
        assert_eq!(found.len(), 4);
        let limiters: String = [(5, 4), (5, 66), (100, 4), (100, 66)]
            .map(|(limit, burst)| {
                format!(
                    "[[limiter]]\nlabel = \"{limit} {burst}\"\nalgorithm = \"token-bucket\"\nlimit = \"{limit}/min\"\nburst = {burst}\n\
                     key = \"{scope}\"\n"
                )
            })
            .concat();
        let report = by_hand(folder.path(), scenario, &limiters);
        let (clients, summary) = (rows(&report.join("clients.csv")), rows(&report.join("summary.csv")));
        for row in found {
            let number = |name: &str| row[name].as_i64().unwrap();
            let label = format!("{} {}", number("limit"), number("burst"));
            let bill = |limiter: &str| -> i64 {
                let own = clients.iter().find(|row| row["limiter"] == limiter && row["client"] == rogue).unwrap();
                own["spent_microusd"].parse().unwrap()
            };
            assert_eq!(number("saved"), bill("none") - bill(&label), "{scenario} {label}");
            assert_eq!(number("rogue"), bill("none"));
            let own = summary.iter().find(|row| row["limiter"] == label && row["comparison"] == "variant").unwrap();
            let lost: f64 = own["useful_lost_ratio"].parse().unwrap();
            let share = number("lost") as f64 / number("legit") as f64;
            assert!((share - lost).abs() < 1e-6, "{scenario} {label}: {share} {lost}");
            assert_eq!(number("cost_saved_microusd").to_string(), own["cost_saved_microusd"]);
        }
    }
}

#[test]
fn what_a_loop_in_code_saves_can_be_counted() {
    // It asks at 0, 0.2, 0.4 … s for an hour, 18,000 times at a cent. Of a bucket of its own it gets the burst, and 5 a minute
    // until the last question at 3,599.8 s: 299 whole permits.
    let found =
        json(NEIGHBOUR, &["--rogue", "runaway", "--per-key", "--rate", "5/min", "--burst", "4", "--burst", "66"]);
    let saved: Vec<i64> = found["rows"].as_array().unwrap().iter().map(|row| row["saved"].as_i64().unwrap()).collect();
    assert_eq!(saved, [(18_000 - 4 - 299) * 10_000, (18_000 - 66 - 299) * 10_000]);
    assert_eq!(found["without"]["rogue"], 180_000_000);
    assert_eq!(found["recommended"]["burst"], 66);
}

#[test]
fn a_brake_in_front_of_the_tool_may_save_less_than_nothing() {
    let args = ["--rogue", "overnight loop", "--vary", "bucket 10, 1/min, silent", "--rate", "1/min", "--burst", "10"];
    let found = json(BRAKE, &args);
    let row = &found["rows"][0];
    // The same limiter as the file's, so the same figure as its expectation: at most -$30.
    assert!(row["saved"].as_i64().unwrap() < -30_000_000, "{row}");
    assert!(found["recommended"].is_null());
    assert!(found["because"].as_str().unwrap().contains("raises their bill"), "{found}");
    let cap = json(BRAKE, &["--rogue", "overnight loop", "--algorithm", "spend-cap", "--burst", "$5"]);
    assert!(cap["rows"][0]["saved"].as_i64().unwrap() < -80_000_000, "{cap}");
    assert_eq!(cap["limiter"]["meter"], "spend");
}

#[test]
fn clients_on_neither_side_take_part_and_are_not_counted() {
    let folder = tempfile::tempdir().unwrap();
    let whole = std::fs::read_to_string(NEIGHBOUR).unwrap();
    let third = "[[client]]\nname = \"bystander\"\npreset = \"plain\"\nrole = \"legitimate\"\nkey = \"b\"\nthink-time = \"3s\"\n\n[[limiter]]";
    let path = folder.path().join("three.toml");
    std::fs::write(&path, whole.replacen("[[limiter]]", third, 1)).unwrap();
    let path = path.to_str().unwrap();
    let args = ["--rogue", "runaway", "--rate", "5/min", "--burst", "66"];
    let of = |more: &[&str]| json(path, &[&args[..], more].concat());
    let (all, one) = (of(&[]), of(&["--legit", "honest agent"]));
    assert_eq!((&all["legit"][1], &one["neither"][0]), (&"bystander".into(), &"bystander".into()));
    assert!(one["rows"][0]["legit"].as_i64().unwrap() < all["rows"][0]["legit"].as_i64().unwrap() / 3);
    assert_eq!(one["rows"][0]["saved"], all["rows"][0]["saved"]);
}

#[test]
fn where_calls_cost_nothing_wasted_ones_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("free.toml");
    let client = "name = \"loop\"\npreset = \"plain\"\nrole = \"rogue\"\nuseful-calls = 3\nthink-time = \"1s\"\nlatency = \"0s\"\n";
    std::fs::write(&path, format!("duration = \"1min\"\n[quota]\nlimit = 10\nwindow = \"1min\"\n[[client]]\n{client}"))
        .unwrap();
    let path = path.to_str().unwrap();
    let found = json(path, &["--rogue", "loop", "--rate", "6/min", "--burst", "5"]);
    let (row, without) = (&found["rows"][0], &found["without"]);
    assert_eq!((&row["unit"], &row["legit"], &row["lost"]), (&"wasted calls".into(), &3.into(), &0.into()));
    // Calls a second apart, of which three are useful; the bucket lets five through at once and six a minute.
    let wasted = without["rogue"].as_i64().unwrap();
    assert!((55..=60).contains(&wasted), "{without}");
    let saved = row["saved"].as_i64().unwrap();
    assert!((wasted + 3 - 11..=wasted + 3 - 5).contains(&saved), "{row}");
    assert!(text(size(path, &["--rogue", "loop", "--rate", "6/min"])).contains("of the rogue clients' waste against"));
}

#[test]
fn the_written_scenario_keeps_the_rest_of_the_file_and_holds() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let out = out.to_str().unwrap();
    for (name, scenario, args) in [
        ("key.toml", NEIGHBOUR, &["--rogue", "runaway", "--per-key"][..]),
        ("cap.toml", LOOP, &["--rogue", "overnight loop", "--algorithm", "spend-cap"]),
        ("window.toml", LOOP, &["--rogue", "overnight loop", "--algorithm", "fixed-window", "--limit-window", "1h"]),
        // The file has it for honest: what is asked for is written.
        ("other.toml", NEIGHBOUR, &["--rogue", "honest agent", "--per-key", "--blocked-at-most", "90%"]),
    ] {
        let target = folder.path().join(name);
        let target = target.to_str().unwrap();
        let args = [args, &["--write", target]].concat();
        assert!(text(size(scenario, &args)).contains("run it with"), "{name}");
        let run = || workbench(&["run", target, "--no-overhead", "--out", out]);
        assert!(text(run()).contains("3 expectations: all hold"), "{name}");
        let written = std::fs::read_to_string(target).unwrap();
        assert!(written.contains("[[client]]\nname = ") && !written.contains("shared cap $5"), "{written}");
        let line = written.lines().find(|line| line.starts_with("cost-saved-microusd")).unwrap();
        std::fs::write(target, written.replace(line, "cost-saved-microusd = \"$0.01\"")).unwrap();
        assert_eq!(run().status.code(), Some(1), "{name}");
    }
    let other = std::fs::read_to_string(folder.path().join("other.toml")).unwrap();
    assert!(other.contains("name = \"honest agent\"") && other.contains("role = \"rogue\""), "{other}");
    let nothing = folder.path().join("nothing.toml");
    let output = size(NEIGHBOUR, &["--rogue", "runaway", "--write", nothing.to_str().unwrap()]);
    assert_eq!((output.status.code(), nothing.exists()), (Some(1), false));
    assert!(String::from_utf8_lossy(&output.stdout).contains("recommended: nothing"));
}

#[test]
fn recorded_agents_are_clients_too() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("limited.csv");
    let mut rows = "at_ns,key,cost,status\n".to_owned();
    (0..200u64).for_each(|n| {
        rows.push_str(&format!("{},k{},1,{}\n", n * 1_000_000_000, n % 3, if n % 4 == 0 { 429 } else { 200 }))
    });
    std::fs::write(&log, rows).unwrap();
    std::fs::create_dir(folder.path().join("made")).unwrap();
    let path = folder.path().join("recorded.toml");
    let trace = "[quota]\nlimit = 60\nwindow = \"1min\"\n[[traffic.trace]]\npath = \"limited.csv\"\nretry-as = \"openai-sdk\"\n\
                 columns = { status = \"status\" }\n[[client]]\nname = \"loop\"\npreset = \"code-loop\"\n[[limiter]]\nlabel = \"x\"\nalgorithm = \"gcra\"\n";
    std::fs::write(&path, format!("duration = \"5min\"\n{trace}")).unwrap();
    let target = folder.path().join("made/new.toml");
    let args = ["--rogue", "loop", "--per-key", "--write", target.to_str().unwrap()];
    let said = text(size(path.to_str().unwrap(), &args));
    assert!(said.contains("\"limited.csv\": ") && said.contains("all useful"), "{said}");
    let written = std::fs::read_to_string(&target).unwrap();
    assert!(written.contains("path = \"../limited.csv\""), "{written}");
    let out = folder.path().join("out");
    let run = workbench(&["run", target.to_str().unwrap(), "--no-overhead", "--out", out.to_str().unwrap()]);
    assert!(text(run).contains("expectations: all hold"));
}

#[test]
fn tables_and_figures_are_written_where_asked() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    text(size(NEIGHBOUR, &["--rogue", "runaway", "--per-key", "--rate", "5/min", "--out", out]));
    for name in ["frontier.csv", "frontier.svg", "frontier.png"] {
        assert!(folder.path().join(name).metadata().unwrap().len() > 200, "{name}");
    }
    let table = rows(&folder.path().join("frontier.csv"));
    assert!(table.len() > 4 && table.iter().filter(|row| row["recommended"] == "true").count() == 1);
    assert!(table.iter().all(|row| row["unit"] == "micro-dollars" && row["scope"] == "per-key"));
    insta::assert_snapshot!(std::fs::read_to_string(folder.path().join("frontier.csv")).unwrap());
}

#[test]
fn bad_input_is_one_error_and_status_2() {
    let rogue = ["--rogue", "runaway"];
    let mut said = String::new();
    for args in [
        &[][..],
        &["--rogue", "runawy"],
        &["--rogue", "tenant-a/runaway"],
        &["--rogue", "runaway", "--legit", "honest"],
        &["--rogue", "runaway", "--legit", "runaway"],
        &["--legit", "honest agent"],
        &[&rogue[..], &["--algorithm", "loop-breaker"]].concat(),
        &[&rogue[..], &["--meter", "dollars"]].concat(),
        &[&rogue[..], &["--algorithm", "spend-cap", "--meter", "requests"]].concat(),
        &[&rogue[..], &["--algorithm", "spend-cap", "--rate", "1/min"]].concat(),
        &[&rogue[..], &["--algorithm", "spend-cap", "--burst", "5"]].concat(),
        &[&rogue[..], &["--burst", "$5"]].concat(),
        &[&rogue[..], &["--burst", "0"]].concat(),
        &[&rogue[..], &["--rate", "$1/h"]].concat(),
        &[&rogue[..], &["--limit-window", "1min"]].concat(),
        &[&rogue[..], &["--vary", "shard bucket"]].concat(),
        &[&rogue[..], &["--vary", "unlimited"]].concat(),
        &[&rogue[..], &["--vary", "shared bucket", "--per-key"]].concat(),
        &[&rogue[..], &["--vary", "shared bucket", "--write", "mine.toml"]].concat(),
        &[&rogue[..], &["--write", "mine.txt"]].concat(),
        &[&rogue[..], &["--write", NEIGHBOUR]].concat(),
        &[&rogue[..], &["--key-by", "user"]].concat(),
        &[&rogue[..], &["--keys-at", "99%"]].concat(),
        &[&rogue[..], &["--trace", "x.csv"]].concat(),
    ] {
        let output = size(NEIGHBOUR, args);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}: {error}");
        said.push_str(&error);
    }
    for args in [
        &["size", "--rogue", "x"][..],
        &["size", "--trace", "x.csv", "--vary", "x"],
        &["size", "--trace", "x.csv", "--burst", "4"],
        &["size", "--scenario", "no-such.toml", "--rogue", "x"],
        &["size", "--scenario", "scenarios/f5.toml", "--rogue", "impatient"],
    ] {
        let output = workbench(args);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}");
        said.push_str(&String::from_utf8(output.stderr).unwrap());
    }
    assert!(!Path::new("mine.toml").exists() && !Path::new("mine.txt").exists());
    insta::assert_snapshot!(said);
}
