//! Scenarios with clients from their text to their rows: the same for any number of threads and whoever else is compared, no
//! money lost at any event, and every mistake told.

use limiters::{Accounting, Guard, Meter, Nanos, Quota, Request, Scope, Settings, Stack, Ticket, Value, algorithm};
use proptest::prelude::*;
use replay::rows::SummaryRow;
use replay::scenario::Scenario;
use replay::{Options, Run, run};

fn played(text: &str) -> Run {
    let scenario = Scenario::parse_text(text).unwrap_or_else(|problems| panic!("{}", problems[0]));
    let options = Options { seed: scenario.seed, overhead: false, decisions: None, progress: &|_| () };
    run(&scenario, &options).unwrap()
}

const STORM: &str = r#"
duration = "20min"
seed = 3
limiters = ["unlimited", "token-bucket", "cap $5"]
[quota]
limit = "2/s"
burst = 10
[[traffic.poisson]]
rate = "1/s"
price = "$0.001"
key = "others"
[upstream]
concurrency = 5
error-rate = 0.05
[[client]]
preset = "retry-storm"
[[client]]
preset = "llm-loop"
count = 5
[client.guards]
cap = "turn"
[[client]]
preset = "fan-out"
[[limiter]]
label = "cap $5"
algorithm = "spend-cap"
limit = "$5"
accounting = "post"
"#;

fn rows(run: &Run) -> String {
    format!("{:?}{:?}{:?}{:?}", run.summary, run.clients, run.spend, run.timeline)
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| rows(&played(STORM)))
    };
    assert_eq!(with(1), with(3));
}

