//! `workbench size` from outside: what it finds on recorded traffic, the scenario it writes, and what it says to bad input.

use assert_cmd::Command;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

const CODE: &str = "scenarios/traces/AzureLLMInferenceTrace_code.csv";
const CONVERSATIONS: &str = "scenarios/traces/AzureLLMInferenceTrace_conv.csv.gz";
const APACHE: &str = "scenarios/traces/elastic_apache.log.gz";

fn workbench(args: &[&str]) -> Output {
    Command::cargo_bin("workbench").unwrap().args(args).output().unwrap()
}

fn size(trace: &str, args: &[&str]) -> Output {
    workbench(&[&["size", "--trace", trace], args].concat())
}

fn text(output: Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn json(trace: &str, args: &[&str]) -> Value {
    serde_json::from_str(&text(size(trace, &[args, &["--json"]].concat()))).unwrap()
}

#[test]
fn the_text_for_one_limit_for_all() {
    let args = ["--peak-at-most", "500/10s", "--limiter", "nginx:rate=3r/s burst=100 nodelay"];
    insta::assert_snapshot!(text(size(CODE, &args)));
}

#[test]
fn the_text_for_a_limit_for_each_key() {
    let args = ["--per-key", "--rate", "10/min", "--rate", "30/min", "--rate", "2/s", "--blocked-at-most", "0.5%"];
    insta::assert_snapshot!(text(size(APACHE, &args)));
}

#[test]
fn where_no_formula_says_what_a_key_needs_that_is_said() {
    let said = |algorithm| text(size(APACHE, &["--per-key", "--algorithm", algorithm, "--limit-window", "60s"]));
    let crowd = "the crowd: unknown, for no formula says what a single key needs of sliding-window-counter; of token-bucket, \
                 leaky-bucket, gcra, fixed-window and sliding-window-log one does\n";
    assert!(said("sliding-window-counter").contains(crowd));
    assert!(!said("sliding-window-log").contains("the crowd: unknown"));
}

#[test]
fn the_text_for_windows_and_for_rogue_keys() {
    let windows = text(size(CODE, &["--algorithm", "sliding-window-log", "--meter", "tokens"]));
    let rogue =
        text(size(APACHE, &["--per-key", "--rate", "10/min", "--rogue", "75.97.9.59", "--blocked-at-most", "1%"]));
    insta::assert_snapshot!(format!("{windows}\n{rogue}"));
}

#[test]
fn a_limit_fitted_on_half_of_the_conversations_fails_on_the_rest() {
    let found = json(CONVERSATIONS, &["--rate", "6/s", "--holdout", "50%"]);
    let chosen = &found["chosen"];
    assert_eq!((&chosen["burst"], &chosen["fitted"]), (&1_163.into(), &492.into()));
    assert!(chosen["holdout_refused"].as_u64().unwrap() > 0);
    assert!((chosen["headroom"].as_f64().unwrap() - 1_163.0 / 492.0).abs() < 1e-6);
}

#[test]
fn promises_narrow_the_choice() {
    let chosen = |args: &[&str]| json(CODE, args)["chosen"].clone();
    let free = chosen(&["--blocked-at-most", "1%"]);
    let calm = chosen(&["--blocked-at-most", "1%", "--peak-at-most", "350/10s"]);
    // A bucket's bound in a half-open window of 10 s: its burst, and what arrives until just before the end.
    let peak = |row: &Value| row["burst"].as_u64().unwrap() + 10 * row["limit"].as_u64().unwrap() - 1;
    assert!(peak(&calm) <= 350 && peak(&free) > 350, "{free} {calm}");
    // If nobody is refused, the busiest second passes whole: 72 requests.
    for (most, status) in [("71/s", 1), ("72/s", 0)] {
        assert_eq!(size(CODE, &["--backend-at-most", most]).status.code(), Some(status));
    }
    let impossible = size(CODE, &["--peak-at-most", "3/10s"]);
    assert_eq!(impossible.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&impossible.stderr).contains("no setting keeps all promises"));
}

#[test]
fn a_share_of_keys_is_served_whatever_happens_to_the_others() {
    let found = json(APACHE, &["--per-key", "--rate", "10/min", "--keys-at", "99%"]);
    let (keys, touched) =
        (found["chosen"]["keys"].as_u64().unwrap(), found["chosen"]["keys_touched"].as_u64().unwrap());
    assert!(touched > 0 && touched <= keys / 100, "{touched} of {keys}");
    assert_eq!(found["most_affected"]["keys"].as_array().unwrap().len(), 10.min(touched as usize));
}

