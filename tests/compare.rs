//! `workbench compare` and `workbench overhead` as people call them.

use assert_cmd::Command;
use std::path::Path;

const SCENARIO: &str = "summary = \"Two a second against one.\"
duration = \"60s\"
[quota]
limit = 60
window = \"60s\"
[[traffic.constant]]
rate = \"2/s\"
[[limiter]]
algorithm = \"token-bucket\"
label = \"tuned\"
capacity = 5
";

fn workbench() -> Command {
    Command::new(env!("CARGO_BIN_EXE_workbench"))
}

/// Runs `text` as a scenario called `name` with further flags; its report is in `folder/out/name`.
fn report(folder: &Path, out: &str, text: &str, flags: &[&str]) -> std::path::PathBuf {
    let file = folder.join("steady.toml");
    std::fs::write(&file, text).unwrap();
    let place = folder.join(out);
    workbench().arg("run").arg(&file).args(["--quiet", "--out"]).arg(&place).args(flags).assert().success();
    place.join("steady")
}

fn compare(a: &Path, b: &Path) -> (bool, String) {
    let output = workbench().arg("compare").args([a, b]).output().unwrap();
    let text = if output.status.success() { &output.stdout } else { &output.stderr };
    (output.status.success(), String::from_utf8_lossy(text).into_owned())
}

#[test]
fn two_tunings_of_one_traffic_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let a = report(folder.path(), "a", SCENARIO, &["--no-overhead"]);
    let b = report(folder.path(), "b", &SCENARIO.replace("capacity = 5", "capacity = 7"), &["--no-overhead"]);
    let (good, text) = compare(&a, &b);
    assert!(good, "{text}");
    // 5 or 7 at once and one more each second.
    let admitted = |line: &&str| line.contains("tuned (variant)") && line.contains(" admitted ");
    let line = text.lines().find(admitted).unwrap_or_else(|| panic!("{text}"));
    let cells: Vec<&str> = line.split_whitespace().collect();
    let [.., left, right, ratio] = cells[..] else { panic!("{line}") };
    let (left, right): (f64, f64) = (left.parse().unwrap(), right.parse().unwrap());
    assert_eq!(right - left, 2.0, "{text}");
    assert_eq!(ratio, format!("{:.3}", right / left));
    assert!(text.contains("timing: one of them has none"), "{text}");
}

#[test]
fn timing_is_compared_on_one_machine_only() {
    let folder = tempfile::tempdir().unwrap();
    let a = report(folder.path(), "a", SCENARIO, &[]);
    let b = report(folder.path(), "b", SCENARIO, &[]);
    let (good, text) = compare(&a, &b);
    assert!(good && text.contains("medians of batches") && text.contains("poisson-2x"), "{text}");
    let run = std::fs::read_to_string(b.join("run.json")).unwrap();
    let mut run: serde_json::Value = serde_json::from_str(&run).unwrap();
    run["machine"]["cpu"] = "another".into();
    std::fs::write(b.join("run.json"), run.to_string()).unwrap();
    let (good, text) = compare(&a, &b);
    assert!(good && text.contains("different machines"), "{text}");
}

#[test]
fn other_traffic_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let a = report(folder.path(), "a", SCENARIO, &["--no-overhead"]);
    let seeded = report(folder.path(), "b", SCENARIO, &["--no-overhead", "--seed", "9"]);
    let (good, text) = compare(&a, &seeded);
    assert!(!good && text.contains("seeds differ: "), "{text}");
    let faster = report(folder.path(), "c", &SCENARIO.replace("2/s", "3/s"), &["--no-overhead"]);
    let (good, text) = compare(&a, &faster);
    assert!(!good && text.contains("the scenarios' traffic differ"), "{text}");
    let (good, text) = compare(&a, folder.path());
    assert!(!good && text.contains("run.json"), "{text}");
}

#[test]
fn a_timed_replay_counts_what_it_admits() {
    let output = workbench().args(["overhead", "--replay", "--requests", "20000"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    for known in limiters::ALGORITHMS {
        assert!(text.contains(known.name), "{} is missing:\n{text}", known.name);
    }
    let unlimited = text.lines().find(|line| line.trim_start().starts_with("unlimited")).unwrap();
    assert!(unlimited.contains("100.00"), "{text}");
}
