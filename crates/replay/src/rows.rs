//! The rows of every CSV file, in the order of their columns. A column is only ever added at the end of its row.
//!
//! Empty means "not applicable". Times and durations are nanoseconds (`_ns`), times counted from t = 0; amounts are
//! permits of the limiter's meter unless the name has another unit. Ratios are rounded to six decimals.

#![allow(missing_docs)] // a column whose name says it all has no comment

use serde::{Deserialize, Serialize};

/// `summary.csv`: one row per limiter.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SummaryRow {
    pub scenario: String,
    /// Label of the limiter.
    pub limiter: String,
    /// Name in the registry, or `all-of` for a stack.
    pub algorithm: String,
    /// The rule's parameters in words.
    pub parameters: String,
    /// `equal-quota`, `equal-guarantee` or `variant`.
    pub comparison: String,
    pub limit: u64,
    pub window_ns: u64,
    pub burst: u64,
    pub seed: u64,
    /// Requests offered: admitted + refused + never_fits.
    pub requests: u64,
    pub admitted: u64,
    pub refused: u64,
    /// Requests whose cost no state of the limiter could hold.
    pub never_fits: u64,
    /// Requests admitted that had to wait; part of `admitted`.
    pub delayed: u64,
    pub offered_permits: u64,
    pub admitted_permits: u64,
    /// admitted_permits / offered_permits.
    pub admitted_ratio: Option<f64>,
    /// admitted_permits / (last arrival − first arrival).
    pub admitted_per_s: Option<f64>,
    /// Most permits started in any half-open window of length window_ns.
    pub peak_window: u64,
    /// The most this limiter can let start in such a window, on any traffic.
    pub peak_window_bound: Option<u64>,
    /// The same over a tenth of the window.
    pub peak_tenth: u64,
    pub peak_tenth_bound: Option<u64>,
    /// Least capacity of a bucket refilled at limit per window that the started stream obeys.
    pub sigma: u64,
    /// Permits an exact sliding log refuses when it replays the started stream. Empty, as the next, where the limiter does not
    /// promise the quota's window: a `spend-cap`, and stacks with one or of another meter.
    pub over_admitted: Option<u64>,
    /// Requests refused though they fitted among the permits this limiter admitted in the trailing window.
    pub falsely_refused: Option<u64>,
    pub first_refusal_ns: Option<u64>,
    /// Most refusals in a row.
    pub longest_refusal_streak: u64,
    /// Longest time from the last refusal of a streak to the next admission.
    pub recovery_ns: Option<u64>,
    pub wait_p50_ns: Option<u64>,
    pub wait_p90_ns: Option<u64>,
    pub wait_p99_ns: Option<u64>,
    pub wait_max_ns: Option<u64>,
    /// Coefficient of variation of the gaps between starts.
    pub gap_cv: Option<f64>,
    /// Jain's index over keys of admitted permits against the max-min fair share.
    pub fairness: Option<f64>,
    /// Share of sampled refusals whose retry-after was admitted when obeyed and refused 1 ns earlier.
    pub hint_honest_ratio: Option<f64>,
    pub clock_regressions: u64,
    /// Bytes of state a key costs.
    pub state_bytes: u64,
    pub live_keys_max: u64,
    /// Permits that overflowed a full bucket.
    pub tokens_lost: Option<u64>,
    /// Money and clients, from here on; empty in a scenario without clients. Spent on admitted calls and on model calls made.
    pub cost_spent_microusd: Option<u64>,
    /// The same in the world without a guard, from the same seed.
    pub cost_unprotected_microusd: Option<u64>,
    /// Unprotected less spent: negative where the guard raises the bill.
    pub cost_saved_microusd: Option<i64>,
    /// The proven bound on calls over the whole run at the price of the dearest call; empty where nothing bounds the bill.
    pub worst_bill_microusd: Option<u64>,
    pub useful_calls: Option<u64>,
    /// 1 − useful calls / those without a guard (of legitimate clients: without a guard and without rogues).
    pub useful_lost_ratio: Option<f64>,
    /// Admitted calls after the useful ones.
    pub wasted_calls: Option<u64>,
    /// How much later the last useful call of legitimate clients came than without a guard and without rogues.
    pub finished_later_ns: Option<u64>,
    /// Attempts of a logical call, the first included.
    pub attempts_per_call: Option<f64>,
    /// Share of attempts made when the server had said so that were refused again.
    pub refused_again_ratio: Option<f64>,
    /// Most that a cap was overdrawn.
    pub cap_overshoot_microusd: Option<u64>,
    /// What is left of a cap at the end; of a cap for everybody.
    pub cap_unused_microusd: Option<u64>,
    /// First refusal by a cap.
    pub cap_reached_ns: Option<u64>,
    /// Last attempt of a rogue, once all have stopped; empty while any goes on at the end.
    pub rogue_stopped_ns: Option<u64>,
    pub rogue_first_refusal_ns: Option<u64>,
    pub legitimate_first_refusal_ns: Option<u64>,
    /// When an alert on refusals would have fired.
    pub alert_ns: Option<u64>,
    /// Most attempts in 100 ms.
    pub attempts_peak_100ms: Option<u64>,
    /// The same over the mean of all 100 ms.
    pub attempts_peak_to_mean: Option<f64>,
    /// Where the guard stands: `rate: tool, cap: turn`.
    pub guard_place: String,
    /// What permits are: `requests`, `spend` (micro-dollars), or a kind of tokens.
    pub meter: String,
    /// `per-key` where each key has a limiter of its own, and then peak_window is of the busiest key, peak_tenth of all
    /// keys together; else `global`.
    pub scope: String,
}

