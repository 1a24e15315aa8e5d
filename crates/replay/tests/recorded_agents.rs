//! Recorded agents in a closed loop: against a model that looks for the next event in a plain list, for any number of threads,
//! and in figures that were worked out by hand.

use limiters::{Guard, Meter, Nanos, Outcome, Quota, Response, RetryAfter, Scope, Settings, Stack, algorithm};
use proptest::prelude::*;
use replay::lane::{Lane, StackGate};
use replay::measure::Setup;
use replay::scenario::Scenario;
use replay::world::Cast;
use replay::{Options, Run, run};
use std::path::Path;
use std::sync::Arc;
use traffic::clients::spec::{Action, Client, Cost, Role};
use traffic::clients::{Script, Scripts, Step, preset, retry_as};
use traffic::spec::Amount;

const MS: Nanos = 1_000_000;
const S: Nanos = 1_000 * MS;

/// At most `limit` in any window, told 429 and no time.
fn log_guard(limit: u64, window: Nanos) -> Guard {
    let quota = Quota { limit, window, burst: limit };
    let rule = (algorithm("sliding-window-log").unwrap().build)(&Settings::new(quota)).unwrap();
    let response = Response { retry_after: RetryAfter::None, ..Response::default() };
    Guard::new("log", Meter::Requests, Scope::Global, rule.store(false)).with_response(response)
}

fn client(scripts: &Arc<Scripts>, retry: &str) -> Client {
    let law = retry_as(retry).unwrap();
    Client {
        count: scripts.scripts.len() as u64,
        role: Role::Legitimate,
        useful_calls: None,
        cycle: 0,
        latency: Amount::Constant(0),
        retry: law.retry,
        on_give_up: law.on_give_up,
        on_terminal: law.on_terminal,
        per_call: Cost::Money(Amount::Constant(1)),
        scripts: Some(Arc::clone(scripts)),
        ..(preset("plain").unwrap().client)("sessions")
    }
}

struct Played {
    lane: Lane,
    asked: Vec<(Nanos, u64, bool)>,
}

fn play(client: Client, guard: Guard, start: Nanos, duration: Nanos) -> Played {
    let keys = vec![(0..client.scripts.as_ref().unwrap().keys.len() as u64).collect()];
    let cast = Cast { clients: vec![client], keys, upstream: None, seed: 1, start, duration, bin: duration };
    let setup = Setup {
        quota: Quota { limit: 1, window: S, burst: 1 },
        taus: &[S],
        start,
        bin: duration,
        bins: 1,
        per_key: false,
        many_keys: true,
        shaper: false,
        budget: 1 << 20,
    };
    let mut lane =
        Lane::new(Box::new(StackGate(Stack::new(vec![guard]))), Meter::Requests, None, &setup).with_clients(&cast);
    let mut asked = Vec::new();
    lane.finish(start + duration, |batch, _, range, out| {
        let rows = range.clone().zip(out);
        asked.extend(rows.map(|(row, out)| (batch.at[row], batch.key[row], *out == Outcome::Admitted)));
    });
    assert_eq!(lane.world().unwrap().failed, None);
    Played { lane, asked }
}

/// What a session does next, in the model.
#[derive(Clone, Copy)]
struct Next {
    at: Nanos,
    step: usize,
    tries: u32,
}

