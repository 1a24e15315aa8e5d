//! Every mistake a scenario can have, and what a person is told about it.

mod scenario_support;

use replay::scenario::{Scenario, schema};
use scenario_support::{fault, json};
use std::path::Path;

/// A file without mistakes; each test changes a line of it.
const GOOD: &str = r#"summary = "A file without mistakes."
duration = "3min"

[quota]
limit = 100
window = "1min"

[[traffic.burst]]
at = "59s"
requests = 100

[[limiter]]
algorithm = "token-bucket"
label = "small bucket"
capacity = 20

[[expect]]
limiter = "unlimited"
admitted = 100
"#;

fn told(text: &str) -> String {
    match Scenario::parse(Path::new("scenarios/bad.toml"), text) {
        Ok(_) => panic!("no mistake was found in\n{text}"),
        Err(problems) => problems.iter().map(|problem| format!("{problem}\n")).collect::<Vec<_>>().join("\n"),
    }
}

/// The good file with `from` replaced by `to`.
fn with(from: &str, to: &str) -> String {
    assert!(GOOD.contains(from), "{from}");
    GOOD.replacen(from, to, 1)
}

#[test]
fn the_good_file_is_good() {
    let scenario = Scenario::parse(Path::new("scenarios/good.toml"), GOOD).unwrap();
    assert_eq!(scenario.name, "good");
    assert!(scenario.labels().any(|label| label == "small bucket"));
}

macro_rules! mistakes {
    ($($name:ident: $from:expr => $to:expr;)*) => {
        $(
            #[test]
            fn $name() {
                insta::assert_snapshot!(told(&with($from, $to)));
            }
        )*

        /// Name, what is replaced in the good file, and by what.
        const MISTAKES: &[(&str, &str, &str)] = &[$((stringify!($name), $from, $to)),*];
    };
}

mistakes! {
    unknown_key: "window = \"1min\"" => "window = \"1min\"\nburts = 20";
    unknown_key_at_the_top: "duration" => "lenght = 3\nduration";
    unknown_key_of_another_pattern: "requests = 100" => "requests = 100\nrate = \"2/s\"";
    unknown_table: "[[expect]]" => "[[expectation]]\nx = 1\n[[expect]]";
    unknown_pattern: "[[traffic.burst]]" => "[[traffic.brust]]";
    one_table_instead_of_many: "[[traffic.burst]]" => "[traffic.burst]";
    wrong_type: "requests = 100" => "requests = \"many\"";
    quoted_number: "limit = 100" => "limit = \"100\"";
    bad_duration: "\"1min\"" => "\"1minuet\"";
    duration_without_unit: "\"1min\"" => "60";
    duration_text_without_unit: "\"1min\"" => "\"60\"";
    month: "limit = 100\nwindow = \"1min\"" => "limit = \"100/month\"";
    two_windows: "limit = 100" => "limit = \"100/min\"";
    zero_window: "\"1min\"" => "\"0s\"";
    zero_limit: "limit = 100" => "limit = 0";
    negative_limit: "limit = 100" => "limit = -5";
    missing_key: "requests = 100\n" => "";
    missing_quota: "[quota]\nlimit = 100\nwindow = \"1min\"" => "";
    missing_duration: "duration = \"3min\"\n" => "";
    no_traffic: "[[traffic.burst]]\nat = \"59s\"\nrequests = 100\n" => "";
    bad_rate: "capacity = 20" => "refill = \"fast\"";
    rate_without_time: "capacity = 20" => "refill = \"20\"";
    zero_rate: "capacity = 20" => "refill = \"0/s\"";
    negative_rate: "capacity = 20" => "refill = -2";
    nan_rate: "capacity = 20" => "refill = nan";
    unknown_algorithm: "\"token-bucket\"" => "\"token-buket\"";
    parameter_the_algorithm_lacks: "\"token-bucket\"" => "\"unlimited\"";
    dead_burst: "capacity = 20" => "capacity = 20\nburst = 30";
    bad_parameter: "capacity = 20" => "capacity = 20\ninitial = 30";
    duplicate_label: "label = \"small bucket\"" => "label = \"token-bucket\"";
    no_label_of_its_own: "label = \"small bucket\"\n" => "";
    expect_on_unknown_limiter: "limiter = \"unlimited\"" => "limiter = \"unlimitde\"";
    expect_on_unknown_column: "admitted = 100" => "admited = 100";
    expect_on_text: "admitted = 100" => "algorithm = \"unlimited\"";
    peak_without_length: "admitted = 100" => "peak = 100";
    narrowed_to_an_unknown_label: "duration" => "limiters = [\"token-bucket\", \"small buckte\"]\nduration";
    missing_trace: "[[traffic.burst]]\nat = \"59s\"\nrequests = 100" => "[[traffic.trace]]\npath = \"traces/nowhere.csv\"";
    bad_filter: "[[traffic.burst]]\nat = \"59s\"\nrequests = 100" => "[[traffic.trace]]\npath = \"-\"\nwhere = 'stats = 5'";
    key_chosen_twice: "[[traffic.burst]]\nat = \"59s\"\nrequests = 100" => "[[traffic.trace]]\npath = \"-\"\nkey-by = [\"user\"]\ncolumns = { key = \"user\" }";
    syntax: "limit = 100" => "limit = = 100";
    key_twice: "limit = 100" => "limit = 100\nlimit = 200";
    bad_timestamp: "duration" => "start = \"2026-02-30T12:00:00Z\"\nduration";
    zoneless_timestamp: "duration" => "start = 2026-01-01T12:00:00\nduration";
    money_without_dollar: "limit = 100" => "limit = 5\nmeter = \"spend\"";
    price_without_dollar: "requests = 100" => "requests = 100\nprice = 0.008";
    too_many_decimals: "requests = 100" => "requests = 100\nprice = \"$0.00000001\"";
    spend_without_price: "limit = 100" => "limit = \"$5\"\nmeter = \"spend\"";
    cost_above_capacity: "requests = 100" => "requests = 100\ncost = 50";
    burst_after_the_end: "at = \"59s\"" => "at = \"3min\"";
    bad_distribution: "requests = 100" => "requests = 100\ncost = { min = 5, max = 3 }";
    unknown_part_of_a_stack: "algorithm = \"token-bucket\"\nlabel = \"small bucket\"\ncapacity = 20" => "all-of = [\"token-bucket\", \"bucket\"]";
    bad_sweep: "capacity = 20" => "sweep = { capacity = [20, 0], segments = [5] }";
}

