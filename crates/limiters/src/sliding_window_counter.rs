//! Sliding window counter: two fixed windows, the previous one weighted by how much of it the sliding window still covers.
//!
//! Rule, at phase f of the current wall-clock window: a request of cost `c` passes iff, with `floor` rounding,
//! floor(prev · (W − f) / W) + cur + c <= N, or, with `exact`, prev · (W − f) + (cur + c) · W <= N · W. Both are decided by
//! comparing products of 128 bits: floor(x/W) + m <= N is x + m · W < (N + 1) · W.
//!
//! Bound, for a closed interval of length τ; let f = (τ − 1) mod W and m = floor((τ − 1)/W) + 1.
//! *Floor*: N · m + ceil(N · f / W). Proof: an admission at phase g leaves cur <= N − floor(prev · (W − g)/W), so that the last
//! two windows met hold at most N + ceil(N · g / W), every earlier one at most N, and g <= f when they are m + 1 in all.
//! *Exact*: N + floor(N · (τ − 1)/W) up to τ = W by the same argument; beyond, N + (m − 1)(N − 1) + floor((W + (N − 1) f)/W), since a
//! window after one that is not empty holds at most N − 1; 1 + floor((τ − 1 + W)/(2W)) for N = 1. A request of cost c counts
//! as c unit requests at one instant.
//!
//! Source: Cloudflare, "How we built rate limiting capable of scaling to millions of domains", 2017.

use crate::span::Span;
use crate::{Algorithm, AnyRule, Kind, Level, Nanos, Outcome, Param, ParamError, Quota, Rule, Settings, Worst};
use std::hint::select_unpredictable;

/// The registry entry.
pub const ALGORITHM: Algorithm = Algorithm {
    name: "sliding-window-counter",
    summary: "two fixed windows, the previous one weighted by its share of the sliding window",
    source: "Cloudflare 2017",
    params: &[Param {
        name: "rounding",
        kind: Kind::Choice(&["floor", "exact"]),
        doc: "whether the weighted previous count is rounded down or kept as a fraction (floor)",
    }],
    default: true,
    build,
    strict,
};

fn build(settings: &Settings) -> Result<Box<dyn AnyRule>, ParamError> {
    let (limit, window) = settings.limit_per_window()?;
    let rounding = if settings.choice("rounding") == Some("exact") { Rounding::Exact } else { Rounding::Floor };
    let rule = SlidingWindowCounter::new(limit, window, rounding);
    Ok(Box::new(rule.ok_or_else(|| ParamError::new("limit", format!("{limit} permits pass {MAX_COUNT}")))?))
}

/// Half the limit: just after an edge almost nothing of the previous window is weighted away, and it all fits again until
/// the end of the window.
fn strict(limit: u64, window: Nanos) -> Vec<Settings> {
    let half = limit / 2;
    if half == 0 { Vec::new() } else { vec![Settings::new(Quota { limit: half, window, burst: half })] }
}

/// Largest limit, and where debts stop: three such counts times any window stay below 2^128.
const MAX_COUNT: u64 = 1 << 62;

/// What becomes of the fraction in the weighted count of the previous window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// It is dropped, which keeps the nominal rate under saturation.
    Floor,
    /// It counts, which costs up to one permit a window.
    Exact,
}

/// A sliding window counter: about `limit` permits per `window`.
#[derive(Clone, Debug)]
pub struct SlidingWindowCounter {
    limit: u64,
    window: Nanos,
    rounding: Rounding,
    /// What prev · (W − f) + (cur + c) · W must stay below.
    ceiling: u128,
}

/// Start of the current window, what it has admitted, and what the one before it had.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    start: Nanos,
    previous: u64,
    current: u64,
}

impl SlidingWindowCounter {
    /// `limit` permits per `window` nanoseconds. `None` when one is 0 or the limit passes 2^62.
    pub fn new(limit: u64, window: Nanos, rounding: Rounding) -> Option<SlidingWindowCounter> {
        let ceiling = match rounding {
            Rounding::Floor => (u128::from(limit) + 1) * u128::from(window),
            Rounding::Exact => u128::from(limit) * u128::from(window) + 1,
        };
        let fits = (1..=MAX_COUNT).contains(&limit) && window > 0;
        fits.then_some(SlidingWindowCounter { limit, window, rounding, ceiling })
    }

