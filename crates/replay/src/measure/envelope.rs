//! The admission envelope: the most permits started in any half-open window of each length, exactly.
//!
//! Network calculus calls it the minimal arrival curve. The supremum over all windows of length τ is attained by one whose
//! right end is an event, so it is enough to look back from each start. Let M be the largest amount seen for τ. While every
//! start is one permit, a new start can raise M by one at most, and does so iff the start M places back is less than τ old:
//! one comparison for each start and τ, with no cursor to move. Starts of several permits use prefix sums and, per τ, a
//! cursor that moves only when the sum since its stale place could beat M.
//!
//! Memory: the starts of the longest window that is still measured; a window that would need more than the budget is given
//! up and reported as such, never approximated.

use super::lookback::raise;
use limiters::Nanos;

/// The largest amount of permits within each of a set of window lengths.
#[derive(Clone, Debug)]
pub struct Envelope {
    windows: Vec<Window>,
    /// Start times, oldest first, and the permits started before each one.
    at: Vec<Nanos>,
    before: Vec<u64>,
    total: u64,
    unit: bool,
    budget: usize,
    /// Windows up to this length are never given up.
    kept: Nanos,
}

#[derive(Clone, Debug)]
struct Window {
    tau: Nanos,
    most: u64,
    /// Index into the history from which the window is counted; used once costs differ from 1.
    cursor: usize,
    given_up: bool,
}

impl Envelope {
    /// Bytes that a remembered start takes at most: its time and what was started before it, in lists of which a third is
    /// what no window needs any more and an eighth is room.
    pub const START_BYTES: usize = 28;

    /// Measures windows of the lengths `taus` (each at least 1 ns), remembering at most `budget` starts for those longer
    /// than `kept`. Shorter ones are always measured.
    pub fn new(taus: &[Nanos], budget: usize, kept: Nanos) -> Envelope {
        let windows = taus.iter().map(|&tau| Window { tau, most: 0, cursor: 0, given_up: false }).collect();
        Envelope { windows, at: Vec::new(), before: Vec::new(), total: 0, unit: true, budget: budget.max(1024), kept }
    }

    /// Takes starts in time order. `at` and `cost` have the same length.
    pub fn observe(&mut self, at: &[Nanos], cost: &[u64]) {
        if self.unit && cost.iter().all(|&cost| cost == 1) {
            return self.observe_unit(at);
        }
        let first_new = self.at.len();
        if self.unit {
            // Everything younger than a window is among its last `most` starts, so these are valid stale cursors.
            for window in &mut self.windows {
                window.cursor = first_new - window.most as usize;
            }
            self.unit = false;
            // Until here one start was one permit.
            self.before.extend(self.total - first_new as u64..self.total);
        }
        make_room(&mut self.at, at.len());
        make_room(&mut self.before, at.len());
        self.at.extend_from_slice(at);
        for &cost in cost {
            self.before.push(self.total);
            self.total += cost;
        }
        for window in self.windows.iter_mut().filter(|window| !window.given_up) {
            window.move_cursor(&self.at, &self.before, self.total, first_new);
        }
        self.forget();
    }

    /// Takes starts of one permit each in time order.
    pub fn observe_unit(&mut self, at: &[Nanos]) {
        if !self.unit {
            return self.observe(at, &vec![1; at.len()]);
        }
        let first_new = self.at.len();
        make_room(&mut self.at, at.len());
        self.at.extend_from_slice(at);
        self.total += at.len() as u64;
        for window in self.windows.iter_mut().filter(|window| !window.given_up) {
            window.most = raise(&self.at, first_new, window.most as usize, window.tau) as u64;
        }
        self.forget();
    }

    /// Drops starts that no window can reach any more, and the longest windows when what is left passes the budget.
    fn forget(&mut self) {
        let end = self.at.len();
        let unit = self.unit;
        let needed = |windows: &[Window]| {
            windows.iter().filter(|window| !window.given_up).map(|w| w.reach(end, unit)).max().unwrap_or(0)
        };
        while needed(&self.windows) > self.budget {
            let long = self.windows.iter_mut().filter(|window| !window.given_up && window.tau > self.kept);
            let Some(longest) = long.max_by_key(|window| window.tau) else { break };
            longest.given_up = true;
        }
        let keep = needed(&self.windows);
        if end > keep + keep / 2 + 4096 {
            let drop = end - keep;
            self.at.drain(..drop);
            if !self.unit {
                self.before.drain(..drop);
            }
            for window in &mut self.windows {
                window.cursor = window.cursor.saturating_sub(drop);
            }
        }
    }

