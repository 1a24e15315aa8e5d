//! The frontier: what a limit saves of what rogue keys would have cost, against the useful work it refuses.

use super::family::{Given, Sizable};
use super::{Demand, Share, sigma};
use crate::inspect::Metered;
use limiters::Rate;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use traffic::TrafficError;

/// `frontier.csv`: one row for each setting that was tried.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs)] // a column whose name says it all has no comment
pub struct FrontierRow {
    pub limit: u64,
    pub window_ns: u64,
    /// A bucket's capacity; empty for windows.
    pub burst: Option<u64>,
    /// What rogue keys asked for and did not get, in `unit`.
    pub saved: u64,
    pub rogue: u64,
    /// What legitimate keys asked for and did not get.
    pub lost: u64,
    pub legit: u64,
    /// Micro-dollars, tokens or permits: the first of them that the file has.
    pub unit: String,
    /// Whether no other setting saves as much and loses less, or loses as little and saves more.
    pub frontier: bool,
}

/// Who is who, and what each request is worth.
pub struct Sides<'a> {
    /// For each key whether what it does is waste.
    pub rogue: &'a [bool],
    /// For each key whether what it does is useful.
    pub legit: &'a [bool],
    /// The same requests with what each is worth; `None` for their permits.
    pub worth: Option<&'a Metered>,
    /// In what.
    pub unit: &'a str,
}

/// Values that are tried for each rate or window, by a factor of about 1.3.
fn values(most: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(1u64), |&value| (value + value.div_ceil(3)).into())
        .take_while(move |&value| value <= most)
        .chain([most])
}

/// Tries settings from the tightest to one that refuses nobody.
///
/// # Errors
/// When the requests cannot be read back.
pub fn frontier(
    demand: &Demand,
    sized: &Sizable,
    given: &[Given],
    sides: &Sides<'_>,
) -> Result<Vec<FrontierRow>, TrafficError> {
    let mut settings: Vec<(Given, u64)> = Vec::new();
    for &one in given {
        let most = match Rate::new(one.limit, one.window).filter(|_| sized.obeys_sigma) {
            Some(rate) => sigma(demand, rate)?,
            None if sized.obeys_sigma => 1,
            None => super::least(demand, sized, one, (0, 1))?.unwrap_or(1),
        };
        settings.extend(values(most).map(|value| (one, value)));
    }
    let tried = settings.into_par_iter().map(|(one, value)| {
        let Some(rule) = one.rule(sized, value) else { return Ok(None) };
        let quota = one.quota(sized.family, value);
        let mut row = FrontierRow {
            limit: quota.limit,
            window_ns: quota.window,
            burst: (sized.family == super::Family::Bucket).then_some(value),
            unit: sides.unit.into(),
            ..FrontierRow::default()
        };
        let mut worth = sides.worth.map(Metered::pass);
        demand.replay(rule.as_ref(), |asked, outcome| {
            let key = asked.key as usize;
            let worth = match &mut worth {
                Some(worth) => worth.next_row()?.map_or(0, |row| row.amount),
                None => asked.amount,
            };
            let lost = if outcome.passes() { 0 } else { worth };
            if sides.rogue[key] {
                (row.rogue, row.saved) = (row.rogue.saturating_add(worth), row.saved.saturating_add(lost));
            } else if sides.legit[key] {
                (row.legit, row.lost) = (row.legit.saturating_add(worth), row.lost.saturating_add(lost));
            }
            Ok(())
        })?;
        Ok(Some(row))
    });
    let mut rows: Vec<FrontierRow> = tried.filter_map(Result::transpose).collect::<Result<_, TrafficError>>()?;
    mark(&mut rows);
    Ok(rows)
}

/// Marks what nothing else beats.
fn mark(rows: &mut [FrontierRow]) {
    let points: Vec<(i128, i128)> = rows.iter().map(|row| (row.lost.into(), row.saved.into())).collect();
    for index in unbeaten(&points) {
        rows[index].frontier = true;
    }
}

/// The points (lost, saved) that no other beats: sorted by what is lost, each that saves more than all before it.
pub(super) fn unbeaten(points: &[(i128, i128)]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by_key(|&index| (points[index].0, std::cmp::Reverse(points[index].1)));
    let mut most = None;
    order.retain(|&index| {
        let more = most.is_none_or(|most| points[index].1 > most);
        if more {
            most = Some(points[index].1);
        }
        more
    });
    order
}

/// The row that saves most, and not nothing, among those that lose at most this share of the useful work; of equal ones the
/// one that loses least.
pub fn recommended(rows: &[FrontierRow], (part, whole): Share) -> Option<&FrontierRow> {
    let bearable =
        |row: &&FrontierRow| u128::from(row.lost) * u128::from(whole) <= u128::from(part) * u128::from(row.legit);
    let saving = rows.iter().filter(|row| row.frontier && row.saved > 0).filter(bearable);
    saving.max_by_key(|row| (row.saved, std::cmp::Reverse(row.lost)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frontier_is_what_nothing_beats() {
        let row = |saved, lost| FrontierRow { saved, lost, legit: 100, ..FrontierRow::default() };
        let mut rows = [row(5, 0), row(4, 0), row(9, 2), row(9, 3), row(8, 1), row(8, 2)];
        mark(&mut rows);
        let kept: Vec<_> = rows.iter().filter(|row| row.frontier).map(|row| (row.saved, row.lost)).collect();
        assert_eq!(kept, [(5, 0), (9, 2), (8, 1)]);
        assert_eq!(recommended(&rows, (1, 100)).map(|row| row.saved), Some(8));
        assert_eq!(recommended(&rows, (0, 1)).map(|row| row.saved), Some(5));
        assert_eq!(recommended(&[FrontierRow { frontier: true, ..row(0, 0) }], (1, 1)), None);
    }

    #[test]
    fn values_end_at_the_most() {
        assert_eq!(values(1).collect::<Vec<_>>(), [1, 1]);
        assert_eq!(values(10).collect::<Vec<_>>(), [1, 2, 3, 4, 6, 8, 10]);
    }
}