/// `clients.csv`: limiter × population. The limiter `none` is the world without a guard.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientRow {
    pub limiter: String,
    pub comparison: String,
    pub client: String,
    /// `rogue` or `legitimate`.
    pub role: String,
    pub guard_place: String,
    pub agents: u64,
    /// Turns begun: logical calls.
    pub calls: u64,
    /// Tool calls asked, and model calls refused.
    pub attempts: u64,
    pub admitted: u64,
    pub refused: u64,
    /// Admitted calls that the upstream answered with an error.
    pub failed: u64,
    /// Calls whose retries were used up.
    pub gave_up: u64,
    /// Part of gave_up: for a status that is never retried.
    pub terminal: u64,
    /// Agents that their own loop detector stopped.
    pub detected: u64,
    pub useful_calls: u64,
    /// The most useful calls this population could have made; see `useful_lost_ratio` of summary.csv.
    pub useful_reference: u64,
    pub wasted_calls: u64,
    pub spent_on_calls_microusd: u64,
    pub spent_on_turns_microusd: u64,
    pub spent_microusd: u64,
    pub unprotected_microusd: u64,
    pub saved_microusd: i64,
    pub attempts_per_call: Option<f64>,
    pub refused_again_ratio: Option<f64>,
    pub first_refusal_ns: Option<u64>,
    pub last_useful_ns: Option<u64>,
    pub last_attempt_ns: Option<u64>,
    /// Empty while an agent goes on at the end of the run.
    pub stopped_ns: Option<u64>,
}

/// `spend.csv`: limiter × bin. The limiter `none` is the world without a guard.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SpendRow {
    pub limiter: String,
    pub comparison: String,
    pub bin_start_ns: u64,
    pub bin_ns: u64,
    /// Spent from the start to the end of this bin.
    pub spent_microusd: u64,
    pub attempts: u64,
    /// Most attempts in one 100 ms of the bin.
    pub attempts_peak_100ms: u64,
}

/// `bills.csv`: limiter × seed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct BillRow {
    pub limiter: String,
    pub comparison: String,
    pub seed: u64,
    pub spent_microusd: u64,
    pub unprotected_microusd: u64,
    /// The proven worst; empty where nothing bounds the bill.
    pub worst_microusd: Option<u64>,
    pub useful_calls: u64,
    pub useful_lost_ratio: Option<f64>,
}

