//! The columns of the table about clients and money.

use replay::rows::ClientRow;

use crate::metrics::{Better, Metric};
use crate::{Report, number};

/// Every column, in order.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "guard stands",
        meaning: "where the guard stands: in front of the tool call, of the turn (the model call and what follows), or both; \
                  that is most of the answer",
        better: Better::Neither,
        main: Some(0),
        value: |_| None,
        text: |e| e.row.guard_place.clone(),
    },
    Metric {
        name: "spent",
        meaning: "money spent on admitted calls and on the model calls that asked for them",
        better: Better::Lower,
        main: Some(0),
        value: |e| e.row.cost_spent_microusd.map(|micro| micro as f64),
        text: |e| e.row.cost_spent_microusd.map(number::dollars).unwrap_or_default(),
    },
    Metric {
        name: "saved",
        meaning: "what the same clients spend without a guard, less what they spent: negative where the guard raises the bill",
        better: Better::Higher,
        main: Some(0),
        value: |e| e.row.cost_saved_microusd.map(|micro| micro as f64),
        text: |e| e.row.cost_saved_microusd.map(signed).unwrap_or_default(),
    },
    Metric {
        name: "worst possible",
        meaning: "the proven bound on calls over the whole run at the price of the dearest call; unbounded where money is spent \
                  that the guard never sees or where no call is the dearest",
        better: Better::Lower,
        main: Some(1),
        value: |e| e.row.worst_bill_microusd.map(|micro| micro as f64),
        text: |e| match (e.row.cost_spent_microusd, e.row.worst_bill_microusd) {
            (None, _) => String::new(),
            (_, Some(worst)) => number::dollars(worst),
            _ => "unbounded".to_owned(),
        },
    },
    Metric {
        name: "useful lost",
        meaning: "1 − useful calls done ÷ useful calls done without a guard and, for legitimate clients, without rogues",
        better: Better::Lower,
        main: Some(0),
        value: |e| e.row.useful_lost_ratio,
        text: |e| e.row.useful_lost_ratio.map(number::percent).unwrap_or_default(),
    },
    Metric {
        name: "first refusal",
        meaning: "time from the start to the first refusal of a rogue, or of a legitimate client where there is no rogue",
        better: Better::Neither,
        main: Some(3),
        value: |_| None,
        text: |e| {
            let first = e.row.rogue_first_refusal_ns.or(e.row.legitimate_first_refusal_ns);
            first.map_or_else(|| "never".to_owned(), |ns| number::duration(ns as f64))
        },
    },
    Metric {
        name: "rogue stops",
        meaning: "last attempt of a rogue once all of them have stopped for good; never: one still asks at the end",
        better: Better::Lower,
        main: Some(2),
        value: |e| e.row.rogue_stopped_ns.map(|ns| ns as f64),
        text: |e| match (e.row.wasted_calls, e.row.rogue_stopped_ns) {
            (None, _) => String::new(),
            (_, Some(ns)) => number::duration(ns as f64),
            _ => "never".to_owned(),
        },
    },
    Metric {
        name: "wasted calls",
        meaning: "calls admitted after the useful ones",
        better: Better::Lower,
        main: Some(2),
        value: |e| e.row.wasted_calls.map(|calls| calls as f64),
        text: |e| e.row.wasted_calls.map(number::count).unwrap_or_default(),
    },
    Metric {
        name: "overshoot",
        meaning: "most that was charged beyond a spending cap; estimates still held do not count",
        better: Better::Lower,
        main: Some(4),
        value: |e| e.row.cap_overshoot_microusd.map(|micro| micro as f64),
        text: |e| e.row.cap_overshoot_microusd.map(number::dollars).unwrap_or_default(),
    },
    Metric {
        name: "tries/call",
        meaning: "attempts of a logical call, the first included",
        better: Better::Lower,
        main: Some(5),
        value: |e| e.row.attempts_per_call,
        text: |e| e.row.attempts_per_call.map(|tries| format!("{tries:.1}")).unwrap_or_default(),
    },
    Metric {
        name: "alert",
        meaning: "when more than half of the attempts had been refused for a minute, and somebody would have been told",
        better: Better::Lower,
        main: Some(5),
        value: |e| e.row.alert_ns.map(|ns| ns as f64),
        text: |e| e.row.alert_ns.map_or_else(|| "never".to_owned(), |ns| number::duration(ns as f64)),
    },
    Metric {
        name: "cap tripped",
        meaning: "first refusal by a spending cap",
        better: Better::Neither,
        main: None,
        value: |_| None,
        text: |e| e.row.cap_reached_ns.map_or_else(|| "–".to_owned(), |ns| number::duration(ns as f64)),
    },
    Metric {
        name: "cap unused",
        meaning: "what is left of the spending cap at the end",
        better: Better::Neither,
        main: None,
        value: |e| e.row.cap_unused_microusd.map(|micro| micro as f64),
        text: |e| e.row.cap_unused_microusd.map_or_else(|| "–".to_owned(), number::dollars),
    },
    Metric {
        name: "refused again",
        meaning: "share of attempts made when the server had said so that were refused again",
        better: Better::Lower,
        main: None,
        value: |e| e.row.refused_again_ratio,
        text: |e| e.row.refused_again_ratio.map_or_else(|| "–".to_owned(), number::percent),
    },
    Metric {
        name: "peak in 100 ms",
        meaning: "most attempts in 100 ms, and how many times the mean that is",
        better: Better::Lower,
        main: None,
        value: |e| e.row.attempts_peak_100ms.map(|peak| peak as f64),
        text: |e| match (e.row.attempts_peak_100ms, e.row.attempts_peak_to_mean) {
            (Some(peak), Some(mean)) => format!("{} ({} × mean)", number::count(peak), number::short(mean)),
            (Some(peak), None) => number::count(peak),
            _ => "–".to_owned(),
        },
    },
    Metric {
        name: "honest work later",
        meaning: "how much later the last useful call of legitimate clients came than without a guard and without rogues",
        better: Better::Lower,
        main: None,
        value: |e| e.row.finished_later_ns.map(|ns| ns as f64),
        text: |e| e.row.finished_later_ns.map_or_else(|| "–".to_owned(), |ns| number::duration(ns as f64)),
    },
];

