//! Several patterns as one stream: order, ties, cuts, keys, and that none shifts another.

use limiters::{Batch, Nanos, Rate};
use proptest::prelude::*;
use traffic::spec::{Amount, Keys, Pattern, Phase, Shape};
use traffic::{Settings, Source, Traffic, TrafficError, write_csv};

const SECOND: Nanos = 1_000_000_000;
const START: Nanos = 1_767_268_800 * SECOND; // 2026-01-01T12:00:00Z

fn pattern(shape: Shape, key: &str) -> Pattern {
    Pattern {
        shape,
        keys: Keys::One(key.into()),
        cost: Amount::Constant(1),
        input_tokens: None,
        output_tokens: None,
        price: None,
    }
}

fn rate(permits: u64) -> Rate {
    Rate::new(permits, SECOND).unwrap()
}

fn burst(at: Nanos, requests: u64, key: &str) -> Pattern {
    pattern(Shape::Burst { at, requests, spread: 0, every: None }, key)
}

fn constant(permits: u64, key: &str) -> Pattern {
    pattern(Shape::Constant { rate: rate(permits), start: 0, end: None }, key)
}

fn poisson(permits: u64, key: &str) -> Pattern {
    pattern(Shape::Poisson { rate: rate(permits), start: 0, end: None }, key)
}

fn settings(seconds: u64) -> Settings {
    Settings { seed: 7, start: START, duration: seconds * SECOND, tokens: false }
}

fn open(patterns: &[Pattern], settings: &Settings) -> Traffic {
    Traffic::open(patterns, settings, |_, _| unreachable!("no trace")).unwrap()
}

/// All requests, taken in batches of at most `max`, cleared in between as a replay does.
fn all(source: &mut dyn Source, max: usize) -> Batch {
    let (mut whole, mut batch) = (Batch::default(), Batch::default());
    loop {
        batch.clear();
        let made = source.fill(&mut batch, max).unwrap();
        assert!(made == batch.len() && made <= max);
        if made == 0 {
            return whole;
        }
        (0..made).for_each(|index| whole.push(&batch.get(index)));
    }
}

/// Names and times of all requests, times from the start of the run.
fn named(traffic: &mut Traffic, max: usize) -> Vec<(Nanos, String)> {
    let batch = all(traffic, max);
    (0..batch.len()).map(|index| (batch.at[index] - START, traffic.key_name(batch.key[index]))).collect()
}

fn times_of(key: &str, all: &[(Nanos, String)]) -> Vec<Nanos> {
    all.iter().filter(|(_, name)| name == key).map(|(at, _)| *at).collect()
}

#[test]
fn equal_times_come_in_the_order_of_the_patterns() {
    let patterns = [burst(2 * SECOND, 2, "first"), constant(1, "second"), burst(2 * SECOND, 1, "third")];
    let names =
        |max| -> Vec<String> { named(&mut open(&patterns, &settings(4)), max).into_iter().map(|r| r.1).collect() };
    let right = ["second", "first", "first", "second", "third", "second"];
    for max in [1, 2, 3, 100] {
        assert_eq!(names(max), right);
    }
}

#[test]
fn a_burst_then_a_loop() {
    let end = Some(60 * SECOND);
    let steady = pattern(Shape::Constant { rate: rate(20), start: 0, end }, "alice");
    let batch = all(&mut open(&[burst(0, 10, "alice"), steady], &settings(61)), 4096);
    assert_eq!((batch.len(), batch.at[9], batch.at[1209]), (1210, START, START + 60 * SECOND));
    // A bucket of 10 refilled at 2/s admits 10 + 2 · 60 of them.
    let mut bucket = limiters::Plain::new(limiters::TokenBucket::<i64>::new(10, rate(2)).unwrap());
    let admitted = batch.at.iter().filter(|at| limiters::Limiter::try_acquire(&mut bucket, **at, 1).passes()).count();
    assert_eq!(admitted, 130);
}

#[test]
fn the_end_of_the_run_is_not_part_of_it() {
    assert_eq!(all(&mut open(&[constant(1, "a")], &settings(10)), 99).len(), 9);
    let included = pattern(Shape::Constant { rate: rate(1), start: 0, end: Some(10 * SECOND) }, "a");
    assert_eq!(all(&mut open(std::slice::from_ref(&included), &settings(10)), 99).len(), 9);
    assert_eq!(all(&mut open(&[included], &settings(11)), 99).len(), 10);
    assert_eq!(all(&mut open(&[burst(10 * SECOND, 5, "a")], &settings(10)), 99).len(), 0);
    assert_eq!(all(&mut open(&[], &settings(10)), 99).len(), 0);
}