    /// The state as it is in the window that contains `now`.
    #[inline]
    fn at(&self, state: &State, now: Nanos) -> State {
        let past = now.saturating_sub(state.start);
        if past < self.window {
            *state
        } else if past - self.window < self.window {
            State { start: state.start + self.window, previous: state.current, current: 0 }
        } else {
            State { start: now - now % self.window, previous: 0, current: 0 }
        }
    }

    /// Whether a `cost` of at most the limit fits at `past` nanoseconds into the window.
    #[inline]
    fn fits(&self, state: &State, past: Nanos, cost: u64) -> bool {
        let weighted = u128::from(state.previous) * u128::from(self.window - past);
        let whole = (u128::from(state.current) + u128::from(cost)) * u128::from(self.window);
        (weighted + whole < self.ceiling) | (cost == 0)
    }

    /// The first phase from `from` on at which `spare` permits cover the weighted previous window, if one comes before the
    /// window ends.
    fn phase(&self, previous: u64, spare: u64, from: Nanos) -> Option<Nanos> {
        let window = u128::from(self.window);
        if previous == 0 {
            return Some(from);
        }
        let left = match self.rounding {
            Rounding::Floor => ((u128::from(spare) + 1) * window).div_ceil(previous.into()) - 1,
            Rounding::Exact => u128::from(spare) * window / u128::from(previous),
        };
        let phase = self.window - left.min(window) as u64;
        (phase < self.window).then_some(phase.max(from))
    }

    #[cold]
    fn try_in_new_window(&self, state: &mut State, now: Nanos, cost: u64) -> Outcome {
        let rolled = self.at(state, now);
        if self.fits(&rolled, now - rolled.start, cost) {
            if cost != 0 {
                *state = State { current: rolled.current + cost, ..rolled };
            }
            return Outcome::Admitted;
        }
        Outcome::Refused
    }
}

impl Rule for SlidingWindowCounter {
    type State = State;

    fn fresh(&self) -> State {
        State::default()
    }

    #[inline]
    fn try_acquire(&self, state: &mut State, now: Nanos, cost: u64) -> Outcome {
        if cost > self.limit {
            return Outcome::NeverFits;
        }
        let past = now.saturating_sub(state.start);
        if past >= self.window {
            return self.try_in_new_window(state, now, cost);
        }
        let admitted = self.fits(state, past, cost);
        state.current += select_unpredictable(admitted, cost, 0);
        Outcome::of(admitted)
    }

    fn remaining(&self, state: &State, now: Nanos) -> u64 {
        let state = self.at(state, now);
        let weighted = u128::from(state.previous) * u128::from(self.window - now.saturating_sub(state.start));
        let counted = match self.rounding {
            Rounding::Floor => weighted / u128::from(self.window),
            Rounding::Exact => weighted.div_ceil(self.window.into()),
        };
        self.limit.saturating_sub(state.current).saturating_sub(counted as u64)
    }

    fn retry_after(&self, state: &State, now: Nanos, cost: u64) -> Option<Nanos> {
        if cost > self.limit {
            return None;
        }
        let state = self.at(state, now);
        let past = now.saturating_sub(state.start);
        if self.fits(&state, past, cost) {
            return Some(0);
        }
        let room = self.limit.saturating_sub(state.current);
        if let Some(phase) = room.checked_sub(cost).and_then(|spare| self.phase(state.previous, spare, past)) {
            return Some(phase - past);
        }
        // In the next window the current one is the previous one, and in the window after it counts no more.
        let phase = self.phase(state.current, self.limit - cost, 0).unwrap_or(self.window);
        Some((self.window - past).saturating_add(phase))
    }

