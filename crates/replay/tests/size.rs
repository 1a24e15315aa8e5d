//! Sizing against brute force on small traffic, and against the simulator on recorded traffic.

use limiters::{Nanos, Quota, Rate, Settings, algorithm};
use proptest::prelude::*;
use replay::inspect::{self, Loaded};
use replay::size::{Demand, Given, Sizable, least, sigma, sigmas, within};

const SECOND: Nanos = 1_000_000_000;
const BUCKETS: [&str; 4] = ["token-bucket", "leaky-bucket-meter", "gcra", "leaky-bucket"];
const WINDOWS: [&str; 4] = ["fixed-window", "sliding-window-log", "sliding-window-counter", "sliding-window-segments"];

fn recorded(name: &str) -> Loaded {
    let path = format!("{}/../../scenarios/traces/{name}", env!("CARGO_MANIFEST_DIR"));
    let spec = traffic::spec::Trace { path: path.into(), repeat: 1, ..Default::default() };
    inspect::load(&spec, &mut |_| {}).unwrap()
}

fn requests(name: &str, per_key: bool) -> Demand {
    Demand::of(&recorded(name), limiters::Meter::Requests, per_key).unwrap()
}

fn refused(demand: &Demand, name: &str, given: Given, value: u64) -> u64 {
    let rule = given.rule(&Sizable::named(name).unwrap(), value).unwrap();
    demand.refused(rule.as_ref()).unwrap().requests
}

/// Random traffic of a few keys; gaps that meet the edges of windows and the steps of rates.
fn traffic(costs: std::ops::Range<u64>) -> impl Strategy<Value = Demand> {
    let request = (prop_oneof![Just(0u64), Just(1), 1..40u64, Just(10), Just(100), 90..300u64], 0..3u64, costs);
    (prop::collection::vec(request, 1..60), any::<bool>()).prop_map(|(requests, per_key)| {
        let mut now = 1_000_003;
        let at = requests
            .iter()
            .map(|(gap, ..)| {
                now += gap;
                now
            })
            .collect();
        let key = requests.iter().map(|(_, key, _)| *key).collect();
        Demand::new(at, key, requests.iter().map(|(.., cost)| *cost).collect(), 3, per_key)
    })
}

fn rates() -> impl Strategy<Value = Given> {
    (1..30u64, 1..300u64).prop_map(|(limit, window)| Given { limit, window })
}

proptest! {
    #[test]
    fn sigma_is_the_first_capacity_that_refuses_nobody(demand in traffic(0..6), given in rates()) {
        let rate = Rate::new(given.limit, given.window).unwrap();
        for name in BUCKETS {
            let tried = (1..).find(|&capacity| refused(&demand, name, given, capacity) == 0).unwrap();
            prop_assert_eq!(sigma(&demand, rate).unwrap(), tried, "{}", name);
        }
        prop_assert_eq!(sigmas(&demand, rate).unwrap().into_iter().max().unwrap_or(0).max(1), sigma(&demand, rate).unwrap());
    }

    #[test]
    fn the_least_value_is_the_first_one_for_costs_of_one(demand in traffic(1..2), given in rates(), percent in 0..30u64) {
        for name in BUCKETS.iter().chain(&WINDOWS).chain(&["token-bucket-interval"]) {
            let sized = Sizable::named(name).unwrap();
            if !sized.monotone && percent > 0 {
                continue;
            }
            let given = if WINDOWS.contains(name) { Given { window: given.window * 10, ..given } } else { given };
            let keeps = |value: &u64| within(refused(&demand, name, given, *value), demand.len(), (percent, 100));
            prop_assert_eq!(least(&demand, &sized, given, (percent, 100)).unwrap(), (1..).find(keeps), "{}", name);
        }
    }

    #[test]
    fn for_nobody_refused_costs_do_not_matter(demand in traffic(0..6), given in rates()) {
        for name in BUCKETS.iter().chain(&WINDOWS).chain(&["token-bucket-interval"]) {
            let given = if WINDOWS.contains(name) { Given { window: given.window * 10, ..given } } else { given };
            let first = (1..).find(|&value| refused(&demand, name, given, value) == 0);
            prop_assert_eq!(least(&demand, &Sizable::named(name).unwrap(), given, (0, 1)).unwrap(), first, "{}", name);
        }
    }

    #[test]
    fn refusals_of_single_permits_fall_as_the_value_grows(demand in traffic(1..2), given in rates()) {
        for name in BUCKETS.iter().chain(&WINDOWS).chain(&["token-bucket-interval"]) {
            if !Sizable::named(name).unwrap().monotone {
                continue;
            }
            let given = if WINDOWS.contains(name) { Given { window: given.window * 10, ..given } } else { given };
            let counts: Vec<u64> = (1..12).map(|value| refused(&demand, name, given, value)).collect();
            prop_assert!(counts.is_sorted_by(|a, b| a >= b), "{}: {:?}", name, counts);
        }
    }

    #[test]
    fn a_crossing_is_found_where_refusals_may_rise(demand in traffic(1..6), given in rates(), percent in 1..30u64) {
        for name in BUCKETS.iter().chain(&WINDOWS) {
            let given = if WINDOWS.contains(name) { Given { window: given.window * 10, ..given } } else { given };
            let keeps = |value: u64| within(refused(&demand, name, given, value), demand.len(), (percent, 100));
            let found = least(&demand, &Sizable::named(name).unwrap(), given, (percent, 100)).unwrap().unwrap();
            prop_assert!(keeps(found) && (found == 1 || !keeps(found - 1)), "{}: {}", name, found);
        }
    }
}

