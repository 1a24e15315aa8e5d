//! Sessions of agents as rows and as scripts, and refused rows as calls.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashSet};
use traffic::clients::{Script, Step};
use traffic::traces::{Row, Sessions, Stream, calls, retried, sessions};

const S: Nanos = 1_000 * MS;

const FILE: &str = "\
id,input_len,output_len,arrival_time,round_idx,tool_wait_after_ms,prefix_len
a,100,10,1000.0,0,500.0,0
a,20,11,1000.0,2,0.0,200
b,50,5,1250.5,0,0,7
a,30,12,1000.0,1,250.25,110
";

fn on_disk<T>(text: &str, spec: spec::Trace, read: impl FnOnce(&spec::Trace) -> T) -> T {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    std::fs::write(&path, text).unwrap();
    read(&spec::Trace { path, ..spec })
}

fn scripts(text: &str, spec: spec::Trace) -> Sessions {
    on_disk(text, spec, |spec| sessions(spec, 10 * S)).unwrap()
}

#[test]
fn rows_stand_at_the_undelayed_schedule_whatever_their_order() {
    let recorded = text(FILE, data("")).unwrap();
    assert_eq!((recorded.format.name, recorded.rows, recorded.keys, recorded.start), ("tracelab", 4, 2, None));
    assert_eq!(recorded.backward_steps, 0, "they come in order of time");
    let batch = play(recorded);
    let us = |at: &Nanos| at / 1_000;
    assert_eq!(batch.at.iter().map(us).collect::<Vec<_>>(), [1_000_000, 1_250_500, 1_500_000, 1_750_250]);
    assert_eq!((batch.input_tokens, batch.output_tokens), (vec![100, 50, 30, 20], vec![10, 5, 12, 11]));
}

#[test]
fn every_session_is_a_script() {
    let Sessions { scripts, rows, unknown, .. } = scripts(FILE, data(""));
    assert_eq!((rows, unknown, scripts.calls(), &scripts.keys[..]), (4, 4, 4, &["a".to_owned(), "b".to_owned()][..]));
    let all = [Script { start: S, first: 0, steps: 3 }, Script { start: 1_250_500_000, first: 3, steps: 1 }];
    assert_eq!(scripts.scripts, all);
    let step = |key, wait, tokens| Step { key, wait, takes: None, cost: 1, tokens, microusd: 0 };
    let a = [step(0, 500 * MS, [100, 10, 0, 0]), step(0, 250_250_000, [30, 12, 110, 0]), step(0, 0, [20, 11, 200, 0])];
    assert_eq!(scripts.of(&all[0]), a);
    // Three answers of 10 s and the waits from 1 s on are 31.75025 s; half as much again, up to a whole second.
    assert_eq!((scripts.origin, scripts.length), (None, 48 * S));
}

#[test]
fn answers_take_what_the_file_says_and_keys_may_be_others() {
    let file = "session_id,round_idx,user_id,generation_ms,tool_wait_after_ms,price_usd\n\
                x,0,ann,1500,500,0.25\nx,1,ann,,0,0.5\ny,0,ann,100,0,1\n";
    let Sessions { scripts, unknown, notes, .. } = scripts(file, data(""));
    assert_eq!(
        (scripts.keys.as_slice(), unknown, scripts.prices()),
        (&["ann".to_owned()][..], 1, (250_000, 1_000_000))
    );
    // Both arrive at 0; the one that comes first in the file goes first.
    assert_eq!(scripts.scripts, [Script { start: 0, first: 0, steps: 2 }, Script { start: 0, first: 2, steps: 1 }]);
    assert_eq!(
        (scripts.steps[0].takes, scripts.steps[0].wait, scripts.steps[1].takes),
        (Some(1500 * MS), 500 * MS, None)
    );
    let said: Vec<&str> = notes.iter().map(|note| note.text.as_str()).collect();
    insta::assert_snapshot!(said.join("\n"));
}

