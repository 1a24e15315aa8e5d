//! The CSV files and the folder they stand in.

use std::fs;
use std::path::Path;

use replay::rows::{NoteRow, OverheadRow, SummaryRow, WaitRow};
use report::{Files, Folder, Report, Tables, redraw, to_csv, write};

#[allow(dead_code)]
mod made_up;

fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn snapshot(dir: &Path) -> Vec<(String, Vec<u8>)> {
    names(dir).into_iter().map(|name| (name.clone(), fs::read(dir.join(name)).unwrap())).collect()
}

#[test]
fn headers_are_there_without_rows() {
    let dir = tempfile::tempdir().unwrap();
    let tables = Tables { overhead: vec![OverheadRow::default()], ..Tables::default() };
    tables.write(dir.path()).unwrap();
    let mut headers = String::new();
    for name in names(dir.path()) {
        let text = fs::read_to_string(dir.path().join(&name)).unwrap();
        headers.push_str(&format!("{name}: {}\n", text.lines().next().unwrap()));
        assert_eq!(text.lines().count(), if name == "overhead.csv" { 2 } else { 1 }, "{name}");
    }
    insta::assert_snapshot!(headers);
    assert_eq!(Tables::read(dir.path()).unwrap(), tables);
}

#[test]
fn rows_come_back_as_they_were() {
    let dir = tempfile::tempdir().unwrap();
    let tables = made_up::tables();
    tables.write(dir.path()).unwrap();
    let read = Tables::read(dir.path()).unwrap();
    let again = tempfile::tempdir().unwrap();
    read.write(again.path()).unwrap();
    assert_eq!(snapshot(dir.path()), snapshot(again.path()), "a second writing changes nothing");
    assert_eq!(read.timeline, tables.timeline);
    assert_eq!(read.summary[0].gap_cv, Some(0.666667), "fractions have six decimals");
    assert_eq!(read.summary[0].peak_window_bound, None, "empty means not applicable");
}

#[test]
fn awkward_text_survives() {
    let dir = tempfile::tempdir().unwrap();
    let text = "commas, \"quotes\"\nand a second line; ünïcode 漢字 <b>";
    let row = NoteRow { kind: "warning".to_owned(), text: text.to_owned() };
    let tables = Tables { notes: vec![row], ..Tables::default() };
    tables.write(dir.path()).unwrap();
    assert_eq!(Tables::read(dir.path()).unwrap(), tables);
}

#[test]
fn fractions_are_rounded() {
    let row = WaitRow { quantile: 2.0 / 3.0, ..WaitRow::default() };
    assert_eq!(to_csv(&[row]), "limiter,comparison,quantile,wait_ns\n,,0.666667,0\n");
}

#[test]
fn damaged_files_are_named_with_line_column_and_value() {
    let dir = tempfile::tempdir().unwrap();
    made_up::tables().write(dir.path()).unwrap();
    let path = dir.path().join("keys.csv");
    let good = fs::read_to_string(&path).unwrap();
    let message = |bad: String| {
        fs::write(&path, bad).unwrap();
        let text = Report::read(dir.path()).unwrap_err().to_string();
        text.replace(&dir.path().display().to_string(), "DIR")
    };
    insta::assert_snapshot!(
        [
            message(good.replacen("1234", "many", 1)),
            message(good.replacen("1234", "-5", 1)),
            message(good.replacen("offered_permits", "offered", 1)),
            message(good.replacen(",bob,", ",", 1)),
            message(String::new()),
            {
                fs::remove_file(&path).unwrap();
                Report::read(dir.path()).unwrap_err().to_string().replace(&dir.path().display().to_string(), "DIR")
            },
        ]
        .join("\n")
    );
}

#[test]
fn columns_added_later_do_not_matter() {
    let dir = tempfile::tempdir().unwrap();
    made_up::tables().write(dir.path()).unwrap();
    let path = dir.path().join("keys.csv");
    let newer: Vec<_> = fs::read_to_string(&path).unwrap().lines().map(|line| format!("{line},1\n")).collect();
    fs::write(&path, newer.concat().replacen(",1\n", ",later\n", 1)).unwrap();
    assert_eq!(Tables::read(dir.path()).unwrap().keys, made_up::tables().keys);
    let older: String = fs::read_to_string(&path)
        .unwrap()
        .lines()
        .map(|line| line.rsplitn(3, ',').last().unwrap().to_owned() + "\n")
        .collect();
    fs::write(&path, older).unwrap();
    assert_eq!(Tables::read(dir.path()).unwrap().keys[0].peak_window, None);
}

#[test]
fn a_report_is_replaced_and_foreign_files_in_it_stay() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("deep/reports/made-up");
    let tables = made_up::tables();
    write(&place, &tables, made_up::SCENARIO, None).unwrap();
    assert!(place.join("overhead.csv").exists() && place.join("overhead.png").exists());
    fs::write(place.join("thoughts.txt"), "mine").unwrap();
    let quiet = Tables { overhead: Vec::new(), ..tables };
    let report = write(&place, &quiet, made_up::SCENARIO, None).unwrap();
    assert_eq!(report.summary, "Bursts at every minute, and one client that never stops.");
    assert_eq!(fs::read_to_string(place.join("thoughts.txt")).unwrap(), "mine");
    assert!(
        !place.join("overhead.csv").exists() && !place.join("overhead.png").exists(),
        "what is not made again goes"
    );
    assert_eq!(names(place.parent().unwrap()), ["made-up"], "nothing is left beside it");
}

