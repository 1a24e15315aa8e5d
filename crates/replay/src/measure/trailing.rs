//! The permits admitted in the trailing window (t − W, t], followed request by request.

use limiters::Nanos;

/// A queue of admissions with the sum of those younger than the window.
#[derive(Clone, Debug)]
pub struct Trailing {
    window: Nanos,
    at: Vec<Nanos>,
    cost: Vec<u64>,
    oldest: usize,
    sum: u64,
}

impl Trailing {
    /// Nothing admitted yet.
    pub fn new(window: Nanos) -> Trailing {
        Trailing { window, at: Vec::new(), cost: Vec::new(), oldest: 0, sum: 0 }
    }

    /// The sum over (now − W, now]. `now` never goes back.
    #[inline]
    pub fn sum(&mut self, now: Nanos) -> u64 {
        while let Some(&at) = self.at.get(self.oldest)
            && now - at >= self.window
        {
            self.sum -= self.cost[self.oldest];
            self.oldest += 1;
        }
        self.sum
    }

    /// Adds an admission at `now`, and returns the sum with it.
    #[inline]
    pub fn add(&mut self, now: Nanos, cost: u64) -> u64 {
        self.sum(now);
        if self.oldest > 4096 && self.oldest * 2 > self.at.len() {
            self.at.drain(..self.oldest);
            self.cost.drain(..self.oldest);
            self.oldest = 0;
        }
        self.at.push(now);
        self.cost.push(cost);
        self.sum += cost;
        self.sum
    }
}
