//! Totals of a minute, an hour or a day spread evenly over their interval, as one request after another.
//!
//! Request i of n, counted from 0, comes at start + ⌊i·L/n⌋ of an interval of length L, and has
//! ⌊(i+1)·T/n⌋ − ⌊i·T/n⌋ of a total T, so that the parts add up to it exactly.

use super::checks::show;
use super::fault::Fault;
use super::format::Notes;
use super::row::Row;
use limiters::Nanos;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Totals that are spread, those of one interval at a time.
#[derive(Default)]
pub(super) struct Spread {
    /// Length of an interval whose end the file does not say.
    length: Nanos,
    /// Name of the column with the numbers of requests.
    column: String,
    /// How many requests each total is taken for, where there is no such column.
    chosen: Option<u64>,
    totals: Vec<Total>,
    /// The next request of each total: when it comes, and whose it is.
    next: BinaryHeap<Reverse<(Nanos, usize)>>,
    /// The first total of the interval after.
    after: Option<Row>,
    spread: u64,
    longest: Nanos,
}

struct Total {
    row: Row,
    requests: u64,
    length: Nanos,
    given: u64,
}

impl Total {
    fn at(&self, index: u64) -> Option<Nanos> {
        self.row.at.checked_add(share(self.length, index, self.requests))
    }
}

/// ⌊`total` · `index` / `of`⌋, which fits since `index` is at most `of`.
fn share(total: u64, index: u64, of: u64) -> u64 {
    (u128::from(total) * u128::from(index) / u128::from(of)) as u64
}

impl Spread {
    /// Nothing yet; intervals have `length` where the file does not say, `column` says how many requests they have, or somebody
    /// has chosen it.
    pub fn over(length: Nanos, column: String, chosen: Option<u64>) -> Spread {
        Spread { length, column, chosen, ..Spread::default() }
    }

    /// Whether `row` belongs to the interval at hand; it is kept for later where it does not.
    pub fn begins(&mut self, row: &Row) -> bool {
        match self.totals.first() {
            Some(first) if first.row.at != row.at => {
                self.after = Some(row.clone());
                false
            }
            _ => true,
        }
    }

    /// Takes a total of the interval at hand.
    pub fn take(&mut self, row: &Row) -> Result<(), Box<Fault>> {
        let column = &self.column;
        let amounts =
            [row.input_tokens, row.output_tokens, row.cache_read_tokens, row.cache_write_tokens, row.microusd];
        let empty = amounts.iter().all(|amount| *amount == 0);
        // A total of nothing has no requests, however many the others are taken for.
        let chosen = self.chosen.map(|chosen| if empty && !row.cost_is_total { 0 } else { chosen });
        let requests = row.requests.or(chosen).ok_or_else(|| {
            Fault::row("missing number of requests", "the number of requests is missing or no whole number")
                .column(column)
        })?;
        let length = match row.end {
            None => self.length,
            Some(end) => end
                .checked_sub(row.at)
                .filter(|length| *length > 0)
                .ok_or_else(|| Fault::row("interval without a length", "the interval does not end after it begins"))?,
        };
        if requests == 0 {
            return match empty {
                true => Ok(()),
                false => Err(Fault::row("total without requests", "0 requests have tokens or a price").column(column)),
            };
        }
        if requests > length {
            let message = format!("{requests} requests within {} are more than one a nanosecond", show(length));
            return Err(Fault::row("total too large", message).column(column));
        }
        let total = Total { row: row.clone(), requests, length, given: 0 };
        if total.at(requests - 1).is_none() {
            return Err(Fault::row("time out of range", "the interval ends after the year 2554"));
        }
        (self.spread, self.longest) = (self.spread + 1, self.longest.max(length));
        self.next.push(Reverse((row.at, self.totals.len())));
        self.totals.push(total);
        Ok(())
    }