    /// Most permits in a half-open window of length `tau`; `None` when it is not measured or was given up.
    pub fn most(&self, tau: Nanos) -> Option<u64> {
        self.windows.iter().find(|window| window.tau == tau && !window.given_up).map(|window| window.most)
    }

    /// Window lengths that were given up because they needed more memory than the budget.
    pub fn given_up(&self) -> impl Iterator<Item = Nanos> + '_ {
        self.windows.iter().filter(|window| window.given_up).map(|window| window.tau)
    }
}

/// Makes room for `more` values. A list that doubled would take twice the memory that its budget is made for.
fn make_room(list: &mut Vec<u64>, more: usize) {
    if list.capacity() - list.len() < more {
        list.reserve_exact(more.max(list.len() / 8));
    }
}

impl Window {
    /// How many of the last starts this window may look at again.
    fn reach(&self, end: usize, unit: bool) -> usize {
        if unit { self.most as usize } else { end - self.cursor }
    }

    fn move_cursor(&mut self, at: &[Nanos], before: &[u64], total: u64, first_new: usize) {
        for index in first_new..at.len() {
            let through = before.get(index + 1).copied().unwrap_or(total);
            if through - before[self.cursor] <= self.most {
                continue;
            }
            while at[index] - at[self.cursor] >= self.tau {
                self.cursor += 1;
            }
            self.most = self.most.max(through - before[self.cursor]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn brute(starts: &[(Nanos, u64)], tau: Nanos) -> u64 {
        let until = |i: usize| starts[..=i].iter().filter(|(t, _)| starts[i].0 - t < tau).map(|(_, c)| c).sum();
        (0..starts.len()).map(until).max().unwrap_or(0)
    }

    proptest! {
        #[test]
        fn equals_brute_force(
            gaps in prop::collection::vec((0u64..6, prop_oneof![4 => Just(1u64), 1 => 0u64..9]), 0..300),
            taus in prop::collection::vec(1u64..60, 1..6),
            block in 1usize..40,
            units in any::<bool>(),
        ) {
            let mut now = 0;
            let starts: Vec<(Nanos, u64)> = gaps.iter().map(|&(gap, cost)| {
                now += gap;
                (now, if units { 1 } else { cost })
            }).collect();
            let mut envelope = Envelope::new(&taus, usize::MAX, 0);
            for block in starts.chunks(block) {
                let (at, cost): (Vec<_>, Vec<_>) = block.iter().copied().unzip();
                envelope.observe(&at, &cost);
            }
            for &tau in &taus {
                prop_assert_eq!(envelope.most(tau), Some(brute(&starts, tau)), "tau {}", tau);
            }
        }
    }

    #[test]
    fn a_long_history_is_forgotten_and_still_exact() {
        let mut envelope = Envelope::new(&[10, 1000], usize::MAX, 0);
        for block in 0..200u64 {
            let at: Vec<Nanos> = (0..100).map(|i| block * 1000 + i * 10).collect();
            envelope.observe(&at, &vec![1; 100]);
        }
        assert_eq!((envelope.most(10), envelope.most(1000)), (Some(1), Some(100)));
        assert!(envelope.at.len() < 5000);
        envelope.observe(&[200_001, 200_002], &[3, 5]);
        assert_eq!(envelope.most(10), Some(8));
    }

    #[test]
    fn a_window_over_budget_is_given_up_and_says_so() {
        let mut envelope = Envelope::new(&[10, 1_000_000], 2000, 10);
        let at: Vec<Nanos> = (0..5000).map(|i| i * 10).collect();
        envelope.observe(&at, &vec![1; 5000]);
        assert_eq!((envelope.most(10), envelope.most(1_000_000)), (Some(1), None));
        assert_eq!(envelope.given_up().collect::<Vec<_>>(), [1_000_000]);
    }
}
