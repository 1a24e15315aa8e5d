//! No money is lost within the loop: at every event, what the tallies say was spent is what the cap was charged, and what is
//! paid but not settled yet.

use super::*;
use crate::measure::{Measure, Setup};
use limiters::{Accounting, Quota, Response, Scope, Settings, Value, algorithm};
use proptest::prelude::*;
use std::sync::Arc;
use traffic::clients::spec::{Client, Cost, Key, Stand};
use traffic::clients::{Script, Scripts, Step, preset, retry_as};
use traffic::spec::Amount;

const S: Nanos = 1_000_000_000;

fn cap(dollars: u64, accounting: Accounting, status: u16) -> Guard {
    let cap = dollars * 1_000_000;
    let quota = Quota { limit: cap, window: 60 * S, burst: cap };
    let rule = (algorithm("spend-cap").unwrap().build)(&Settings::new(quota).with("cap", Value::Permits(cap))).unwrap();
    Guard::new("cap", Meter::Spend, Scope::Global, rule.store(false))
        .with_accounting(accounting)
        .with_response(Response { status, ..Response::default() })
}

fn bucket(burst: u64) -> Guard {
    let quota = Quota { limit: 1, window: S, burst };
    let rule = (algorithm("token-bucket").unwrap().build)(&Settings::new(quota)).unwrap();
    Guard::new("bucket", Meter::Requests, Scope::Global, rule.store(false))
}

fn sessions(prices: &[u64]) -> Client {
    let step = |(at, price): (usize, &u64)| Step {
        wait: at as u64 % 3 * S,
        takes: (at % 2 == 0).then_some(S / 2),
        cost: 1,
        microusd: *price,
        ..Step::default()
    };
    let steps: Vec<Step> = prices.iter().enumerate().map(step).collect();
    let all = steps.len() as u32;
    let script = |n: u32| Script { start: u64::from(n) * S, first: n % all, steps: all - n % all };
    let scripts =
        Scripts { keys: vec!["all".into()], scripts: (0..5).map(script).collect(), steps, ..Scripts::default() };
    let law = retry_as("anthropic-sdk").unwrap();
    Client {
        count: 5,
        latency: Amount::Constant(S / 3),
        retry: law.retry,
        per_call: Cost::Money(Amount::Constant(1)),
        scripts: Some(Arc::new(scripts)),
        ..(preset("plain").unwrap().client)("sessions")
    }
}

/// What is paid and not settled: the cap hears of it when the call is over.
fn in_flight(world: &World) -> u128 {
    let mut sum = 0;
    for slot in &world.slots {
        let whole = world.populations[world.agents[slot.agent as usize].population].whole_money;
        // Behind an upstream a call is paid when it is answered.
        let asked = slot.tool_ticket.is_some() && world.service.is_none();
        let call = u128::from(slot.call_paid.microusd);
        let turn = slot.turn_ticket.as_ref().map_or(0, |_| u128::from(slot.turn_paid.microusd));
        // One ticket for the whole turn is settled with all calls that were paid behind it.
        let behind = if whole && slot.turn_ticket.is_some() { u128::from(slot.calls.microusd) } else { 0 };
        sum += turn + behind + if asked { call } else { 0 };
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn the_cap_is_charged_what_the_tallies_say(
        names in proptest::collection::vec(0usize..5, 1..3),
        stand in 0usize..3,
        reserve in any::<bool>(),
        status in prop_oneof![Just(429u16), Just(402)],
        dollars in 1u64..20,
        burst in 1u64..20,
        upstream in any::<bool>(),
        prices in proptest::collection::vec(0u64..500_000, 1..8),
        seed in any::<u64>(),
    ) {
        let stand = [Stand::Tool, Stand::Turn, Stand::Both][stand];
        let mut clients: Vec<Client> = Vec::new();
        for (place, name) in names.iter().enumerate() {
            let client = match ["llm-loop", "code-loop", "fan-out", "context-growth", ""][*name] {
                "" => sessions(&prices),
                name => Client { cap: stand, rate: stand, count: 3, ..(preset(name).unwrap().client)(name) },
            };
            clients.push(Client { name: format!("{} {place}", client.name), key: Key::One("all".into()), ..client });
        }
        let keys = vec![vec![0]; clients.len()];
        let upstream = upstream.then(|| Upstream {
            concurrency: Some(2),
            queue: Some(1),
            service: None,
            limit: None,
            error_rate: 0.2,
            outages: vec![(20 * S, 30 * S)],
            bill_errors: seed % 2 == 0,
        });
        let duration = 120 * S;
        let cast = Cast { clients, keys, upstream, seed, start: S, duration, bin: S };
        let accounting = if reserve { Accounting::Reserve { estimate: None } } else { Accounting::Post };
        let guards = vec![bucket(burst), cap(dollars, accounting, status)];
        let mut world = World::new(&cast, &guards, Meter::Requests);
        let mut stack = Stack::new(guards);
        let setup = Setup {
            quota: Quota { limit: 1, window: S, burst: 1 },
            taus: &[S],
            start: S,
            bin: duration,
            bins: 1,
            per_key: false,
            many_keys: false,
            shaper: false,
            budget: 1 << 16,
        };
        let mut measure = Measure::new(&setup);
        let mut sink = |_: &Batch, _: &[u64], _: std::ops::Range<usize>, _: &[Outcome]| {};
        let mut record = Record::new(&mut measure, Meter::Requests, &mut sink);
        let end = Event { at: cast.start + duration, kind: Kind::Done, slot: 0 }.key();
        let mut events = 0;
        while let Some(event) = world.agenda.next_before(end) {
            world.step(event, &mut stack, &mut record);
            prop_assert_eq!(&world.failed, &None);
            let charged = stack.guards()[1].ledger().spent;
            prop_assert_eq!(world.spent(), charged + in_flight(&world), "after {:?}", event);
            events += 1;
            // A loop in code is the same from here on.
            if events > 20_000 {
                break;
            }
        }
        if events <= 20_000 {
            world.finish(&mut stack, &mut record);
            let ledger = stack.guards()[1].ledger();
            prop_assert_eq!((world.spent(), ledger.reserved), (ledger.spent, 0));
            let curve: u128 = world.curve.steps.iter().map(|step| u128::from(step.spent)).sum();
            prop_assert_eq!(curve, world.spent());
        }
        prop_assert!(events > 0);
    }
}