#[test]
fn the_written_scenario_runs_and_holds() {
    let folder = tempfile::tempdir().unwrap();
    for (name, trace, args) in [
        ("code.toml", CODE, &["--blocked-at-most", "1%"][..]),
        ("tokens.toml", CODE, &["--meter", "tokens", "--rate", "300000/min"]),
        ("window.toml", CODE, &["--algorithm", "sliding-window-counter", "--blocked-at-most", "0.1%"]),
        ("gcra.toml", CONVERSATIONS, &["--algorithm", "gcra"]),
        ("keys.toml", APACHE, &["--per-key", "--keys-at", "99%", "--rate", "10/min"]),
    ] {
        let target = folder.path().join("mine").join(name);
        std::fs::create_dir_all(target.parent().unwrap()).unwrap();
        let target = target.to_str().unwrap();
        assert!(text(size(trace, &[args, &["--write", target]].concat())).contains("run it with"));
        let out = folder.path().join("out");
        let run = workbench(&["run", target, "--no-overhead", "--out", out.to_str().unwrap()]);
        assert!(text(run).contains("expectations: all hold"), "{name}");
        // It says what would break if the limit were one less: the expectation is not true of any limit.
        let written = std::fs::read_to_string(target).unwrap();
        let line = written.lines().rev().find(|line| line.starts_with("admitted")).unwrap();
        let admitted: u64 = line.split_once(" = ").unwrap().1.parse().unwrap();
        std::fs::write(target, written.replace(line, &format!("admitted = {}", admitted - 1))).unwrap();
        let broken = workbench(&["run", target, "--no-overhead", "--out", out.to_str().unwrap()]);
        assert_eq!(broken.status.code(), Some(1), "{name}");
    }
}

