//! Fixed window: a count that starts again when its window ends.
//!
//! Rule: a request of cost `c` passes iff `used + c <= N`; `used` is what the window that contains `now` has admitted.
//! Windows are either aligned to the wall clock, [offset + kW, offset + (k+1)W), or open with the first admitted request
//! after the last one ended (`first-request`, what a counter with an expiry does).
//!
//! Bound, for a closed interval of length τ. Wall clock: N · (ceil(τ/W) + 1), since the interval meets at most
//! ceil(τ/W) + 1 windows. First request: the windows that open inside the interval are at most floor(τ/W) + 1; if the
//! first window met was open before, it has spent at least 1 on the request that opened it, and at most
//! floor((τ−1)/W) + 1 open after it: max(N · (floor(τ/W) + 1), N · (floor((τ−1)/W) + 2) − 1). A request of cost c counts as
//! c unit requests at one instant, all of which would pass, so the bound does not depend on costs.
//!
//! Source: the counter of Redis INCR with EXPIRE (first request); calendar windows of API quotas (wall clock).

use crate::span::Span;
use crate::{Algorithm, AnyRule, Kind, Level, Nanos, Outcome, Param, ParamError, Quota, Rule, Settings, Worst};
use std::hint::select_unpredictable;

/// The registry entry.
pub const ALGORITHM: Algorithm = Algorithm {
    name: "fixed-window",
    summary: "counts permits per window and starts again when the window ends",
    source: "Redis INCR with EXPIRE; calendar quotas",
    params: &[
        Param {
            name: "anchor",
            kind: Kind::Choice(&["wall-clock", "first-request"]),
            doc: "where windows start: on the clock, or at the first request admitted after the last one (wall-clock)",
        },
        Param {
            name: "offset",
            kind: Kind::Duration,
            doc: "how far wall-clock windows are shifted from multiples of the window since the epoch (none)",
        },
    ],
    default: true,
    build,
    strict,
};

fn build(settings: &Settings) -> Result<Box<dyn AnyRule>, ParamError> {
    let (limit, window) = settings.limit_per_window()?;
    let offset = settings.duration("offset");
    let anchor = match settings.choice("anchor") {
        Some("first-request") => Anchor::FirstRequest,
        _ => Anchor::WallClock { offset: offset.unwrap_or(0) },
    };
    if anchor == Anchor::FirstRequest && offset.is_some() {
        return Err(ParamError::new("offset", "only windows with the anchor wall-clock have an offset"));
    }
    Ok(Box::new(FixedWindow::new(limit, window, anchor)))
}

/// Half the limit: two windows meet in every interval longer than 1 ns.
fn strict(limit: u64, window: Nanos) -> Vec<Settings> {
    let half = limit / 2;
    if half == 0 { Vec::new() } else { vec![Settings::new(Quota { limit: half, window, burst: half })] }
}

/// Where windows start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// At `offset` plus multiples of the window since the Unix epoch.
    WallClock {
        /// In nanoseconds; taken modulo the window.
        offset: Nanos,
    },
    /// At the first request admitted after the last window ended.
    FirstRequest,
}

/// A fixed window: `limit` permits per `window`.
#[derive(Clone, Debug)]
pub struct FixedWindow {
    limit: u64,
    window: Nanos,
    anchor: Anchor,
}

/// The last nanosecond of the open window and what it has admitted. A window that has admitted nothing is not open.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    last: Nanos,
    used: u64,
}

impl State {
    #[inline]
    fn is_over(&self, now: Nanos) -> bool {
        now > self.last || self.used == 0
    }
}

impl FixedWindow {
    /// `limit` permits per `window` nanoseconds, both at least 1.
    pub fn new(limit: u64, window: Nanos, anchor: Anchor) -> FixedWindow {
        assert!(limit > 0 && window > 0, "a limit and a window above zero");
        let anchor = match anchor {
            Anchor::WallClock { offset } => Anchor::WallClock { offset: offset % window },
            first => first,
        };
        FixedWindow { limit, window, anchor }
    }

