//! The page's world in virtual time: traffic, money, changes of settings, and scenarios that give the same counts.

use limiters::{ALGORITHMS, Nanos};
use playground::play::Play;
use playground::settings::Settings;
use replay::scenario::Scenario;
use serde_json::{Value, json};
use traffic::clients::preset;

const S: Nanos = 1_000_000_000;
/// A second after a whole minute in 2026.
const START: Nanos = 1_767_225_600 * S + S;

fn settings(change: Value) -> Settings {
    Settings::default().merged(&change).unwrap()
}

fn play(change: Value) -> Play {
    Play::new(settings(change), START).unwrap()
}

fn asked(play: &Play) -> u64 {
    play.main().counts.admitted + play.main().counts.refused
}

#[test]
fn a_loop_at_twenty_a_second_is_admitted_ten_and_then_two_a_second() {
    let mut play = play(json!({}));
    play.start_loop(START, 20);
    for t in 1..=60 {
        play.advance(START + t * S);
        assert_eq!(asked(&play), 20 * t);
        assert!(play.main().counts.admitted.abs_diff(10 + 2 * t) <= 1, "{t} s: {:?}", play.main().counts);
    }
}

#[test]
fn ticks_of_any_length_give_the_same_counts() {
    let run = |step: Nanos| {
        let mut play = play(json!({}));
        play.start_agents(START, preset("retry-storm").unwrap());
        for t in (0..=20 * S).step_by(step as usize) {
            play.advance(START + t);
        }
        (play.main().counts, play.money())
    };
    assert_eq!(run(S / 30), run(20 * S));
}

#[test]
fn a_burst_at_the_edge_passes_the_fixed_window_twice_and_the_log_once() {
    let mut play = play(json!({"algorithm": "fixed-window", "limit": 100, "window": "10s", "burst": 100}));
    let edge = play.burst_at_edge(START, 100);
    assert_eq!(edge % (10 * S), 0);
    play.advance(edge + S);
    assert_eq!(play.main().counts.admitted, 200);
    let of = |name: &str| play.beside().iter().find(|lane| lane.algorithm == name).unwrap().counts.admitted;
    assert_eq!((of("fixed-window"), of("sliding-window-log")), (200, 100));
}

#[test]
fn the_twin_says_what_was_saved() {
    // Refused and retried every 0.2 s: 2 a second pass, 5 a second are made by the twin, at a cent each.
    let mut play = play(json!({"limit": 2, "window": "1s", "burst": 1}));
    play.start_agents(START, preset("code-loop").unwrap());
    play.advance(START + 60 * S);
    let money = play.money();
    let twin = 300 * 10_000;
    assert_eq!(money.spent as i64 + money.saved, twin + 10_000, "the twin's 301st call is at the end");
    assert!(money.spent <= 121 * 10_000 && money.spent > 90 * 10_000, "{money:?}");
    // Both got their five useful calls.
    assert_eq!(money.useful_lost, 0);
    play.stop(START + 61 * S);
    play.advance(START + 90 * S);
    assert!(play.money().spent < 125 * 10_000, "stopped");
}

#[test]
fn clicks_save_their_price_when_they_are_refused() {
    let mut play = play(json!({"price": "$0.01"}));
    play.burst(START, 15);
    assert_eq!((play.money().spent, play.money().saved), (100_000, 50_000));
    // 8 h of 2 a second and 10 at once, at a cent.
    assert_eq!(play.worst_bill(8 * 3600 * S), Some(57_610 * 10_000));
}

#[test]
fn what_overflows_is_counted() {
    let mut play = play(json!({}));
    play.burst(START, 10);
    play.advance(START + 4 * S);
    assert_eq!(play.main().lost(START + 4 * S), Some(0));
    // Full again after five seconds; 2 a second spill from then on.
    assert_eq!(play.main().lost(START + 15 * S), Some(20));
}

#[test]
fn a_change_of_settings_hands_out_nothing() {
    let names = ALGORITHMS.iter().map(|known| known.name).filter(|name| *name != "spend-cap");
    for from in names.clone().filter(|name| *name != "unlimited") {
        for to in names.clone() {
            let mut play = play(json!({"algorithm": from, "limit": 10, "window": "10s", "burst": 10}));
            play.burst(START, 25);
            let now = START + S / 7;
            let before = play.main().remaining(0, now);
            for change in [json!({"algorithm": to}), json!({"limit": 60, "burst": 50}), json!({"window": "20s"})] {
                let next = play.settings().0.merged(&change).unwrap();
                play.set(now, next).unwrap();
                let unlimited = play.main().algorithm == "unlimited";
                // A window's raised limit makes room by as much as it was raised.
                let raised = to.contains("window") && change.get("algorithm").is_none();
                let most = before + if raised { 50 } else { 0 };
                assert!(unlimited || play.main().remaining(0, now) <= most, "{from} to {to}, {change}");
            }
            // By way of `unlimited` nothing is handed out either; a bucket may take a level from a window that was raised.
            let back = play.settings().0.merged(&json!({"algorithm": from, "limit": 10, "window": "10s", "burst": 10}));
            play.set(now, back.unwrap()).unwrap();
            let raised = to.contains("window") && !from.contains("window");
            assert!(raised || play.main().remaining(0, now) <= before, "{from} to {to} and back");
            let counts = play.main().counts;
            assert_eq!(counts.admitted + counts.refused, 25, "no count is lost");
        }
    }
}

