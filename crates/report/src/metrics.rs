//! The columns of every table a person reads: what each says, how it is written, and which direction is better.

use replay::rows::SummaryRow;

use crate::figures::overhead;
use crate::{Report, money, number};

/// A limiter's row together with what its decisions cost, where that was measured.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// The measurements.
    pub row: &'a SummaryRow,
    /// Nanoseconds per decision on this scenario's traffic.
    pub decision_ns: Option<f64>,
}

/// Which of two values is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Better {
    /// More is better.
    Higher,
    /// Less is better.
    Lower,
    /// Neither, or it depends.
    Neither,
}

/// A column.
#[derive(Debug)]
pub struct Metric {
    /// Name above the column.
    pub name: &'static str,
    /// What it means, in a sentence.
    pub meaning: &'static str,
    /// Which direction is better.
    pub better: Better,
    /// Where it is shown: columns of the main tables have a rank, and the highest rank goes first when space is short;
    /// the others are in the table of details.
    pub main: Option<u8>,
    /// For comparing; `None` where it does not apply.
    pub value: fn(&Entry<'_>) -> Option<f64>,
    /// As text; empty where it does not apply.
    pub text: fn(&Entry<'_>) -> String,
}

/// Every column, in order. The limiter's name is not among them: it heads every row.
pub const METRICS: &[Metric] = &[
    Metric {
        name: "admitted",
        meaning: "requests admitted, and their share of all requests",
        better: Better::Higher,
        main: Some(0),
        value: |e| Some(e.row.admitted as f64),
        text: |e| with_share(e.row.admitted, e.row.requests),
    },
    Metric {
        name: "permits",
        meaning: "permits admitted, and their share of all permits asked for; dollars where a guard counts money",
        better: Better::Higher,
        main: Some(2),
        value: |e| (e.row.offered_permits != e.row.requests).then_some(e.row.admitted_permits as f64),
        text: |e| match e.row.offered_permits != e.row.requests {
            true => format!(
                "{} ({})",
                number::amount(e.row.admitted_permits, &e.row.meter),
                number::share(e.row.admitted_permits, e.row.offered_permits)
            ),
            false => String::new(),
        },
    },
    Metric {
        name: "peak seen / can reach",
        meaning: "most permits started in any window in this run / most that can start in one on any traffic (–: no proven bound); \
                  of the busiest key where each has its own limiter",
        better: Better::Neither,
        main: Some(1),
        value: |e| Some(e.row.peak_window as f64),
        text: |e| seen(e.row.peak_window, e.row.peak_window_bound, &e.row.meter),
    },
    Metric {
        name: "refused",
        meaning: "requests refused, those that can never fit included",
        better: Better::Lower,
        main: Some(1),
        value: |e| Some((e.row.refused + e.row.never_fits) as f64),
        text: |e| number::count(e.row.refused + e.row.never_fits),
    },
    Metric {
        name: "p99 wait",
        meaning: "99 % of the admitted requests waited no longer",
        better: Better::Lower,
        main: Some(3),
        value: |e| e.row.wait_p99_ns.filter(|_| e.row.delayed > 0).map(|ns| ns as f64),
        text: |e| match e.row.delayed {
            0 => String::new(),
            _ => e.row.wait_p99_ns.map(|ns| number::duration(ns as f64)).unwrap_or_default(),
        },
    },
    Metric {
        name: "bytes/key",
        meaning: "bytes of state that a key costs",
        better: Better::Lower,
        main: Some(4),
        value: |e| Some(e.row.state_bytes as f64),
        text: |e| number::count(e.row.state_bytes),
    },
    Metric {
        name: "ns/decision",
        meaning: "mean nanoseconds of a decision on this scenario's traffic, in virtual time on this machine",
        better: Better::Lower,
        main: Some(5),
        value: |e| e.decision_ns,
        text: |e| e.decision_ns.map(number::nanoseconds).unwrap_or_default(),
    },
    Metric {
        name: "over-admitted",
        meaning: "permits admitted that an exact sliding log refuses when it replays the admitted stream; –: no limit per window, as a \
                  spending cap",
        better: Better::Lower,
        main: None,
        value: |e| e.row.over_admitted.map(|permits| permits as f64),
        text: |e| e.row.over_admitted.map_or_else(|| "–".to_owned(), |permits| number::amount(permits, &e.row.meter)),
    },
    Metric {
        name: "falsely refused",
        meaning: "requests refused though they fitted among what this limiter admitted in the window before; –: no limit per window, as \
                  a spending cap",
        better: Better::Lower,
        main: None,
        value: |e| e.row.falsely_refused.map(|requests| requests as f64),
        text: |e| e.row.falsely_refused.map_or_else(|| "–".to_owned(), number::count),
    },
    Metric {
        name: "peak in W/10",
        meaning: "most permits started in any tenth of a window: seen / can reach; –: each key has its own limiter",
        better: Better::Neither,
        main: None,
        value: |e| (e.row.scope != "per-key").then_some(e.row.peak_tenth as f64),
        text: |e| match e.row.scope.as_str() {
            // What was measured is of all keys together, which no limiter promised anything about.
            "per-key" => "–".to_owned(),
            _ => seen(e.row.peak_tenth, e.row.peak_tenth_bound, &e.row.meter),
        },
    },
    Metric {
        name: "sigma",
        meaning: "least bucket that, refilled at the limit per window, the started stream never overflows",
        better: Better::Neither,
        main: None,
        value: |e| Some(e.row.sigma as f64),
        text: |e| number::amount(e.row.sigma, &e.row.meter),
    },
    Metric {
        name: "first refusal",
        meaning: "when the first request was refused, counted from the start",
        better: Better::Neither,
        main: None,
        value: |e| e.row.first_refusal_ns.map(|ns| ns as f64),
        text: |e| time(e.row.first_refusal_ns, "never"),
    },
    Metric {
        name: "longest streak",
        meaning: "most refusals in a row",
        better: Better::Lower,
        main: None,
        value: |e| Some(e.row.longest_refusal_streak as f64),
        text: |e| number::count(e.row.longest_refusal_streak),
    },
    Metric {
        name: "recovery",
        meaning: "longest time from the last refusal of a streak to the next admission",
        better: Better::Neither,
        main: None,
        value: |e| e.row.recovery_ns.map(|ns| ns as f64),
        text: |e| time(e.row.recovery_ns, "–"),
    },
    Metric {
        name: "delayed",
        meaning: "requests admitted that had to wait",
        better: Better::Neither,
        main: None,
        value: |e| Some(e.row.delayed as f64),
        text: |e| number::count(e.row.delayed),
    },
    Metric {
        name: "longest wait",
        meaning: "longest time between asking and starting",
        better: Better::Lower,
        main: None,
        value: |e| e.row.wait_max_ns.map(|ns| ns as f64),
        text: |e| time(e.row.wait_max_ns, "–"),
    },
    Metric {
        name: "gap CV",
        meaning: "coefficient of variation of the gaps between starts: 0 is an even flow, 1 as random as Poisson",
        better: Better::Lower,
        main: None,
        value: |e| e.row.gap_cv,
        text: |e| fraction(e.row.gap_cv),
    },
    Metric {
        name: "fairness",
        meaning: "Jain's index over keys against the max-min fair share: 1 is fair",
        better: Better::Higher,
        main: None,
        value: |e| e.row.fairness,
        text: |e| fraction(e.row.fairness),
    },
    Metric {
        name: "honest hints",
        meaning: "share of sampled refusals whose retry-after was admitted when obeyed and refused 1 ns earlier",
        better: Better::Higher,
        main: None,
        value: |e| e.row.hint_honest_ratio,
        text: |e| e.row.hint_honest_ratio.map_or_else(|| "–".to_owned(), number::percent),
    },
    Metric {
        name: "tokens lost",
        meaning: "permits that overflowed a full bucket",
        better: Better::Lower,
        main: None,
        value: |e| e.row.tokens_lost.map(|tokens| tokens as f64),
        text: |e| e.row.tokens_lost.map_or_else(|| "–".to_owned(), number::count),
    },
];

/// Entries that may be compared with each other.
#[derive(Debug)]
pub struct Section<'a> {
    /// What they have in common.
    pub title: &'static str,
    /// What that means here.
    pub lead: String,
    /// Whether a best value may be marked: only under one and the same guarantee is "more admitted" better.
    pub ranked: bool,
    /// The entries, in registry order.
    pub entries: Vec<Entry<'a>>,
    /// Its columns.
    pub metrics: &'static [Metric],
}

/// The report's entries by comparison: equal guarantee first, then equal quota, then variants. Empty ones are left out.
pub fn sections(report: &Report) -> Vec<Section<'_>> {
    let (limit, window) = match report.quota() {
        Some((limit, window)) => (number::count(limit), number::duration(window as f64)),
        None => ("the limit".to_owned(), "window".to_owned()),
    };
    let tuned = format!("Each algorithm tuned so that it can never pass {limit} in any {window}.");
    let given = format!("Each algorithm given {limit} per {window} and its own way to keep it; some let more pass.");
    let compared = [
        ("equal-guarantee", "Equal guarantee", tuned, true),
        ("equal-quota", "Equal quota", given, false),
        ("variant", "Variants", "What the scenario sets up itself.".to_owned(), false),
    ]
    .into_iter()
    .map(|(comparison, title, lead, ranked)| {
        let rows = report.tables.summary.iter().filter(|row| group(row) == comparison);
        Section { title, lead, ranked, entries: rows.map(|row| entry(report, row)).collect(), metrics: METRICS }
    });
    std::iter::once(money(report)).chain(compared).filter(|section| !section.entries.is_empty()).collect()
}

