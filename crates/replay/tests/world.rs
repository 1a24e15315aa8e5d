//! Clients against limiters: the exact figures that need no randomness, what Retry-After strategies do, and that no money is
//! lost.

use limiters::{
    Accounting, Guard, Meter, Nanos, Quota, Rate, Response, RetryAfter, Scope, Settings, Stack, Value, algorithm,
};
use replay::lane::{Lane, StackGate};
use replay::measure::Setup;
use replay::world::{Cast, World};
use traffic::clients::preset;
use traffic::clients::spec::{Client, Cost, Key, Role, Stand};
use traffic::spec::Amount;

const S: Nanos = 1_000_000_000;
const H: Nanos = 3_600 * S;
const START: Nanos = 1_767_225_600 * S;

fn client(name: &str) -> Client {
    (preset(name).expect("a preset").client)(name)
}

fn bucket(burst: u64, per: Nanos) -> Guard {
    let quota = Quota { limit: 1, window: per, burst };
    let rule = (algorithm("token-bucket").unwrap().build)(&Settings::new(quota)).unwrap();
    Guard::new("bucket", Meter::Requests, Scope::Global, rule.store(false))
}

fn cap(dollars: f64, accounting: Accounting) -> Guard {
    let cap = (dollars * 1e6) as u64;
    let quota = Quota { limit: cap, window: H, burst: cap };
    let rule = (algorithm("spend-cap").unwrap().build)(&Settings::new(quota).with("cap", Value::Permits(cap))).unwrap();
    let response = Response { retry_after: RetryAfter::None, ..Response::default() };
    Guard::new("cap", Meter::Spend, Scope::Global, rule.store(false))
        .with_accounting(accounting)
        .with_response(response)
}

fn open() -> Guard {
    let quota = Quota { limit: 1, window: S, burst: 1 };
    let rule = (algorithm("unlimited").unwrap().build)(&Settings::new(quota)).unwrap();
    Guard::new("none", Meter::Requests, Scope::Global, rule.store(false))
}

struct Played {
    lane: Lane,
}

impl Played {
    fn world(&self) -> &World {
        self.lane.world().unwrap()
    }
    fn dollars(&self) -> f64 {
        self.world().spent() as f64 / 1e6
    }
}

fn play_for(clients: Vec<Client>, guards: Vec<Guard>, duration: Nanos, seed: u64) -> Played {
    let keys = clients
        .iter()
        .map(|client| match &client.key {
            Key::One(_) => vec![0],
            Key::Each(_) => (0..client.count).collect(),
        })
        .collect();
    let cast = Cast { clients, keys, upstream: None, seed, start: START, duration, bin: 60 * S };
    let meter = guards[0].meter();
    let setup = Setup {
        quota: Quota { limit: 100, window: 60 * S, burst: 100 },
        taus: &[60 * S],
        start: START,
        bin: 60 * S,
        bins: (duration / (60 * S)) as usize,
        per_key: false,
        many_keys: true,
        shaper: false,
        budget: 1 << 20,
    };
    let mut lane = Lane::new(Box::new(StackGate(Stack::new(guards))), meter, None, &setup).with_clients(&cast);
    lane.finish(START + duration, |_, _, _, _| {});
    assert_eq!(lane.world().unwrap().failed, None);
    Played { lane }
}

fn play(client: Client, guards: Vec<Guard>) -> Played {
    play_for(vec![client], guards, 8 * H, 1)
}

#[test]
fn a_loop_in_code_unprotected() {
    let played = play(client("code-loop"), vec![open()]);
    let tally = &played.world().tallies[0];
    assert_eq!((tally.admitted, played.world().spent()), (144_000, 1_440_000_000));
    assert_eq!((tally.useful, tally.wasted, tally.refused), (5, 143_995, 0));
    assert_eq!(tally.stopped, None, "it goes on");
}

