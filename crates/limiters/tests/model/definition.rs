//! What each algorithm is defined to do, over the whole history of admissions: slow, and exact for any integer it is given.

use num_integer::Integer;
use std::fmt::Debug;

/// An integer that a definition is computed in: `i128` where that is wide enough, `BigInt` where nothing bounds it.
pub trait Number: Integer + Clone + From<u64> + Debug {}
impl<N: Integer + Clone + From<u64> + Debug> Number for N {}

/// What a definition needs to know.
#[derive(Clone, Debug)]
pub enum Definition<N> {
    Everything,
    Fixed {
        limit: N,
        window: N,
        offset: N,
    },
    FirstRequest {
        limit: N,
        window: N,
    },
    Log {
        limit: N,
        span: N,
    },
    Counter {
        limit: N,
        window: N,
        exact: bool,
    },
    Segments {
        limit: N,
        segment: N,
        segments: N,
        mode: &'static str,
    },
    /// Units of 1/P permit: what a bucket holds, what it gains a nanosecond, what a permit costs; and the largest cost in
    /// permits, where there is one.
    Bucket {
        capacity: N,
        initial: N,
        gain: N,
        permit: N,
        largest: Option<N>,
    },
    Ticks {
        capacity: N,
        per_tick: N,
        tick: N,
        offset: N,
    },
    Cap {
        cap: N,
        period: Option<(N, N)>,
        before: bool,
    },
}

/// A definition and every admission so far, oldest first: time and cost.
pub struct Model<N> {
    pub definition: Definition<N>,
    pub history: Vec<(N, N)>,
}

/// The start of the interval of this length that `now` is in, when one starts at `offset`.
fn start_of<N: Number>(now: &N, length: &N, offset: &N) -> N {
    now.clone() - (now.clone() - offset.clone()).mod_floor(length)
}

impl<N: Number> Model<N> {
    pub fn new(definition: Definition<N>) -> Model<N> {
        Model { definition, history: Vec::new() }
    }

    /// Permits admitted in `[from, to)`.
    fn sum(&self, from: &N, to: Option<&N>) -> N {
        let counts = |at: &N| at >= from && to.is_none_or(|to| at < to);
        self.history.iter().filter(|(at, _)| counts(at)).fold(N::zero(), |sum, (_, cost)| sum + cost.clone())
    }

    fn total(&self) -> N {
        self.history.iter().fold(N::zero(), |sum, (_, cost)| sum + cost.clone())
    }

    /// The least of `allowance(t) − what was taken from t on`, over all admissions and the instant `now`.
    fn least(&self, now: &N, permit: &N, allowance: impl Fn(&N) -> N) -> N {
        let mut taken = N::zero();
        self.history.iter().rev().fold(allowance(now), |least, (at, cost)| {
            taken = taken.clone() + cost.clone() * permit.clone();
            least.min(allowance(at) - taken.clone())
        })
    }

    /// Whether `cost` permits pass at `now`.
    pub fn fits(&self, now: &N, cost: &N) -> bool {
        if cost.is_zero() {
            return true;
        }
        let (now, cost) = (now.clone(), cost.clone());
        match self.definition.clone() {
            Definition::Everything => true,
            Definition::Fixed { limit, window, offset } => {
                self.sum(&start_of(&now, &window, &offset), None) + cost <= limit
            }
            Definition::FirstRequest { limit, window } => {
                let opened = self.history.iter().fold(None::<N>, |opened, (at, _)| match opened {
                    Some(start) if *at < start.clone() + window.clone() => Some(start),
                    _ => Some(at.clone()),
                });
                let used = match opened {
                    Some(start) if now < start.clone() + window => self.sum(&start, None),
                    _ => N::zero(),
                };
                used + cost <= limit
            }
            Definition::Log { limit, span } => self.sum(&(now - span + N::one()), None) + cost <= limit,
            Definition::Counter { limit, window, exact } => {
                let start = start_of(&now, &window, &N::zero());
                let left = window.clone() - (now - start.clone());
                let current = self.sum(&start, None);
                let previous = self.sum(&(start.clone() - window.clone()), Some(&start));
                match exact {
                    true => previous * left + (current + cost) * window.clone() <= limit * window,
                    false => (previous * left).div_floor(&window) + current + cost <= limit,
                }
            }
            Definition::Segments { limit, segment, segments, mode } => {
                let start = start_of(&now, &segment, &N::zero());
                let left = segment.clone() - (now - start.clone());
                let first = start - (segments - N::one()) * segment.clone();
                let within = self.sum(&first, None);
                let oldest = self.sum(&(first.clone() - segment.clone()), Some(&first));
                match mode {
                    "tight" => within + cost <= limit,
                    "safe" => within + oldest + cost <= limit,
                    _ => oldest * left + (within + cost) * segment.clone() <= limit * segment,
                }
            }
            Definition::Bucket { capacity, initial, gain, permit, largest } => {
                let full = |from: &N| capacity.clone() + gain.clone() * (now.clone() - from.clone());
                let conforms = cost.clone() * permit.clone() <= self.least(&now, &permit, full);
                conforms
                    && largest.is_none_or(|largest| cost <= largest)
                    && (self.total() + cost) * permit <= initial + gain * now
            }
            Definition::Ticks { capacity, per_tick, tick, offset } => {
                let index = |at: &N| (at.clone() - offset.clone()).div_floor(&tick);
                let newest = index(&now);
                let full = |from: &N| capacity.clone() + per_tick.clone() * (newest.clone() - index(from));
                cost <= self.least(&now, &N::one(), full)
            }
            Definition::Cap { cap, period, before } => {
                let spent = match period {
                    Some((period, offset)) => self.sum(&start_of(&now, &period, &offset), None),
                    None => self.total(),
                };
                if before { spent < cap } else { spent + cost <= cap }
            }
        }
    }

    /// Whether `cost` permits are more than ever pass, whatever was admitted.
    pub fn never(&self, cost: &N) -> bool {
        match &self.definition {
            Definition::Everything | Definition::Cap { before: true, .. } => false,
            Definition::Fixed { limit, .. }
            | Definition::FirstRequest { limit, .. }
            | Definition::Log { limit, .. }
            | Definition::Counter { limit, .. }
            | Definition::Segments { limit, .. }
            | Definition::Ticks { capacity: limit, .. }
            | Definition::Cap { cap: limit, .. } => cost > limit,
            Definition::Bucket { capacity, permit, largest, .. } => {
                cost.clone() * permit.clone() > *capacity || largest.as_ref().is_some_and(|largest| cost > largest)
            }
        }
    }

    /// How long what was accepted keeps a drain busy: the most, over all admissions, of what came since less what drained.
    pub fn delay(&self, now: &N) -> N {
        let Definition::Bucket { gain, permit, .. } = self.definition.clone() else { return N::zero() };
        let drained = |from: &N| gain.clone() * (now.clone() - from.clone());
        let backlog = N::zero() - self.least(now, &permit, drained);
        (backlog.max(N::zero()) + gain.clone() - N::one()).div_floor(&gain)
    }
}