    /// The next request of the interval at hand; `false` when all were given.
    pub fn give(&mut self, row: &mut Row) -> bool {
        let Some(Reverse((at, index))) = self.next.pop() else {
            self.totals.clear();
            return false;
        };
        let total = &mut self.totals[index];
        row.clone_from(&total.row);
        row.at = at;
        let (n, of) = (total.given, total.requests);
        for amount in [
            &mut row.input_tokens,
            &mut row.output_tokens,
            &mut row.cache_read_tokens,
            &mut row.cache_write_tokens,
            &mut row.microusd,
        ] {
            *amount = share(*amount, n + 1, of) - share(*amount, n, of);
        }
        if row.cost_is_total {
            row.cost = share(row.cost, n + 1, of) - share(row.cost, n, of);
        }
        total.given += 1;
        if total.given < of {
            // The last one was seen to fit.
            let at = total.at(total.given).unwrap_or(Nanos::MAX);
            self.next.push(Reverse((at, index)));
        }
        true
    }

    /// The total that belongs to the interval after.
    pub fn after(&mut self) -> Option<Row> {
        self.after.take()
    }

    /// Says what was done, and what that is worth.
    pub fn finish(&self, setting: &str, requests: u64, notes: &mut Notes) {
        let (totals, length) = (self.spread, show(self.longest));
        if let Some(chosen) = self.chosen {
            let equals = if setting.starts_with('-') { "=" } else { " = " };
            notes.warning(format!(
                "{setting}{equals}{chosen}: {totals} totals of {length} are spread evenly as {chosen} requests each, a number that no \
                 column has: their tokens in {length} and longer are the file's, and how many requests there are, how large each is, \
                 and all that is shorter than {length} are made up; true peaks are higher, so a limit fitted on this is too tight"
            ));
            return;
        }
        notes.warning(format!(
            "{setting}: {totals} totals of {length} (\"{}\") are spread evenly as {requests} requests: what is shorter than {length} is an artefact; true peaks are higher, so a limit fitted on this is too tight",
            self.column
        ));
    }
}

/// What the first rows of a file say about whether they are totals.
pub(super) enum Looks {
    /// As requests do.
    Requests,
    /// As totals of intervals of this length.
    Totals(Nanos),
    /// As totals, but nothing says how long their intervals are.
    Unclear,
}

const MINUTE: Nanos = 60_000_000_000;

/// Judges the first rows. They are totals when every one has a number of requests, not all of them 1, begins on a whole
/// minute and, where it says so, ends the same whole minutes later; else their times must lie an equal distance apart (or
/// multiples of it), or be of a `named` length.
pub(super) fn looks(rows: &[Row], named: Option<Nanos>) -> Looks {
    let on_minutes = rows.iter().all(|row| row.at.is_multiple_of(MINUTE) && row.requests.is_some());
    if rows.is_empty() || !on_minutes || rows.iter().all(|row| row.requests == Some(1)) {
        return Looks::Requests;
    }
    match interval(rows, named) {
        Some(length) if length.is_multiple_of(MINUTE) => Looks::Totals(length),
        Some(_) => Looks::Requests,
        None => Looks::Unclear,
    }
}

