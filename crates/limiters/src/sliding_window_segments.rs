//! Sliding window in segments: B counts of W/B each, so that the window slides in steps.
//!
//! Rule, with w = W/B and segments aligned to multiples of w since the epoch: a request of cost `c` passes iff `held + c <= N`,
//! where `held` is the sum of the current segment and
//! *tight*: the B − 1 before it; *safe*: the B before it; *weighted*: the B − 1 before it and the one before those times
//! (w − f)/w at phase f of the current segment, as an exact fraction.
//!
//! Bound, for a closed interval of length τ. *Tight* and *safe*: N · ceil((ceil(τ/w) + 1) / K), with K = B or B + 1. Proof: the interval
//! meets at most ceil(τ/w) + 1 segments, and any K in a row hold at most N. Hence *safe* never passes N in any
//! half-open window W. *Weighted*, up to τ = W: N while τ <= W − w, then N + floor(N · (τ − (W − w) − 1) / w), as for the sliding window
//! counter with the last segment in the place of its window; beyond W nothing is proven. A request of cost c counts as c
//! unit requests at one instant.
//!
//! Source: Figma, "An alternative approach to rate limiting", 2017 (tight); Cloudflare 2017 generalised (weighted).

use crate::sliding_window_counter::{Rounding, counter_worst, weighted_level};
use crate::span::Span;
use crate::{Algorithm, AnyRule, Kind, Level, Nanos, Outcome, Param, ParamError, Quota, Rule, Settings, Value, Worst};
use std::hint::select_unpredictable;

/// The registry entry.
pub const ALGORITHM: Algorithm = Algorithm {
    name: "sliding-window-segments",
    summary: "counts permits in segments of the window, which slides by a segment at a time",
    source: "Figma 2017; Cloudflare 2017",
    params: &[
        Param {
            name: "segments",
            kind: Kind::Permits { min: 1 },
            doc: "how many segments a window has; must divide it into whole nanoseconds, at most 65536 (10)",
        },
        Param {
            name: "mode",
            kind: Kind::Choice(&["tight", "safe", "weighted"]),
            doc: "what the segment that is partly outside the window counts: nothing, in full, or its share (tight)",
        },
    ],
    default: true,
    build,
    strict,
};

const MAX_SEGMENTS: u64 = 1 << 16;

fn build(settings: &Settings) -> Result<Box<dyn AnyRule>, ParamError> {
    let (limit, window) = settings.limit_per_window()?;
    let segments = settings.permits("segments").unwrap_or(10);
    let mode = match settings.choice("mode") {
        Some("safe") => Mode::Safe,
        Some("weighted") => Mode::Weighted,
        _ => Mode::Tight,
    };
    let rule = SlidingWindowSegments::new(limit, window, segments, mode);
    let rule = rule.ok_or_else(|| {
        let message =
            format!("{segments} do not divide {} into whole nanoseconds, or pass {MAX_SEGMENTS}", Span(window));
        ParamError::new("segments", message)
    })?;
    Ok(Box::new(rule))
}

/// Safe segments at the full limit: ten of them, or as many below ten as divide the window.
fn strict(limit: u64, window: Nanos) -> Vec<Settings> {
    let segments = (1..=10).rev().find(|segments| window.is_multiple_of(*segments));
    let Some(segments) = segments.filter(|_| limit > 0 && window > 0) else { return Vec::new() };
    let settings = Settings::new(Quota { limit, window, burst: limit });
    vec![settings.with("segments", Value::Permits(segments)).with("mode", Value::Choice("safe"))]
}

/// What the segment that is partly outside the window counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Nothing: the effective window is between W − w and W.
    Tight,
    /// All of it: the effective window is between W and W + w.
    Safe,
    /// The share that is inside.
    Weighted,
}

/// A window of `limit` permits in segments.
#[derive(Clone, Debug)]
pub struct SlidingWindowSegments {
    limit: u64,
    segment: Nanos,
    segments: u64,
    mode: Mode,
    /// Counts kept: the segments, and one more where the oldest still matters.
    kept: usize,
}

