//! A made-up run of eleven limiters, shaped like a real one: bursts, a quiet stretch, a queue that delays. Only its
//! shape matters; no number in it is a claim about an algorithm.

use replay::rows::{
    BillRow, EnvelopeRow, GuaranteeRow, KeyRow, NoteRow, OverheadRow, SpendRow, SummaryRow, TimelineRow, WaitRow,
};
use report::Tables;

const S: u64 = 1_000_000_000;
const LIMIT: u64 = 100;
const WINDOW: u64 = 60 * S;

/// Name, burst it lets through, whether it delays.
pub const LIMITERS: &[(&str, Option<u64>, bool)] = &[
    ("unlimited", None, false),
    ("fixed-window", Some(200), false),
    ("sliding-window-log", Some(100), false),
    ("sliding-window-counter", Some(100), false),
    ("sliding-window-segments", Some(110), false),
    ("token-bucket", Some(199), false),
    ("token-bucket-interval", Some(200), false),
    ("leaky-bucket", Some(100), true),
    ("leaky-bucket-meter", Some(199), false),
    ("gcra", Some(199), false),
    ("spend-cap", Some(150), false),
];

pub const SCENARIO: &str = r#"summary = "Bursts at every minute, and one client that never stops."
analysis = '''
A window that resets on the minute admits both halves of a burst that straddles it; the log does not.

Read `peak seen / can reach` first: a limiter that was not put to the test is not a strict one.
'''
"#;

pub fn tables() -> Tables {
    let mut tables = Tables::default();
    let note = |kind: &str, text: &str| NoteRow { kind: kind.to_owned(), text: text.to_owned() };
    tables.notes.push(note("command", "cargo run --release -- run scenarios/made-up.toml"));
    tables.notes.push(note("skipped", "3 lines of access.log have no time stamp and were skipped"));
    for (place, &(name, bound, delays)) in LIMITERS.iter().enumerate() {
        let comparison = "equal-quota";
        let mut row = limiter(&mut tables, name, comparison, bound, delays);
        row.limit = LIMIT;
        row.state_bytes = 8 + 8 * (place as u64 % 3) + if name.ends_with("log") { 8 * LIMIT } else { 0 };
        tables.summary.push(row.clone());
        for (path, ns) in [("admit", 2.0), ("refuse", 1.4), ("scenario", 2.6)] {
            let ns = ns + if bound.is_none() { -0.9 } else { place as f64 * 0.7 };
            tables.overhead.push(OverheadRow {
                limiter: name.to_owned(),
                algorithm: name.to_owned(),
                path: path.to_owned(),
                clock: "virtual".to_owned(),
                keys: 1,
                threads: 1,
                cost: 1,
                decisions: 1_000_000,
                admitted: 500_000,
                mean_ns: ns,
                batch_mean_p50_ns: ns,
                batch_mean_p99_ns: ns * 1.3,
                ratio_to_noop: ns / 1.5,
                bytes_per_key: row.state_bytes,
            });
        }
        if bound.is_some() {
            let mut strict = limiter(&mut tables, name, "equal-guarantee", Some(LIMIT), delays);
            strict.admitted -= place as u64 * 9;
            strict.refused += place as u64 * 9;
            strict.parameters = format!("capacity {}, {} per 1 min", 50 + place, 50 - place);
            strict.state_bytes = row.state_bytes;
            tables.summary.push(strict);
            for (step, guaranteed) in [25, 50, 75, 100, 150, 200].into_iter().enumerate() {
                let same = if matches!(name, "gcra" | "leaky-bucket-meter") { 5 } else { place };
                let refused = 700 - 100 * step as u64 + same as u64 * (12 - step as u64);
                tables.guarantee.push(GuaranteeRow {
                    algorithm: name.to_owned(),
                    parameters: String::new(),
                    guaranteed_permits: guaranteed,
                    window_ns: WINDOW,
                    requests: 1000,
                    refused,
                    refused_ratio: refused as f64 / 1000.0,
                });
            }
        }
    }
    let mut variant =
        limiter(&mut tables, "token bucket, burst 20 with a label that is long", "variant", Some(119), false);
    variant.algorithm = "token-bucket".to_owned();
    tables.summary.push(variant);
    let order = ["equal-quota", "equal-guarantee", "variant"];
    tables.summary.sort_by_key(|row| order.iter().position(|name| *name == row.comparison));
    for key in ["alice", "bob", "10.0.0.1"] {
        tables.keys.push(KeyRow {
            limiter: "gcra".to_owned(),
            comparison: "equal-quota".to_owned(),
            key: key.to_owned(),
            offered_permits: 1234,
            admitted_permits: 1000,
            refused_permits: 234,
            peak_window: Some(100),
        });
    }
    tables
}