#[test]
fn every_mistake_of_a_file_is_told() {
    let text =
        with("limit = 100", "limit = 0").replace("requests = 100", "request = 100").replace("admitted", "admited");
    insta::assert_snapshot!(told(&text));
}

#[test]
fn formats_and_columns_of_traces_are_those_that_traffic_reads() {
    let trace = |key: &str| {
        with("[[traffic.burst]]\nat = \"59s\"\nrequests = 100", &format!("[[traffic.trace]]\npath = \"-\"\n{key}"))
    };
    let format = told(&trace("format = \"acess-log\""));
    assert!(
        format.contains("10:10: `format`: unknown format \"acess-log\"")
            && format.contains("did you mean `access-log`?"),
        "{format}"
    );
    let column = told(&trace("columns = { tiem = \"t\" }"));
    assert!(
        column.contains("10:13: `columns`: a column cannot be \"tiem\"") && column.contains("did you mean `time`?"),
        "{column}"
    );
    let schema = schema();
    assert!(fault(&schema, &json(&trace("format = \"acess-log\""))).is_some());
    assert!(fault(&schema, &json(&trace("columns = { tiem = \"t\" }"))).is_some());
    assert_eq!(fault(&schema, &json(&trace("format = \"access-log\"\ncolumns = { time = \"t\" }"))), None);
}

#[test]
fn tabs_wide_characters_and_a_missing_last_newline() {
    let text = with("requests = 100", "\tkey = \"漢字\"\trequest = 5");
    insta::assert_snapshot!(told(&text.replace("\tkey = \"漢字\"\t", "key = \"漢字\"\n\t")));
    insta::assert_snapshot!(told("summary = \"漢字\" x"));
}

#[test]
fn text_that_is_no_scenario() {
    for text in [
        "",
        "\u{feff}",
        "[",
        "=",
        "a.b.c = [[[[[",
        "[[limiter]]\n[limiter]",
        "quota = 5\ntraffic = 3\nlimiter = 1\nexpect = {}",
    ] {
        assert!(Scenario::parse_text(text).is_err(), "{text:?}");
        told(text);
    }
}

/// Mistakes that a schema cannot express: they are about several values, other files or names made up in the file.
const BEYOND_A_SCHEMA: &[&str] = &[
    "two_windows",
    "missing_duration",
    "dead_burst",
    "bad_parameter",
    "duplicate_label",
    "no_label_of_its_own",
    "expect_on_unknown_limiter",
    "narrowed_to_an_unknown_label",
    "missing_trace",
    "bad_filter",
    "key_chosen_twice",
    "money_without_dollar",
    "spend_without_price",
    "cost_above_capacity",
    "burst_after_the_end",
    "bad_distribution",
    "unknown_part_of_a_stack",
    "bad_sweep",
];

#[test]
fn the_schema_sees_what_a_schema_can_see() {
    let schema = schema();
    assert_eq!(fault(&schema, &json(GOOD)), None);
    let unseen: Vec<&str> = MISTAKES
        .iter()
        .filter(|(name, ..)| !["syntax", "key_twice"].contains(name))
        .filter(|(_, from, to)| fault(&schema, &json(&with(from, to))).is_none())
        .map(|(name, ..)| *name)
        .collect();
    assert_eq!(unseen, BEYOND_A_SCHEMA);
}