#[test]
fn a_wall_clock_a_scale_and_a_repetition() {
    let file = "session_id,arrival_time,round_idx,tool_wait_after_ms\n\
                a,2026-01-01T00:00:10Z,0,1000\na,2026-01-01T00:00:10Z,1,0\nb,2026-01-01T00:00:12Z,0,0\n";
    let slow = spec::Trace { time_scale: Some((3, 1)), repeat: 2, ..data("") };
    let Sessions { scripts, .. } = scripts(file, slow);
    assert_eq!(scripts.origin, Some(1_767_225_610 * S));
    let starts: Vec<Nanos> = scripts.scripts.iter().map(|script| script.start).collect();
    assert_eq!((starts, scripts.steps[0].wait), (vec![0, 6 * S, 6 * S + 1, 12 * S + 1], 3 * S));
    assert_eq!(scripts.calls(), 6);
}

#[test]
fn what_is_no_session_is_told() {
    let head = "session_id,arrival_time,round_idx,tool_wait_after_ms\n";
    let wrong = |rows: &str| text(&format!("{head}{rows}"), data("")).unwrap_err().to_string();
    insta::assert_snapshot!(
        [
            wrong("a,0,0,-1\n"),
            wrong("a,0,0,soon\n"),
            wrong("a,0,first,1\n"),
            wrong("a,0,0,1\nb,0,0,1\na,0,0,2\n"),
            wrong(",0,0,1\n"),
            wrong("a,0,0\nb,1,1,1\n"),
            wrong("a,-5,0,1\n"),
            wrong("a,0,0,1e30\n"),
            wrong(""),
            text("session_id,round_idx\na,0\n", spec::Trace { format: Some("tracelab".into()), ..data("") })
                .unwrap_err()
                .to_string(),
        ]
        .join("\n")
    );
    let skipping = spec::Trace { skip_bad_rows: true, ..data("") };
    let recorded = text(&format!("{head}a,0,0,1000\na,0,0,2\na,0,1,1\nb,0,x,1\n"), skipping).unwrap();
    assert_eq!((recorded.rows, recorded.skipped), (2, 2));
    assert_eq!(play(recorded).at, [0, S]);
}

const SHAPED: &str = "\
time,key,status,input_tokens,price_usd
2026-01-01T00:00:00Z,a,200,10,0.1
2026-01-01T00:00:01Z,a,429,0,0
2026-01-01T00:00:01Z,b,503,0,0
2026-01-01T00:00:02Z,a,429,0,0
2026-01-01T00:00:03Z,a,200,7,0.2
2026-01-01T00:00:03Z,a,200,8,0.3
2026-01-01T00:00:09Z,b,429,5,0
2026-01-01T00:00:20Z,c,404,1,0
";

#[test]
fn refused_rows_are_calls_and_the_others_stay() {
    on_disk(SHAPED, data(""), |spec| {
        let made = retried(spec, 5 * S).unwrap();
        assert_eq!((made.rows, made.refused, made.answered, made.ended), (8, 4, 8, 1));
        assert_eq!(made.folded[..], [1, 2, 3, 4, 6]);
        assert_eq!(made.scripts.keys, ["a", "b"]);
        // The call of `a` has the tokens and the price of the row that was answered.
        let calls: Vec<_> =
            made.scripts.scripts.iter().map(|script| (script.start / S, made.scripts.of(script)[0])).collect();
        let step = |key, input, microusd| Step { key, tokens: [input, 0, 0, 0], microusd, cost: 1, ..Step::default() };
        assert_eq!(calls, [(1, step(0, 7, 200_000)), (1, step(1, 0, 0)), (9, step(1, 5, 0))]);
        assert_eq!((made.scripts.origin, made.scripts.length), (Some(1_767_225_600 * S), 14 * S + 1));
        let rest = traces::open(&spec::Trace { left_out: Some(made.folded), ..spec.clone() }).unwrap();
        assert_eq!((rest.rows, rest.too_many, rest.unavailable), (3, 0, 0));
        assert_eq!(since_first(&play(rest)), [0, 3 * S, 20 * S]);
    });
}

/// The definition, word by word: walk a key's rows; a refused row outside a call begins one; a row inside one that comes too
/// late ends it before itself; an answered one ends it with itself.
fn naive(rows: &[(Nanos, bool)], within: Nanos) -> Vec<Vec<usize>> {
    let mut all: Vec<Vec<usize>> = Vec::new();
    let mut under_way: Option<Vec<usize>> = None;
    for (place, (at, refused)) in rows.iter().enumerate() {
        if under_way.as_ref().is_some_and(|call| at - rows[call[0]].0 > within) {
            all.extend(under_way.take());
        }
        match (&mut under_way, refused) {
            (Some(call), true) => call.push(place),
            (Some(call), false) => {
                call.push(place);
                all.extend(under_way.take());
            }
            (None, true) => under_way = Some(vec![place]),
            (None, false) => {}
        }
    }
    all.extend(under_way);
    all
}