#[test]
fn what_is_not_a_report_is_never_replaced() {
    let root = tempfile::tempdir().unwrap();
    let other = root.path().join("other");
    fs::create_dir(&other).unwrap();
    fs::write(other.join("summary.csv"), "name,amount\nrent,1000\n").unwrap();
    let file = root.path().join("file");
    fs::write(&file, "text").unwrap();
    for place in [&other, &file] {
        let error = write(place, &made_up::tables(), "", None).unwrap_err().to_string();
        assert!(error.starts_with(&place.display().to_string()), "{error}");
        assert!(redraw(place).is_err());
    }
    assert_eq!(names(&other), ["summary.csv"]);
    assert_eq!(names(root.path()), ["file", "other"], "nothing is left beside it");
    let empty = root.path().join("empty");
    fs::create_dir(&empty).unwrap();
    write(&empty, &Tables::default(), "", None).unwrap();
}

#[test]
fn a_place_that_turns_into_something_else_meanwhile_is_left_alone() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("report");
    let folder = Folder::create(&place).unwrap();
    folder.fill(&Tables::default(), "", None).unwrap();
    fs::create_dir(&place).unwrap();
    fs::write(place.join("thesis.txt"), "mine").unwrap();
    assert!(folder.commit().is_err());
    assert_eq!(names(&place), ["thesis.txt"]);
    assert_eq!(names(root.path()), ["report"]);
}

#[test]
fn a_run_that_stops_half_way_leaves_nothing() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("report");
    write(&place, &made_up::tables(), made_up::SCENARIO, None).unwrap();
    let before = snapshot(&place);
    let folder = Folder::create(&place).unwrap();
    fs::write(folder.path().join("decisions.csv"), "half").unwrap();
    drop(folder);
    let bad = Folder::create(&place).unwrap();
    assert!(bad.fill(&Tables::default(), "not = = toml", None).is_err());
    drop(bad);
    assert_eq!(snapshot(&place), before);
    assert_eq!(names(root.path()), ["report"]);
}

#[test]
fn runs_at_the_same_time_do_not_collide() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("report");
    std::thread::scope(|scope| {
        for seed in 0..4 {
            let place = &place;
            scope.spawn(move || {
                let row = SummaryRow { scenario: "race".to_owned(), seed, ..SummaryRow::default() };
                let tables = Tables { summary: vec![row], ..Tables::default() };
                write(place, &tables, "", None).unwrap();
            });
        }
    });
    assert_eq!(Report::read(&place).unwrap().tables.summary.len(), 1);
    assert_eq!(names(root.path()), ["report"]);
}

#[test]
fn redrawing_changes_nothing_but_what_is_missing() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("report");
    let run = serde_json::json!({ "version": "0.1.0" });
    write(&place, &made_up::tables(), made_up::SCENARIO, Some(&run)).unwrap();
    fs::write(place.join("decisions.csv"), "at_ns,limiter\n").unwrap();
    let before = snapshot(&place);
    for name in ["timeline.svg", "README.md", "report.html", "guarantee.png"] {
        fs::remove_file(place.join(name)).unwrap();
    }
    redraw(&place).unwrap();
    assert_eq!(snapshot(&place), before);
}

#[test]
fn files_come_to_a_folder_all_together_or_not_at_all() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("new/deeper");
    let mut dropped = Files::create(&place).unwrap();
    dropped.put("a.csv", b"half").unwrap();
    drop(dropped);
    assert!(names(root.path()).is_empty(), "folders that were made for it are gone");
    let mut files = Files::create(&place).unwrap();
    assert_eq!(files.put("a.csv", b"old").unwrap(), place.join("a.csv"));
    assert!(!place.join("a.csv").exists());
    files.commit().unwrap();
    fs::write(place.join("mine.txt"), "mine").unwrap();
    let mut files = Files::create(&place).unwrap();
    let path = files.table("b.csv", &[SummaryRow::default()]).unwrap();
    files.put("a.csv", b"new").unwrap();
    files.commit().unwrap();
    assert!(fs::read_to_string(path).unwrap().starts_with("scenario,"));
    assert_eq!(fs::read_to_string(place.join("a.csv")).unwrap(), "new");
    assert_eq!(names(&place), ["a.csv", "b.csv", "mine.txt"]);
}

#[test]
fn what_new_files_replaced_comes_back_when_one_cannot_be_placed() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("b.csv"), "old").unwrap();
    let before = snapshot(root.path());
    let mut files = Files::create(root.path()).unwrap();
    for name in ["a.csv", "b.csv", "c.csv"] {
        files.put(name, b"new").unwrap();
    }
    // The last of the new files is lost, as if its rename failed.
    let hidden = names(root.path()).into_iter().find(|name| name.ends_with(".partial")).unwrap();
    fs::remove_file(root.path().join(hidden).join("c.csv")).unwrap();
    let error = files.commit().unwrap_err().to_string();
    assert!(error.starts_with(&root.path().join("c.csv").display().to_string()), "{error}");
    assert_eq!(snapshot(root.path()), before);
}
