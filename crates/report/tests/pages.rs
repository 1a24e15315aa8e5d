//! The texts a person reads: README, terminal, JSON, HTML.

use std::sync::OnceLock;

use report::figures::draw_all;
use report::{Report, Tables, terminal_tables, to_json, write};

#[allow(dead_code)]
mod made_up;

fn written(tables: &Tables, scenario: &str) -> (tempfile::TempDir, Report) {
    let dir = tempfile::tempdir().unwrap();
    let run = serde_json::json!({
        "version": "0.1.0",
        "inputs": { "boundary.toml": "sha256:<script>" },
        "seconds": 1.25,
    });
    let report = write(&dir.path().join("report"), tables, scenario, Some(&run)).unwrap();
    (dir, report)
}

fn file(dir: &tempfile::TempDir, name: &str) -> String {
    std::fs::read_to_string(dir.path().join("report").join(name)).unwrap()
}

/// The made-up report, written once for all tests that only look at it.
fn made() -> &'static (tempfile::TempDir, Report) {
    static MADE: OnceLock<(tempfile::TempDir, Report)> = OnceLock::new();
    MADE.get_or_init(|| written(&made_up::tables(), made_up::SCENARIO))
}

#[test]
fn readme() {
    let (dir, _) = made();
    let text = file(dir, "README.md");
    insta::assert_snapshot!(text);
    assert!(!text.contains("ns/decision") && !text.contains("overhead"), "nothing in git holds wall-clock values");
    for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(dir.path().join("report").join(link).exists(), "{link}");
    }
}

#[test]
fn readme_is_the_same_whether_timing_was_taken_or_not() {
    let untimed = Tables { overhead: Vec::new(), ..made_up::tables() };
    let (dir, _) = written(&untimed, made_up::SCENARIO);
    assert_eq!(file(&dir, "README.md"), file(&made().0, "README.md"));
}

#[test]
fn terminal() {
    let (_, report) = made();
    insta::assert_snapshot!("terminal_wide", terminal_tables(report, 120, false));
    let narrow = terminal_tables(report, 60, false);
    insta::assert_snapshot!("terminal_narrow", narrow);
    assert!(!terminal_tables(report, 80, false).split("Equal quota").next().unwrap().contains("no room"));
    let colour = terminal_tables(report, 120, true);
    assert!(colour.contains("\x1b[1;32m") && !terminal_tables(report, 120, false).contains('\x1b'));
    for width in [0, 20, 40, 60, 80, 200] {
        let text = terminal_tables(report, width, false);
        let rows = text.lines().filter(|line| line.contains(" %)") || line.starts_with("gcra"));
        let widest = rows.map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= width.max(34), "{width}: {widest}");
    }
}

#[test]
fn the_best_is_marked_only_under_equal_guarantee() {
    let (_, report) = made();
    let text = terminal_tables(report, 120, false);
    let (guarantee, rest) = text.split_once("Equal quota").unwrap();
    let rows = |text: &str| text.lines().filter(|line| line.contains('*') && !line.starts_with('*')).count();
    assert!(rows(guarantee) > 0);
    assert_eq!(rows(rest), 0);
}

#[test]
fn json() {
    let (_, report) = made();
    let value = to_json(report);
    assert_eq!(value["scenario"], "made-up");
    let rows = value["tables"]["equal_quota"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[5]["limiter"]), (11, &serde_json::json!("token-bucket")));
    assert_eq!(rows[0]["peak_window_bound"], serde_json::Value::Null);
    assert!(rows[5]["decision_ns"].as_f64().unwrap() > 0.0);
    assert_eq!(value["tables"]["equal_guarantee"][0]["decision_ns"], serde_json::Value::Null);
    assert_eq!(value["notes"][0]["kind"], "skipped");
}

#[test]
fn html_needs_nothing_else() {
    let (dir, report) = made();
    let page = file(dir, "report.html");
    let outside = page.replace("http://www.w3.org/2000/svg", "");
    for word in ["http:", "https:", "src=", "@import", "url(", "<script", "<link", "<iframe"] {
        assert!(!outside.contains(word), "{word} asks for something else");
    }
    for word in ["name=\"viewport\"", "prefers-color-scheme: dark", "overflow-x: auto", "charset=\"utf-8\""] {
        assert!(page.contains(word), "{word} is missing");
    }
    let guarantee = page.find("<h2>Equal guarantee</h2>").unwrap();
    assert!(guarantee < page.find("<h2>Equal quota</h2>").unwrap(), "equal guarantee comes first");
    assert_eq!(page.matches("<svg").count(), draw_all(report).len());
    insta::assert_snapshot!(outline(&page));
}

/// The page as XML (which it also is), and its elements without the drawings' insides.
fn outline(page: &str) -> String {
    let xml = page
        .replace("<!doctype html>\n", "")
        .replace("<meta charset=\"utf-8\">", "")
        .replace("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">", "");
    let document = roxmltree::Document::parse(&xml).expect("every element is closed and everything is escaped");
    let mut out = String::new();
    for node in document.descendants().filter(|node| node.is_element()) {
        let name = node.tag_name().name();
        if ["h1", "h2", "h3", "figure", "figcaption", "details", "table"].contains(&name) {
            let text: String = node.descendants().filter_map(|inner| inner.text()).take(1).collect();
            out.push_str(&format!("{name}: {}\n", text.trim().lines().next().unwrap_or_default()));
        }
    }
    out
}

#[test]
fn hostile_text_stays_text() {
    let attack = "<script>alert('x')</script>\"&|`*";
    let mut tables = made_up::tables();
    for row in &mut tables.summary {
        row.scenario = attack.to_owned();
        row.parameters = attack.to_owned();
        if row.limiter == "gcra" {
            row.limiter = attack.to_owned();
        }
    }
    tables.keys.iter_mut().for_each(|row| row.key = attack.to_owned());
    tables.notes.iter_mut().for_each(|row| row.text = attack.to_owned());
    tables.overhead.iter_mut().for_each(|row| row.limiter = format!("{}{attack}", row.limiter));
    tables.guarantee.iter_mut().for_each(|row| row.algorithm = format!("{}{attack}", row.algorithm));
    let scenario = format!("summary = '''{attack}'''\nanalysis = '''{attack}'''");
    let (dir, report) = written(&tables, &scenario);
    let page = file(&dir, "report.html");
    assert!(!page.contains("<script"));
    outline(&page);
    for drawn in draw_all(&report) {
        assert!(!drawn.svg.contains("<script"));
        roxmltree::Document::parse(&drawn.svg).unwrap();
    }
    let readme = file(&dir, "README.md");
    let cells = |line: &str| line.replace("\\|", "").matches('|').count();
    let table: Vec<_> = readme.lines().filter(|line| line.starts_with("| ")).collect();
    assert!(table.iter().any(|line| line.contains("\\<script\\>")));
    let rows =
        readme.lines().skip_while(|line| !line.starts_with("| limiter")).take_while(|line| line.starts_with('|'));
    let counts: Vec<_> = rows.map(cells).collect();
    assert!(counts.windows(2).all(|pair| pair[0] == pair[1]), "every row has the same cells: {counts:?}");
}

#[test]
fn a_report_without_anything_is_still_a_report() {
    let (dir, report) = written(&Tables::default(), "");
    assert_eq!(report.name(), "report");
    assert_eq!(file(&dir, "README.md"), "# report\n");
    assert_eq!(terminal_tables(&report, 80, false), "report\n");
    outline(&file(&dir, "report.html"));
}
