//! Scenario texts broken at random are refused with a text, and never end in a panic.

use proptest::prelude::*;
use replay::scenario::Scenario;

const TEXTS: &[&str] = &[
    include_str!("../../../scenarios/azure-code-tokens.toml"),
    include_str!("../../../scenarios/on-off.toml"),
    include_str!("../../../scenarios/replicas.toml"),
    include_str!("../../../scenarios/smoothing.toml"),
    include_str!("../../../scenarios/top-of-hour.toml"),
];

/// Values and lines that are put in the place of others.
const ODD: &[&str] = &[
    "nan",
    "-inf",
    "0",
    "-1",
    "1e308",
    "1e-400",
    "18446744073709551615",
    "99999999999999999999999999999999999999999",
    "0xffff",
    "\"\"",
    "\"1/0s\"",
    "\"584y\"",
    "\"18446744073709551615ns\"",
    "\"1/18446744073709551615ns\"",
    "\"18446744073709551615/ns\"",
    "\"0.000000001ns\"",
    "\"$18446744073709\"",
    "\"$-0\"",
    "\"2554-07-21T23:34:33Z\"",
    "1970-01-01T00:00:00Z",
    "[]",
    "{}",
    "[[]]",
    "true",
    "{ min = 1, max = 2 }",
    "{ mean = 1e-300 }",
    "{ median = 0, p90 = 0 }",
    "\"漢字\\u0000\"",
    "'''\n'''",
    "[quota]",
    "[[limiter]]",
    "all-of = [\"a\", \"b\"]",
    "sweep = { limit = [1, 2], burst = [0] }",
    "sweep = {}",
    "nodes = 1000",
    "meter = \"spend\"",
    "limiters = [\"\"]",
    "[[traffic.ramp]]\nfrom = 0\nto = 0",
    "[[traffic.sine]]\nmean = 1e-9\namplitude = 1e9\nperiod = \"1ns\"",
    "within = \"1ns\"\npeak = 0",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn no_text_ends_in_a_panic(
        text in 0..TEXTS.len(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..ODD.len() + 4, any::<u8>()), 1..6),
    ) {
        let mut lines: Vec<String> = TEXTS[text].lines().map(str::to_string).collect();
        for (place, edit, byte) in edits {
            let place = place.index(lines.len());
            let line = lines[place].clone();
            let cut = line.char_indices().map(|(at, _)| at).nth(usize::from(byte)).unwrap_or(line.len());
            lines[place] = match ODD.get(edit) {
                Some(odd) => match line.split_once('=') {
                    Some((key, _)) if !odd.contains('=') && byte % 2 == 0 => format!("{key}= {odd}"),
                    _ => format!("{line}\n{odd}"),
                },
                None if edit == ODD.len() => line[..cut].to_string(),
                None if edit == ODD.len() + 1 => format!("{}{}{}", &line[..cut], char::from(byte), &line[cut..]),
                None if edit == ODD.len() + 2 => String::new(),
                None => format!("{line}\n{line}"),
            };
        }
        if let Err(problems) = Scenario::parse_text(&lines.join("\n")) {
            prop_assert!(!problems.is_empty());
            for problem in problems {
                prop_assert!(problem.to_string().contains("scenario.toml:"));
            }
        }
    }
}
