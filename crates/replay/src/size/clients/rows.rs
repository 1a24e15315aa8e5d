//! `frontier.csv` of clients: one row for each setting that was played, and which of them is worth taking.

use super::varied::Setting;
use super::{Kind, Sides, Varied};
use crate::money::UNPROTECTED;
use crate::rows::ClientRow;
use crate::run::Run;
use crate::size::frontier::unbeaten;
use crate::size::{Family, Given, Share, Sizable};
use serde::{Deserialize, Serialize};

/// A setting with what the clients came to behind it. Saved and lost are signed: a brake may raise the bill, and a limiter may let
/// more useful work through than rogues leave without one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // a column whose name says it all has no comment
pub struct ClientsRow {
    /// Permits per window_ns: a bucket's refill, a window's limit, or a budget.
    pub limit: u64,
    /// Empty for a budget, which is not refilled.
    pub window_ns: Option<u64>,
    /// A bucket's capacity; empty for windows and budgets.
    pub burst: Option<u64>,
    /// What the rogue clients' bill falls by against no limiter.
    pub saved: i64,
    /// Their bill without a limiter.
    pub rogue: u64,
    /// Useful calls not made, of those there are without a limiter and without rogues (a rogue's own useful ones: with rogues).
    pub lost: i64,
    pub legit: u64,
    /// Of saved and rogue: micro-dollars, or wasted calls where no rogue call costs anything. lost and legit are calls.
    pub unit: String,
    /// Whether no other setting saves as much and loses less, or loses as little and saves more.
    pub frontier: bool,
    pub recommended: bool,
    pub seed: u64,
    pub algorithm: String,
    pub meter: String,
    /// `global` or `per-key`.
    pub scope: String,
    /// Calls of rogue, and of legitimate clients that were refused.
    pub rogue_refused: u64,
    pub legit_refused: u64,
    /// As in summary.csv: over all clients, those on neither side included.
    pub cost_saved_microusd: i64,
    pub useful_lost_ratio: Option<f64>,
    /// How much later the last useful call came than it would have.
    pub useful_later_ns: Option<u64>,
    /// Part of legit: the rogues' own.
    pub rogue_useful: u64,
}

/// The row of a setting, or of no limiter at all.
pub(super) fn row(run: &Run, sides: &Sides, varied: &Varied, setting: Option<Setting>) -> ClientsRow {
    let label = match setting {
        Some(setting) => varied.name(setting),
        None => UNPROTECTED.to_owned(),
    };
    let of = |label: &str, side: &[String]| -> Vec<ClientRow> {
        let own = run.clients.iter().filter(|row| row.limiter == label && side.contains(&row.client));
        own.cloned().collect()
    };
    let (rogue, legit) = (of(&label, &sides.rogue), of(&label, &sides.legit));
    let free = of(UNPROTECTED, &sides.rogue);
    let sum = |rows: &[ClientRow], of: fn(&ClientRow) -> u64| rows.iter().map(of).fold(0, u64::saturating_add);
    let less =
        |more: u64, less: u64| (i128::from(more) - i128::from(less)).clamp(i64::MIN.into(), i64::MAX.into()) as i64;
    let bill = sum(&rogue, |row| row.unprotected_microusd);
    let (unit, whole, left) = match bill {
        0 => ("wasted calls", sum(&free, |row| row.wasted_calls), sum(&rogue, |row| row.wasted_calls)),
        bill => ("micro-dollars", bill, sum(&rogue, |row| row.spent_microusd)),
    };
    let both = || rogue.iter().chain(&legit).cloned().collect::<Vec<_>>();
    let (done, reference) = (sum(&both(), |row| row.useful_calls), sum(&both(), |row| row.useful_reference));
    let later = rogue
        .iter()
        .zip(&free)
        .filter_map(|(row, free)| Some(row.last_useful_ns?.saturating_sub(free.last_useful_ns?)));
    let later = later.max();
    let summary = run.summary.iter().find(|row| row.limiter == label);
    let quota = setting.map(|setting| varied.quota(setting));
    let bucket = matches!(varied.kind, Kind::Sized(Sizable { family: Family::Bucket, .. }));
    ClientsRow {
        limit: quota.map_or(0, |quota| quota.limit),
        window_ns: quota.filter(|_| matches!(varied.kind, Kind::Sized(_))).map(|quota| quota.window),
        burst: quota.filter(|_| bucket).map(|quota| quota.burst),
        saved: less(whole, left),
        rogue: whole,
        lost: less(reference, done),
        legit: reference,
        unit: unit.to_owned(),
        frontier: false,
        recommended: false,
        seed: run.summary.first().map_or(0, |row| row.seed),
        algorithm: varied.algorithm().to_owned(),
        meter: varied.meter().name().to_owned(),
        scope: if varied.per_key() { "per-key" } else { "global" }.to_owned(),
        rogue_refused: sum(&rogue, |row| row.refused),
        legit_refused: sum(&legit, |row| row.refused),
        cost_saved_microusd: summary.and_then(|row| row.cost_saved_microusd).unwrap_or(0),
        useful_lost_ratio: summary.and_then(|row| row.useful_lost_ratio),
        useful_later_ns: later.max(summary.and_then(|row| row.finished_later_ns)),
        rogue_useful: sum(&rogue, |row| row.useful_reference),
    }
}