proptest! {
    #[test]
    fn calls_are_what_their_definition_says(
        gaps in proptest::collection::vec((0u64..6, any::<bool>()), 0..60),
        within in 0u64..12,
    ) {
        let mut at = 0;
        let rows: Vec<(Nanos, bool)> = gaps.into_iter().map(|(gap, refused)| { at += gap; (at, refused) }).collect();
        let made: Vec<Vec<usize>> = calls(&rows, within).into_iter().map(Iterator::collect).collect();
        prop_assert_eq!(made, naive(&rows, within));
    }

    /// Whatever the order of the rows in the file: each of them is played once, by a client or by the open loop, and what the
    /// file asks for is neither more nor less.
    #[test]
    fn rows_are_open_loop_or_in_calls(
        rows in proptest::collection::vec((0u64..50, 0u8..4, 0usize..4, 1u64..9), 1..80),
        within in 0u64..20,
    ) {
        let mut log = "time_s,key,status,cost\n".to_owned();
        for (at, key, status, cost) in &rows {
            log.push_str(&format!("{at},k{key},{},{cost}\n", [200, 429, 503, 500][*status]));
        }
        on_disk(&log, data(""), |spec| {
            let made = retried(spec, within * S).unwrap();
            let refused = rows.iter().filter(|row| matches!(row.2, 1 | 2)).count();
            prop_assert_eq!((made.rows, made.refused), (rows.len() as u64, refused as u64));
            prop_assert!(made.folded.is_sorted_by(|a, b| a < b));
            let folded: HashSet<u64> = made.folded.iter().copied().collect();
            let is_refused = |place: &u64| matches!(rows[*place as usize].2, 1 | 2);
            prop_assert_eq!(made.folded.iter().filter(|place| is_refused(place)).count(), refused);
            prop_assert_eq!(made.folded.len() as u64, made.refused + made.ended);
            // The calls of each key, by the definition.
            let mut expected: Vec<(Nanos, String, u64)> = Vec::new();
            let mut by_key: BTreeMap<u8, Vec<usize>> = BTreeMap::new();
            for (place, row) in rows.iter().enumerate() {
                by_key.entry(row.1).or_default().push(place);
            }
            for (key, mut places) in by_key {
                places.sort_by_key(|place| rows[*place].0);
                let plain: Vec<_> = places.iter().map(|&place| (rows[place].0, matches!(rows[place].2, 1 | 2))).collect();
                for call in naive(&plain, within) {
                    let cost = call.iter().map(|at| rows[places[*at]].3).max().unwrap();
                    prop_assert!(call.iter().all(|at| folded.contains(&(places[*at] as u64))));
                    expected.push((plain[call[0]].0 * S, format!("k{key}"), cost));
                }
            }
            let scripts = &made.scripts;
            let mut got: Vec<_> = scripts.scripts.iter().map(|script| {
                let step = scripts.of(script)[0];
                (script.start, scripts.keys[step.key as usize].clone(), step.cost)
            }).collect();
            prop_assert!(got.is_sorted_by_key(|call| call.0));
            got.sort();
            expected.sort();
            prop_assert_eq!(got, expected);
            // What is left.
            let left: Vec<_> = (0..rows.len() as u64).filter(|place| !folded.contains(place)).collect();
            let rest_spec = spec::Trace { left_out: Some(made.folded.clone()), ..spec.clone() };
            let mut stream = Stream::open(&rest_spec).unwrap();
            let mut row = Row::default();
            let mut seen = Vec::new();
            while stream.next(&mut row).unwrap() {
                seen.push((row.at / S, row.cost));
            }
            let asked: Vec<_> = left.iter().map(|place| (rows[*place as usize].0, rows[*place as usize].3)).collect();
            prop_assert_eq!(stream.rows(), left.len() as u64);
            prop_assert_eq!(seen, asked);
            Ok(())
        })?;
    }
}
