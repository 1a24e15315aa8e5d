//! The exact sliding log for starts of one permit each: what it refuses of a stream.
//!
//! With unit costs the log admits iff the start it admitted N places back has left the window, so it is a list and one look
//! at it per start.

use limiters::Nanos;

/// Times that the log admitted; those that have left the window are dropped now and then.
#[derive(Clone, Debug)]
pub struct UnitLog {
    limit: usize,
    window: Nanos,
    at: Vec<Nanos>,
    /// Length at which old times are dropped next.
    full: usize,
}

/// Times kept before any are dropped.
const KEPT: usize = 8_192;

impl UnitLog {
    /// A log of `limit` permits in any half-open `window`.
    pub fn new(limit: u64, window: Nanos) -> UnitLog {
        UnitLog { limit: usize::try_from(limit).unwrap_or(usize::MAX), window, at: Vec::new(), full: KEPT }
    }

    /// How many of these starts, in time order, the log refuses.
    pub fn refused(&mut self, starts: &[Nanos]) -> u64 {
        let Some(&first) = starts.first() else { return 0 };
        if self.at.len() >= self.full {
            self.at.drain(..self.at.partition_point(|&at| first - at >= self.window));
            self.full = (self.at.len() * 2).max(KEPT);
        }
        let before = self.at.len();
        self.at.resize(before + starts.len(), 0);
        let (list, mut next) = (&mut self.at[..], before);
        for &now in starts {
            let fits = match next.checked_sub(self.limit) {
                Some(back) => now - list[back] >= self.window,
                // There are fewer, or those before have left the window.
                None => true,
            };
            list[next] = now;
            next += usize::from(fits);
        }
        self.at.truncate(next);
        (starts.len() - (next - before)) as u64
    }

    /// What it admitted and may still count.
    pub fn admitted(&self) -> &[Nanos] {
        &self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use limiters::{Limiter, Outcome, Plain, SlidingWindowLog};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn refuses_what_the_log_refuses(
            gaps in prop::collection::vec(0u64..9, 1..400),
            window in 1u64..60,
            limit in 1u64..12,
            block in 1usize..50,
            kept in 1usize..40,
        ) {
            let mut now = 0;
            let starts: Vec<Nanos> = gaps.iter().map(|gap| { now += gap; now }).collect();
            let mut log = Plain::new(SlidingWindowLog::new(limit, window));
            let mut unit = UnitLog { full: kept, ..UnitLog::new(limit, window) };
            for block in starts.chunks(block) {
                let refused = block.iter().filter(|&&at| log.try_acquire(at, 1) != Outcome::Admitted).count();
                prop_assert_eq!(unit.refused(block), refused as u64);
                unit.full = unit.full.min(kept);
            }
        }
    }
}
