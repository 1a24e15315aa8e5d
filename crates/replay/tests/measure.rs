//! Every measurement against the same figure computed from its definition, over the whole history, on random traffic.

use limiters::{ALGORITHMS, Algorithm, Batch, Meter, Nanos, Outcome, Quota, Request, Settings};
use proptest::prelude::*;
use replay::entry::{Comparison, Entry};
use replay::lane::Lane;
use replay::measure::Setup;

/// Starts of one stream: time and permits.
type Starts = [(Nanos, u64)];

/// A decision as the definitions see it.
#[derive(Clone, Copy, Debug)]
struct Decided {
    at: Nanos,
    key: u64,
    cost: u64,
    outcome: Outcome,
}

impl Decided {
    fn passes(self) -> bool {
        self.outcome.passes()
    }

    fn start(self) -> Option<Nanos> {
        self.outcome.starts(self.at)
    }
}

/// Starts in order of time, as (time, key, permits).
fn starts(decided: &[Decided]) -> Vec<(Nanos, u64, u64)> {
    let mut starts: Vec<_> =
        decided.iter().filter(|d| d.cost > 0).filter_map(|d| Some((d.start()?, d.key, d.cost))).collect();
    starts.sort_by_key(|&(at, _, _)| at);
    starts
}

fn of_key(starts: &[(Nanos, u64, u64)], key: Option<u64>) -> Vec<(Nanos, u64)> {
    starts.iter().filter(|start| key.is_none_or(|key| key == start.1)).map(|&(at, _, cost)| (at, cost)).collect()
}

fn peak(starts: &[(Nanos, u64)], tau: Nanos) -> u64 {
    let ending = |end: &(Nanos, u64)| -> u64 {
        starts.iter().filter(|(at, _)| *at <= end.0 && end.0 - at < tau).map(|(_, cost)| cost).sum()
    };
    starts.iter().map(ending).max().unwrap_or(0)
}

/// The least whole capacity of a bucket refilled at limit per window that the stream obeys: for every pair of starts, what
/// starts from one to the other, both included, less what is refilled between them.
fn sigma(starts: &[(Nanos, u64)], quota: Quota) -> u64 {
    let mut most = 0;
    for from in 0..starts.len() {
        let mut sum = 0u128;
        for &(at, cost) in &starts[from..] {
            sum += u128::from(cost) * u128::from(quota.window);
            let refilled = u128::from(at - starts[from].0) * u128::from(quota.limit);
            most = most.max(sum.saturating_sub(refilled).div_ceil(quota.window.into()));
        }
    }
    most as u64
}

/// Permits that a log of what it let pass refuses.
fn over(starts: &[(Nanos, u64)], quota: Quota) -> u64 {
    let mut passed: Vec<(Nanos, u64)> = Vec::new();
    let mut refused = 0;
    for &(now, cost) in starts {
        let used: u64 = passed.iter().filter(|(at, _)| now - at < quota.window).map(|(_, cost)| cost).sum();
        if used + cost <= quota.limit { passed.push((now, cost)) } else { refused += cost }
    }
    refused
}

fn falsely(decided: &[Decided], quota: Quota, per_key: bool) -> u64 {
    let among = |index: usize| -> u64 {
        let this = decided[index];
        let own = |d: &&Decided| d.passes() && (!per_key || d.key == this.key) && this.at - d.at < quota.window;
        decided[..index].iter().filter(own).map(|d| d.cost).sum()
    };
    let refused = |index: &usize| decided[*index].outcome == Outcome::Refused;
    let fits = |index: &usize| among(*index) + decided[*index].cost <= quota.limit;
    (0..decided.len()).filter(refused).filter(fits).count() as u64
}

/// Longest streak of refusals, and the longest time from the last of a streak to the next admission.
fn streaks(decided: &[Decided]) -> (u64, Option<Nanos>) {
    let (mut longest, mut recovery) = (0, None);
    for streak in decided.chunk_by(|a, b| a.passes() == b.passes()).filter(|streak| !streak[0].passes()) {
        longest = longest.max(streak.len() as u64);
    }
    for pair in decided.windows(2).filter(|pair| !pair[0].passes() && pair[1].passes()) {
        recovery = recovery.max(Some(pair[1].at - pair[0].at));
    }
    (longest, recovery)
}