/// The same by its definition: of all sessions the one whose call comes first asks; vercel-ai waits 2 s and then 4 s, knows of a
/// refusal after 20 ms, and gives up after the third.
fn model(scripts: &Scripts, goes_on: bool, limit: usize, window: Nanos, end: Nanos) -> Vec<(Nanos, u64, bool)> {
    let mut next: Vec<Option<Next>> =
        scripts.scripts.iter().map(|script| Some(Next { at: script.start, step: 0, tries: 0 })).collect();
    let mut admitted: Vec<Nanos> = Vec::new();
    let mut asked = Vec::new();
    loop {
        let due = (0..next.len()).filter_map(|at| Some((next[at]?.at, at))).min();
        let Some((now, session)) = due.filter(|(now, _)| *now < end) else { return asked };
        let steps = scripts.of(&scripts.scripts[session]);
        let this = next[session].unwrap();
        let step = steps[this.step];
        let passes = admitted.iter().filter(|then| now - **then < window).count() < limit;
        asked.push((now, u64::from(step.key), passes));
        let over = |at: Nanos| {
            let after = Next { at: at + step.wait, step: this.step + 1, tries: 0 };
            (after.step < steps.len()).then_some(after)
        };
        next[session] = if passes {
            admitted.push(now);
            over(now + step.takes.unwrap_or(0))
        } else if this.tries < 2 {
            Some(Next { at: now + 20 * MS + [2 * S, 4 * S][this.tries as usize], tries: this.tries + 1, ..this })
        } else if goes_on {
            over(now + 20 * MS)
        } else {
            None
        };
    }
}

fn some_scripts() -> impl Strategy<Value = Scripts> {
    // Lengths in nanoseconds hardly ever fall together, so nothing depends on the order of equal times.
    let step = (0u32..4, 0..3 * S, 0..2 * S).prop_map(|(key, wait, takes)| Step {
        key,
        wait,
        takes: Some(takes),
        cost: 1,
        microusd: 1,
        ..Step::default()
    });
    proptest::collection::vec((0..20 * S, proptest::collection::vec(step, 1..6)), 1..12).prop_map(|sessions| {
        let mut made = Scripts { keys: (0..4).map(|key| key.to_string()).collect(), ..Scripts::default() };
        for (start, steps) in sessions {
            made.scripts.push(Script { start, first: made.steps.len() as u32, steps: steps.len() as u32 });
            made.steps.extend(steps);
        }
        made.scripts.sort_by_key(|script| script.start);
        made
    })
}

proptest! {
    #[test]
    fn every_call_is_asked_when_the_model_says(
        scripts in some_scripts(),
        limit in 1u64..4,
        window in S / 2..8 * S,
        start in 0..100 * S,
        goes_on in any::<bool>(),
    ) {
        let end = 40 * S;
        let scripts = Arc::new(scripts);
        let mut client = client(&scripts, "vercel-ai");
        if goes_on {
            client.on_give_up = Action::NextTurn;
        }
        let played = play(client, log_guard(limit, window), start, end);
        let expected = model(&scripts, goes_on, limit as usize, window, end);
        let asked: Vec<_> = played.asked.iter().map(|(at, key, out)| (at - start, *key, *out)).collect();
        prop_assert_eq!(&asked, &expected);
        let tally = &played.lane.world().unwrap().tallies[0];
        let admitted = expected.iter().filter(|one| one.2).count() as u64;
        prop_assert_eq!((tally.attempts, tally.admitted), (expected.len() as u64, admitted));
        prop_assert_eq!((tally.refused, tally.spent()), (expected.len() as u64 - admitted, u128::from(admitted)));
    }
}

#[test]
fn a_world_is_as_large_as_what_is_under_way() {
    // A hundred thousand sessions of two calls, at most three of them at once.
    let steps: Vec<Step> = vec![Step { wait: S, takes: Some(S), cost: 1, microusd: 1, ..Step::default() }; 2];
    let scripts = (0..100_000).map(|n| Script { start: n * S, first: 0, steps: 2 }).collect();
    let made = Arc::new(Scripts { keys: vec!["all".into()], scripts, steps, ..Scripts::default() });
    let played = play(client(&made, "none"), log_guard(u64::MAX >> 32, S), 0, 200_000 * S);
    let world = played.lane.world().unwrap();
    assert_eq!((world.tallies[0].useful, world.tallies[0].agents), (200_000, 100_000));
    assert_eq!(world.tallies[0].stopped, Some(100_001 * S));
    assert!(world.places() <= 4, "{} agents at once", world.places());
}