    fn reset_after(&self, state: &State, now: Nanos) -> Option<Nanos> {
        let state = self.at(state, now);
        let left = self.window - now.saturating_sub(state.start);
        Some(match (state.previous, state.current) {
            (0, 0) => 0,
            (_, 0) => left,
            _ => left.saturating_add(self.window),
        })
    }

    fn charge(&self, state: &mut State, now: Nanos, cost: u64) {
        *state = self.at(state, now);
        state.current = state.current.saturating_add(cost).min(MAX_COUNT);
    }

    fn refund(&self, state: &mut State, now: Nanos, taken_at: Nanos, cost: u64) {
        *state = self.at(state, now);
        if taken_at >= state.start {
            state.current = state.current.saturating_sub(cost);
        } else if state.start - taken_at <= self.window {
            state.previous = state.previous.saturating_sub(cost);
        }
    }

    fn level(&self, state: &State, now: Nanos) -> Level {
        let state = self.at(state, now);
        let left = self.window - now.saturating_sub(state.start);
        match self.rounding {
            Rounding::Exact => weighted_level(self.limit, state.current, state.previous, left, self.window),
            Rounding::Floor => {
                let counted = u128::from(state.previous) * u128::from(left) / u128::from(self.window);
                Level::whole(i128::from(self.limit) - i128::from(state.current) - counted as i128, self.limit)
            }
        }
    }

    fn envelope(&self, tau: Nanos, _max_cost: u64) -> Option<u128> {
        let (limit, window) = (u128::from(self.limit), u128::from(self.window));
        let Some(tau) = tau.checked_sub(1).map(u128::from) else { return Some(limit) };
        let (windows, phase) = (tau / window + 1, tau % window);
        Some(match self.rounding {
            Rounding::Floor => limit * windows + (limit * phase).div_ceil(window),
            Rounding::Exact if limit == 1 => 1 + (tau + window) / (2 * window),
            Rounding::Exact if windows == 1 => limit + limit * tau / window,
            Rounding::Exact => limit + (windows - 1) * (limit - 1) + (window + (limit - 1) * phase) / window,
        })
    }

    fn worst(&self) -> Option<Worst> {
        counter_worst(self.limit, self.window, self.window, self.rounding)
    }

    fn parameters(&self) -> String {
        let rounding = match self.rounding {
            Rounding::Floor => "floor",
            Rounding::Exact => "exact",
        };
        format!("{} per {}, rounding {rounding}", self.limit, Span(self.window))
    }
}

/// Everything 1 ns before a window of `window` ns ends, then from `edge` on each permit as the weight of that burst frees
/// it, up to 1,000 permits. Attains the bound where a permit takes more than 1 ns to be freed.
pub(crate) fn counter_worst(limit: u64, window: Nanos, edge: Nanos, rounding: Rounding) -> Option<Worst> {
    if limit >= window {
        return None;
    }
    let freed = |count: u64| {
        let share = |permits: u64| u128::from(permits) * u128::from(window);
        match rounding {
            Rounding::Floor => (share(count - 1) / u128::from(limit)) as Nanos + 1,
            Rounding::Exact => share(count).div_ceil(limit.into()) as Nanos,
        }
    };
    let count = (limit - u64::from(rounding == Rounding::Exact)).min(1_000);
    let before = window - 1;
    let trickle = (1..=count).map(|count| edge.checked_add(freed(count)).map(|at| (at, 1)));
    let requests: Vec<_> = std::iter::once(Some((before, limit))).chain(trickle).collect::<Option<_>>()?;
    let tau = requests.last()?.0 - before;
    Some(Worst { requests, tau })
}

/// The level of a window that holds `whole` permits and `part` of them weighted by `left / window`.
pub(crate) fn weighted_level(limit: u64, whole: u64, part: u64, left: Nanos, window: Nanos) -> Level {
    let weighted = u128::from(part) * u128::from(left);
    let milli = weighted / u128::from(window) * 1000 + weighted % u128::from(window) * 1000 / u128::from(window);
    let available = (i128::from(limit) - i128::from(whole)) * 1000 - milli as i128;
    Level::scaled(available, i128::from(limit) * 1000, 1000)
}