/// Counts in a ring, with the sum of all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Start of the current segment.
    start: Nanos,
    /// Index of its count.
    current: usize,
    sum: u64,
    counts: Box<[u64]>,
}

/// The state as it is in the segment that contains an instant, without having been moved there.
struct View {
    /// Segments that began since.
    rolled: usize,
    /// Nanoseconds since the current segment began.
    past: Nanos,
    sum: u64,
}

impl SlidingWindowSegments {
    /// `limit` permits per `window` nanoseconds, both at least 1. `None` unless `segments` divides the window and is at
    /// most 65,536.
    pub fn new(limit: u64, window: Nanos, segments: u64, mode: Mode) -> Option<SlidingWindowSegments> {
        assert!(limit > 0 && window > 0, "a limit and a window above zero");
        let divides = (1..=MAX_SEGMENTS).contains(&segments) && window.is_multiple_of(segments);
        let kept = segments as usize + usize::from(mode != Mode::Tight);
        divides.then(|| SlidingWindowSegments { limit, segment: window / segments, segments, mode, kept })
    }

    /// Moves the state to the segment that contains `now`. No answer depends on whether this has happened.
    #[cold]
    fn roll(&self, state: &mut State, now: Nanos) {
        let steps = (now - state.start) / self.segment;
        state.start += steps * self.segment;
        if steps >= self.kept as u64 {
            state.counts.fill(0);
            state.sum = 0;
            return;
        }
        for _ in 0..steps {
            state.current = (state.current + 1) % self.kept;
            state.sum -= std::mem::take(&mut state.counts[state.current]);
        }
    }

    fn view(&self, state: &State, now: Nanos) -> View {
        let since = now.saturating_sub(state.start);
        let rolled = (since / self.segment).min(self.kept as u64) as usize;
        let sum = (1..=rolled).fold(state.sum, |sum, roll| sum - self.leaving(state, roll));
        View { rolled, past: since % self.segment, sum }
    }

    /// The count that is dropped when the `roll`-th next segment begins.
    fn leaving(&self, state: &State, roll: usize) -> u64 {
        if roll > self.kept { 0 } else { state.counts[(state.current + roll) % self.kept] }
    }

    /// The count that is weighted in a view: the next to leave.
    fn oldest(&self, state: &State, rolled: usize) -> u64 {
        if self.mode == Mode::Weighted { self.leaving(state, rolled + 1) } else { 0 }
    }

    #[inline]
    fn fits(&self, sum: u64, oldest: u64, past: Nanos, cost: u64) -> bool {
        let room = self.limit.saturating_sub(sum - oldest);
        let weighted = u128::from(oldest) * u128::from(self.segment - past);
        let spare = u128::from(room.wrapping_sub(cost));
        (cost <= room) & (weighted <= spare * u128::from(self.segment)) | (cost == 0)
    }
}

impl Rule for SlidingWindowSegments {
    type State = State;

    fn fresh(&self) -> State {
        State { start: 0, current: 0, sum: 0, counts: vec![0; self.kept].into() }
    }

    #[inline]
    fn try_acquire(&self, state: &mut State, now: Nanos, cost: u64) -> Outcome {
        if cost > self.limit {
            return Outcome::NeverFits;
        }
        if now.saturating_sub(state.start) >= self.segment {
            self.roll(state, now);
        }
        let admitted = self.fits(state.sum, self.oldest(state, 0), now.saturating_sub(state.start), cost);
        let taken = select_unpredictable(admitted, cost, 0);
        state.sum += taken;
        state.counts[state.current] += taken;
        Outcome::of(admitted)
    }

    fn peek(&self, state: &State, now: Nanos, cost: u64) -> Outcome {
        if cost > self.limit {
            return Outcome::NeverFits;
        }
        let view = self.view(state, now);
        let admitted = self.fits(view.sum, self.oldest(state, view.rolled), view.past, cost);
        Outcome::of(admitted)
    }