/// What clients came to behind each limiter: the first table, where there are clients.
fn money(report: &Report) -> Section<'_> {
    let rows: Vec<&SummaryRow> = report.tables.summary.iter().filter(|row| row.cost_spent_microusd.is_some()).collect();
    let unprotected = rows.first().and_then(|row| row.cost_unprotected_microusd).map(number::dollars);
    let lead = format!(
        "The same clients behind each limiter, from the same seed; without a guard they spend {}. Saved is against that, and \
         negative where the guard raises the bill.",
        unprotected.unwrap_or_default()
    );
    let entries = rows.into_iter().map(|row| entry(report, row)).collect();
    Section { title: "Clients and money", lead, ranked: false, entries, metrics: money::METRICS }
}

/// The comparison `row` belongs to: whatever is neither equal quota nor equal guarantee varies something.
pub fn group(row: &SummaryRow) -> &'static str {
    ["equal-guarantee", "equal-quota"].into_iter().find(|known| row.comparison == *known).unwrap_or("variant")
}

fn entry<'a>(report: &'a Report, row: &'a SummaryRow) -> Entry<'a> {
    // Overhead is measured for the entries as the scenario gives them, not for those tuned to a guarantee.
    let measured = row.comparison != "equal-guarantee";
    let decision_ns = if measured { overhead::ns(&report.tables.overhead, &row.limiter, "scenario") } else { None };
    Entry { row, decision_ns }
}