#[test]
fn a_bucket_admits_its_envelope_and_no_more() {
    for (burst, per, most) in [(10, S / 2, 57_610), (10, 60 * S, 490)] {
        let admitted = play(client("code-loop"), vec![bucket(burst, per)]).world().tallies[0].admitted;
        assert!(admitted <= most && admitted + 2 >= most, "{admitted} of at most {most}");
    }
}

#[test]
fn a_post_cap_stops_a_loop_at_exactly_its_limit() {
    let played = play(client("code-loop"), vec![cap(5.0, Accounting::Post)]);
    let world = played.world();
    assert_eq!((world.spent(), world.overshoot), (5_000_000, 0));
    assert_eq!(world.cap_reached, Some(100 * S));
    assert_eq!(world.tallies[0].admitted, 500);
    // Told 429 and nothing else, it goes on asking until the night is over.
    assert_eq!(world.tallies[0].refused, (28_800 - 100) * 5);
}

#[test]
fn a_tool_hammer_unprotected() {
    let played = play(client("tool-hammer"), vec![open()]);
    assert_eq!((played.world().tallies[0].admitted, played.world().spent()), (13_981, 433_411_000));
}

#[test]
fn the_guard_on_the_tool_alone_raises_the_bill_and_on_the_whole_turn_holds() {
    let spent = |stand: Stand, guards: &dyn Fn() -> Vec<Guard>| {
        let mut bills: Vec<f64> = (0..20)
            .map(|seed| {
                let agent = Client { cap: stand, rate: stand, ..client("llm-loop") };
                play_for(vec![agent], guards(), 8 * H, seed).dollars()
            })
            .collect();
        bills.sort_by(f64::total_cmp);
        println!("{stand:?}: median {:.2}, from {:.2} to {:.2}", bills[9], bills[0], bills[19]);
        bills[9]
    };
    let free = spent(Stand::Tool, &|| vec![open()]);
    let tool = spent(Stand::Tool, &|| vec![cap(5.0, Accounting::Post)]);
    let turn = spent(Stand::Turn, &|| vec![cap(5.0, Accounting::Post)]);
    let reserved = spent(Stand::Turn, &|| vec![cap(5.0, Accounting::Reserve { estimate: None })]);
    let fast = spent(Stand::Tool, &|| vec![bucket(10, S / 2)]);
    let deaf = || bucket(10, 60 * S).with_response(Response { retry_after: RetryAfter::None, ..Response::default() });
    let slow_deaf = spent(Stand::Tool, &|| vec![deaf()]);
    let slow = spent(Stand::Tool, &|| vec![bucket(10, 60 * S)]);
    assert!((60.0..140.0).contains(&free), "{free}");
    assert!(tool > 2.0 * free, "refused at once, the agent thinks, and pays, more often: {tool} against {free}");
    assert!((5.0..5.6).contains(&turn) && reserved <= 5.0, "{turn}, {reserved}");
    assert_eq!(fast, free, "an agent paced by its own model never meets 2/s");
    assert!(slow_deaf > 1.5 * free && slow < free, "{slow_deaf}, {slow}");
}

#[test]
fn a_terminal_status_stops_what_429_does_not() {
    let asked = |status| {
        let agent = Client { cap: Stand::Turn, ..client("llm-loop") };
        let response = Response { status, retry_after: RetryAfter::None, ..Response::default() };
        let guard = cap(5.0, Accounting::Post).with_response(response);
        play(agent, vec![guard]).world().tallies[0].clone()
    };
    let (on, off) = (asked(429), asked(402));
    assert!(on.refused > 1_000 && on.stopped.is_none(), "{on:?}");
    assert_eq!((off.refused, off.terminal), (1, 1));
    assert!(off.stopped.is_some());
}