fn ran(text: &str) -> Run {
    let path = Path::new("../../scenarios/made-up.toml");
    let scenario = Scenario::parse(path, text).unwrap_or_else(|problems| panic!("{}", problems[0]));
    let options = Options { seed: scenario.seed, overhead: false, decisions: None, progress: &|_| () };
    run(&scenario, &options).unwrap()
}

const AGENTS: &str = "[quota]\nlimit = \"6/min\"\nburst = 3\n[[traffic.trace]]\npath = \"traces/agent_sessions.csv\"\n";
const SHAPED: &str = "limiters = [\"unlimited\", \"gcra\"]\n[quota]\nlimit = \"1/s\"\nburst = 2\nkey = \"per-key\"\n\
                      [[traffic.trace]]\npath = \"traces/shaped_access.log\"\nretry-as = \"openai-sdk\"\n";

#[test]
fn threads_change_nothing_and_unlimited_is_the_world_without_a_guard() {
    for text in [AGENTS, SHAPED] {
        let with = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| ran(text))
        };
        let (one, three) = (with(1), with(3));
        let rows = |run: &Run| format!("{:?}{:?}{:?}{:?}", run.summary, run.clients, run.spend, run.timeline);
        assert_eq!(rows(&one), rows(&three));
        let free = one.clients.iter().find(|row| row.limiter == "unlimited").unwrap();
        assert_eq!((free.refused, free.useful_calls, free.saved_microusd), (0, free.useful_reference, 0));
        assert!(one.violations.is_empty(), "{:?}", one.violations);
    }
}

#[test]
fn an_unbounded_bill_says_why_and_what_would_bound_it() {
    let text = |cost: &str, stand: &str| {
        format!(
            "duration = \"1min\"\nlimiters = [\"unlimited\", \"gcra\"]\n[quota]\nlimit = \"6/min\"\n[[client]]\n\
             preset = \"llm-loop\"\n[client.guards]\nrate = \"{stand}\"\n[client.cost]\nper-turn = {cost}\n"
        )
    };
    let without = r#"{ median = "$0.07", p90 = "$0.20" }"#;
    let with = r#"{ median = "$0.07", p90 = "$0.20", max = "$1" }"#;
    let told = |cost: &str, stand: &str| {
        let run = ran(&text(cost, stand));
        let notes = run.notes.into_iter().filter(|note| note.text.contains("worst possible")).map(|note| note.text);
        let worst = run.summary.iter().find(|row| row.limiter == "gcra").unwrap().worst_bill_microusd;
        (notes.collect::<Vec<_>>(), worst)
    };
    let (notes, worst) = told(without, "turn");
    assert!(worst.is_none() && notes.len() == 1 && notes[0].contains("a bound needs a `max` in it"), "{notes:?}");
    assert!(notes[0].contains("behind `gcra`: `per-turn`"), "nothing bounds `unlimited` anyway: {notes:?}");
    let (notes, worst) = told(with, "tool");
    assert!(worst.is_none() && notes.len() == 1 && notes[0].contains("model calls that no guard sees"), "{notes:?}");
    // A burst of 6 and one each 10 s within the minute, five more, each at most $1 and the tool's $0.008.
    let (notes, worst) = told(with, "turn");
    assert_eq!((notes.len(), worst), (0, Some(11 * 1_008_000)));
}

#[test]
fn a_worst_bill_knows_requests_that_are_dearer_than_the_clients_calls() {
    let text = "duration = \"1min\"\nlimiters = [\"unlimited\", \"gcra\"]\n[quota]\nlimit = \"6/min\"\n\
                [[traffic.constant]]\nrate = \"1/s\"\nprice = \"$3\"\n[[client]]\npreset = \"code-loop\"\n";
    let run = ran(text);
    let row = run.summary.iter().find(|row| row.limiter == "gcra").unwrap();
    assert_eq!(row.worst_bill_microusd, Some(11 * 3_000_000));
    assert!(row.cost_spent_microusd <= row.worst_bill_microusd);
}