#[test]
fn no_source_shifts_another() {
    let alone = named(&mut open(&[poisson(50, "a")], &settings(20)), 4096);
    assert!(alone.len() > 800);
    let mut dear = poisson(50, "a");
    dear.cost = Amount::Lognormal { median: 100.0, p90: 900.0, max: Some(5000) };
    dear.price = Some(Amount::Exponential { mean: 8000.0, max: None });
    assert_eq!(named(&mut open(std::slice::from_ref(&dear), &settings(20)), 4096), alone);
    let crowd = [burst(SECOND, 100, "x"), constant(33, "y"), dear, poisson(50, "b")];
    let together = named(&mut open(&crowd, &settings(20)), 100);
    assert_eq!(times_of("a", &together), times_of("a", &alone));
    assert_ne!(times_of("b", &together), times_of("a", &alone), "each pattern has its own luck");
    let reseeded = Settings { seed: 8, ..settings(20) };
    assert_ne!(named(&mut open(&[poisson(50, "a")], &reseeded), 4096), alone);
}

#[test]
fn batches_of_any_size_are_the_same_traffic() {
    let mut rich = poisson(200, "ignored");
    rich.keys = Keys::Many { prefix: "user".into(), count: 100, zipf: 0.99 };
    rich.cost = Amount::Uniform { min: 1, max: 9 };
    rich.input_tokens = Some(Amount::Lognormal { median: 500.0, p90: 4000.0, max: None });
    for patterns in [vec![rich.clone()], vec![constant(70, "user-3"), rich, poisson(90, "b")]] {
        let whole = all(&mut open(&patterns, &settings(30)), 1 << 20);
        assert!(whole.at.is_sorted() && whole.len() > 5000);
        for max in [1, 7, 1024] {
            let other = all(&mut open(&patterns, &settings(30)), max);
            assert_eq!((&other.at, &other.key, &other.requests), (&whole.at, &whole.key, &whole.requests));
            assert_eq!(other.input_tokens, whole.input_tokens);
        }
    }
}

/// Fixed for a target: a change here changes every scenario's figures.
#[test]
fn golden() {
    let mut rich = poisson(1000, "");
    rich.keys = Keys::Many { prefix: "user".into(), count: 1000, zipf: 0.99 };
    rich.cost = Amount::Lognormal { median: 100.0, p90: 900.0, max: Some(5000) };
    rich.output_tokens = Some(Amount::Exponential { mean: 300.0, max: None });
    rich.price = Some(Amount::Pareto { min: 10.0, shape: 1.2, max: None });
    let mut batch = Batch::default();
    open(&[rich], &settings(60)).fill(&mut batch, 4).unwrap();
    batch.at.iter_mut().for_each(|at| *at -= START);
    let columns = [batch.at, batch.key, batch.requests, batch.input_tokens, batch.output_tokens, batch.microusd];
    assert_eq!(
        columns,
        [
            vec![1_049_584, 1_701_253, 1_896_456, 2_317_576],
            vec![92, 283, 284, 1],
            vec![18, 931, 2043, 85],
            vec![],
            vec![256, 559, 172, 190],
            vec![32, 24, 25, 18],
        ]
    );
}

#[test]
fn equal_names_are_one_key_across_sources() {
    let mut many = constant(1, "");
    many.keys = Keys::Many { prefix: "user".into(), count: 3, zipf: 0.0 };
    let mut traffic = open(&[burst(0, 1, "user-2"), many, burst(0, 1, "other")], &settings(30));
    assert_eq!((traffic.key_number("user-2"), traffic.key_number("other"), traffic.key_number("new")), (1, 3, 4));
    assert_eq!(traffic.key_count(), Some(5));
    let batch = all(&mut traffic, 99);
    assert_eq!(batch.key[..2], [1, 3]);
    assert!(batch.key[2..].iter().all(|key| *key < 3));
}

/// A recorded source: times, and keys `k0`, `k1` … numbered from 0.
struct Recorded {
    rows: Vec<(Nanos, u64)>,
    next: usize,
    ordered: bool,
}

impl Source for Recorded {
    fn fill(&mut self, batch: &mut Batch, max: usize) -> Result<usize, TrafficError> {
        let rows = &self.rows[self.next..self.rows.len().min(self.next + max)];
        for (at, key) in rows {
            batch.push(&limiters::Request { at: *at, key: *key, requests: 5, ..Default::default() });
        }
        self.next += rows.len();
        Ok(rows.len())
    }

    fn key_name(&self, key: u64) -> String {
        format!("k{key}")
    }

    fn in_order(&self) -> bool {
        self.ordered
    }

    fn has_tokens(&self) -> bool {
        false
    }
}

#[test]
fn recorded_sources_are_cut_and_share_keys() {
    let recorded = |times: &[u64], ordered| -> Box<dyn Source> {
        let rows = times.iter().enumerate().map(|(i, t)| (START + t, i as u64)).collect();
        Box::new(Recorded { rows, next: 0, ordered })
    };
    let until = START + 10;
    let alone = all(&mut Traffic::new(vec![recorded(&[1, 2, 9, 10, 11], true)], until, true), 2);
    assert_eq!((alone.len(), &alone.input_tokens), (3, &vec![5; 3]));
    // Out of order: what is late enough is dropped, the rest stays as it came.
    let mut traffic = Traffic::new(vec![recorded(&[5, 12, 3, 99, 4], false)], until, false);
    assert!(!traffic.in_order());
    assert_eq!(all(&mut traffic, 1).at, [START + 5, START + 3, START + 4]);
    let mut both = Traffic::new(vec![recorded(&[1, 5], true), recorded(&[2, 5, 6], true)], until, false);
    let names = named(&mut both, 3);
    assert_eq!(
        names.iter().map(|(at, name)| (*at, name.as_str())).collect::<Vec<_>>(),
        [(1, "k0"), (2, "k0"), (5, "k1"), (5, "k1"), (6, "k2")]
    );
    assert_eq!(both.key_count(), Some(3));
}