fn check(algorithm: &Algorithm, quota: Quota, requests: &[Request], batch: usize, per_key: bool) {
    let Ok(rule) = (algorithm.build)(&Settings::new(quota)) else { return };
    let delays = rule.delays();
    let entry = Entry::of_rule("it", algorithm.name, Comparison::EqualQuota, quota, Meter::Requests, per_key, rule);
    let taus: [Nanos; 4] = [1, (quota.window / 10).max(1), quota.window, quota.window * 3];
    let setup = Setup {
        quota,
        taus: &taus,
        start: 0,
        bin: 1 << 40,
        bins: 1,
        per_key,
        many_keys: per_key,
        shaper: delays,
        budget: usize::MAX,
    };
    let mut lane = Lane::new((entry.make)(), Meter::Requests, None, &setup);
    let mut decided = Vec::new();
    for chunk in requests.chunks(batch) {
        let mut block = Batch::default();
        chunk.iter().for_each(|request| block.push(request));
        lane.feed(&block, |batch, cost, range, out| {
            for (index, &outcome) in range.zip(out) {
                decided.push(Decided { at: batch.at[index], key: batch.key[index], cost: cost[index], outcome });
            }
        });
    }
    lane.finish(1 << 40, |_, _, _, _| ());
    assert_eq!(decided.len(), requests.len());

    let measure = &lane.measure;
    let name = algorithm.name;
    let all = starts(&decided);
    let streams: Vec<Vec<(Nanos, u64)>> =
        if per_key { (0..4).map(|key| of_key(&all, Some(key))).collect() } else { vec![of_key(&all, None)] };
    for tau in taus {
        assert_eq!(measure.envelope.most(tau), Some(peak(&of_key(&all, None), tau)), "{name}: peak in {tau}");
    }
    let most = |figure: &dyn Fn(&Starts) -> u64| streams.iter().map(|s| figure(s)).max().unwrap_or(0);
    assert_eq!(measure.peak_window(), most(&|stream| peak(stream, quota.window)), "{name}: peak");
    assert_eq!(measure.sigma(), most(&|stream| sigma(stream, quota)), "{name}: sigma");
    let sum: u64 = streams.iter().map(|stream| over(stream, quota)).sum();
    assert_eq!(measure.stream.over_admitted(), sum, "{name}: over-admitted");
    assert_eq!(measure.falsely_refused, falsely(&decided, quota, per_key), "{name}: falsely refused");
    assert_eq!((measure.longest_streak, measure.recovery), streaks(&decided), "{name}: streaks");
    assert_eq!(measure.first_refusal, decided.iter().find(|d| !d.passes()).map(|d| d.at), "{name}: first refusal");
    let count = |what: &dyn Fn(&Decided) -> bool| decided.iter().filter(|d| what(d)).count() as u64;
    assert_eq!(measure.admitted, count(&|d| d.passes()), "{name}");
    assert_eq!(measure.refused, count(&|d| d.outcome == Outcome::Refused), "{name}");
    assert_eq!(measure.never_fits, count(&|d| d.outcome == Outcome::NeverFits), "{name}");
    assert_eq!(measure.delayed, count(&|d| d.start().is_some_and(|start| start > d.at)), "{name}");
    let wait = decided.iter().filter_map(|d| Some(d.start()? - d.at)).max().unwrap_or(0);
    assert_eq!(measure.longest_wait, if delays { wait } else { 0 }, "{name}: longest wait");
    let (right, sampled) = (lane.hints.1, lane.hints.0);
    assert_eq!(right, sampled, "{name}: a retry-after that is too early or too late");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]
    #[test]
    fn measured_is_what_the_definitions_say(
        limit in 1u64..12,
        window in 10u64..200,
        burst in 1u64..12,
        drawn in prop::collection::vec((0u64..25, 0u64..4, prop_oneof![6 => Just(1u64), 1 => 0u64..15]), 1..180),
        batch in 1usize..64,
        per_key in any::<bool>(),
        units in any::<bool>(),
    ) {
        let mut now = 0;
        let requests: Vec<Request> = drawn.into_iter().map(|(gap, key, cost)| {
            now += gap;
            let key = if per_key { key } else { 0 };
            Request { at: now, key, requests: if units { 1 } else { cost }, ..Request::default() }
        }).collect();
        for algorithm in ALGORITHMS {
            check(algorithm, Quota { limit, window, burst }, &requests, batch, per_key);
        }
    }
}

/// More than the lane decides one at a time, so that blocks and their shortcuts are measured too.
#[test]
fn long_runs_are_measured_like_short_ones() {
    let quota = Quota { limit: 20, window: 1_000, burst: 20 };
    let mut state = 1u64;
    let mut now = 0;
    let mut requests = Vec::new();
    for _ in 0..2_500 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        now += (state >> 33) % 50;
        requests.push(Request { at: now, requests: 1, ..Request::default() });
    }
    for algorithm in ALGORITHMS {
        check(algorithm, quota, &requests, 1_024, false);
    }
}