/// Columns of the table of populations, and its rows; `None` where there is but one population, of which the table about money
/// says it all.
pub fn clients(report: &Report) -> Option<(&'static [&'static str], Vec<Vec<String>>)> {
    let rows = &report.tables.clients;
    let first = rows.first()?;
    if rows.iter().all(|row| row.client == first.client) {
        return None;
    }
    let time = |ns: Option<u64>| ns.map_or_else(|| "never".to_owned(), |ns| number::duration(ns as f64));
    let cells = |row: &ClientRow| {
        vec![
            row.limiter.clone(),
            row.client.clone(),
            row.role.clone(),
            number::dollars(row.spent_microusd),
            signed(row.saved_microusd),
            number::count(row.admitted),
            number::count(row.refused),
            number::count(row.failed),
            number::count(row.gave_up),
            format!("{} of {}", number::count(row.useful_calls), number::count(row.useful_reference)),
            row.attempts_per_call.map(|tries| format!("{tries:.1}")).unwrap_or_default(),
            time(row.stopped_ns),
        ]
    };
    Some((COLUMNS, rows.iter().map(cells).collect()))
}

const COLUMNS: &[&str] = &[
    "limiter",
    "client",
    "role",
    "spent",
    "saved",
    "admitted",
    "refused",
    "failed",
    "gave up",
    "useful",
    "tries/call",
    "stopped",
];

fn signed(micro: i64) -> String {
    let dollars = number::dollars(micro.unsigned_abs());
    if micro < 0 { format!("−{dollars}") } else { dollars }
}