#[test]
fn a_change_of_settings_loses_nothing() {
    // A price that moves 30 times a second does not touch the limiter, and neither does a refill that moves as often.
    for field in ["price", "limit"] {
        let mut play = play(json!({}));
        play.start_loop(START, 50);
        for frame in 0..=600u64 {
            let now = START + frame * S / 30;
            let change = if field == "price" {
                json!({"price": format!("$0.0{:02}", 1 + frame % 50)})
            } else {
                json!({"limit": if frame % 2 == 0 { 10 } else { 11 }})
            };
            let next = play.settings().0.merged(&change).unwrap();
            play.set(now, next).unwrap();
        }
        play.advance(START + 20 * S);
        let admitted = play.main().counts.admitted;
        // 10 at once and 20 s of 2 (or 2.1 on average) a second, less what overflowed before the first call after 20 ms; 600
        // changes may cost a thousandth of a permit each.
        let expected = if field == "price" { 49..=49 } else { 50..=51 };
        assert!(expected.contains(&admitted), "{field}: {admitted}");
    }
}

#[test]
fn a_window_keeps_what_it_has_used_and_when() {
    for name in ["fixed-window", "sliding-window-log", "sliding-window-segments"] {
        let change = json!({"algorithm": name, "limit": 10, "window": "10s"});
        let mut changed = play(change.clone());
        let mut plain = play(change);
        for (at, calls) in [(0, 4), (3, 4)] {
            for play in [&mut changed, &mut plain] {
                play.burst(START + at * S, calls);
            }
        }
        // Larger and back again: the old admissions still leave when they would have.
        for limit in [20, 10] {
            let next = changed.settings().0.merged(&json!({"limit": limit})).unwrap();
            changed.set(START + 4 * S, next).unwrap();
        }
        for t in 4..=24 {
            let now = START + t * S;
            let both = [&changed, &plain].map(|play| play.main().remaining(0, now));
            assert_eq!(both[0], both[1], "{name} after {t} s");
        }
    }
}

#[test]
fn a_raised_budget_is_new_money() {
    let mut play = play(json!({"burst": 100, "price": "$0.01", "cap": "$0.10"}));
    play.burst(START, 20);
    assert_eq!(play.main().counts.admitted, 10);
    let next = play.settings().0.merged(&json!({"cap": "$0.15"})).unwrap();
    play.set(START, next).unwrap();
    play.burst(START, 20);
    assert_eq!(play.main().counts.admitted, 15);
}

fn reproduces(play: &mut Play, now: Nanos, what: &str) {
    let text = play.scenario(now).unwrap_or_else(|why| panic!("{what}: {why}"));
    let scenario = Scenario::parse_text(&text).unwrap_or_else(|problems| panic!("{what}: {}", problems[0]));
    assert_eq!(scenario.expects.iter().filter(|expect| expect.limiter == "the page's").count(), 1, "{what}");
    let options = replay::Options { seed: 0, overhead: false, decisions: None, progress: &|_| {} };
    let run = replay::run(&scenario, &options).unwrap();
    assert_eq!(run.requests, asked(play), "{what}");
    assert_eq!((run.broken, run.violations), (Vec::<String>::new(), Vec::<String>::new()), "{what}");
}

#[test]
fn the_saved_scenario_gives_the_same_counts() {
    for known in ALGORITHMS {
        let mut play = play(json!({"algorithm": known.name, "limit": 10, "window": "5s", "burst": 8}));
        for i in 0..40u64 {
            let at = START + i * 313_131_313;
            play.call(at, "all", 1 + i % 3).unwrap();
            play.burst(at + 1, 2);
        }
        reproduces(&mut play, START + 20 * S, known.name);
    }
}

#[test]
fn so_does_one_of_agents_one_of_keys_and_one_with_a_budget() {
    let mut agents = play(json!({}));
    agents.start_agents(START, preset("retry-storm").unwrap());
    agents.advance(START + 20 * S);
    reproduces(&mut agents, START + 20 * S, "agents");

    let mut keys = play(json!({"scope": "per-key", "burst": 3}));
    for i in 0..60u64 {
        keys.call(START + i * S / 9, ["a", "b \"quoted\"", "ç"][(i % 3) as usize], 1).unwrap();
    }
    reproduces(&mut keys, START + 20 * S, "keys");

    let mut budget = play(json!({"cap": "$0.20", "params": {"refill": "3/s", "initial": 2}}));
    for i in 0..60u64 {
        budget.call(START + i * S / 9, "all", 1).unwrap();
    }
    reproduces(&mut budget, START + 20 * S, "budget");
    assert!(budget.main().counts.refused > 0);

    let mut changed = play(json!({}));
    changed.burst(START, 3);
    changed.set(START + S, settings(json!({"limit": 9}))).unwrap();
    assert!(changed.scenario(START + S).unwrap_err().contains("settings were changed"));
    changed.reset(START + 2 * S);
    changed.burst(START + 2 * S, 20);
    reproduces(&mut changed, START + 3 * S, "after a reset");
}