    /// The last nanosecond of the window that contains `now`, or opens then. Past the range of [`Nanos`] it stays at its
    /// end, where no request can follow.
    fn last_of(&self, now: Nanos) -> Nanos {
        let into = match self.anchor {
            Anchor::FirstRequest => 0,
            Anchor::WallClock { offset } if now < offset => return offset - 1,
            Anchor::WallClock { offset } => (now - offset) % self.window,
        };
        now.saturating_add(self.window - 1 - into)
    }

    #[cold]
    fn open(&self, state: &mut State, now: Nanos, cost: u64) -> Outcome {
        if cost != 0 {
            *state = State { last: self.last_of(now), used: cost };
        }
        Outcome::Admitted
    }
}

impl Rule for FixedWindow {
    type State = State;

    fn fresh(&self) -> State {
        State::default()
    }

    #[inline]
    fn try_acquire(&self, state: &mut State, now: Nanos, cost: u64) -> Outcome {
        if cost > self.limit {
            return Outcome::NeverFits;
        }
        if state.is_over(now) {
            return self.open(state, now, cost);
        }
        let admitted = cost <= self.limit.saturating_sub(state.used);
        state.used += select_unpredictable(admitted, cost, 0);
        Outcome::of(admitted)
    }

    fn remaining(&self, state: &State, now: Nanos) -> u64 {
        if state.is_over(now) { self.limit } else { self.limit.saturating_sub(state.used) }
    }

    fn retry_after(&self, state: &State, now: Nanos, cost: u64) -> Option<Nanos> {
        if cost > self.limit {
            return None;
        }
        let fits = cost <= self.remaining(state, now);
        Some(if fits { 0 } else { (state.last - now).saturating_add(1) })
    }

    fn reset_after(&self, state: &State, now: Nanos) -> Option<Nanos> {
        Some(if state.is_over(now) { 0 } else { (state.last - now).saturating_add(1) })
    }

    fn charge(&self, state: &mut State, now: Nanos, cost: u64) {
        if cost == 0 {
            return;
        }
        if state.is_over(now) {
            *state = State { last: self.last_of(now), used: 0 };
        }
        state.used = state.used.saturating_add(cost);
    }

    fn refund(&self, state: &mut State, now: Nanos, taken_at: Nanos, cost: u64) {
        // The window starts at last − W + 1.
        if !state.is_over(now) && taken_at.saturating_add(self.window - 1) >= state.last {
            state.used = state.used.saturating_sub(cost);
        }
    }

    fn level(&self, state: &State, now: Nanos) -> Level {
        let used = if state.is_over(now) { 0 } else { state.used };
        Level::whole(i128::from(self.limit) - i128::from(used), self.limit)
    }

    fn envelope(&self, tau: Nanos, _max_cost: u64) -> Option<u128> {
        let limit = u128::from(self.limit);
        Some(match self.anchor {
            Anchor::WallClock { .. } => limit * (u128::from(tau.div_ceil(self.window)) + 1),
            Anchor::FirstRequest => {
                let opened_inside = limit * (u128::from(tau / self.window) + 1);
                let opened_before = tau.checked_sub(1).map(|tau| limit * (u128::from(tau / self.window) + 2) - 1);
                opened_inside.max(opened_before.unwrap_or(0))
            }
        })
    }

    fn worst(&self) -> Option<Worst> {
        let (edge, opener) = match self.anchor {
            Anchor::WallClock { offset } => (offset.checked_add(self.window)?, None),
            Anchor::FirstRequest => (self.window, Some((0, 1))),
        };
        let before = (edge - 1, self.limit - u64::from(opener.is_some()));
        Some(Worst { requests: opener.into_iter().chain([before, (edge, self.limit)]).collect(), tau: 1 })
    }

    fn parameters(&self) -> String {
        let quota = format!("{} per {}", self.limit, Span(self.window));
        match self.anchor {
            Anchor::WallClock { offset: 0 } => format!("{quota}, anchor wall-clock"),
            Anchor::WallClock { offset } => format!("{quota}, anchor wall-clock + {}", Span(offset)),
            Anchor::FirstRequest => format!("{quota}, anchor first-request"),
        }
    }
}