fn one_key(requests: &[(Nanos, u64)]) -> Demand {
    let (at, cost): (Vec<Nanos>, Vec<u64>) = requests.iter().copied().unzip();
    let key = vec![0; at.len()];
    Demand::new(at, key, cost, 1, false)
}

#[test]
fn a_larger_bucket_may_refuse_more_requests_when_they_cost_more_than_one() {
    // The large request fits only the larger bucket, and then leaves nothing for the three small ones.
    let demand = one_key(&[(0, 3), (0, 1), (0, 1)]);
    let given = Given { limit: 1, window: SECOND };
    assert_eq!((refused(&demand, "token-bucket", given, 2), refused(&demand, "token-bucket", given, 3)), (1, 2));
}

#[test]
fn no_traffic_is_known_on_which_a_larger_limit_of_the_counter_refuses_more() {
    // Its estimate is not of the form for which that is proven, so it is looked for; a find belongs into the documentation.
    let mut seed = 7u64;
    let mut random = move |below: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    for round in 0..20_000 {
        let (window, mut now) = ([2, 3, 5, 10, 20][round % 5], 100);
        let spread = 1 + random(window);
        let requests: Vec<(Nanos, u64)> = (0..20)
            .map(|_| {
                now += random(spread) * random(2);
                (now, 1)
            })
            .collect();
        let demand = one_key(&requests);
        let given = Given { limit: 1, window };
        let counts: Vec<u64> = (1..8).map(|limit| refused(&demand, "sliding-window-counter", given, limit)).collect();
        assert!(counts.is_sorted_by(|a, b| a >= b), "{window} {requests:?} {counts:?}");
    }
}

#[test]
fn sigma_of_recorded_traffic_refuses_nobody_and_one_permit_less_somebody() {
    for (name, per_key, rates) in [
        (
            "AzureLLMInferenceTrace_code.csv",
            false,
            &[(1, SECOND), (3, SECOND), (10, SECOND), (200, 60 * SECOND), (7, 3 * SECOND)][..],
        ),
        ("elastic_apache.log.gz", true, &[(10, 60 * SECOND), (1, 7 * SECOND), (60, 3600 * SECOND)]),
    ] {
        let demand = requests(name, per_key);
        for &(limit, window) in rates {
            let capacity = sigma(&demand, Rate::new(limit, window).unwrap()).unwrap();
            for algorithm in BUCKETS {
                let given = Given { limit, window };
                assert_eq!(refused(&demand, algorithm, given, capacity), 0, "{name} {algorithm} {limit}");
                assert!(refused(&demand, algorithm, given, capacity - 1) > 0, "{name} {algorithm} {limit}");
            }
        }
    }
}

#[test]
fn the_least_limits_of_windows_are_the_busiest_ones() {
    let demand = requests("AzureLLMInferenceTrace_code.csv", false);
    let minute = Given { limit: 1, window: 60 * SECOND };
    let limit = |name: &str| least(&demand, &Sizable::named(name).unwrap(), minute, (0, 1)).unwrap().unwrap();
    assert_eq!((limit("sliding-window-log"), limit("fixed-window")), (723, 585));
    for name in WINDOWS {
        let limit = limit(name);
        assert_eq!(refused(&demand, name, minute, limit), 0, "{name}");
        assert!(refused(&demand, name, minute, limit - 1) > 0, "{name}");
    }
}

#[test]
fn half_of_the_conversations_does_not_tell_what_all_need() {
    let demand = requests("AzureLLMInferenceTrace_conv.csv.gz", false);
    let (first, last) = demand.asked.ends().unwrap();
    let half = demand.until(first + (last - first) / 2).unwrap();
    let rate = Rate::new(6, SECOND).unwrap();
    assert_eq!((sigma(&half, rate).unwrap(), sigma(&demand, rate).unwrap()), (492, 1_163));
}

#[test]
fn a_bucket_pasted_into_nginx_and_read_back_decides_alike() {
    let demand = requests("AzureLLMInferenceTrace_code.csv", false);
    for pasted in replay::servers::paste(3, SECOND, 40, &replay::servers::Scope::default()) {
        let setting = replay::servers::read(&pasted.setting).unwrap();
        let count = demand.refused(setting.rule().unwrap().as_ref()).unwrap().requests;
        let asked = Settings::new(Quota { limit: 3, window: SECOND, burst: 40 });
        let bucket =
            demand.refused((algorithm("token-bucket").unwrap().build)(&asked).unwrap().as_ref()).unwrap().requests;
        // nginx loses fractions of a thousandth, governor's interval is a nanosecond short.
        assert!(count.abs_diff(bucket) <= 40, "{}: {count} {bucket}", pasted.setting);
        assert!(count >= bucket || pasted.server == "governor", "{}", pasted.setting);
    }
    let same = |text: &str, again: &str| {
        let mut all = [Vec::new(), Vec::new()];
        for (text, out) in [text, again].iter().zip(&mut all) {
            let rule = replay::servers::read(text).unwrap().rule().unwrap();
            let hear = |_, outcome| {
                out.push(outcome);
                Ok(())
            };
            demand.replay(rule.as_ref(), hear).unwrap();
        }
        all[0] == all[1]
    };
    assert!(same("nginx:rate=3r/s burst=39 nodelay", "nginx:limit_req zone=sized rate=3r/s burst=39 delay=39"));
    assert!(!same("nginx:rate=3r/s burst=39 nodelay", "nginx:rate=3r/s burst=38 nodelay"));
    let pasted = &replay::servers::paste(3, SECOND, 40, &replay::servers::Scope::default())[0];
    assert!(same("nginx:rate=3r/s burst=39 nodelay", &pasted.setting));
}
