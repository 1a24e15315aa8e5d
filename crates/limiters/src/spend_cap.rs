//! Spend cap: a budget that does not refill, or is given anew at set instants.
//!
//! Rule, *strict*: a cost `c` passes iff `spent + c <= cap`. *Check-before*: it passes iff `spent < cap`, whatever it costs; this
//! is what a cap does whose costs are known only afterwards. `spent` starts again at each reset: never, at every
//! multiple of a period, or at the instants of a table (calendar months in some time zone, say).
//!
//! Bound, for a closed interval of length τ that meets at most k periods: k · cap when strict; k · (cap − 1 + c_max) with
//! check-before, since the last cost before a reset starts below the cap and may pass it by all but one permit. k is 1
//! without resets, ceil(τ/period) + 1 with a period, and 1 plus the most instants in an interval (s, s + τ] with a table.
//!
//! With check-before, `remaining` is what is left of the budget, although a larger cost passes while it is above 0.
//!
//! Source: budgets of model gateways (LiteLLM `max_budget` and `budget_duration`).

use crate::span::Span;
use crate::{Algorithm, AnyRule, Kind, Level, Nanos, Outcome, Param, ParamError, Rule, Settings, Worst};
use std::sync::Arc;

/// The registry entry.
pub const ALGORITHM: Algorithm = Algorithm {
    name: "spend-cap",
    summary: "a budget that is spent and not refilled, unless it is given anew at set instants",
    source: "LiteLLM budgets",
    params: &[
        Param { name: "cap", kind: Kind::Permits { min: 1 }, doc: "permits that may be spent (the quota's limit)" },
        Param {
            name: "check",
            kind: Kind::Choice(&["strict", "check-before"]),
            doc: "whether a cost must fit what is left, or only find something left (strict)",
        },
        Param { name: "every", kind: Kind::Duration, doc: "time from reset to reset on the clock (never)" },
        Param {
            name: "offset",
            kind: Kind::Duration,
            doc: "how far resets are shifted from multiples of `every` since the epoch (none)",
        },
    ],
    default: false,
    build,
    strict: |_, _| Vec::new(),
};

fn build(settings: &Settings) -> Result<Box<dyn AnyRule>, ParamError> {
    let cap = settings.permits("cap").unwrap_or(settings.quota.limit);
    if cap == 0 {
        return Err(ParamError::new("cap", "at least 1 permit"));
    }
    let check = if settings.choice("check") == Some("check-before") { Check::Before } else { Check::Strict };
    let offset = settings.duration("offset");
    let resets = match (settings.duration("every"), &settings.resets) {
        (None, None) if offset.is_some() => {
            return Err(ParamError::new("offset", "only resets with `every` have an offset"));
        }
        (None, None) => Resets::Never,
        (Some(_), Some(_)) => return Err(ParamError::new("every", "not together with a table of resets")),
        (Some(0), None) => return Err(ParamError::new("every", "a length of time above zero")),
        (Some(period), None) => Resets::Every { period, offset: offset.unwrap_or(0) % period },
        (None, Some(table)) if table.is_sorted() => Resets::At(table.clone()),
        (None, Some(_)) => return Err(ParamError::new("every", "resets must be in time order")),
    };
    Ok(Box::new(SpendCap { cap, check, resets }))
}

/// When a cost passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Check {
    /// When it fits what is left.
    Strict,
    /// When anything is left.
    Before,
}

/// When the budget is given anew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Resets {
    /// Never.
    Never,
    /// At offset + k · period since the Unix epoch; the offset is less than the period.
    Every {
        /// Nanoseconds from reset to reset.
        period: Nanos,
        /// Nanoseconds from the epoch to the first reset.
        offset: Nanos,
    },
    /// At these instants, in time order.
    At(Arc<[Nanos]>),
}

/// A budget of `cap` permits (micro-dollars, where spend is metered).
#[derive(Clone, Debug)]
pub struct SpendCap {
    cap: u64,
    check: Check,
    resets: Resets,
}

/// The last nanosecond of the period and what was spent in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    last: Nanos,
    spent: u64,
}

impl SpendCap {
    /// A budget of `cap` permits. `None` when the cap or a period is 0, an offset is not below its period, or a table is not
    /// in time order.
    pub fn new(cap: u64, check: Check, resets: Resets) -> Option<SpendCap> {
        let valid = match &resets {
            Resets::Never => true,
            Resets::Every { period, offset } => offset < period,
            Resets::At(table) => table.is_sorted(),
        };
        (cap > 0 && valid).then_some(SpendCap { cap, check, resets })
    }