/// Adds a limiter's bins, envelope and waits, and returns its summary.
fn limiter(tables: &mut Tables, name: &str, comparison: &str, bound: Option<u64>, delays: bool) -> SummaryRow {
    let (mut offered, mut admitted, mut queue) = (0, 0, 0u64);
    let (mut level, most) = (bound.unwrap_or(0), bound.unwrap_or(0));
    for bin in 0..180u64 {
        let asked = if bin % 60 < 2 && bin > 10 { 60 } else { u64::from(bin % 3 != 0) * 2 };
        let passed = if bound.is_some() { asked.min(level) } else { asked };
        level = (level - passed.min(level) + u64::from(bin % 2 == 0) * 2).min(most);
        queue += passed;
        let started = if delays { queue.min(2) } else { queue };
        queue -= started;
        offered += asked;
        admitted += passed;
        tables.timeline.push(TimelineRow {
            limiter: name.to_owned(),
            comparison: comparison.to_owned(),
            bin_start_ns: bin * S,
            bin_ns: S,
            offered_permits: asked,
            admitted_permits: passed,
            delayed_permits: if delays { passed.saturating_sub(1) } else { 0 },
            refused_permits: asked - passed,
            started_permits: started,
            trailing_window_permits: 100,
            level_milli: bound.map(|_| level as i64 * 1000),
        });
    }
    for k in 0..17 {
        let tau = (WINDOW as f64 / 1000.0 * 10f64.powf(f64::from(k) / 4.0)) as u64;
        let bound = bound.map(|bound| bound / 2 + bound * tau / WINDOW / 2 + 1);
        tables.envelope.push(EnvelopeRow {
            limiter: name.to_owned(),
            comparison: comparison.to_owned(),
            tau_ns: tau,
            measured_permits: bound.unwrap_or(240).min(60 + 60 * tau / WINDOW),
            bound_permits: bound,
        });
    }
    for quantile in [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 1.0] {
        tables.waits.push(WaitRow {
            limiter: name.to_owned(),
            comparison: comparison.to_owned(),
            quantile,
            wait_ns: if delays { (quantile * quantile * 50e9) as u64 } else { 0 },
        });
    }
    SummaryRow {
        scenario: "made-up".to_owned(),
        limiter: name.to_owned(),
        algorithm: name.to_owned(),
        parameters: format!("{} per 1 min", LIMIT),
        comparison: comparison.to_owned(),
        limit: LIMIT,
        window_ns: WINDOW,
        burst: LIMIT,
        seed: 42,
        requests: offered,
        admitted,
        refused: offered - admitted,
        delayed: if delays { admitted / 2 } else { 0 },
        offered_permits: offered,
        admitted_permits: admitted,
        admitted_ratio: Some(admitted as f64 / offered as f64),
        admitted_per_s: Some(admitted as f64 / 179.0),
        peak_window: bound.unwrap_or(240).min(124),
        peak_window_bound: bound,
        peak_tenth: 60,
        peak_tenth_bound: bound,
        sigma: 104,
        over_admitted: Some(bound.map_or(140, |bound| bound.saturating_sub(100) / 4)),
        falsely_refused: Some(if name.contains("counter") { 17 } else { 0 }),
        first_refusal_ns: bound.map(|_| 60 * S + 12_345_678),
        longest_refusal_streak: 42,
        recovery_ns: bound.map(|_| 580_000_000),
        wait_p50_ns: Some(if delays { 12_500_000_000 } else { 0 }),
        wait_p90_ns: Some(if delays { 40_500_000_000 } else { 0 }),
        wait_p99_ns: Some(if delays { 49_005_000_000 } else { 0 }),
        wait_max_ns: Some(if delays { 50_000_000_000 } else { 0 }),
        gap_cv: Some(2.0 / 3.0),
        fairness: Some(0.987_654_321),
        hint_honest_ratio: bound.map(|_| 1.0),
        state_bytes: 16,
        live_keys_max: 3,
        tokens_lost: name.starts_with("token").then_some(77),
        ..SummaryRow::default()
    }
}

/// The same beside clients: what they spent behind each limiter, over time and over three seeds.
#[allow(dead_code)] // not every test file has use for it
pub fn with_clients() -> Tables {
    let mut tables = tables();
    let (bin_ns, steps) = (30_000_000_000, 12);
    let spend = |limiter: &str, comparison: &str, each: u64| -> Vec<SpendRow> {
        let row = |step: u64| SpendRow {
            limiter: limiter.into(),
            comparison: comparison.into(),
            bin_start_ns: step * bin_ns,
            bin_ns,
            spent_microusd: (step + 1) * each,
            attempts: 3 * step,
            attempts_peak_100ms: step % 5,
        };
        (0..steps).map(row).collect()
    };
    tables.spend = spend("none", "twin", 900_000);
    for (index, row) in tables.summary.iter_mut().filter(|row| row.comparison != "equal-guarantee").enumerate() {
        let each = 100_000 * (index as u64 / 2 + 1);
        row.cost_spent_microusd = Some(each * steps);
        row.cost_unprotected_microusd = Some(900_000 * steps);
        row.cost_saved_microusd = Some((900_000 - each as i64) * steps as i64);
        row.useful_lost_ratio = Some(index as f64 / 20.0);
        row.useful_calls = Some(20 - index as u64);
        row.attempts_peak_100ms = Some(4);
        row.cap_reached_ns = (index == 3).then_some(95_000_000_000);
        row.guard_place = "rate: tool".into();
        tables.spend.extend(spend(&row.limiter, &row.comparison, each));
        tables.bills.extend((0..3).map(|seed| BillRow {
            limiter: row.limiter.clone(),
            comparison: row.comparison.clone(),
            seed,
            spent_microusd: each * (steps + seed),
            unprotected_microusd: 900_000 * steps,
            worst_microusd: (index % 2 == 0).then_some(20_000_000),
            useful_calls: 20 - index as u64,
            useful_lost_ratio: row.useful_lost_ratio,
        }));
    }
    tables
}
