//! Arrival patterns: when the requests of an open-loop source come. One file each.
//!
//! A deterministic pattern is a rate r(t), and one rule turns it into times: request k (k = 1, 2 …) comes at the first whole
//! nanosecond t at which the integral of r from the start up to t has reached k. A stochastic pattern is a distribution of gaps,
//! whose running sum is rounded down to whole nanoseconds. Neither accumulates rounding: the first is solved for each k, the
//! second keeps the fraction.

mod burst;
mod constant;
mod on_off;
mod pareto;
mod poisson;
mod ramp;
mod sine;
mod time;

use crate::draw::Streams;
use crate::spec::Shape;
use crate::{Settings, TrafficError};
use limiters::{Nanos, Rate};

/// What an arrival pattern is, for lists and documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ArrivalPattern {
    /// Name in scenarios: `[[traffic.NAME]]`.
    pub name: &'static str,
    /// One sentence.
    pub summary: &'static str,
    /// What defines it.
    pub equation: &'static str,
    /// Keys in scenarios, without those that every pattern has (key, keys, zipf, cost, tokens, price).
    pub keys: &'static [&'static str],
}

/// Every arrival pattern there is.
pub const PATTERNS: &[ArrivalPattern] = &[
    constant::PATTERN,
    poisson::PATTERN,
    burst::PATTERN,
    on_off::PATTERN,
    ramp::PATTERN,
    sine::PATTERN,
    pareto::PATTERN,
];

/// Times of requests, in order.
pub(crate) trait Arrivals: Send {
    /// Appends at most `max` absolute times and returns how many; 0 is the end.
    fn fill(&mut self, at: &mut Vec<Nanos>, max: usize) -> usize;

    /// About how many there are from beginning to end.
    fn expected(&self) -> u64;
}

/// The arrivals of a shape; `None` for a trace, whose times are in a file.
pub(crate) fn open(
    shape: &Shape,
    settings: &Settings,
    streams: Streams,
) -> Result<Option<Box<dyn Arrivals>>, TrafficError> {
    let span = |start, end| Span::new(settings, start, end);
    Ok(Some(match *shape {
        Shape::Constant { rate, start, end } => Box::new(constant::Constant::new(rate, span(start, end)?)),
        Shape::Poisson { rate, start, end } => Box::new(poisson::Poisson::new(rate, span(start, end)?, streams)),
        Shape::Burst { at, requests, spread, every } => {
            Box::new(burst::Burst::new(requests, spread, every, span(at, None)?)?)
        }
        Shape::OnOff { rate, on, off, start, end } => {
            Box::new(on_off::OnOff::new(rate, on, off, span(start, end)?, streams)?)
        }
        Shape::Ramp { from, to, start, end } => Box::new(ramp::Ramp::new(from, to, span(start, end)?)?),
        Shape::Sine { mean, amplitude, period, phase, start, end } => {
            Box::new(sine::Sine::new(mean, amplitude, period, phase, span(start, end)?)?)
        }
        Shape::Pareto { rate, shape, start, end } => {
            Box::new(pareto::Pareto::new(rate, shape, span(start, end)?, streams)?)
        }
        Shape::Trace(_) => return Ok(None),
    }))
}

impl Shape {
    /// The shape's name in scenarios: `[[traffic.NAME]]`.
    pub fn name(&self) -> &'static str {
        match self {
            Shape::Constant { .. } => constant::PATTERN.name,
            Shape::Poisson { .. } => poisson::PATTERN.name,
            Shape::Burst { .. } => burst::PATTERN.name,
            Shape::OnOff { .. } => on_off::PATTERN.name,
            Shape::Ramp { .. } => ramp::PATTERN.name,
            Shape::Sine { .. } => sine::PATTERN.name,
            Shape::Pareto { .. } => pareto::PATTERN.name,
            Shape::Trace(_) => "trace",
        }
    }
}

/// When a pattern is active, in absolute times: [from, until). `length` is what `end` asked for, even where the
/// scenario's duration cuts it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// Absolute time of t = 0.
    pub zero: Nanos,
    pub from: Nanos,
    pub until: Nanos,
    pub length: Nanos,
}

impl Span {
    fn new(settings: &Settings, start: Nanos, end: Option<Nanos>) -> Result<Span, TrafficError> {
        let close = settings.end()?;
        let until = match end {
            Some(end) if end < start => {
                return Err(TrafficError::new(format!("`end` ({end} ns) is before `start` ({start} ns)")));
            }
            // `end` is included, so the first time that is not is 1 ns later.
            Some(end) => close.min(settings.start.saturating_add(end).saturating_add(1)),
            None => close,
        };
        let from = settings.start.saturating_add(start);
        let length = end.unwrap_or(settings.duration).saturating_sub(start);
        Ok(Span { zero: settings.start, from: from.min(until), until, length })
    }

    /// Nanoseconds from `from` to the last time that counts; `None` when no time counts.
    pub fn last(&self) -> Option<Nanos> {
        (self.until - self.from).checked_sub(1)
    }

    /// About how many requests a rate makes in it.
    pub fn expect(&self, rate: Rate) -> u64 {
        count(rate.in_time(self.until - self.from))
    }
}

/// Counts beyond `u64` cannot be played anyway.
pub(crate) fn count(exact: u128) -> u64 {
    exact.try_into().unwrap_or(u64::MAX)
}

#[cfg(test)]
pub(crate) mod testing {
    //! What the tests of the patterns share.

    use super::*;

    pub const SECOND: Nanos = 1_000_000_000;

    /// From t = 0 at `zero` to `end`, which is included.
    pub fn span(zero: Nanos, start: Nanos, end: Nanos) -> Span {
        let settings = Settings { seed: 0, start: zero, duration: end + 1, tokens: false };
        Span::new(&settings, start, Some(end)).unwrap()
    }

    pub fn streams(seed: u64, kind: &'static str) -> Streams {
        Streams { seed, kind, index: 0 }
    }

    pub fn rate(permits: u64, seconds: u64) -> Rate {
        Rate::new(permits, seconds * SECOND).unwrap()
    }

    /// All times, filled in batches of uneven length.
    pub fn all(mut arrivals: impl Arrivals) -> Vec<Nanos> {
        let (mut at, mut max) = (Vec::new(), 1);
        while arrivals.fill(&mut at, max) > 0 {
            max = max * 3 % 1009 + 1;
        }
        assert_eq!(arrivals.fill(&mut at, 10), 0, "the end is the end");
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_described() {
        for (i, pattern) in PATTERNS.iter().enumerate() {
            assert!(PATTERNS[..i].iter().all(|other| other.name != pattern.name));
            assert!(!pattern.summary.is_empty() && !pattern.equation.is_empty() && !pattern.keys.is_empty());
        }
    }
}
