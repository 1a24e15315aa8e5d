//! The command line as a person meets it: what it prints, what it writes, and how it fails.

use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn workbench() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_workbench"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).env("NO_COLOR", "1");
    command
}

/// Standard output, standard error and exit status of a call.
fn call(args: &[&str]) -> (String, String, i32) {
    let output = workbench().args(args).output().expect("the command starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.code().unwrap_or(-1))
}

fn run_into(out: &Path, more: &[&str]) -> (String, String, i32) {
    let out = out.to_str().expect("a temporary path is UTF-8");
    call(&[&["run", "--out", out, "--no-overhead"], more].concat())
}

fn scenario(folder: &TempDir, name: &str, text: &str) -> String {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("a temporary folder is writable");
    path.to_str().expect("a temporary path is UTF-8").to_owned()
}

const SMALL: &str = r#"
duration = "10s"
seed = 7
[quota]
limit = 5
window = "1s"
[[traffic.poisson]]
rate = "20/s"
keys = 3
zipf = 1.0
"#;

/// Every file of a folder with its content.
fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(folder)
        .expect("the folder was written")
        .map(|entry| entry.expect("readable").path())
        .map(|path| (path.file_name().expect("a name").into(), fs::read(&path).expect("readable")))
        .collect();
    all.sort();
    all
}

#[test]
fn committed_reports_are_what_the_code_makes() {
    let out = TempDir::new().unwrap();
    for name in ["boundary", "burst-then-loop", "azure-code", "agent-loop", "brake-that-costs-more"] {
        let (_, errors, status) = run_into(out.path(), &[&format!("scenarios/{name}.toml"), "--quiet"]);
        assert_eq!((errors.as_str(), status), ("", 0));
        let committed = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports").join(name);
        let mut compared = 0;
        for (file, content) in files(&out.path().join(name)) {
            if file.extension().is_some_and(|extension| extension == "csv") && file.as_os_str() != "overhead.csv" {
                let kept = fs::read(committed.join(&file)).unwrap_or_default();
                assert!(kept == content, "reports/{name}/{} is not what the code makes", file.display());
                compared += 1;
            }
        }
        assert!(compared >= 7, "only {compared} files of {name} were compared");
    }
}

#[test]
fn the_same_bytes_for_any_number_of_threads() {
    let folder = TempDir::new().unwrap();
    let path = scenario(&folder, "small.toml", SMALL);
    let mut runs = Vec::new();
    for jobs in ["1", "2", "5"] {
        let out = TempDir::new().unwrap();
        let (_, errors, status) = run_into(out.path(), &[&path, "--decisions", "--quiet", "--jobs", jobs]);
        assert_eq!((errors.as_str(), status), ("", 0));
        let mut made = files(&out.path().join("small"));
        made.retain(|(name, _)| name.as_os_str() != "run.json" && name.as_os_str() != "report.html");
        assert!(made.iter().any(|(name, rows)| name.as_os_str() == "decisions.csv" && rows.len() > 10_000));
        runs.push(made);
    }
    assert!(runs[0] == runs[1] && runs[0] == runs[2]);
}

#[test]
fn printed_traffic_replays_to_the_same_counts() {
    let folder = TempDir::new().unwrap();
    let path = scenario(&folder, "small.toml", SMALL);
    let (csv, _, status) = call(&["traffic", &path]);
    assert_eq!(status, 0);
    let trace = scenario(&folder, "traffic.csv", &csv);
    let (own, replayed) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    run_into(own.path(), &[&path, "--quiet"]);
    let (_, errors, status) = run_into(replayed.path(), &[&path, "--quiet", "--trace", &trace]);
    assert_eq!((errors.as_str(), status), ("", 0));
    let counts = |out: &TempDir| -> Vec<String> {
        let mut rows = csv::Reader::from_path(out.path().join("small/summary.csv")).unwrap();
        let rows = rows.records().map(Result::unwrap);
        rows.map(|row| format!("{} {} {} {}", &row[1], &row[4], &row[9], &row[10])).collect()
    };
    assert_eq!(counts(&own), counts(&replayed));
    assert!(counts(&own).len() > 15);
}

#[test]
fn standard_input_is_a_trace() {
    let folder = TempDir::new().unwrap();
    let path = scenario(&folder, "small.toml", SMALL);
    let out = folder.path().to_str().unwrap();
    let output = workbench()
        .args(["run", &path, "--out", out, "--quiet", "--trace", "-"])
        .write_stdin("at_ns,key,cost\n0,a,1\n1000000000,a,1\n")
        .output()
        .unwrap();
    assert_eq!((String::from_utf8_lossy(&output.stderr).as_ref(), output.status.code()), ("", Some(0)));
}

