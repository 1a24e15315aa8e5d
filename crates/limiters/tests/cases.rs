//! Faults that people who limit rates reported in public, each as a small input with its right answer.
//!
//! The number is the case's own; the report is the public thread. `A` is admitted, `r` is refused.

use limiters::{Clamp, Limiter, Nanos, Outcome, Quota, Rate, Settings, Value, algorithm};

const MS: Nanos = 1_000_000;
const S: Nanos = 1_000 * MS;

/// A limiter of `name` that promises `limit` per `window` with `burst`.
fn limiter(
    name: &str,
    limit: u64,
    window: Nanos,
    burst: u64,
    values: &[(&'static str, Value)],
) -> Box<dyn Limiter + Send> {
    let settings = Settings::new(Quota { limit, window, burst });
    let settings = values.iter().fold(settings, |settings, (name, value)| settings.with(name, value.clone()));
    (algorithm(name).unwrap().build)(&settings).unwrap_or_else(|error| panic!("{name}: {error}")).limiter()
}

fn window(name: &str, limit: u64, window: Nanos) -> Box<dyn Limiter + Send> {
    limiter(name, limit, window, limit, &[])
}

fn counter(limit: u64, window: Nanos) -> Box<dyn Limiter + Send> {
    limiter("sliding-window-counter", limit, window, limit, &[("rounding", Value::Choice("exact"))])
}

/// The same bucket in all its forms, but for the queue, whose admissions are the same and start later.
const BUCKETS: [&str; 4] = ["token-bucket", "leaky-bucket-meter", "gcra", "leaky-bucket"];

fn each_bucket(limit: u64, window: Nanos, burst: u64, check: impl Fn(&str, &mut dyn Limiter)) {
    for name in BUCKETS {
        check(name, &mut *limiter(name, limit, window, burst, &[]));
    }
}

/// Asks for one permit at each time; the answers as a word of `A` and `r`.
fn ask(limiter: &mut dyn Limiter, times: impl IntoIterator<Item = Nanos>) -> String {
    times.into_iter().map(|at| if limiter.try_acquire(at, 1).passes() { 'A' } else { 'r' }).collect()
}

fn count(limiter: &mut dyn Limiter, times: impl IntoIterator<Item = Nanos>) -> usize {
    ask(limiter, times).matches('A').count()
}

fn at(time: Nanos, requests: usize) -> impl Iterator<Item = Nanos> {
    std::iter::repeat_n(time, requests)
}

#[test]
fn case_01_two_bursts_around_an_edge() {
    // rack/rack-attack#601, sandbaseai/sandbase-harness#280, plausible/analytics#6497
    let times = || at(59_990 * MS, 5).chain(at(60_010 * MS, 5));
    assert_eq!(count(&mut *window("fixed-window", 5, 60 * S), times()), 10);
    assert_eq!(count(&mut *window("sliding-window-log", 5, 60 * S), times()), 5);
    assert_eq!(count(&mut *counter(5, 60 * S), times()), 5);
    each_bucket(5, 60 * S, 5, |name, bucket| assert_eq!(count(bucket, times()), 5, "{name}"));
}

#[test]
fn case_02_windows_on_the_clock_or_at_the_first_hit() {
    // alisaifee/limits#250, rack/rack-attack#121, upstash/docs#439
    let times = [50, 55, 61, 70, 111].map(|second| second * S);
    assert_eq!(ask(&mut *window("fixed-window", 2, 60 * S), times), "AAAAr");
    let anchor = [("anchor", Value::Choice("first-request"))];
    assert_eq!(ask(&mut *limiter("fixed-window", 2, 60 * S, 2, &anchor), times), "AArrA");
}

#[test]
fn case_04_a_stale_window_weighs_nothing() {
    // symfony/symfony#40141
    for rounding in ["floor", "exact"] {
        let mut counter = limiter("sliding-window-counter", 10, 10 * S, 10, &[("rounding", Value::Choice(rounding))]);
        assert_eq!(count(&mut *counter, at(5 * S, 10)), 10);
        assert_eq!(counter.remaining(1000 * S), 10, "never more than the limit");
        assert_eq!(count(&mut *counter, at(1000 * S, 15)), 10);
    }
}

#[test]
fn case_06_hits_do_not_move_the_end_of_a_window() {
    // alisaifee/limits#28
    for anchor in ["wall-clock", "first-request"] {
        let mut fixed = limiter("fixed-window", 2, 6 * S, 2, &[("anchor", Value::Choice(anchor))]);
        assert_eq!(ask(&mut *fixed, [0, 5, 10, 15, 20].map(|second| second * S)), "AAAAA");
    }
}

#[test]
fn case_07_a_full_bucket_and_its_refill_in_the_first_period() {
    // go-redis/redis_rate#24, bucket4j/bucket4j#128, boinkor-net/governor#219
    let times = || (0..1200).map(|turn| turn * 50 * MS);
    each_bucket(15, 60 * S, 15, |name, bucket| assert_eq!(count(bucket, times()), 29, "{name}"));
    assert_eq!(count(&mut *window("sliding-window-log", 15, 60 * S), times()), 15);
}

#[test]
fn case_08_no_extra_cell_after_a_refill() {
    // boinkor-net/governor#249, #107, #251
    each_bucket(5, S, 5, |name, bucket| {
        assert_eq!(ask(bucket, at(0, 6).chain(at(2 * S, 6))), "AAAAArAAAAAr", "{name}");
    });
}

#[test]
fn case_10_a_burst_of_one() {
    // traefik/traefik#8330, #4549
    let times = || at(0, 5).chain([10, 15, 20].map(|second| second * S));
    each_bucket(6, 60 * S, 1, |name, bucket| assert_eq!(ask(bucket, times()), "ArrrrArA", "{name}"));
}

#[test]
fn case_11_burst_is_depth_and_not_quota() {
    // openfoodfacts/openfoodfacts-infrastructure#304, openresty/lua-resty-limit-traffic#11
    let mut meter = limiter("leaky-bucket-meter", 6000, 60 * S, 101, &[]);
    assert_eq!(count(&mut *meter, at(0, 154)), 101);
    each_bucket(10, S, 1, |name, bucket| {
        assert_eq!(ask(bucket, [0, 50, 100, 150, 200].map(|ms| ms * MS)), "ArArA", "{name}");
    });
}

#[test]
fn case_12_idle_credit_stops_at_the_capacity() {
    // udoprog/leaky-bucket#30, uber-go/ratelimit#121
    each_bucket(10, S, 10, |name, bucket| {
        assert_eq!(count(bucket, at(0, 10).chain(at(1000 * S, 50))), 20, "{name}");
    });
}

#[test]
fn case_14_due_is_due() {
    // golang/go#34861, golang/go#46579, golang/time#19
    each_bucket(10, 13 * S, 1, |name, bucket| {
        assert_eq!(count(bucket, (0..100).map(|k| k * 1_300 * MS)), 100, "{name}");
    });
}

#[test]
fn case_15_more_permits_than_milliseconds() {
    // mailgun/gubernator#60
    each_bucket(2000, S, 2000, |name, bucket| {
        assert_eq!(count(bucket, at(0, 2001).chain([MS / 2])), 2001, "{name}");
        assert!(!bucket.peek(MS / 2, 1).passes());
    });
}

#[test]
fn case_16_a_bucket_leaks_within_an_interval() {
    // zendesk/prop#34
    each_bucket(10, 60 * S, 10, |name, bucket| {
        assert_eq!(count(bucket, at(0, 10).chain([6, 12, 18].map(|second| second * S))), 13, "{name}");
    });
}

#[test]
fn case_18_zero_is_an_error_that_names_its_field() {
    // golang/go#39984, golang/go#47221, kent8192/reinhardt-web#419. Rates below zero and NaN cannot be written down here:
    // a rate is two numbers above zero.
    assert!(Rate::new(0, S).is_none() && Rate::new(1, 0).is_none());
    let fault = |name: &str, settings: Settings| match (algorithm(name).unwrap().build)(&settings) {
        Ok(rule) => panic!("{name}: built {}", rule.parameters()),
        Err(error) => error.param,
    };
    let quota = |limit, window, burst| Settings::new(Quota { limit, window, burst });
    let windows = ["fixed-window", "sliding-window-log", "sliding-window-counter", "sliding-window-segments"];
    for name in windows.into_iter().chain(BUCKETS).chain(["token-bucket-interval"]) {
        assert_eq!(fault(name, quota(0, S, 1)), "limit", "{name}");
        assert_eq!(fault(name, quota(1, 0, 1)), "window", "{name}");
    }
    for name in BUCKETS.into_iter().chain(["token-bucket-interval"]) {
        assert_eq!(fault(name, quota(1, S, 0)), "burst", "{name}");
    }
    let permits = |param, value| quota(2, S, 2).with(param, Value::Permits(value));
    let duration = |param, value| quota(2, S, 2).with(param, Value::Duration(value));
    let cases = [
        ("token-bucket", permits("capacity", 0), "capacity"),
        ("token-bucket", permits("initial", 3), "initial"),
        ("token-bucket", quota(1, u64::MAX, u64::MAX), "capacity"),
        ("leaky-bucket-meter", quota(1, u64::MAX, u64::MAX), "capacity"),
        ("leaky-bucket", permits("queue", u64::MAX), "queue"),
        ("leaky-bucket", permits("largest-cost", 3), "largest-cost"),
        ("leaky-bucket", permits("largest-cost", 0), "largest-cost"),
        ("token-bucket-interval", permits("per-tick", 0), "per-tick"),
        ("token-bucket-interval", duration("tick", 0), "tick"),
        ("token-bucket-interval", permits("capacity", u64::MAX), "capacity"),
        ("gcra", duration("emission-interval", 0), "emission-interval"),
        ("gcra", duration("tolerance", 5).with("capacity", Value::Permits(2)), "tolerance"),
        ("gcra", quota(u64::MAX, 2, 1), "refill"),
        ("sliding-window-counter", quota(1 << 63, S, 1), "limit"),
        ("sliding-window-segments", permits("segments", 0), "segments"),
        ("sliding-window-segments", permits("segments", 3), "segments"),
        ("sliding-window-log", quota(1, u64::MAX, 1).with("edge", Value::Choice("closed")), "edge"),
        ("fixed-window", duration("offset", 5).with("anchor", Value::Choice("first-request")), "offset"),
        ("spend-cap", quota(0, S, 1), "cap"),
        ("spend-cap", duration("every", 0), "every"),
        ("spend-cap", duration("every", 5).resetting_at([1]), "every"),
        ("spend-cap", quota(1, S, 1).resetting_at([2, 1]), "every"),
        ("spend-cap", duration("offset", 5), "offset"),
    ];
    for (name, settings, param) in cases {
        assert_eq!(fault(name, settings), param, "{name}");
    }
}

#[test]
fn case_19_rates_above_a_thousand_a_second() {
    // brandur/redis-cell#50, #80, openresty/lua-resty-limit-traffic#38
    each_bucket(6000, S, 6000, |name, bucket| {
        assert_eq!(count(bucket, at(0, 12_000).chain(at(MS, 10))), 6006, "{name}");
    });
    each_bucket(5000, S, 1, |name, bucket| {
        assert_eq!(ask(bucket, [0, 200, 400].map(|us| us * 1_000)), "AAA", "{name}");
    });
}

#[test]
fn case_21_huge_and_fractional_refills() {
    // firecracker-microvm/firecracker#3370, anza-xyz/agave#11426: 1099.51 permits arrive in the first nanosecond.
    let huge = 1 << 40;
    each_bucket(huge, S, huge, |name, bucket| {
        assert!(bucket.try_acquire(0, huge).passes(), "{name}");
        assert!(!bucket.peek(1, 1100).passes(), "{name}");
        assert!(bucket.try_acquire(1, 1099).passes(), "{name}");
    });
}

#[test]
fn case_22_fractions_are_kept_between_requests() {
    // kent8192/reinhardt-web#2246, mailgun/gubernator#77
    let mut bucket = limiter("token-bucket", 1, 10 * S, 10, &[("initial", Value::Permits(0))]);
    let passes =
        [(0, 1), (25, 2), (29, 1), (30, 1)].map(|(second, cost)| bucket.try_acquire(second * S, cost).passes());
    assert_eq!(passes, [false, true, false, true]);
    let mut meter = limiter("leaky-bucket-meter", 10, 30 * S, 10, &[]);
    assert_eq!(count(&mut *meter, (0..=10).map(|second| second * S)), 11);
    assert_eq!(meter.level(10 * S).available_milli, 2_333, "7/3 permits of room");
}

#[test]
fn case_23_refills_between_requests_faster_than_the_interval() {
    // symfony/symfony#42627, #47676
    each_bucket(2, S, 10, |name, bucket| {
        assert!(bucket.try_acquire(0, 1).passes() && bucket.try_acquire(600 * MS, 10).passes(), "{name}");
    });
    each_bucket(1, S, 2, |name, bucket| {
        let times = at(0, 2).chain([400, 800, 1200, 1600, 2000].map(|ms| ms * MS));
        assert_eq!(ask(bucket, times), "AArrArA", "{name}");
    });
}

#[test]
fn case_24_a_refill_is_the_configured_amount() {
    // gengteng/axum-limit#2
    each_bucket(10, S, 10, |name, bucket| assert_eq!(count(bucket, at(0, 10).chain(at(S, 10))), 20, "{name}"));
    assert_eq!(count(&mut *window("token-bucket-interval", 10, S), at(0, 10).chain(at(S, 10))), 20);
}

#[test]
fn case_26_the_sustained_rate_is_the_configured_one() {
    // brandur/redis-cell#13
    each_bucket(100, S, 11, |name, bucket| {
        assert_eq!(count(bucket, (0..3660).map(|ms| ms * MS)), 376, "{name}");
    });
}

#[test]
fn case_27_refused_hits_do_not_count() {
    // rcarmo/piclaw#105, peterkhayes/rolling-rate-limiter#9, mennanov/limiters#110
    let mut log = window("sliding-window-log", 1, 5 * S);
    assert_eq!(ask(&mut *log, (0..=20).map(|second| second * S)), "ArrrrArrrrArrrrArrrrA");
}

#[test]
fn case_28_a_slow_client_is_not_locked_out() {
    // yiisoft/yii2#17237
    each_bucket(2, 120 * S, 2, |name, bucket| {
        let answers = ask(bucket, (0..70).map(|turn| turn * 59 * S));
        assert_eq!((answers.matches('r').count(), answers.find('r')), (1, Some(61)), "{name}: {answers}");
    });
}

#[test]
fn case_30_stamps_that_step_back_make_no_permits() {
    // golang/go#56287, golang/go#56263, cadence-workflow/cadence#6030
    for name in BUCKETS {
        let mut clamped = Clamp::new(limiter(name, 1, S, 1, &[]));
        let stamps = (0..20).map(|turn| if turn % 2 == 0 { 10 * S } else { 0 });
        assert_eq!(count(&mut clamped, stamps), 1, "{name}");
        assert_eq!(clamped.regressions(), 10, "{name}");
    }
}

#[test]
fn case_32_larger_than_the_bucket_is_not_refused_for_now() {
    // shobrook/openlimit#8, emqx/emqx#2508, viafintech/gcra-ruby#11
    each_bucket(666, S, 666, |name, bucket| {
        let decision = bucket.decide(0, 800);
        assert_eq!((decision.outcome, decision.retry_after), (Outcome::NeverFits, None), "{name}");
        assert_eq!(decision.remaining, 666, "{name}");
    });
}

#[test]
fn case_36_a_log_waits_for_its_oldest_hit() {
    // alisaifee/limits#200, go-chi/httprate#47, fastify/fastify-rate-limit#324
    let mut log = window("sliding-window-log", 2, 60 * S);
    assert_eq!(ask(&mut *log, [0, 10 * S]), "AA");
    let decision = log.decide(20 * S, 1);
    assert_eq!((decision.outcome, decision.retry_after), (Outcome::Refused, Some(40 * S)));
}

#[test]
fn case_38_a_counter_waits_for_one_permit() {
    // symfony/symfony#40289
    for rounding in ["floor", "exact"] {
        let mut counter = limiter("sliding-window-counter", 60, 60 * S, 60, &[("rounding", Value::Choice(rounding))]);
        assert_eq!(count(&mut *counter, at(0, 60)), 60);
        assert_eq!(count(&mut *counter, at(72 * S, 60)), 12);
        // The 60 of the first window weigh 48 now, and less, hence 47 when rounded down, as soon as time moves.
        let expected = if rounding == "exact" { S } else { 1 };
        assert_eq!(counter.retry_after(72 * S, 1), Some(expected), "{rounding}");
    }
}

#[test]
fn case_39_waits_count_the_token_already_made() {
    // bucket4j/bucket4j#88, antifuchs/ratelimit_meter#36
    each_bucket(1, S, 1, |name, bucket| {
        assert_eq!(ask(bucket, [0]), "A");
        assert_eq!(bucket.retry_after(200 * MS, 1), Some(800 * MS), "{name}");
    });
    each_bucket(1, S, 5, |name, bucket| {
        assert_eq!(ask(bucket, at(0, 6)), "AAAAAr");
        assert_eq!(bucket.retry_after(0, 1), Some(S), "{name}");
    });
}

#[test]
fn case_40_a_client_that_waits_as_told_is_admitted() {
    // brandur/redis-cell#56, hashicorp/boundary#4094, matrix-org/matrix-spec-proposals#4041
    each_bucket(2, 3 * S, 1, |name, bucket| {
        assert_eq!(ask(bucket, at(0, 2)), "Ar");
        assert_eq!(bucket.retry_after(0, 1), Some(1_500 * MS), "{name}");
        assert_eq!(ask(bucket, [S, 1_500 * MS]), "rA", "{name}");
    });
}

#[test]
fn case_53_a_month_is_not_thirty_days() {
    // BerriAI/litellm#9098, #4042: the last second of January 2026, the first of February, and the 2nd of March.
    let [january, february, march] = [1769903999, 1769904000, 1772409600].map(|second| second * S);
    let days = 86_400 * S;
    let settings = Settings::new(Quota { limit: 100, window: 30 * days, burst: 100 });
    let months =
        settings.clone().resetting_at([1767225600, 1769904000, 1772323200, 1775001600].map(|second| second * S));
    let first_request = settings.clone().with("anchor", Value::Choice("first-request"));
    let cases = [
        ("spend-cap", months.clone(), [true, true, true]),
        ("spend-cap", settings.with("every", Value::Duration(30 * days)), [true, false, true]),
        ("fixed-window", first_request, [true, false, false]),
    ];
    for (name, settings, right) in cases {
        let mut cap = (algorithm(name).unwrap().build)(&settings).unwrap().limiter();
        assert_eq!([january, february, march].map(|at| cap.try_acquire(at, 100).passes()), right, "{name}");
    }
    // To the nanosecond, and what January took is not given back to February.
    let mut cap = (algorithm("spend-cap").unwrap().build)(&months).unwrap().limiter();
    assert!(cap.try_acquire(january, 100).passes());
    assert_eq!(cap.retry_after(february - 1, 1), Some(1));
    assert!(cap.try_acquire(february, 60).passes());
    cap.refund(february, january, 100);
    assert_eq!(cap.remaining(february), 40);
    cap.refund(february, february, 10);
    assert_eq!(cap.remaining(february), 50);
    // After the last reset of the table there is none.
    assert!(cap.try_acquire(march + 60 * days, 100).passes());
    assert_eq!(cap.retry_after(march + 60 * days, 1), None);
}
