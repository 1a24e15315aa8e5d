//! Client events per second of one core: `cargo run --release -p replay --example client_speed`.

use limiters::{Guard, Meter, Nanos, Quota, Scope, Settings, Stack, algorithm};
use replay::lane::{Lane, StackGate};
use replay::measure::Setup;
use replay::world::Cast;
use std::time::Instant;
use traffic::clients::preset;
use traffic::clients::spec::{Client, Key};

const S: Nanos = 1_000_000_000;

fn main() {
    println!("{:<44} {:>12} {:>10}", "clients", "events", "M/s");
    let cases = [
        ("code-loop, refused most of the time", "code-loop", 1, "token-bucket", 2_000_000),
        ("100 code-loops behind one bucket", "code-loop", 100, "token-bucket", 20_000),
        ("1,000 code-loops, nothing refused", "code-loop", 1_000, "unlimited", 2_000),
        ("100 llm-loops, nothing refused", "llm-loop", 100, "unlimited", 400_000),
        ("1,000 llm-loops behind a sliding log", "llm-loop", 1_000, "sliding-window-log", 40_000),
    ];
    for (name, client, count, guard, seconds) in cases {
        let (events, took) = (0..3).map(|_| played(client, count, guard, seconds * S)).min_by_key(|one| one.1).unwrap();
        println!("{name:<44} {events:>12} {:>10.2}", events as f64 / took as f64 * 1e3);
    }
}

/// Events and nanoseconds.
fn played(client: &str, count: u64, guard: &str, duration: Nanos) -> (u64, u128) {
    let quota = Quota { limit: 120, window: 60 * S, burst: 10 };
    let rule = (algorithm(guard).unwrap().build)(&Settings::new(quota)).unwrap();
    let stack = Stack::new(vec![Guard::new(guard, Meter::Requests, Scope::Global, rule.store(false))]);
    let client = Client { count, key: Key::One("all".into()), ..(preset(client).unwrap().client)("agents") };
    let bin = duration / 200;
    let cast = Cast { clients: vec![client], keys: vec![vec![0]], upstream: None, seed: 1, start: 0, duration, bin };
    let setup = Setup {
        quota,
        taus: &[S, 60 * S, 600 * S],
        start: 0,
        bin,
        bins: 200,
        per_key: false,
        many_keys: false,
        shaper: false,
        budget: 1 << 24,
    };
    let mut lane = Lane::new(Box::new(StackGate(stack)), Meter::Requests, None, &setup).with_clients(&cast);
    let begun = Instant::now();
    lane.finish(duration, |_, _, _, _| {});
    let world = lane.world().unwrap();
    assert_eq!(world.failed, None);
    (world.events, begun.elapsed().as_nanos())
}