#[test]
fn a_broken_expectation_exits_1_and_says_where() {
    let folder = TempDir::new().unwrap();
    let text = format!("{SMALL}[[expect]]\nlimiter = \"gcra\"\nadmitted = 1\n");
    let path = scenario(&folder, "small.toml", &text);
    let (_, errors, status) = run_into(folder.path(), &[&path, "--quiet"]);
    assert_eq!(status, 1);
    assert!(errors.contains("small.toml:13:1: expected gcra admitted = 1, got "), "{errors}");
    // Another seed than the scenario's: nothing is expected of it.
    assert_eq!(run_into(folder.path(), &[&path, "--quiet", "--seed", "8"]).2, 0);
}

#[test]
fn mistakes_of_all_files_are_shown_and_nothing_is_written() {
    let folder = TempDir::new().unwrap();
    let one = scenario(&folder, "one.toml", &SMALL.replace("limit = 5", "limit = 0"));
    let two = scenario(&folder, "two.toml", &SMALL.replace("zipf", "zip"));
    let out = folder.path().join("out");
    let (printed, errors, status) = run_into(&out, &[&one, &two]);
    assert_eq!((printed.as_str(), status, out.exists()), ("", 2, false));
    assert!(errors.contains("one.toml:5:9") && errors.contains("two.toml:10:1"), "{errors}");
}

#[test]
fn a_folder_that_is_no_report_is_not_touched() {
    let folder = TempDir::new().unwrap();
    let path = scenario(&folder, "small.toml", SMALL);
    let precious = folder.path().join("out/small");
    fs::create_dir_all(&precious).unwrap();
    fs::write(precious.join("thesis.txt"), "years of work").unwrap();
    let (_, errors, status) = run_into(&folder.path().join("out"), &[&path]);
    assert_eq!(status, 2, "{errors}");
    assert_eq!(files(&precious), [("thesis.txt".into(), b"years of work".to_vec())]);
}

#[test]
fn bad_traces_are_errors_without_output() {
    let folder = TempDir::new().unwrap();
    let path = scenario(&folder, "small.toml", SMALL);
    let out = folder.path().join("out");
    let handmade = "crates/traffic/tests/traces";
    for name in ["empty.csv", "header_only.csv", "html_error_page.csv", "lfs_pointer.log", "truncated.csv"] {
        let file = format!("{handmade}/{name}");
        let (printed, errors, status) = run_into(&out, &[&path, "--trace", &file]);
        assert_eq!((printed.as_str(), status), ("", 2), "{name}: {errors}");
        assert!(errors.contains(name), "{name}: {errors}");
        assert!(!out.join("small").exists());
    }
    let (_, errors, status) = run_into(&out, &[&path, "--trace", handmade]);
    assert_eq!(status, 2, "a folder: {errors}");
}

#[test]
fn flags_for_a_recorded_file_without_one_say_where_the_scenario_says_it() {
    let said = |flags: &[&str]| {
        let (printed, errors, status) = call(&[&["run", "scenarios/azure-code.toml"], flags].concat());
        assert_eq!((printed.as_str(), status), ("", 2));
        errors
    };
    let retries = said(&["--retry-as", "openai-sdk"]);
    assert_eq!(
        retries,
        "error: --retry-as openai-sdk: this is for the file of --trace, and none is named; for a file that the scenario names, \
         write retry-as = \"openai-sdk\" under its [[traffic.trace]], or add --trace FILE\n"
    );
    assert!(said(&["--format", "clf"]).contains("say it under its [[traffic.trace]]"));
}

#[test]
fn a_report_is_redrawn_from_its_files() {
    let folder = TempDir::new().unwrap();
    let path = scenario(&folder, "small.toml", SMALL);
    run_into(folder.path(), &[&path, "--quiet"]);
    let report = folder.path().join("small");
    let before = files(&report);
    fs::remove_file(report.join("timeline.png")).unwrap();
    let (_, errors, status) = call(&["report", report.to_str().unwrap()]);
    assert_eq!((errors.as_str(), status), ("", 0));
    assert!(before == files(&report));
    let (_, errors, status) = call(&["report", "crates"]);
    assert_eq!(status, 2);
    assert!(errors.contains("not a report"), "{errors}");
}

