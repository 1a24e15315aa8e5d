//! What scenario files mean: values, defaults, sweeps, stacks, narrowing, expectations; and the shipped files.

mod scenario_support;

use limiters::{Meter, Quota, Rate};
use replay::rows::SummaryRow;
use replay::scenario::{Routing, Scenario, What, key_tables, load_all, schema};
use scenario_support::{fault, json};
use std::path::{Path, PathBuf};
use traffic::spec::{Amount, Keys, Phase, Shape, Trace};

const SECOND: u64 = 1_000_000_000;

fn read(text: &str) -> Scenario {
    Scenario::parse_text(text).unwrap_or_else(|problems| panic!("{}", problems[0]))
}

fn refused(text: &str) -> String {
    let problems = Scenario::parse_text(text).expect_err("a mistake");
    problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

/// A scenario with this quota and these further lines.
fn small(quota: &str, more: &str) -> String {
    format!("duration = \"1h\"\n[quota]\n{quota}\n[[traffic.burst]]\nat = \"0s\"\nrequests = 5\n{more}\n")
}

#[test]
fn every_key_of_every_pattern() {
    let scenario = read(
        r#"
        start = 2026-01-01T12:00:00Z
        duration = "8h"
        seed = 7
        bin = "1s"
        patience = "2s"
        [quota]
        limit = 100
        window = "1min"
        burst = 20
        key = "per-key"
        meter = "tokens"
        [[traffic.burst]]
        at = "59s"
        requests = 100
        spread = "2s"
        every = "1h"
        key = "alice"
        cost = 3
        [[traffic.constant]]
        rate = "10/13s"
        start = "1s"
        end = "60s"
        [[traffic.burst]]
        at = "60s"
        requests = 1
        [[traffic.poisson]]
        rate = 0.5
        keys = 1000
        zipf = 0.99
        cost = { min = 1, max = 5 }
        [[traffic.on-off]]
        rate = "2/s"
        on = "3s"
        off = { mean = "10s" }
        input-tokens = { median = 10, p90 = 12.5, max = 20 }
        output-tokens = { min = 5, shape = 1.5, max = 20 }
        price = { median = "$0.07", p90 = "$0.20" }
        [[traffic.ramp]]
        from = 0
        to = "100/s"
        cost = { mean = 2.5, max = 20 }
        [[traffic.sine]]
        mean = "5/s"
        amplitude = "5/s"
        period = "1d"
        phase = "6h"
        [[traffic.pareto]]
        rate = "5/s"
        shape = 1.5
        [[traffic.trace]]
        path = "log.csv"
        format = "csv"
        columns = { time = "TIMESTAMP", cost = ["in", "out"] }
        where = 'column("zone") = "eu"'
        key-by = ["user", "path"]
        spread = true
        time-unit = "ms"
        time-scale = 0.5
        repeat = 2
        order = "as-is"
        key-normalise = "address"
        key-prefix = 64
        skip-bad-rows = true
        max-bad-rows = 10
        "#,
    );
    assert_eq!(scenario.start, Some(1_767_268_800 * SECOND));
    assert_eq!((scenario.seed, scenario.bin, scenario.patience), (7, Some(SECOND), Some(2 * SECOND)));
    assert_eq!(scenario.quota.quota, Quota { limit: 100, window: 60 * SECOND, burst: 20 });
    assert!(scenario.quota.per_key && scenario.quota.meter == Meter::Tokens);

    let rate = |permits, per| Rate::new(permits, per).unwrap();
    let shapes: Vec<Shape> = scenario.patterns.iter().map(|pattern| pattern.shape.clone()).collect();
    let trace = Trace {
        path: PathBuf::from("log.csv"),
        format: Some("csv".into()),
        columns: vec![("time".into(), vec!["TIMESTAMP".into()]), ("cost".into(), vec!["in".into(), "out".into()])],
        time_unit: Some("ms".into()),
        time_scale: Some((1, 2)),
        repeat: 2,
        as_is: true,
        key_normalise: traffic::spec::KeyNormalise::Address,
        key_prefix: Some(64),
        skip_bad_rows: true,
        max_bad_rows: Some(10),
        filter: Some("column(\"zone\") = \"eu\"".into()),
        key_by: vec!["user".into(), "path".into()],
        spread: Some(true),
        said: traffic::spec::Said::Scenario,
        ..Trace::default()
    };
    let (start, end) = (0, None);
    let expected = vec![
        Shape::Burst { at: 59 * SECOND, requests: 100, spread: 2 * SECOND, every: Some(3600 * SECOND) },
        Shape::Constant { rate: rate(10, 13 * SECOND), start: SECOND, end: Some(60 * SECOND) },
        Shape::Burst { at: 60 * SECOND, requests: 1, spread: 0, every: None },
        Shape::Poisson { rate: rate(1, 2 * SECOND), start, end },
        Shape::OnOff {
            rate: rate(2, SECOND),
            on: Phase::Constant(3 * SECOND),
            off: Phase::Exponential(10 * SECOND),
            start,
            end,
        },
        Shape::Ramp { from: None, to: Some(rate(100, SECOND)), start, end },
        Shape::Sine {
            mean: rate(5, SECOND),
            amplitude: Some(rate(5, SECOND)),
            period: 86_400 * SECOND,
            phase: 21_600 * SECOND,
            start,
            end,
        },
        Shape::Pareto { rate: rate(5, SECOND), shape: 1.5, start, end },
        Shape::Trace(trace),
    ];
    // The order of the file, across kinds of patterns: requests of equal time come in it.
    assert_eq!(shapes, expected);
    assert_eq!(scenario.patterns[0].keys, Keys::One("alice".into()));
    assert_eq!(scenario.patterns[0].cost, Amount::Constant(3));
    assert_eq!(scenario.patterns[1].cost, Amount::Constant(1));
    assert_eq!(scenario.patterns[3].keys, Keys::Many { prefix: "key".into(), count: 1000, zipf: 0.99 });
    assert_eq!(scenario.patterns[3].cost, Amount::Uniform { min: 1, max: 5 });
    let tokens = &scenario.patterns[4];
    assert_eq!(tokens.input_tokens, Some(Amount::Lognormal { median: 10.0, p90: 12.5, max: Some(20) }));
    assert_eq!(tokens.output_tokens, Some(Amount::Pareto { min: 5.0, shape: 1.5, max: Some(20) }));
    assert_eq!(tokens.price, Some(Amount::Lognormal { median: 70_000.0, p90: 200_000.0, max: None }));
    assert_eq!(scenario.patterns[5].cost, Amount::Exponential { mean: 2.5, max: Some(20) });
}

#[test]
fn units_that_were_misread_elsewhere() {
    // A bare number is never a length of time, `m` is a minute and never a month, and both parts of a rate count.
    assert!(refused(&small("limit = 5\nwindow = 10", "")).contains("`window`: a length of time needs a unit"));
    assert_eq!(read(&small("limit = 5\nwindow = \"1m\"", "")).quota.quota.window, 60 * SECOND);
    assert!(refused(&small("limit = \"100/month\"", "")).contains("a month has no fixed length"));
    let quota = read(&small("limit = \"5 per 3 seconds\"", "")).quota.quota;
    assert_eq!((quota.limit, quota.window), (5, 3 * SECOND));
    let fast = "[[limiter]]\nlabel = \"fast\"\nalgorithm = \"token-bucket\"\ncapacity = 8000\nrefill = \"4000/s\"";
    let scenario = read(&small("limit = 5\nwindow = \"1s\"", fast));
    let rule = scenario.limiters.last().unwrap().build(0).unwrap().unwrap();
    assert_eq!(rule.parameters(), "capacity 8000, refill 4000/s");
}

#[test]
fn values_that_make_no_limit() {
    for quota in
        ["limit = 0\nwindow = \"1s\"", "limit = 1\nwindow = \"0s\"", "limit = nan\nwindow = \"1s\"", "limit = \"0/s\""]
    {
        let told = refused(&small(quota, ""));
        assert!(told.contains("`limit`") || told.contains("`window`"), "{told}");
    }
    for refill in ["0", "-1", "nan", "inf", "\"0/s\"", "\"-1/s\"", "\"NaN/s\"", "\"1/0s\""] {
        let bucket = format!("[[limiter]]\nlabel = \"x\"\nalgorithm = \"token-bucket\"\nrefill = {refill}");
        let told = refused(&small("limit = 5\nwindow = \"1s\"", &bucket));
        assert!(told.contains("`refill`"), "{told}");
    }
}

#[test]
fn a_burst_is_the_limit_unless_it_is_said() {
    let variant = |more: &str| {
        let text = format!("[[limiter]]\nalgorithm = \"token-bucket\"\nlabel = \"x\"\n{more}");
        read(&small("limit = 100\nwindow = \"1min\"", &text)).limiters.last().unwrap().quota().unwrap()
    };
    assert_eq!(variant("").burst, 100);
    assert_eq!(variant("limit = 50"), Quota { limit: 50, window: 60 * SECOND, burst: 50 });
    assert_eq!(variant("limit = \"50/s\"\nburst = 5"), Quota { limit: 50, window: SECOND, burst: 5 });
}

#[test]
fn sweeps_are_variants() {
    let text = "[[limiter]]\nalgorithm = \"token-bucket\"\nsweep = { capacity = [10, 50], refill = [\"1/s\", 2] }";
    let mut scenario = read(&small("limit = 100\nwindow = \"1min\"", text));
    let labels: Vec<String> = scenario.labels().filter(|label| label.contains(',')).map(String::from).collect();
    assert_eq!(
        labels,
        [
            "token-bucket, capacity 10, refill 1/s",
            "token-bucket, capacity 10, refill 2",
            "token-bucket, capacity 50, refill 1/s",
            "token-bucket, capacity 50, refill 2"
        ]
    );
    scenario.narrow(&["token-bucket".into()]).unwrap();
    assert_eq!(scenario.limiters.len(), 5, "the registered one and its four variants");
    let error = scenario.narrow(&["gcar".into()]).unwrap_err();
    assert!(error.contains("no limiter is called `gcar`"), "{error}");
}

#[test]
fn stacks_nodes_and_limiters_of_stacks_only() {
    let scenario = read(&small(
        "limit = 100\nwindow = \"1min\"",
        r#"price = "$0.008"
        [[limiter]]
        label = "leash"
        all-of = ["bucket 10", "cap $5"]
        [[limiter]]
        label = "bucket 10"
        algorithm = "token-bucket"
        capacity = 10
        refill = "2/s"
        compare = false
        [[limiter]]
        label = "cap $5"
        algorithm = "spend-cap"
        meter = "spend"
        limit = "$5"
        [[limiter]]
        label = "three nodes"
        algorithm = "fixed-window"
        nodes = 3
        routing = "random"
        restart-at = "30s""#,
    ));
    let leash = scenario.limiters.iter().find(|limiter| limiter.label == "leash").unwrap();
    assert_eq!(leash.algorithm(), "all-of");
    let What::AllOf(parts) = &leash.what else { panic!("a stack") };
    assert_eq!(parts.iter().map(|part| part.meter).collect::<Vec<_>>(), [Meter::Requests, Meter::Spend]);
    assert_eq!(parts[1].build(0).unwrap().unwrap().limiter().remaining(0), 5_000_000);
    assert!(!scenario.labels().any(|label| label == "bucket 10"), "it serves in the stack only");
    let nodes = scenario.limiters.last().unwrap();
    assert_eq!((nodes.nodes, nodes.routing, nodes.restart_at), (3, Routing::Random, Some(30 * SECOND)));
}

#[test]
fn narrowing_in_the_file_leaves_labels_free() {
    let text = small("limit = 5\nwindow = \"1s\"", "[[limiter]]\nalgorithm = \"token-bucket\"\ncapacity = 3");
    let scenario = read(&format!("limiters = [\"unlimited\", \"token-bucket\", \"spend-cap\"]\n{text}"));
    assert_eq!(scenario.labels().collect::<Vec<_>>(), ["unlimited", "spend-cap", "token-bucket"]);
    assert_eq!(scenario.limiters[2].build(0).unwrap().unwrap().parameters(), "capacity 3, refill 5/s");
}

#[test]
fn expectations_hold_or_say_where_they_do_not() {
    let text = small(
        "limit = 5\nwindow = \"1s\"",
        r#"
[[expect]]
limiter = "unlimited"
admitted = 5
admitted-ratio = 0.333333
wait-p99-ns = { max = "2s" }
wait-max-ns = { max = "1s" }
peak = { min = 2, max = 3 }
within = "2s"
[[expect]]
limiter = "gcra"
comparison = "equal-guarantee"
admitted = { min = 1 }
"#,
    );
    let scenario = Scenario::parse(Path::new("scenarios/x.toml"), &text).unwrap();
    assert_eq!(scenario.asked_intervals(), [2 * SECOND]);
    let row = |limiter: &str, comparison: &str| SummaryRow {
        limiter: limiter.into(),
        comparison: comparison.into(),
        admitted: 5,
        admitted_ratio: Some(0.333333),
        wait_p99_ns: Some(2 * SECOND),
        wait_max_ns: Some(SECOND),
        ..SummaryRow::default()
    };
    let good = [row("gcra", "equal-quota"), row("unlimited", "equal-quota"), row("gcra", "equal-guarantee")];
    let broken = |rows: &[SummaryRow], peak| replay::expect::broken(&scenario, rows, |_, _| peak);
    assert_eq!(broken(&good, Some(3)), Vec::<String>::new());

    let mut bad = good.clone();
    bad[1] = SummaryRow {
        admitted: 4,
        admitted_ratio: Some(0.333332),
        wait_p99_ns: None,
        wait_max_ns: Some(1_500_000_000),
        ..bad[1].clone()
    };
    bad[2].admitted = 0;
    assert_eq!(
        broken(&bad, Some(4)),
        [
            "scenarios/x.toml:11:1: expected unlimited admitted = 5, got 4",
            "scenarios/x.toml:12:1: expected unlimited admitted-ratio = 0.333333, got 0.333332",
            "scenarios/x.toml:13:1: expected unlimited wait-p99-ns <= 2s, got an empty cell",
            "scenarios/x.toml:14:1: expected unlimited wait-max-ns <= 1s, got 1500ms",
            "scenarios/x.toml:15:1: expected unlimited peak within 2s from 2 to 3, got 4",
            "scenarios/x.toml:20:1: expected gcra admitted >= 1, got 0",
        ]
    );
    assert_eq!(broken(&good[1..2], Some(3)), ["scenarios/x.toml:20:1: expected gcra admitted >= 1, got no row of it"]);
    assert_eq!(broken(&good, None).len(), 1);
}

#[test]
fn a_trace_takes_the_place_of_the_traffic() {
    let expect = "[[expect]]\nlimiter = \"unlimited\"\nadmitted = 5";
    let mut scenario = read(&small("limit = 5\nwindow = \"1s\"", expect));
    scenario.replace_traffic(Trace { path: "own.csv".into(), repeat: 1, ..Trace::default() });
    assert!(scenario.expects.is_empty() && scenario.duration.is_none() && scenario.patterns.len() == 1);
    assert!(scenario.notes.iter().any(|note| note.text.contains("own.csv") && note.text.contains("skipped")));
}

#[test]
fn problems_of_all_files_are_told() {
    let folder = std::env::temp_dir().join(format!("scenario-format-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let one = write("one.toml", &small("limit = 0\nwindow = \"1s\"", ""));
    let two = write("two.toml", &small("limit = 5\nwindow = \"1s\"\nburts = 3", ""));
    let latin = folder.join("latin.toml");
    std::fs::write(&latin, b"summary = \"a\"\nanalysis = \"\xe9\"").unwrap();
    let problems = load_all(&[one, two, folder.join("none.toml"), latin]).unwrap_err();
    std::fs::remove_dir_all(&folder).unwrap();
    let told: Vec<String> = problems.iter().map(|problem| problem.to_string()).collect();
    assert_eq!(told.len(), 4, "{told:?}");
    assert!(told[0].contains("one.toml:3:9: `limit`: 0 is too small"), "{}", told[0]);
    assert!(told[1].contains("two.toml:5:1: unknown key `burts`"), "{}", told[1]);
    assert!(told[2].contains("none.toml: cannot be read"), "{}", told[2]);
    assert!(told[3].contains("latin.toml: line 2 is not UTF-8"), "{}", told[3]);
}

fn shipped() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = entries.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    paths.sort();
    paths
}