/// Marks what nothing else beats; of settings that save and lose the same, the one that refuses legitimate clients least.
pub(super) fn mark(rows: &mut [ClientsRow]) {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|&index| rows[index].legit_refused);
    let points: Vec<(i128, i128)> =
        order.iter().map(|&index| (rows[index].lost.into(), rows[index].saved.into())).collect();
    for place in unbeaten(&points) {
        rows[order[place]].frontier = true;
    }
}

/// The row that saves most among those that may be lost by; of equal ones the first. `None` where that is not worth a limiter.
pub(super) fn recommended(rows: &[ClientsRow], without: &ClientsRow, allowed: Share) -> Option<usize> {
    let able = (0..rows.len()).filter(|&index| {
        let row = &rows[index];
        row.frontier && row.saves() && row.bearable(without, allowed)
    });
    able.max_by_key(|&index| (rows[index].saved, std::cmp::Reverse(index)))
}

impl ClientsRow {
    /// What is given of its setting.
    pub fn given(&self) -> Given {
        Given { limit: self.limit, window: self.window_ns.unwrap_or(1) }
    }

    /// What is chosen to it: a burst, a limit or a budget.
    pub fn value(&self) -> u64 {
        self.burst.unwrap_or(self.limit)
    }

    /// Whether it saves a hundredth or more of what rogues cost: below that it is the luck of a seed.
    pub fn saves(&self) -> bool {
        self.saved > 0 && i128::from(self.saved) * 100 >= i128::from(self.rogue)
    }

    /// Whether it loses at most this share of the useful work, or no more than rogues take anyway where no limiter is.
    pub fn bearable(&self, without: &ClientsRow, (part, whole): Share) -> bool {
        self.lost <= without.lost
            || i128::from(self.lost) * i128::from(whole) <= i128::from(part) * i128::from(self.legit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rogues_take_anyway_may_be_lost() {
        let row = |saved, lost| ClientsRow { saved, lost, rogue: 400, legit: 100, ..ClientsRow::default() };
        let mut rows = vec![row(-4, 0), row(3, 1), row(5, 2), row(9, 3), row(9, 3), row(12, 40)];
        mark(&mut rows);
        assert_eq!(rows.iter().map(|row| row.frontier).collect::<Vec<_>>(), [true, true, true, true, false, true]);
        assert_eq!(recommended(&rows, &row(0, 0), (0, 1)), None, "the only one that loses nothing raises the bill");
        assert_eq!(recommended(&rows, &row(0, 1), (0, 1)), None, "three in 400 are nothing");
        assert_eq!(recommended(&rows, &row(0, 2), (0, 1)), Some(2));
        assert_eq!(recommended(&rows, &row(0, 0), (3, 100)), Some(3));
        assert_eq!(recommended(&rows, &row(0, 0), (1, 2)), Some(5));
    }
}