#[test]
fn another_limiter_changes_nobody_elses_rows() {
    let few = played(STORM);
    let more = played(&STORM.replace(r#""token-bucket", "#, r#""token-bucket", "gcra", "fixed-window", "#));
    for row in &few.summary {
        let same: Vec<&SummaryRow> = more.summary.iter().filter(|other| other.limiter == row.limiter).collect();
        assert_eq!(same, [row]);
    }
    let of = |run: &Run, name: &str| run.clients.iter().filter(|row| row.limiter == name).cloned().collect::<Vec<_>>();
    assert_eq!(of(&few, "cap $5"), of(&more, "cap $5"));
}

#[test]
fn an_unlimited_guard_is_the_world_without_one() {
    let run = played(STORM);
    let row = run.summary.iter().find(|row| row.limiter == "unlimited").unwrap();
    assert_eq!((row.cost_saved_microusd, row.cost_unprotected_microusd), (Some(0), row.cost_spent_microusd));
    assert!(row.cost_spent_microusd > Some(1_000_000));
    assert!(run.violations.is_empty(), "{:?}", run.violations);
}

#[test]
fn a_cap_that_holds_more_than_it_has_is_warned_of() {
    let text = STORM.replace(r#"accounting = "post""#, "accounting = \"reserve\"\nestimate = \"$6\"");
    let notes = Scenario::parse_text(&text).unwrap().notes;
    assert!(notes.iter().any(|note| note.text.contains("`cap $5` will never admit a call")), "{notes:?}");
}

fn wrong(change: &[(&str, &str)]) -> String {
    let text = change.iter().fold(STORM.to_string(), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    });
    let problems = Scenario::parse_text(&text).expect_err("a mistake");
    problems.iter().map(|problem| problem.to_string()).collect::<Vec<_>>().join("\n")
}

#[test]
fn mistakes_are_told_with_what_would_be_right() {
    for (from, to, told) in [
        (r#"preset = "llm-loop""#, r#"preset = "llm-lop""#, "did you mean `llm-loop`"),
        (r#"cap = "turn""#, r#"cap = "model""#, "tool, turn, both"),
        (r#"limit = "$5""#, r#"limit = "$-5""#, "negative"),
        (r#"price = "$0.001""#, r#"price = "0.001""#, "without a dollar sign"),
        ("count = 5", "count = 0", "from 1"),
        ("error-rate = 0.05", "error-rate = 5", "above 1"),
        ("count = 5", "think-tme = \"1s\"", "did you mean `think-time`"),
        ("count = 5", "think-time = 5", "needs a unit"),
        ("count = 5", "max-turns = 5", "`max-turns` belongs to [client.limits]"),
        ("[client.guards]", "[client.cost]\nper-call = \"0.01\"\n[client.guards]", "without a dollar sign"),
        ("[client.guards]", "[client.retry]\njitter = \"halb\"\n[client.guards]", "unknown jitter"),
        ("[client.guards]", "[client.retry]\nlibrary = \"openai-skd\"\n[client.guards]", "did you mean `openai-sdk`"),
        (r#"accounting = "post""#, r#"accounting = "later""#, "immediate, post, reserve"),
        (r#"accounting = "post""#, "calendar = \"day\"\nzone = \"Mars/Olympus\"", "unknown time zone"),
        ("[upstream]", "[upstrem]", "did you mean `upstream`"),
    ] {
        let message = wrong(&[(from, to)]);
        assert!(message.contains(told), "{to}: {message}");
    }
}

#[test]
fn the_same_client_twice_is_a_mistake() {
    let message = wrong(&[(r#"preset = "fan-out""#, r#"preset = "llm-loop""#)]);
    assert!(message.contains("duplicate client \"llm-loop\""), "{message}");
}

const CAP: u64 = 1_000;

fn cap(accounting: Accounting) -> Stack {
    let quota = Quota { limit: CAP, window: 1, burst: CAP };
    let settings = Settings::new(quota).with("cap", Value::Permits(CAP));
    let rule = (algorithm("spend-cap").unwrap().build)(&settings).unwrap();
    Stack::new(vec![Guard::new("cap", Meter::Spend, Scope::Global, rule.store(false)).with_accounting(accounting)])
}

/// spent + reserved + unused = cap + overshoot.
fn balanced(stack: &Stack, now: Nanos) -> Result<(), TestCaseError> {
    let guard = &stack.guards()[0];
    let (ledger, level) = (guard.ledger(), guard.level(0, now).unwrap().available_milli / 1000);
    let (unused, overshoot) = (level.max(0) as u128, (-level.min(0)) as u128);
    prop_assert_eq!(ledger.spent + ledger.reserved + unused, u128::from(CAP) + overshoot);
    Ok(())
}

proptest! {
    #[test]
    fn no_money_is_lost_at_any_event(
        events in proptest::collection::vec((0u64..5, 1u64..200, 0u64..300), 1..200),
        how in 0..4,
    ) {
        let accounting = match how {
            0 => Accounting::Immediate,
            1 => Accounting::Post,
            2 => Accounting::Reserve { estimate: None },
            _ => Accounting::Reserve { estimate: Some(100) },
        };
        let mut stack = cap(accounting);
        let mut flying: Vec<(Ticket, u64)> = Vec::new();
        for (now, (what, price, other)) in events.into_iter().enumerate() {
            let now = now as Nanos;
            match what {
                0..=2 => {
                    let request = Request { at: now, microusd: price, requests: 1, ..Request::default() };
                    let actual = if accounting == Accounting::Immediate || how == 2 { price } else { other };
                    if let Some(ticket) = stack.try_acquire(&request).ticket {
                        flying.push((ticket, actual));
                    }
                }
                3 => {
                    if let Some((ticket, microusd)) = flying.pop() {
                        let actual = Request { microusd, ..*ticket.asked() };
                        stack.settle(now, ticket, &actual);
                    }
                }
                _ => stack.charge_of(&Request { at: now, microusd: price, ..Request::default() }, u64::MAX),
            }
            balanced(&stack, now)?;
        }
    }

    #[test]
    fn reserving_the_true_cost_never_overshoots(prices in proptest::collection::vec(1u64..400, 1..60)) {
        let mut stack = cap(Accounting::Reserve { estimate: None });
        let mut spent = 0;
        let mut flying = Vec::new();
        for (now, price) in prices.into_iter().enumerate() {
            let request = Request { at: now as Nanos, microusd: price, requests: 1, ..Request::default() };
            flying.extend(stack.try_acquire(&request).ticket);
            if flying.len() > 3 {
                let ticket = flying.remove(0);
                let actual = *ticket.asked();
                spent += actual.microusd;
                stack.settle(now as Nanos, ticket, &actual);
            }
            prop_assert!(spent <= CAP && stack.guards()[0].level(0, now as Nanos).unwrap().available_milli >= 0);
        }
    }
}