    /// The last nanosecond before the reset that follows `now`; the end of [`Nanos`] when none does.
    fn last_of(&self, now: Nanos) -> Nanos {
        match &self.resets {
            Resets::Never => Nanos::MAX,
            Resets::Every { offset, .. } if now < *offset => offset - 1,
            Resets::Every { period, offset } => now.saturating_add(period - 1 - (now - offset) % period),
            Resets::At(table) => {
                let next = table.partition_point(|reset| *reset <= now);
                table.get(next).map_or(Nanos::MAX, |reset| reset - 1)
            }
        }
    }

    /// The state in the period that contains `now`. A period in which nothing was spent needs no end.
    #[inline]
    fn at(&self, state: &State, now: Nanos) -> State {
        if now <= state.last && state.spent != 0 { *state } else { State { last: self.last_of(now), spent: 0 } }
    }

    fn wait(&self, state: &State, now: Nanos) -> Option<Nanos> {
        (state.last != Nanos::MAX).then(|| state.last - now + 1)
    }
}

impl Rule for SpendCap {
    type State = State;

    fn fresh(&self) -> State {
        State::default()
    }

    fn try_acquire(&self, state: &mut State, now: Nanos, cost: u64) -> Outcome {
        let period = self.at(state, now);
        let left = self.cap.saturating_sub(period.spent);
        let admitted = match self.check {
            Check::Strict => cost <= left,
            Check::Before => left > 0 || cost == 0,
        };
        if admitted && cost != 0 {
            *state = State { spent: period.spent.saturating_add(cost), ..period };
        }
        match admitted {
            true => Outcome::Admitted,
            false if cost > self.cap && self.check == Check::Strict => Outcome::NeverFits,
            false => Outcome::Refused,
        }
    }

    fn remaining(&self, state: &State, now: Nanos) -> u64 {
        self.cap.saturating_sub(self.at(state, now).spent)
    }

    fn retry_after(&self, state: &State, now: Nanos, cost: u64) -> Option<Nanos> {
        match self.peek(state, now, cost) {
            Outcome::NeverFits => None,
            Outcome::Refused => self.wait(&self.at(state, now), now),
            _ => Some(0),
        }
    }

    fn reset_after(&self, state: &State, now: Nanos) -> Option<Nanos> {
        let state = self.at(state, now);
        if state.spent == 0 { Some(0) } else { self.wait(&state, now) }
    }

    fn charge(&self, state: &mut State, now: Nanos, cost: u64) {
        if cost != 0 {
            let period = self.at(state, now);
            *state = State { spent: period.spent.saturating_add(cost), ..period };
        }
    }

    fn refund(&self, state: &mut State, now: Nanos, taken_at: Nanos, cost: u64) {
        // Taken in this period iff both instants come before the same reset.
        if now <= state.last && self.last_of(taken_at) == state.last {
            state.spent = state.spent.saturating_sub(cost);
        }
    }

    fn level(&self, state: &State, now: Nanos) -> Level {
        Level::whole(i128::from(self.cap) - i128::from(self.at(state, now).spent), self.cap)
    }

    fn envelope(&self, tau: Nanos, max_cost: u64) -> Option<u128> {
        let periods = 1 + match &self.resets {
            Resets::Never => 0,
            Resets::Every { period, .. } => u128::from(tau.div_ceil(*period)),
            Resets::At(table) => {
                let within = |(index, first): (usize, &Nanos)| {
                    table.partition_point(|reset| *reset < first.saturating_add(tau)) - index
                };
                table.iter().enumerate().map(within).max().unwrap_or(0) as u128
            }
        };
        let each = match self.check {
            Check::Strict => u128::from(self.cap),
            Check::Before => u128::from(self.cap) - 1 + u128::from(max_cost),
        };
        Some(periods * each)
    }

    fn worst(&self) -> Option<Worst> {
        let reset = match &self.resets {
            Resets::Never => None,
            Resets::Every { period, offset } => Some(offset.checked_add(*period)?),
            Resets::At(table) => table.iter().copied().find(|reset| *reset > 0),
        };
        let spend = |at: Nanos| match self.check {
            Check::Strict => vec![(at, self.cap)],
            Check::Before => vec![(at, self.cap - 1), (at, self.cap)],
        };
        Some(match reset {
            None => Worst { requests: spend(0), tau: 0 },
            Some(reset) => Worst { requests: [spend(reset - 1), spend(reset)].concat(), tau: 1 },
        })
    }

    fn parameters(&self) -> String {
        let check = match self.check {
            Check::Strict => "strict",
            Check::Before => "check-before",
        };
        let resets = match &self.resets {
            Resets::Never => "no reset".to_string(),
            Resets::Every { period, offset: 0 } => format!("reset every {}", Span(*period)),
            Resets::Every { period, offset } => format!("reset every {} + {}", Span(*period), Span(*offset)),
            Resets::At(table) => format!("{} resets", table.len()),
        };
        format!("cap {}, {check}, {resets}", self.cap)
    }
}