/// Two requests, then a broken row.
struct Broken(u64);

impl Source for Broken {
    fn fill(&mut self, batch: &mut Batch, _: usize) -> Result<usize, TrafficError> {
        self.0 += 1;
        if self.0 == 3 {
            return Err(TrafficError::new("broken row"));
        }
        batch.push(&limiters::Request { at: START + self.0, requests: 1, ..Default::default() });
        Ok(1)
    }

    fn key_name(&self, _: u64) -> String {
        "k".into()
    }
}

#[test]
fn a_source_that_fails_is_heard_once_and_leaves_the_others_alone() {
    let mut traffic = Traffic::new(vec![Box::new(Broken(0)), Box::new(Broken(7))], START + 20, false);
    let mut batch = Batch::default();
    assert_eq!(traffic.fill(&mut batch, 99).unwrap_err().message, "broken row");
    assert_eq!(batch.at, [START + 1, START + 2]);
    while traffic.fill(&mut batch, 99).unwrap() > 0 {}
    assert_eq!(batch.at[2..], (8..20).map(|at| START + at).collect::<Vec<_>>());
}

#[test]
fn errors_name_the_pattern() {
    let bad = pattern(Shape::Pareto { rate: rate(1), shape: 0.9, start: 0, end: None }, "a");
    let good = pattern(Shape::Pareto { rate: rate(1), shape: 1.5, start: 0, end: None }, "a");
    let error = Traffic::open(&[good, bad], &settings(1), |_, _| unreachable!("no trace")).err().unwrap();
    let text = error.to_string();
    assert!(text.contains("[[traffic.pareto]] number 2") && text.contains("`shape`") && text.contains("0.9"), "{text}");
    let late = Settings { start: u64::MAX, ..settings(1) };
    assert!(Traffic::open(&[burst(0, 1, "a")], &late, |_, _| unreachable!("no trace")).is_err());
}

#[test]
fn the_own_form() {
    let mut rich = burst(3, 1, "a,b");
    rich.input_tokens = Some(Amount::Constant(20));
    rich.price = Some(Amount::Constant(8000));
    let written = |patterns: &[Pattern]| {
        let mut text = Vec::new();
        let rows = write_csv(&mut open(patterns, &settings(1)), START, &mut text).unwrap();
        (rows, String::from_utf8(text).unwrap())
    };
    assert_eq!(written(&[burst(3, 2, "a")]), (2, "at_ns,key,cost\n3,a,1\n3,a,1\n".into()));
    let columns = "at_ns,key,cost,input_tokens,output_tokens,price_microusd\n";
    assert_eq!(written(&[rich, burst(9, 1, "c")]), (2, format!("{columns}3,\"a,b\",1,20,0,8000\n9,c,1,0,0,0\n")));
}

fn any_shape() -> impl Strategy<Value = Shape> {
    let parts = (1..500u64, 0..10 * SECOND, prop::option::of(0..10 * SECOND), 0..6usize, 1..5 * SECOND, 0..5 * SECOND);
    parts.prop_map(|(permits, start, end, which, on, off)| {
        let (rate, end) = (rate(permits), end.map(|more| start + more));
        match which {
            0 => Shape::Constant { rate, start, end },
            1 => Shape::Poisson { rate, start, end },
            2 => Shape::Burst { at: start, requests: permits, spread: off, every: Some(off + 1) },
            3 => Shape::OnOff { rate, on: Phase::Exponential(on), off: Phase::Exponential(off), start, end },
            4 => Shape::Sine { mean: rate, amplitude: Some(rate), period: on, phase: off, start, end },
            _ => Shape::Ramp { from: None, to: Some(rate), start, end },
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn times_never_go_back_and_stay_inside(shapes in prop::collection::vec(any_shape(), 1..5), max in 1..3000usize) {
        let patterns: Vec<Pattern> =
            shapes.iter().enumerate().map(|(index, shape)| pattern(shape.clone(), &index.to_string())).collect();
        let requests = named(&mut open(&patterns, &settings(12)), max);
        prop_assert!(requests.is_sorted_by_key(|(at, _)| *at));
        for (index, shape) in shapes.iter().enumerate() {
            let (start, end) = match *shape {
                Shape::Constant { start, end, .. } | Shape::Poisson { start, end, .. } | Shape::OnOff { start, end, .. }
                | Shape::Sine { start, end, .. } | Shape::Ramp { start, end, .. } => (start, end.unwrap_or(12 * SECOND)),
                _ => (0, 12 * SECOND),
            };
            let times = times_of(&index.to_string(), &requests);
            prop_assert!(times.iter().all(|at| (start..=end).contains(at) && *at < 12 * SECOND));
        }
    }
}