#[test]
fn the_next_permit_synchronises_clients_and_a_queue_does_not() {
    let storm = |retry_after| {
        let mut clients = Client { count: 100, ..client("retry-storm") };
        clients.retry[0].max_attempts = 0;
        let guard = bucket(10, S / 2).with_response(Response { retry_after, ..Response::default() });
        let played = play_for(vec![clients], vec![guard], H, 1);
        let world = played.world();
        assert_eq!(world.tallies[0].useful, 100, "everybody gets through in the end");
        (world.tallies[0].attempts as f64 / 100.0, world.curve.peak)
    };
    let (each, peak) = storm(RetryAfter::NextPermit);
    assert!((18.0..25.0).contains(&each) && peak >= 90, "{each} each, {peak} at once");
    let (each, peak) = storm(RetryAfter::QueueAware(Rate::new(2, S).unwrap()));
    // The common start is 100 at once whatever the answer; after it come two a second.
    assert!(each < 2.5 && peak == 100, "{each} each, {peak} at once");
}

#[test]
fn refused_times_price_is_not_what_was_saved() {
    let mut looping = client("code-loop");
    looping.retry = vec![(traffic::clients::library("tenacity-bare").unwrap().retry)()];
    looping.reject_latency = Amount::Constant(20_000_000);
    let unprotected = play(looping.clone(), vec![open()]);
    let guarded = play(looping, vec![cap(5.0, Accounting::Post)]);
    let claimed = guarded.world().tallies[0].refused as f64 * 0.01;
    let saved = unprotected.dollars() - guarded.dollars();
    assert_eq!(saved, 1_435.0);
    assert!(claimed > 9.0 * saved, "refused × price would claim {claimed}");
}

#[test]
fn a_cap_overshoots_by_what_is_in_flight_unless_it_reserves() {
    let mut seen = Vec::new();
    for flight in [1, 10, 100] {
        let agent = Client { cap: Stand::Turn, concurrency: flight, ..client("llm-loop") };
        let post = play(agent.clone(), vec![cap(5.0, Accounting::Post)]);
        let reserve = play(agent, vec![cap(5.0, Accounting::Reserve { estimate: None })]);
        assert!(reserve.world().spent() <= 5_000_000 && reserve.world().overshoot == 0);
        assert_eq!(post.world().spent(), 5_000_000 + u128::from(post.world().overshoot));
        seen.push(post.dollars());
    }
    assert!(seen[0] < 5.7 && (5.2..8.0).contains(&seen[1]) && (9.0..20.0).contains(&seen[2]), "{seen:?}");
}

#[test]
fn a_runaway_on_the_same_key_starves_an_honest_agent() {
    let honest = Client {
        role: Role::Legitimate,
        useful_calls: None,
        cycle: 0,
        think: Amount::Exponential { mean: 10e9, max: None },
        latency: Amount::Constant(0),
        per_call: Cost::Free,
        ..client("plain")
    };
    let useful = |clients| play_for(clients, vec![bucket(10, S / 2)], H, 1).world().tallies.last().unwrap().useful;
    let alone = useful(vec![honest.clone()]);
    let beside = useful(vec![client("code-loop"), honest]);
    assert!((300..420).contains(&alone), "{alone}");
    assert!(beside < alone / 3, "{beside} of {alone}");
}

#[test]
fn a_client_without_time_is_stopped_and_named() {
    let stuck = Client { reject_latency: Amount::Constant(0), ..client("plain") };
    let cast =
        Cast { clients: vec![stuck], keys: vec![vec![0]], upstream: None, seed: 0, start: 0, duration: S, bin: S };
    let setup = Setup {
        quota: Quota { limit: 1, window: S, burst: 1 },
        taus: &[S],
        start: 0,
        bin: S,
        bins: 1,
        per_key: false,
        many_keys: true,
        shaper: false,
        budget: 1 << 20,
    };
    let gate = Box::new(StackGate(Stack::new(vec![open()])));
    let mut lane = Lane::new(gate, Meter::Requests, None, &setup).with_clients(&cast);
    lane.finish(S, |_, _, _, _| {});
    let why = lane.world().unwrap().failed.clone().unwrap();
    assert!(why.contains("\"plain\" makes no progress") && why.contains("1000000 events"), "{why}");
}
