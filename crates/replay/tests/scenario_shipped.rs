//! The shipped scenarios come out as they expect, and stay below every proven bound.

use replay::scenario::Scenario;
use replay::{Options, run};
use std::path::Path;

#[test]
fn every_expectation_holds() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut ran = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // `keyed` takes a minute without optimisation; `workbench run` checks it as well.
        if path.extension().is_none_or(|end| end != "toml") || path.file_stem().is_some_and(|name| name == "keyed") {
            continue;
        }
        let scenario = Scenario::load(&path).unwrap_or_else(|problems| panic!("{}", problems[0]));
        let options = Options { seed: scenario.seed, overhead: false, decisions: None, progress: &|_| {} };
        let outcome = run(&scenario, &options).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert_eq!(outcome.broken, Vec::<String>::new(), "{}", path.display());
        assert_eq!(outcome.violations, Vec::<String>::new(), "{}", path.display());
        ran += 1;
    }
    assert!(ran >= 18, "only {ran} scenarios");
}