    fn remaining(&self, state: &State, now: Nanos) -> u64 {
        let view = self.view(state, now);
        let oldest = self.oldest(state, view.rolled);
        let weighted = u128::from(oldest) * u128::from(self.segment - view.past);
        let counted = weighted.div_ceil(self.segment.into()) as u64;
        self.limit.saturating_sub(view.sum - oldest).saturating_sub(counted)
    }

    /// O(segments).
    fn retry_after(&self, state: &State, now: Nanos, cost: u64) -> Option<Nanos> {
        if cost > self.limit {
            return None;
        }
        let View { rolled, mut past, mut sum } = self.view(state, now);
        if cost == 0 {
            return Some(0);
        }
        let mut begins: Nanos = 0;
        for roll in rolled.. {
            let oldest = self.oldest(state, roll);
            if let Some(spare) = self.limit.checked_sub(sum - oldest).and_then(|room| room.checked_sub(cost)) {
                let left = match oldest {
                    0 => self.segment,
                    _ => (u128::from(spare) * u128::from(self.segment) / u128::from(oldest)).min(self.segment.into())
                        as Nanos,
                };
                let phase = (self.segment - left).max(past);
                if phase < self.segment {
                    return Some(begins.saturating_add(phase - past));
                }
            }
            begins = begins.saturating_add(self.segment - past);
            past = 0;
            sum -= self.leaving(state, roll + 1);
        }
        None
    }

    fn reset_after(&self, state: &State, now: Nanos) -> Option<Nanos> {
        let View { rolled, past, sum } = self.view(state, now);
        // The newest count that is not 0 leaves last.
        let last = (rolled + 1..=self.kept).rev().find(|roll| self.leaving(state, *roll) > 0).filter(|_| sum > 0);
        Some(last.map_or(0, |last| self.segment.saturating_mul((last - rolled) as u64).saturating_sub(past)))
    }

    fn charge(&self, state: &mut State, now: Nanos, cost: u64) {
        self.roll(state, now.max(state.start));
        let cost = cost.min(u64::MAX - state.sum);
        state.sum += cost;
        state.counts[state.current] += cost;
    }

    fn refund(&self, state: &mut State, now: Nanos, taken_at: Nanos, cost: u64) {
        self.roll(state, now.max(state.start));
        let age = state.start.saturating_sub(taken_at).div_ceil(self.segment);
        if age < self.kept as u64 {
            let index = (state.current + self.kept - age as usize) % self.kept;
            let cost = cost.min(state.counts[index]);
            state.counts[index] -= cost;
            state.sum -= cost;
        }
    }

    fn level(&self, state: &State, now: Nanos) -> Level {
        let view = self.view(state, now);
        let oldest = self.oldest(state, view.rolled);
        weighted_level(self.limit, view.sum - oldest, oldest, self.segment - view.past, self.segment)
    }

    fn heap_bytes(&self, state: &State) -> usize {
        size_of_val(&*state.counts)
    }

    fn envelope(&self, tau: Nanos, _max_cost: u64) -> Option<u128> {
        let limit = u128::from(self.limit);
        if self.mode != Mode::Weighted {
            return Some(limit * (u128::from(tau.div_ceil(self.segment)) + 1).div_ceil(self.kept as u128));
        }
        let full = self.segment * (self.segments - 1);
        let beyond = u128::from(tau.saturating_sub(full).saturating_sub(1));
        (tau <= full + self.segment).then(|| limit + limit * beyond / u128::from(self.segment))
    }

    fn worst(&self) -> Option<Worst> {
        let edge = self.segment.checked_mul(self.segments)?;
        match self.mode {
            Mode::Weighted => counter_worst(self.limit, self.segment, edge, Rounding::Exact),
            _ => {
                let again = self.segment.checked_mul(self.kept as u64)?;
                let before = self.segment - 1;
                Some(Worst { requests: vec![(before, self.limit), (again, self.limit)], tau: again - before })
            }
        }
    }

    fn parameters(&self) -> String {
        let mode = match self.mode {
            Mode::Tight => "tight",
            Mode::Safe => "safe",
            Mode::Weighted => "weighted",
        };
        let window = Span(self.segment * self.segments);
        format!("{} per {window}, {} segments, {mode}", self.limit, self.segments)
    }
}