impl Section<'_> {
    /// The main columns that say something here.
    pub fn main(&self) -> Vec<&'static Metric> {
        self.metrics.iter().filter(|metric| metric.main.is_some() && self.says(metric)).collect()
    }

    /// The other columns that say something here.
    pub fn details(&self) -> Vec<&'static Metric> {
        self.metrics.iter().filter(|metric| metric.main.is_none() && self.says(metric)).collect()
    }

    fn says(&self, metric: &Metric) -> bool {
        self.entries.iter().any(|entry| !matches!((metric.text)(entry).as_str(), "" | "–"))
    }

    /// Whether `entry` has the best value of `metric` here. Nobody has where all are equal or the section is not ranked.
    pub fn is_best(&self, metric: &Metric, entry: &Entry<'_>) -> bool {
        let values = || self.entries.iter().filter_map(metric.value);
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        let best = match metric.better {
            Better::Higher => most,
            Better::Lower => least,
            Better::Neither => return false,
        };
        self.ranked && least < most && (metric.value)(entry) == Some(best)
    }
}

fn with_share(part: u64, whole: u64) -> String {
    match whole {
        0 => number::count(part),
        _ => format!("{} ({})", number::count(part), number::share(part, whole)),
    }
}

fn seen(seen: u64, bound: Option<u64>, meter: &str) -> String {
    let bound = bound.map_or_else(|| "–".to_owned(), |bound| number::amount(bound, meter));
    format!("{} / {bound}", number::amount(seen, meter))
}

fn time(ns: Option<u64>, none: &str) -> String {
    ns.map_or_else(|| none.to_owned(), |ns| number::duration(ns as f64))
}

fn fraction(value: Option<f64>) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.3}"))
}