/// The length of the interval that each row stands for; `None` when it cannot be told, as of rows of one time.
pub(super) fn interval(rows: &[Row], named: Option<Nanos>) -> Option<Nanos> {
    let said = |row: &Row| row.end.and_then(|end| end.checked_sub(row.at)).filter(|length| *length > 0);
    if let Some(length) = rows.first().and_then(said) {
        return Some(if rows.iter().all(|row| said(row) == Some(length)) { length } else { 1 });
    }
    let mut times: Vec<Nanos> = rows.iter().map(|row| row.at).collect();
    times.sort_unstable();
    times.dedup();
    let steps = times.windows(2).map(|pair| pair[1] - pair[0]);
    match steps.clone().min() {
        None => named,
        Some(least) => Some(if steps.clone().all(|step| step.is_multiple_of(least)) { least } else { 1 }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn given(spread: &mut Spread) -> Vec<Row> {
        let mut row = Row::default();
        std::iter::from_fn(|| spread.give(&mut row).then(|| row.clone())).collect()
    }

    #[test]
    fn three_in_ten_seconds() {
        let mut spread = Spread { length: 10, ..Spread::default() };
        let row = Row { at: 100, requests: Some(3), input_tokens: 10, cost: 1, ..Row::default() };
        spread.take(&row).unwrap();
        let got: Vec<_> = given(&mut spread).iter().map(|row| (row.at, row.input_tokens, row.cost)).collect();
        assert_eq!(got, [(100, 3, 1), (103, 3, 1), (106, 4, 1)]);
        assert_eq!(spread.take(&Row { requests: Some(11), ..row.clone() }).unwrap_err().reason, "total too large");
        assert_eq!(
            spread.take(&Row { requests: Some(0), ..row.clone() }).unwrap_err().reason,
            "total without requests"
        );
        assert_eq!(spread.take(&Row { requests: None, ..row }).unwrap_err().reason, "missing number of requests");
    }

    #[test]
    fn first_rows_tell_totals_from_requests() {
        let row = |minute: u64, requests| Row { at: minute * MINUTE, requests, ..Row::default() };
        let totals = |rows: &[Row], named| match looks(rows, named) {
            Looks::Totals(length) => Some(length / MINUTE),
            _ => None,
        };
        assert_eq!(totals(&[row(60, Some(5)), row(60, Some(7)), row(120, Some(0)), row(240, Some(1))], None), Some(60));
        assert_eq!(totals(&[row(60, Some(1)), row(120, Some(1))], None), None);
        assert_eq!(totals(&[row(60, Some(2)), row(120, None)], None), None);
        assert_eq!(totals(&[row(60, Some(2)), row(61, Some(2)), row(120, Some(2))], None), Some(1));
        assert_eq!(totals(&[row(60, Some(2)), row(62, Some(2)), row(65, Some(2))], None), None);
        assert!(matches!(looks(&[row(60, Some(2))], None), Looks::Unclear));
        assert_eq!(totals(&[row(60, Some(2))], Some(60 * MINUTE)), Some(60));
        let ends = |minutes: u64| Row { end: Some(minutes * MINUTE), ..row(60, Some(2)) };
        assert_eq!((totals(&[ends(65)], None), totals(&[ends(65), ends(66)], None)), (Some(5), None));
    }

    proptest! {
        /// Every sum is kept, times never go back and lie within the interval, and no distance differs from another by more
        /// than a nanosecond.
        #[test]
        fn sums_are_kept(
            totals in prop::collection::vec((1u64..200, any::<u64>(), any::<u64>(), any::<u64>()), 1..5),
            length in 200u64..1_000_000_000_000_000,
        ) {
            let mut spread = Spread { length, ..Spread::default() };
            for (key, (requests, input, output, price)) in totals.iter().enumerate() {
                let (input_tokens, output_tokens, microusd) = (*input, *output, *price);
                let (key, requests) = (vec![key as u8], Some(*requests));
                let row = Row { at: 1000, key, requests, input_tokens, output_tokens, microusd, ..Row::default() };
                spread.take(&row).unwrap();
            }
            let all = given(&mut spread);
            prop_assert!(all.windows(2).all(|pair| pair[0].at <= pair[1].at));
            for (key, (requests, input, output, price)) in totals.iter().enumerate() {
                let own: Vec<&Row> = all.iter().filter(|row| row.key == [key as u8]).collect();
                prop_assert_eq!(own.len() as u64, *requests);
                prop_assert_eq!(own.iter().map(|row| row.input_tokens).sum::<u64>(), *input);
                prop_assert_eq!(own.iter().map(|row| row.output_tokens).sum::<u64>(), *output);
                prop_assert_eq!(own.iter().map(|row| row.microusd).sum::<u64>(), *price);
                prop_assert!(own[0].at == 1000 && own[own.len() - 1].at < 1000 + length);
                let steps: Vec<Nanos> = own.windows(2).map(|pair| pair[1].at - pair[0].at).collect();
                let (least, most) = (steps.iter().min(), steps.iter().max());
                prop_assert!(least.zip(most).is_none_or(|(least, most)| most - least <= 1));
            }
        }
    }
}