#[test]
fn shipped_scenarios_are_good_and_teach() {
    let schema = schema();
    assert!(!shipped().is_empty());
    for path in shipped() {
        let text = std::fs::read_to_string(&path).unwrap();
        let scenario = match Scenario::parse(&path, &text) {
            Ok(scenario) => scenario,
            Err(problems) => panic!("{}", problems.iter().map(|p| p.to_string()).collect::<Vec<_>>().join("\n")),
        };
        assert_eq!(fault(&schema, &json(&text)), None, "{}", path.display());
        assert!(scenario.summary.ends_with('.') && scenario.analysis.len() > 200, "{} says too little", path.display());
        assert!(!scenario.expects.is_empty(), "{} expects nothing", path.display());
    }
}

#[test]
fn every_pattern_that_traffic_makes_can_be_written() {
    let (mut known, mut made): (Vec<&str>, Vec<&str>) = (
        replay::scenario::patterns().map(|(name, _)| name).collect(),
        traffic::PATTERNS.iter().map(|p| p.name).collect(),
    );
    made.push("trace");
    known.sort_unstable();
    made.sort_unstable();
    assert_eq!(known, made);
}

#[test]
fn the_documentation_has_every_key() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/README.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (begin, end) = ("<!-- keys: made from the parser's own list -->\n", "<!-- end of keys -->");
    let from = text.find(begin).expect("the mark before the tables") + begin.len();
    let to = text.find(end).expect("the mark after the tables");
    let made = format!("\n{}\n", key_tables());
    if text[from..to] != made && std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{}{made}{}", &text[..from], &text[to..])).unwrap();
        return;
    }
    assert!(text[from..to] == made, "scenarios/README.md is behind the parser: run the tests with UPDATE_DOCS=1");
}

#[test]
fn the_example_of_the_documentation_is_good() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/README.md");
    let text = std::fs::read_to_string(path).unwrap();
    let example = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of TOML");
    let scenario = read(example);
    assert!(scenario.labels().any(|label| label == "token bucket, burst 20") && scenario.expects.len() == 1);
    assert_eq!(fault(&schema(), &json(example)), None);
}

#[test]
fn a_trace_is_no_folder() {
    let text = "[quota]\nlimit = \"5/s\"\n[[traffic.trace]]\npath = \"src\"\n";
    let problems = Scenario::parse(std::path::Path::new("mine.toml"), text).unwrap_err();
    assert_eq!((problems.len(), problems[0].message.as_str()), (1, "`path`: src is a directory"));
}
