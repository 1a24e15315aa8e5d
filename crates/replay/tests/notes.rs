//! Notes of recorded files: of several, each says which one it is about.

use replay::scenario::Scenario;
use std::path::Path;

const AZURE: &str = "AzureLLMInferenceTrace_code.csv";
const APACHE: &str = "elastic_apache.log.gz";

fn notes(traces: &[&str]) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/traces");
    let mut text = "[quota]\nlimit = 10\nwindow = \"1s\"\n".to_owned();
    traces.iter().for_each(|name| text.push_str(&format!("[[traffic.trace]]\npath = \"{name}\"\n")));
    let scenario = Scenario::parse(&folder.join("scenario.toml"), &text).unwrap();
    let opened = replay::open(&scenario, 0, &|_| {}).unwrap();
    let shown = format!("{}/", folder.display());
    opened.notes.iter().map(|note| note.text.replace(&shown, "")).collect()
}

#[test]
fn of_several_files_each_note_names_its_own() {
    let (azure, apache) = (notes(&[AZURE]), notes(&[APACHE]));
    assert!(azure.iter().any(|note| note.starts_with("times in \"TIMESTAMP\" name no zone")), "{azure:?}");
    assert!(apache.len() > 2 && apache.iter().all(|note| !azure.contains(note)), "{apache:?}");
    let named =
        |name: &'static str, notes: &[String]| notes.iter().map(|note| format!("{name}: {note}")).collect::<Vec<_>>();
    assert_eq!(notes(&[AZURE, APACHE]), [named(AZURE, &azure), named(APACHE, &apache)].concat());
    // The same file twice is two files.
    assert_eq!(notes(&[AZURE, AZURE]), [named(AZURE, &azure), named(AZURE, &azure)].concat());
}
