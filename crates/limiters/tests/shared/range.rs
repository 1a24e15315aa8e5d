//! The range that the one-word limiters state: refused by name outside it, exact up to its end, closed beyond.

use limiters::{AtomicFixedWindow, AtomicGcra, Limiter, Outcome, Rate};

const S: u64 = 1_000_000_000;
const YEAR: u64 = 365 * 86_400 * S;

fn rate(permits: u64, per: u64) -> Rate {
    Rate::new(permits, per).unwrap()
}

#[test]
fn what_does_not_fit_is_refused_by_name() {
    let gcra = |capacity, rate, horizon| AtomicGcra::new(capacity, rate, 0, horizon).map_err(|error| error.param).err();
    assert_eq!(gcra(100, rate(100, 60 * S), 500 * YEAR), None);
    assert_eq!(gcra(100, rate(7_000_000, S), 83 * YEAR), None);
    assert_eq!(gcra(100, rate(7_000_000, S), 84 * YEAR), Some("horizon"));
    assert_eq!(gcra(0, rate(1, S), S), Some("capacity"));
    assert_eq!(gcra(1 << 40, rate(1, S), S), Some("capacity"));
    let window =
        |limit, window, horizon| AtomicFixedWindow::new(limit, window, 0, horizon).map_err(|error| error.param).err();
    assert_eq!(window(100, S, 500 * YEAR), None);
    assert_eq!(window(1 << 40, S, YEAR), Some("horizon"));
    assert_eq!(window(1 << 30, S, 500 * YEAR), Some("horizon"));
    assert_eq!((window(0, S, S), window(1, 0, S)), (Some("limit"), Some("window")));
    let past = AtomicFixedWindow::new(1, S, u64::MAX - 5, 6).unwrap_err();
    assert_eq!(past.to_string(), "horizon: 6 ns from the origin pass the year 2554; at most 5 ns");
    let wide = AtomicGcra::new(1, rate(1_000_000_007, S), 0, YEAR).unwrap_err();
    assert_eq!(
        wide.to_string(),
        "horizon: 31536000000000000 ns at 1000000007/s pass 64 bits of 1/R ns; at most 18446743943 ns"
    );
}

/// The whole horizon at one permit per 13/10 s, in steps of 1.3 s: nothing drifts.
#[test]
fn exact_to_the_end_of_the_horizon() {
    let origin = 1_700_000_000 * S;
    let horizon = u64::MAX / 10 - 2_000_000_000;
    let gcra = AtomicGcra::new(1, rate(10, 13), origin, horizon).unwrap();
    let steps = horizon / 13;
    for step in (0..1_000).chain(steps - 1_000..=steps) {
        let now = origin + step * 13;
        assert_eq!(gcra.try_acquire(now, 1), Outcome::Admitted);
        assert_eq!(gcra.try_acquire(now, 1), Outcome::Refused);
        assert_eq!((&gcra).retry_after(now, 1), Some(2), "1.3 ns rounded up");
    }
}

#[test]
fn beyond_the_horizon_they_run_dry() {
    let gcra = AtomicGcra::new(5, rate(1, S), 0, 10 * S).unwrap();
    let window = AtomicFixedWindow::new(5, S, 0, 10 * S).unwrap();
    let admitted = |ask: &dyn Fn(u64) -> Outcome| (0..100).filter(|second| ask((11 + second) * S).passes()).count();
    assert_eq!((admitted(&|now| gcra.try_acquire(now, 1)), admitted(&|now| window.try_acquire(now, 1))), (5, 5));
}

#[test]
fn a_peek_and_a_cost_that_never_fits_change_nothing() {
    let gcra = AtomicGcra::new(5, rate(1, S), 0, 10 * S).unwrap();
    let window = AtomicFixedWindow::new(5, S, 0, 10 * S).unwrap();
    for limiter in [&mut &gcra as &mut dyn Limiter, &mut &window] {
        assert!(limiter.try_acquire(S, 5).passes());
        assert_eq!((limiter.try_acquire(S, 0), limiter.try_acquire(S, 6)), (Outcome::Admitted, Outcome::NeverFits));
        assert_eq!((limiter.peek(S, 0), limiter.peek(S, 6)), (Outcome::Admitted, Outcome::NeverFits));
        assert_eq!((limiter.retry_after(S, 1), limiter.retry_after(S, 6)), (Some(S), None));
        limiter.charge(S, u64::MAX);
        assert_eq!(limiter.remaining(S), 0);
        assert!(limiter.level(S).available_milli < 0);
        assert_eq!(limiter.state_bytes(), 8);
    }
}
