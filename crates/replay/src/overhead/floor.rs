//! The floor: what the algorithms cost written by hand, for one quota, requests of one permit and nothing else.
//!
//! The loops keep their state in local variables, know that time does not go back and that all products fit 64 bits, and
//! can be asked nothing but whether a request passes. They decide the same batches as the limiters they are named after, in
//! the same rounds, and must admit as many.

use crate::entry::Entry;
use crate::lane::Gate;
use crate::rows::OverheadRow;
use limiters::{Batch, Level, Nanos, Outcome, Quota, Request};
use std::hint::select_unpredictable;
use std::ops::Range;
use std::sync::Arc;

/// What `algorithm` is called in rows of the floor.
pub const BY_HAND: &str = "by-hand";

/// How many times the floor a limiter may take.
pub const TARGET: f64 = 1.3;

/// The entry's algorithm by hand; `None` where there is no such loop, or where a permit takes no whole nanoseconds. The entry
/// must have no other parameters than its quota.
pub fn by_hand(entry: &Entry) -> Option<Entry> {
    let Quota { limit, window, burst } = entry.quota;
    let each = window.checked_div(limit).filter(|each| each * limit == window)?;
    let burst = i64::try_from(u128::from(burst) * u128::from(each)).ok()?;
    let slots = usize::try_from(limit).ok()?;
    limit.checked_add(2)?.checked_mul(window)?;
    let make: Arc<dyn Fn() -> Box<dyn Gate> + Send + Sync> = match entry.algorithm.as_str() {
        "fixed-window" => Arc::new(move || gate(FixedWindow { limit, window, ..FixedWindow::default() })),
        "sliding-window-log" => Arc::new(move || gate(Log { window, ring: vec![0; slots], next: 0 })),
        "sliding-window-counter" => Arc::new(move || gate(Counter { limit, window, ..Counter::default() })),
        "token-bucket" | "leaky-bucket-meter" => {
            let (each, burst) = (each as i64, burst);
            Arc::new(move || gate(Credit { each, burst, level: burst, at: 0 }))
        }
        "gcra" => Arc::new(move || gate(Gcra { each, tolerance: burst as u64 - each, due: 0 })),
        _ => return None,
    };
    Some(Entry { label: label(&entry.label), algorithm: BY_HAND.into(), make, ..entry.clone() })
}

fn label(limiter: &str) -> String {
    format!("{limiter}, by hand")
}

/// The row of the same path and limiter by hand.
pub fn floor_of<'a>(rows: &'a [OverheadRow], row: &OverheadRow) -> Option<&'a OverheadRow> {
    let label = label(&row.limiter);
    rows.iter().find(|floor| floor.algorithm == BY_HAND && floor.limiter == label && floor.path == row.path)
}

/// A limiter by hand.
trait Loop: Default + Send + 'static {
    /// Whether a request at `now` passes.
    fn admits(&mut self, now: Nanos) -> bool;
}

struct ByHand<L>(L);

fn gate<L: Loop>(by_hand: L) -> Box<dyn Gate> {
    Box::new(ByHand(by_hand))
}

impl<L: Loop> Gate for ByHand<L> {
    fn run(&mut self, batch: &Batch, _: &[u64], range: Range<usize>, out: &mut [Outcome]) {
        let mut local = std::mem::take(&mut self.0);
        for (&now, out) in batch.at[range].iter().zip(out) {
            *out = select_unpredictable(local.admits(now), Outcome::Admitted, Outcome::Refused);
        }
        self.0 = local;
    }
    fn peek(&self, _: &Request) -> Option<Outcome> {
        None
    }
    fn retry_after(&self, _: &Request) -> Option<Nanos> {
        None
    }
    fn level(&self, _: Nanos) -> Option<Level> {
        None
    }
    fn state_bytes(&self) -> usize {
        size_of::<L>()
    }
    fn max_live_keys(&self) -> usize {
        1
    }
}

#[derive(Default)]
struct FixedWindow {
    limit: u64,
    window: Nanos,
    end: Nanos,
    used: u64,
}

impl Loop for FixedWindow {
    #[inline(always)]
    fn admits(&mut self, now: Nanos) -> bool {
        if now >= self.end {
            self.end = now - now % self.window + self.window;
            self.used = 0;
        }
        let admitted = self.used < self.limit;
        self.used += u64::from(admitted);
        admitted
    }
}

/// A token bucket, or a meter upside down, that counts nanoseconds of refill.
#[derive(Default)]
struct Credit {
    each: i64,
    burst: i64,
    level: i64,
    at: Nanos,
}

impl Loop for Credit {
    #[inline(always)]
    fn admits(&mut self, now: Nanos) -> bool {
        let gained = ((now - self.at).min(i64::MAX as u64) as i64).min(self.burst - self.level);
        let level = self.level + gained;
        let left = level - self.each;
        let admitted = left >= 0;
        self.level = select_unpredictable(admitted, left, level);
        self.at = now;
        admitted
    }
}

#[derive(Default)]
struct Gcra {
    each: Nanos,
    tolerance: Nanos,
    due: Nanos,
}

impl Loop for Gcra {
    #[inline(always)]
    fn admits(&mut self, now: Nanos) -> bool {
        let start = self.due.max(now);
        let admitted = start - now <= self.tolerance;
        self.due = select_unpredictable(admitted, start + self.each, self.due);
        admitted
    }
}

#[derive(Default)]
struct Counter {
    limit: u64,
    window: Nanos,
    start: Nanos,
    previous: u64,
    current: u64,
}

impl Loop for Counter {
    #[inline(always)]
    fn admits(&mut self, now: Nanos) -> bool {
        let mut past = now - self.start;
        if past >= self.window {
            let adjacent = past - self.window < self.window;
            self.previous = if adjacent { self.current } else { 0 };
            self.current = 0;
            self.start = now - now % self.window;
            past = now - self.start;
        }
        let weighted = self.previous * (self.window - past) + (self.current + 1) * self.window;
        let admitted = weighted < (self.limit + 1) * self.window;
        self.current += u64::from(admitted);
        admitted
    }
}

/// A ring of the last N admissions: a request passes when the oldest, in whose place it would go, is a window old.
#[derive(Default)]
struct Log {
    window: Nanos,
    ring: Vec<Nanos>,
    next: usize,
}

impl Loop for Log {
    #[inline(always)]
    fn admits(&mut self, now: Nanos) -> bool {
        let slot = &mut self.ring[self.next];
        let admitted = now - *slot >= self.window;
        *slot = select_unpredictable(admitted, now, *slot);
        let next = if self.next + 1 == self.ring.len() { 0 } else { self.next + 1 };
        self.next = select_unpredictable(admitted, next, self.next);
        admitted
    }
}