/// Calls of two keys with prices: one a minute at a cent, and a burst of 30 at ten cents.
fn priced(folder: &Path) -> String {
    let mut text = "at_ns,key,cost,input_tokens,output_tokens,price_microusd\n".to_owned();
    for minute in 0..120u64 {
        text.push_str(&format!("{},steady,1,100,10,10000\n", minute * 60_000_000_000));
        if minute == 60 {
            (0..30).for_each(|n| text.push_str(&format!("{},loop,1,1000,100,100000\n", minute * 60_000_000_000 + n)));
        }
    }
    let path = folder.join("priced.csv");
    std::fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn money_is_sized_like_permits() {
    let folder = tempfile::tempdir().unwrap();
    let trace = priced(folder.path());
    // At a cent a minute the bucket needs the burst's $3 and the cent of that minute.
    let found = json(&trace, &["--meter", "spend", "--rate", "$0.01/min"]);
    assert_eq!((&found["chosen"]["limit"], &found["chosen"]["burst"]), (&10_000.into(), &3_010_000.into()));
    let target = folder.path().join("mine.toml");
    let said = text(size(&trace, &["--meter", "spend", "--rate", "$0.01/min", "--write", target.to_str().unwrap()]));
    assert!(said.contains("proposal: $0.01/min with a burst of $3.01"), "{said}");
    let out = folder.path().join("out");
    let run = workbench(&["run", target.to_str().unwrap(), "--no-overhead", "--out", out.to_str().unwrap()]);
    assert!(text(run).contains("expectations: all hold"));
    // Nobody refused spends $3.60 in the busiest hour, 60 cents and $3.
    for (most, status) in [("$3.60/h", 0), ("$3.59/h", 1)] {
        assert_eq!(size(&trace, &["--spend-at-most", most]).status.code(), Some(status), "{most}");
    }
    let frontier = json(&trace, &["--per-key", "--rate", "2/min", "--rogue", "loop"])["frontier"].clone();
    let best = &frontier["recommended"];
    assert_eq!((&best["unit"], &best["lost"], &best["rogue"]), (&"micro-dollars".into(), &0.into(), &3_000_000.into()));
    assert_eq!((&best["saved"], &best["burst"]), (&2_900_000.into(), &1.into()));
}

#[test]
fn settings_of_servers_count_requests_whatever_is_sized() {
    let folder = tempfile::tempdir().unwrap();
    let trace = priced(folder.path());
    // A bucket of ten: of the 31 requests of minute 60 it refuses 21.
    let setting = "nginx:rate=2r/m burst=9 nodelay";
    for meter in ["requests", "tokens", "spend"] {
        let found = json(&trace, &["--meter", meter, "--limiter", setting]);
        assert_eq!(found["today"][0]["refused"], 21, "{meter}");
    }
    let said = text(size(&trace, &["--meter", "spend", "--limiter", setting]));
    assert!(said.contains("nodelay (counts requests, as that server does, not spend)\n  refuses 21 of 150"), "{said}");
    let (target, out) = (folder.path().join("mine.toml"), folder.path().join("out"));
    let (target, out) = (target.to_str().unwrap(), out.to_str().unwrap());
    text(size(&trace, &["--meter", "spend", "--rate", "$0.01/min", "--write", target]));
    let said = text(workbench(&["run", target, "--no-overhead", "--out", out, "--limiter", setting]));
    assert!(said.contains("counts requests, as that server does; the scenario's own limiters count spend"), "{said}");
    let mut summary = csv::Reader::from_path(Path::new(out).join("mine/summary.csv")).unwrap();
    let heads = summary.headers().unwrap().clone();
    let of = |row: &csv::StringRecord, name: &str| row[heads.iter().position(|head| head == name).unwrap()].to_owned();
    let row = summary.records().map(Result::unwrap).find(|row| of(row, "limiter") == setting).unwrap();
    assert_eq!((of(&row, "admitted"), of(&row, "refused")), ("129".into(), "21".into()));
}

#[test]
fn what_is_pasted_is_keyed_as_it_was_sized_or_says_that_it_is_not() {
    // One user behind four addresses, and one address with four users: a key of both has eight values.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("access.log");
    let mut log = String::new();
    for second in 0..40 {
        let (address, user) =
            if second % 2 == 0 { (second % 8, "ann".to_owned()) } else { (9, format!("u{}", second % 8)) };
        let stamp = format!("01/Jan/2026:00:00:{second:02} +0000");
        log.push_str(&format!("10.0.0.{address} - {user} [{stamp}] \"GET /a?q={second} HTTP/1.1\" 200 5\n"));
    }
    std::fs::write(&path, log).unwrap();
    let trace = path.to_str().unwrap();
    let paste = |args: &[&str]| json(trace, &[&["--rate", "1/min"], args].concat())["paste"].clone();
    let zone = |paste: &Value| {
        let text = paste[0]["text"].as_str().unwrap();
        text.split(' ').nth(1).unwrap().to_owned()
    };
    for (args, key) in [
        (&[][..], "$server_name"),
        (&["--per-key"], "$binary_remote_addr"),
        (&["--key-by", "user"], "-$remote_user"),
        (&["--key-by", "client,user"], "$binary_remote_addr:$remote_user"),
        (&["--key-by", "method,path"], "$request_method:$uri"),
    ] {
        assert_eq!(zone(&paste(args)), key, "{args:?}");
    }
    // Five requests of each of eight keys: a bucket of five for each refuses none; the same for all, 35 of 40.
    let found = paste(&["--key-by", "client,user", "--where", "method = \"GET\""]);
    let [nginx, envoy, governor] = [0, 1, 2].map(|at| &found[at]);
    assert_eq!((&nginx["per_key"], &nginx["refused"]), (&true.into(), &0.into()));
    assert_eq!((&envoy["per_key"], &envoy["refused"]), (&false.into(), &35.into()));
    assert_eq!((&governor["per_key"], &governor["refused"]), (&true.into(), &0.into()));
    assert!(governor["text"].as_str().unwrap().starts_with("RateLimiter::keyed(Quota::per_minute("));
    for one in [nginx, envoy, governor] {
        let really = one["really"].as_str().unwrap();
        assert!(really.contains("Only requests with `method = \"GET\"` were looked at"), "{really}");
    }
    let setting = "governor:per_minute=1 burst=5";
    let chosen = ["--where", "path ~ \"^/a\"", "--limiter", setting];
    let said = ["user", "client,user", "path"]
        .map(|key| text(size(trace, &[&["--rate", "1/min", "--key-by", key], &chosen[..]].concat())));
    let said = said.map(|said| {
        let (from, to) = (said.find("\ntoday").unwrap(), said.find("\nguess").unwrap());
        said[from..to].to_owned()
    });
    insta::assert_snapshot!(said.concat());
}

#[test]
fn money_that_is_to_be_set_is_not_rounded() {
    let folder = tempfile::tempdir().unwrap();
    let trace = priced(folder.path());
    // A cent a minute against 0.738 cents that drain: 119 × $0.00262, the burst's $3 and a cent.
    let args = ["--meter", "spend", "--rate", "$0.000123/s"];
    assert_eq!(json(&trace, &args)["chosen"]["burst"], 3_321_780);
    let said = text(size(&trace, &args));
    assert!(said.contains("proposal: $0.000123/s with a burst of $3.32178\n"), "{said}");
    assert!(said.contains("one micro-dollar less would refuse some"), "{said}");
    let rogue = text(size(&trace, &[&args[..], &["--per-key", "--rogue", "loop"]].concat()));
    assert!(rogue.contains("$0.000123/s, burst $"), "{rogue}");
}

#[test]
fn a_single_request_has_no_rate() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("one.csv");
    let trace = path.to_str().unwrap();
    for (rows, what) in [
        ("2026-01-01T00:00:00Z\n", "a single request"),
        ("2026-01-01T00:00:00Z\n2026-01-01T00:00:00Z\n", "all 2 requests come at the same time"),
    ] {
        std::fs::write(&path, format!("time\n{rows}")).unwrap();
        let seen = text(workbench(&["inspect", trace]));
        assert!(seen.lines().any(|line| line == "  mean rate      –"), "{seen}");
        let said = text(size(trace, &[]));
        assert!(said.contains(what), "{said}");
        let rest = "so it has no rate: a limit sized on it says what that moment asks for, and nothing about what refill or window";
        assert!(said.contains(rest), "{said}");
    }
    std::fs::write(&path, "time\n2026-01-01T00:00:00Z\n2026-01-01T00:00:01Z\n").unwrap();
    assert!(!text(size(trace, &[])).contains("it has no rate"));
    assert!(text(workbench(&["inspect", trace])).contains("mean rate      2/s"));
}