#[test]
fn several_seeds_give_a_spread() {
    let folder = TempDir::new().unwrap();
    let path = scenario(&folder, "small.toml", SMALL);
    let (printed, errors, status) = run_into(folder.path(), &[&path, "--seeds", "3"]);
    assert_eq!(status, 0, "{errors}");
    assert!(printed.contains("over 3 seeds: median (least to most)"), "{printed}");
    let seeds = fs::read_to_string(folder.path().join("small/seeds.csv")).unwrap();
    let summary = fs::read_to_string(folder.path().join("small/summary.csv")).unwrap();
    assert_eq!(seeds.lines().count() - 1, 3 * (summary.lines().count() - 1));
}

#[test]
fn limiters_can_be_narrowed_by_label() {
    let folder = TempDir::new().unwrap();
    let path = scenario(&folder, "small.toml", SMALL);
    let (printed, _, status) = run_into(folder.path(), &[&path, "--json", "--limiter", "gcra"]);
    assert_eq!(status, 0);
    assert!(printed.contains("gcra") && !printed.contains("fixed-window"), "{printed}");
    let (_, errors, status) = run_into(folder.path(), &[&path, "--limiter", "gcar"]);
    assert_eq!(status, 2);
    assert!(errors.contains("gcra"), "{errors}");
}

#[test]
fn help_lists_and_generated_texts() {
    for what in ["algorithms", "patterns", "formats", "scenarios"] {
        let (printed, _, status) = call(&["list", what]);
        assert!(status == 0 && printed.lines().count() > 3, "{printed}");
    }
    let (printed, _, _) = call(&["list", "algorithms"]);
    for algorithm in limiters::ALGORITHMS {
        assert!(printed.contains(algorithm.name));
    }
    assert!(call(&["completions", "bash"]).0.contains("_workbench"));
    assert!(call(&["man"]).0.contains(".TH"));
    assert!(serde_json::from_str::<serde_json::Value>(&call(&["schema"]).0).is_ok());
    assert_eq!(call(&["frobnicate"]).2, 2);
}

#[test]
fn every_shipped_scenario_checks() {
    let mut paths: Vec<String> = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios"))
        .unwrap()
        .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
        .filter(|path| path.ends_with(".toml"))
        .collect();
    paths.sort();
    assert!(paths.len() >= 19);
    let mut args = vec!["check"];
    args.extend(paths.iter().map(String::as_str));
    let (printed, errors, status) = call(&args);
    assert_eq!(status, 0, "{errors}");
    assert_eq!(printed.lines().count(), paths.len());
}

#[cfg(not(feature = "serve"))]
#[test]
fn a_build_without_the_page_says_which_feature_it_needs() {
    let (_, errors, status) = call(&["serve"]);
    assert_eq!(status, 2);
    assert!(errors.contains("--features serve"), "{errors}");
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_leaves_nothing_behind() {
    let folder = TempDir::new().expect("a temporary folder");
    let out = folder.path().join("new/reports");
    let mut running = std::process::Command::new(env!("CARGO_BIN_EXE_workbench"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["run", "scenarios/bench/billion.toml", "--quiet", "--no-overhead", "--out"])
        .arg(&out)
        .spawn()
        .expect("the command starts");
    let entries = || fs::read_dir(out.join("bench")).map_or(0, Iterator::count);
    let begun = std::time::Instant::now();
    while entries() == 0 {
        assert!(begun.elapsed().as_secs() < 60, "nothing was begun");
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let kill = std::process::Command::new("kill").args(["-INT", &running.id().to_string()]).status();
    assert!(kill.expect("kill is there").success());
    let status = running.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    assert_eq!(files(folder.path()), [], "the folders that the run made are gone too");
}

#[test]
fn a_scenario_of_limits_alone_takes_its_traffic_from_a_log() {
    let folder = TempDir::new().unwrap();
    let path = scenario(&folder, "limits.toml", "[quota]\nlimit = 300\nwindow = \"60s\"\n");
    let log = "scenarios/traces/AzureLLMInferenceTrace_code.csv";
    let (_, errors, status) = run_into(folder.path(), &[&path, "--trace", log, "--quiet"]);
    assert_eq!(status, 0, "{errors}");
    let table = fs::read_to_string(folder.path().join("limits/summary.csv")).unwrap();
    assert!(table.lines().skip(1).all(|row| row.contains(",8819,")), "{table}");
    let (_, errors, status) = run_into(folder.path(), &[&path, "--quiet"]);
    assert_eq!(status, 2);
    assert!(errors.contains("the scenario has no traffic") && errors.contains("--trace FILE"), "{errors}");
}
