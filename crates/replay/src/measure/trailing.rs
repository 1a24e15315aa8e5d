//! The permits admitted in the trailing window (t − W, t], followed request by request.
//!
//! While every admission is one permit, sums are distances between places in a list of times, and most questions are one
//! look at the place so many admissions back.

use super::lookback::raise;
use limiters::Nanos;

/// A queue of admissions with the sum of those younger than the window.
#[derive(Clone, Debug)]
pub struct Trailing {
    window: Nanos,
    at: Vec<Nanos>,
    /// Empty while every cost is 1.
    cost: Vec<u64>,
    unit: bool,
    oldest: usize,
    sum: u64,
}

/// Refusals of a block that were judged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Judged {
    /// Those that are refused now and could pass later.
    pub refused: u64,
    /// Those of them that fitted among what was admitted in the trailing window.
    pub falsely: u64,
}

impl Trailing {
    /// Nothing admitted yet.
    pub fn new(window: Nanos) -> Trailing {
        Trailing { window, at: Vec::new(), cost: Vec::new(), unit: true, oldest: 0, sum: 0 }
    }

    /// The sum over (now − W, now]. `now` never goes back.
    #[inline]
    pub fn sum(&mut self, now: Nanos) -> u64 {
        while let Some(&at) = self.at.get(self.oldest)
            && now - at >= self.window
        {
            self.sum -= if self.unit { 1 } else { self.cost[self.oldest] };
            self.oldest += 1;
        }
        self.sum
    }

    /// Adds an admission at `now`, and returns the sum with it.
    #[inline]
    pub fn add(&mut self, now: Nanos, cost: u64) -> u64 {
        self.sum(now);
        self.forget();
        if self.unit && cost != 1 {
            self.cost.resize(self.at.len(), 1);
            self.unit = false;
        }
        if !self.unit {
            self.cost.push(cost);
        }
        self.at.push(now);
        self.sum += cost;
        self.sum
    }

    /// Whether every admission so far was one permit.
    pub fn is_unit(&self) -> bool {
        self.unit
    }

    /// Takes a block of requests of one permit each, while all before were such too: times, whether each was admitted,
    /// and whether it was refused for now. The admissions of the block can then be had from [`Trailing::newest`].
    pub fn block(&mut self, at: &[Nanos], limit: u64, answers: impl Iterator<Item = (bool, bool)>) -> (usize, Judged) {
        debug_assert!(self.unit, "costs other than 1 need their sums");
        let before = self.at.len();
        self.at.resize(before + at.len(), 0);
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let (list, mut next) = (&mut self.at[..], before);
        let mut judged = Judged::default();
        for (&now, (admitted, refused)) in at.iter().zip(answers) {
            // It fits iff the admission `limit` places back has left the window. Those no longer listed have.
            let fits = match next.checked_sub(limit) {
                Some(back) => now - list[back] >= self.window,
                None => true,
            };
            judged.refused += u64::from(refused);
            judged.falsely += u64::from(refused & fits);
            list[next] = now;
            next += usize::from(admitted);
        }
        self.at.truncate(next);
        (next - before, judged)
    }

    /// The last `count` admissions, and the largest sum over a trailing window that ends at one of them.
    pub fn newest(&mut self, count: usize) -> (u64, &[Nanos]) {
        let first = self.at.len() - count;
        let Some(&now) = self.at.get(first) else { return (0, &[]) };
        self.oldest += self.at[self.oldest..first].partition_point(|&at| now - at >= self.window);
        let most = raise(&self.at, first + 1, first + 1 - self.oldest, self.window);
        self.sum = (self.at.len() - self.oldest) as u64;
        (most as u64, &self.at[first..])
    }

    /// Drops what has left the window when that is most of the list: each admission is moved once on average. A list per
    /// key is short, and there may be a million of them, so few dropped ones are worth it.
    pub fn forget(&mut self) {
        if self.oldest == self.at.len() {
            self.at.clear();
            self.cost.clear();
            self.oldest = 0;
        } else if self.oldest > 8 && self.oldest * 2 > self.at.len() {
            self.at.drain(..self.oldest);
            self.cost.drain(..self.oldest.min(self.cost.len()));
            self.oldest = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Blocks of unit costs say what request by request says, whatever comes before and after.
        #[test]
        fn blocks_equal_single_requests(
            gaps in prop::collection::vec((0u64..9, any::<bool>(), any::<bool>()), 1..400),
            window in 1u64..60,
            limit in 1u64..12,
            block in 1usize..50,
            after in prop::collection::vec((0u64..9, 1u64..5), 0..20),
        ) {
            let (mut fast, mut slow) = (Trailing::new(window), Trailing::new(window));
            let mut now = 0;
            for block in gaps.chunks(block) {
                let mut at = Vec::new();
                let (mut admissions, mut most, mut judged) = (Vec::new(), 0, Judged::default());
                for &(gap, admitted, never) in block {
                    now += gap;
                    at.push(now);
                    if admitted {
                        admissions.push(now);
                        most = most.max(slow.add(now, 1));
                    } else if !never {
                        judged.refused += 1;
                        judged.falsely += u64::from(slow.sum(now) < limit);
                    }
                }
                let answers = block.iter().map(|&(_, admitted, never)| (admitted, !admitted && !never));
                let (count, seen) = fast.block(&at, limit, answers);
                prop_assert_eq!(seen, judged);
                prop_assert_eq!(fast.newest(count), (most, &admissions[..]));
                fast.forget();
            }
            for (gap, cost) in after {
                now += gap;
                prop_assert_eq!(fast.add(now, cost), slow.add(now, cost));
            }
        }
    }
}