/// `timeline.csv`: limiter × bin.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TimelineRow {
    pub limiter: String,
    pub comparison: String,
    pub bin_start_ns: u64,
    pub bin_ns: u64,
    pub offered_permits: u64,
    pub admitted_permits: u64,
    /// Permits admitted that had to wait; part of `admitted_permits`.
    pub delayed_permits: u64,
    pub refused_permits: u64,
    /// Permits that started in this bin (a shaper releases later than it admits).
    pub started_permits: u64,
    /// Most permits started in a window of length window_ns that ends at an event of this bin.
    pub trailing_window_permits: u64,
    /// Permits available at the end of the bin, in thousandths; negative in debt; empty where nothing limits.
    pub level_milli: Option<i64>,
}

/// `envelope.csv`: limiter × window length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct EnvelopeRow {
    pub limiter: String,
    pub comparison: String,
    /// Length of the half-open window.
    pub tau_ns: u64,
    /// Most permits started in any such window.
    pub measured_permits: u64,
    /// The proven bound; empty where there is none.
    pub bound_permits: Option<u64>,
}

/// `guarantee.csv`: what each algorithm refuses when tuned never to pass `guaranteed_permits` in any window.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GuaranteeRow {
    pub algorithm: String,
    pub parameters: String,
    pub guaranteed_permits: u64,
    pub window_ns: u64,
    pub requests: u64,
    pub refused: u64,
    pub refused_ratio: f64,
}

/// `waits.csv`: limiter × quantile of the time between asking and starting. Refused requests are not in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct WaitRow {
    pub limiter: String,
    pub comparison: String,
    /// From 0 to 1.
    pub quantile: f64,
    pub wait_ns: u64,
}

/// `keys.csv`: limiter × key, the most affected first, capped.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct KeyRow {
    pub limiter: String,
    pub comparison: String,
    pub key: String,
    pub offered_permits: u64,
    pub admitted_permits: u64,
    pub refused_permits: u64,
    /// Most permits of this key started in any half-open window; empty beyond the capped number of keys.
    pub peak_window: Option<u64>,
}

/// `notes.csv`: everything a reader must know about how the figures came to be.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NoteRow {
    /// `guess`, `skipped` or `warning`.
    pub kind: String,
    pub text: String,
}

/// `overhead.csv`: how long a decision takes on this machine. Never compared between machines, never in git.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct OverheadRow {
    pub limiter: String,
    pub algorithm: String,
    /// `admit`, `refuse`, `scenario` (this scenario's own traffic) or `poisson-2x`.
    pub path: String,
    /// `virtual`, `quanta` or `instant`.
    pub clock: String,
    pub keys: u64,
    pub threads: u64,
    pub cost: u64,
    pub decisions: u64,
    pub admitted: u64,
    /// Mean nanoseconds of a decision over all batches, loop included.
    pub mean_ns: f64,
    /// Percentiles of batch means.
    pub batch_mean_p50_ns: f64,
    pub batch_mean_p99_ns: f64,
    /// Median of this limiter's batches over the median of the no-op limiter's in the same run.
    pub ratio_to_noop: f64,
    pub bytes_per_key: u64,
}

/// A kind of note as `notes.csv` writes it.
pub fn kind(kind: traffic::NoteKind) -> &'static str {
    match kind {
        traffic::NoteKind::Guess => "guess",
        traffic::NoteKind::Skipped => "skipped",
        traffic::NoteKind::Warning => "warning",
        traffic::NoteKind::Fact => "note",
    }
}

/// `part / whole` rounded to six decimals; `None` when `whole` is 0.
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| six_decimals(part as f64 / whole as f64))
}

/// `value` rounded to six decimals, so that files do not carry digits that mean nothing.
pub fn six_decimals(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}
