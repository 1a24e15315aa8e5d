//! A fixed window in one shared word: threads ask it through a reference, without a lock.
//!
//! Rule: as [`fixed-window`](crate::ALGORITHMS) aligned to the wall clock; a request of cost `c` passes iff what its
//! window has admitted plus `c` is at most the limit. The word holds the number of the window since `origin` in its high
//! bits and what that window admitted in its low bits. One compare-and-swap takes permits; a refusal is one plain load.
//!
//! Range: exact for times in `[origin, origin + horizon]`, which construction checks: the number of windows and the limit
//! must share 64 bits. Later times count as the end of the horizon, whose window never ends: it fails closed. A time in a
//! window before the newest one counts as in the newest, so a clock that steps back admits no more.

use crate::sync::{AtomicU64, Ordering::Relaxed};
use crate::{Level, Limiter, Nanos, Outcome, ParamError};

/// A shared fixed window; `&AtomicFixedWindow` is a [`Limiter`].
#[derive(Debug)]
pub struct AtomicFixedWindow {
    word: AtomicU64,
    limit: u64,
    window: Nanos,
    /// Start of window 0: the last edge at or before the origin.
    start: Nanos,
    /// Longest time after `start`.
    longest: Nanos,
    used_bits: u32,
}

/// A window's number and what it has admitted.
#[derive(Clone, Copy)]
struct Open {
    number: u64,
    used: u64,
}

impl AtomicFixedWindow {
    /// `limit` permits per `window` nanoseconds with edges at multiples of the window since the Unix epoch, for times from
    /// `origin` on until `horizon` nanoseconds later. An error names the parameter that does not fit.
    pub fn new(limit: u64, window: Nanos, origin: Nanos, horizon: Nanos) -> Result<AtomicFixedWindow, ParamError> {
        if limit == 0 {
            return Err(ParamError::new("limit", "0 would refuse every request; give at least 1"));
        }
        if window == 0 {
            return Err(ParamError::new("window", "a length of time above zero is needed"));
        }
        let start = origin - origin % window;
        let longest = (origin - start).checked_add(horizon).filter(|longest| start.checked_add(*longest).is_some());
        let Some(longest) = longest else {
            let message =
                format!("{horizon} ns from the origin pass the year 2554; at most {} ns", Nanos::MAX - origin);
            return Err(ParamError::new("horizon", message));
        };
        let (number_bits, limit_bits) =
            (u64::BITS - (longest / window).leading_zeros(), u64::BITS - limit.leading_zeros());
        // One bit more than the limit needs, so that charges can overdraw it.
        if number_bits + limit_bits + 1 > u64::BITS {
            let windows = longest / window;
            let message =
                format!("{windows} windows and a limit of {limit} need {} bits of 63", number_bits + limit_bits);
            return Err(ParamError::new("horizon", message));
        }
        let used_bits = u64::BITS - number_bits.max(1);
        Ok(AtomicFixedWindow { word: AtomicU64::new(0), limit, window, start, longest, used_bits })
    }

    /// Asks for `cost` permits at `now`. See [`Limiter::try_acquire`].
    #[inline]
    pub fn try_acquire(&self, now: Nanos, cost: u64) -> Outcome {
        if cost > self.limit {
            return Outcome::NeverFits;
        }
        let now = self.since_start(now);
        let mut word = self.word.load(Relaxed);
        loop {
            let open = self.open(word, now);
            if cost == 0 {
                return Outcome::Admitted;
            }
            if cost > self.limit.saturating_sub(open.used) {
                return Outcome::Refused;
            }
            let taken = self.pack(Open { used: open.used + cost, ..open });
            match self.word.compare_exchange_weak(word, taken, Relaxed, Relaxed) {
                Ok(_) => return Outcome::Admitted,
                Err(newer) => word = newer,
            }
        }
    }

    #[inline]
    fn since_start(&self, now: Nanos) -> Nanos {
        now.saturating_sub(self.start).min(self.longest)
    }

    /// The window open at `now`: the one in the word, or a later one that has admitted nothing. Divides only then.
    #[inline]
    fn open(&self, word: u64, now: Nanos) -> Open {
        let number = word >> self.used_bits;
        // number·W <= longest, which fits.
        let into = now.saturating_sub(number * self.window);
        if into < self.window {
            Open { number, used: word & self.mask() }
        } else {
            Open { number: now / self.window, used: 0 }
        }
    }

    fn mask(&self) -> u64 {
        (1 << self.used_bits) - 1
    }

    #[inline]
    fn pack(&self, open: Open) -> u64 {
        open.number << self.used_bits | open.used
    }

    /// Time from `now` to the end of the window.
    fn until_end(&self, open: Open, now: Nanos) -> Nanos {
        let end = u128::from(open.number + 1) * u128::from(self.window);
        (end - u128::from(now)).try_into().unwrap_or(Nanos::MAX)
    }

    fn now(&self, now: Nanos) -> (Nanos, Open) {
        let now = self.since_start(now);
        (now, self.open(self.word.load(Relaxed), now))
    }

    fn change(&self, now: Nanos, change: impl Fn(Open) -> u64) {
        let mut word = self.word.load(Relaxed);
        loop {
            let open = self.open(word, now);
            let changed = self.pack(Open { used: change(open).min(self.mask()), ..open });
            match self.word.compare_exchange_weak(word, changed, Relaxed, Relaxed) {
                Ok(_) => return,
                Err(newer) => word = newer,
            }
        }
    }
}

impl Limiter for &AtomicFixedWindow {
    #[inline]
    fn try_acquire(&mut self, now: Nanos, cost: u64) -> Outcome {
        AtomicFixedWindow::try_acquire(self, now, cost)
    }

    fn peek(&self, now: Nanos, cost: u64) -> Outcome {
        match cost {
            0 => Outcome::Admitted,
            _ if cost > self.limit => Outcome::NeverFits,
            _ if cost <= self.remaining(now) => Outcome::Admitted,
            _ => Outcome::Refused,
        }
    }

    fn remaining(&self, now: Nanos) -> u64 {
        self.limit.saturating_sub(self.now(now).1.used)
    }

    fn retry_after(&self, now: Nanos, cost: u64) -> Option<Nanos> {
        let (now, open) = self.now(now);
        let fits = cost == 0 || cost <= self.limit.saturating_sub(open.used);
        (cost <= self.limit).then(|| if fits { 0 } else { self.until_end(open, now) })
    }

    fn reset_after(&self, now: Nanos) -> Option<Nanos> {
        let (now, open) = self.now(now);
        Some(if open.used == 0 { 0 } else { self.until_end(open, now) })
    }

    /// Debt stops at what the low bits hold, at least the limit once over.
    fn charge(&mut self, now: Nanos, cost: u64) {
        let now = self.since_start(now);
        self.change(now, |open| open.used.saturating_add(cost));
    }

    fn refund(&mut self, now: Nanos, taken_at: Nanos, cost: u64) {
        let (now, taken_at) = (self.since_start(now), self.since_start(taken_at));
        self.change(now, |open| {
            let same = taken_at / self.window == open.number;
            if same { open.used.saturating_sub(cost) } else { open.used }
        });
    }

    fn level(&self, now: Nanos) -> Level {
        Level::whole(i128::from(self.limit) - i128::from(self.now(now).1.used), self.limit)
    }

    fn state_bytes(&self) -> usize {
        size_of::<AtomicU64>()
    }
}