#[test]
fn tables_and_figures_are_written_where_asked() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let args = ["--per-key", "--rate", "10/min", "--rate", "1/s", "--rogue", "75.97.9.59", "--out", out];
    assert!(size(APACHE, &args).status.success());
    for name in ["size.csv", "size.svg", "size.png", "frontier.csv", "frontier.svg", "frontier.png"] {
        assert!(folder.path().join(name).metadata().unwrap().len() > 200, "{name}");
    }
    let table = std::fs::read_to_string(folder.path().join("size.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 2 * 4);
}

#[test]
fn a_setting_of_a_server_runs_beside_a_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let setting = "nginx:rate=10r/s burst=20 nodelay";
    let args = ["run", "scenarios/azure-code.toml", "--no-overhead", "--limiter", setting, "--out", out];
    text(workbench(&args));
    let summary = std::fs::read_to_string(folder.path().join("azure-code/summary.csv")).unwrap();
    assert!(summary.contains("azure-code,nginx:rate=10r/s burst=20 nodelay,nginx-limit-req,"), "{summary}");
}

#[test]
fn bad_input_is_one_error_and_status_2() {
    let taken = tempfile::Builder::new().suffix(".toml").tempfile().unwrap();
    let taken = taken.path().to_str().unwrap();
    let mut said = String::new();
    for args in [
        &["--algorithm", "token-buckte"][..],
        &["--algorithm", "unlimited"],
        &["--meter", "dollars"],
        &["--meter", "spend"],
        &["--spend-at-most", "$20/day"],
        &["--blocked-at-most", "0.1"],
        &["--blocked-at-most", "100%"],
        &["--peak-at-most", "500"],
        &["--rate", "6"],
        &["--limit-window", "60"],
        &["--limiter", "nginx:rate=10r/h"],
        &["--limiter", "token-bucket"],
        &["--keys-at", "99%", "--algorithm", "sliding-window-counter"],
        &["--rogue", "nobody"],
        &["--key-by", "user,"],
        &["--key-by", "user"],
        &["--write", "mine.txt"],
        &["--write", taken],
    ] {
        let output = size(CODE, args);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{args:?}: {error}");
        said.push_str(&error.replace(taken, "taken.toml"));
    }
    for trace in ["crates/traffic/tests/traces/data/html_error_page.csv", "crates", "no-such-file.csv"] {
        let output = size(trace, &[]);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{trace}");
        said.push_str(&String::from_utf8(output.stderr).unwrap());
    }
    assert!(!Path::new("mine.txt").exists());
    insta::assert_snapshot!(said);
}
