//! Limiters of other crates in scenarios: what a build without them says, and what the shipped scenario shows with them.

use replay::scenario::Scenario;
use std::path::Path;

fn shipped() -> (std::path::PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/peers/peers.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    (path, text)
}

#[cfg(not(feature = "peers"))]
#[test]
fn a_build_without_them_names_the_feature() {
    let (path, text) = shipped();
    let problems = Scenario::parse(&path, &text).unwrap_err();
    let said = problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    assert!(said.contains("\"peer-governor\" is a limiter of another crate"), "{said}");
    assert!(said.contains("cargo feature `peers`"), "{said}");
}

#[cfg(feature = "peers")]
mod with {
    use super::*;
    use replay::{Options, run};

    fn problems(extra: &str) -> String {
        let text = format!(
            "summary = \"s.\"\nduration = \"1s\"\n[quota]\nlimit = 10\nwindow = \"1s\"\n\
             [[traffic.constant]]\nrate = \"1/s\"\n{extra}"
        );
        match Scenario::parse(Path::new("peers.toml"), &text) {
            Ok(_) => String::new(),
            Err(problems) => problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"),
        }
    }

    #[test]
    fn the_shipped_scenario_keeps_its_expectations() {
        let (path, text) = shipped();
        let scenario = Scenario::parse(&path, &text).unwrap_or_else(|problems| panic!("{problems:?}"));
        let options = Options { seed: scenario.seed, overhead: false, decisions: None, progress: &|_| () };
        let run = run(&scenario, &options).unwrap();
        assert_eq!(run.broken, Vec::<String>::new());
        assert_eq!(run.violations, Vec::<String>::new());
    }

    #[test]
    fn what_they_cannot_do_is_said() {
        let peer = "[[limiter]]\nalgorithm = \"peer-governor\"\n";
        assert_eq!(problems(peer), "");
        assert!(problems(&format!("{peer}nodes = 3\n")).contains("not for limiters of other crates"));
        assert!(problems(&format!("{peer}burst = 5_000_000_000\n")).contains("2^32"));
        let stack = "[[limiter]]\nall-of = [\"peer-governor\", \"gcra\"]\n";
        assert!(problems(&format!("{peer}{stack}")).contains("which no stack can ask"));
        let uneven = "[[limiter]]\nalgorithm = \"peer-leaky-bucket\"\nlimit = \"7/s\"\n";
        assert!(problems(uneven).contains("whole milliseconds"));
    }
}
