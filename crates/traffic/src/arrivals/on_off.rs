//! On-off: a caller that works, rests, works, rests.
//!
//! r(t) = rate while on and 0 while off, beginning with on at `start`. The clock of requests runs only while on: request k comes
//! when the time spent on reaches k / rate, so a phase shorter than 1/rate delays a request and never loses it. Phases have
//! a constant length or an exponential one (rounded to whole nanoseconds, on phases at least 1).
//!
//! ```text
//!  r │
//!    ├─────┐      ┌─────┐
//!    │╷╷╷╷╷│      │╷╷╷╷╷│
//!    └┴┴┴┴┴┴──────┴┴┴┴┴┴┴───▶ t
//!       on    off
//! ```

use super::time::Steps;
use super::{ArrivalPattern, Arrivals, Span};
use crate::TrafficError;
use crate::draw::{Stream, Streams};
use crate::spec::Phase;
use limiters::{Nanos, Rate};
use rand_distr::{Distribution, Exp1};

pub(super) const PATTERN: ArrivalPattern = ArrivalPattern {
    name: "on-off",
    summary: "A constant rate while on, silence while off; phases of constant or exponential length.",
    equation: "request k comes when the time spent on reaches ceil(k / rate)",
    keys: &["rate", "on", "off", "start", "end"],
};

pub(crate) struct OnOff {
    rate: Rate,
    on: Phase,
    off: Phase,
    until: Nanos,
    rng: Stream,
    /// When this on phase began and how long it is; `None` after the last.
    phase: Option<(Nanos, Nanos)>,
    /// Time spent on before this phase, and up to the last request.
    before: Nanos,
    reached: Nanos,
    steps: Steps,
    /// Requests left in this phase, and those handed out or left.
    left: u128,
    total: u128,
    expected: u64,
}

impl OnOff {
    pub fn new(rate: Rate, on: Phase, off: Phase, span: Span, streams: Streams) -> Result<OnOff, TrafficError> {
        if mean(on) == 0 {
            return Err(TrafficError::new("`on` of on-off is 0; it must be at least 1 ns"));
        }
        let share = mean(on) as f64 / (mean(on) as f64 + mean(off) as f64);
        let mut pattern = OnOff {
            rate,
            on,
            off,
            until: span.until,
            rng: streams.of("phases"),
            phase: None,
            before: 0,
            reached: 0,
            steps: Steps::new(rate.per(), rate.permits()),
            left: 0,
            total: 0,
            expected: (span.expect(rate) as f64 * share) as u64,
        };
        let length = pattern.draw(on).max(1);
        pattern.begin(Some(span.from), length);
        Ok(pattern)
    }

    fn draw(&mut self, phase: Phase) -> Nanos {
        match phase {
            Phase::Constant(length) => length,
            Phase::Exponential(mean) => {
                let unit: f64 = Exp1.sample(&mut self.rng);
                (unit * mean as f64).round() as u64
            }
        }
    }

    /// Begins an on phase; requests in it come in (begin, begin + length].
    fn begin(&mut self, begin: Option<Nanos>, length: Nanos) {
        self.phase = begin.filter(|begin| *begin < self.until).map(|begin| (begin, length));
        let Some((begin, length)) = self.phase else { return };
        let counted = length.min(self.until - 1 - begin);
        let total = self.rate.in_time(self.before.saturating_add(counted));
        self.left = total - self.total;
        self.total = total;
    }

    /// Goes to the next on phase. Constant phases that no request falls into are skipped in one go.
    fn advance(&mut self, begin: Nanos, length: Nanos) {
        if let (Phase::Constant(on), Phase::Constant(off)) = (self.on, self.off) {
            let next = self.reached.saturating_add(self.steps.clone().step());
            let cycles = ((next - 1 - self.before) / on).max(1);
            let cycle = on.saturating_add(off);
            self.before = self.before.saturating_add(on.saturating_mul(cycles));
            self.begin(cycle.checked_mul(cycles).and_then(|gone| begin.checked_add(gone)), on);
        } else {
            self.before = self.before.saturating_add(length);
            let rest = self.draw(self.off);
            let next = self.draw(self.on).max(1);
            self.begin(begin.checked_add(length).and_then(|end| end.checked_add(rest)), next);
        }
    }
}

fn mean(phase: Phase) -> Nanos {
    match phase {
        Phase::Constant(length) | Phase::Exponential(length) => length,
    }
}

impl Arrivals for OnOff {
    fn fill(&mut self, at: &mut Vec<Nanos>, max: usize) -> usize {
        let mut made = 0;
        while let Some((begin, length)) = self.phase
            && made < max
        {
            let take = self.left.min((max - made) as u128) as usize;
            // Time spent on never exceeds time gone by, so this does not wrap.
            let shift = begin - self.before;
            let (mut reached, mut steps) = (self.reached, self.steps.clone());
            at.extend((0..take).map(|_| {
                reached += steps.step();
                reached + shift
            }));
            (self.reached, self.steps) = (reached, steps);
            made += take;
            self.left -= take as u128;
            if self.left == 0 {
                self.advance(begin, length);
            }
        }
        made
    }

    fn expected(&self) -> u64 {
        self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{SECOND, all, rate, span, streams};
    use super::*;

    fn on_off(rate: Rate, on: Phase, off: Phase, span: Span) -> Vec<Nanos> {
        all(OnOff::new(rate, on, off, span, streams(42, "on-off")).unwrap())
    }

    /// The definition, one phase at a time.
    fn slowly(rate: Rate, on: Nanos, off: Nanos, zero: Nanos, end: Nanos) -> Vec<Nanos> {
        let due = |k: u64| (u128::from(k) * u128::from(rate.per())).div_ceil(rate.permits().into()) as u64;
        (1..).map(|k| zero + due(k) + (due(k) - 1) / on * off).take_while(|t| *t <= zero + end).collect()
    }

    #[test]
    fn constant_phases_follow_the_definition() {
        let constant = Phase::Constant;
        for (permits, per) in [(1, 10), (3, 10), (7, 3), (1, 95), (2, 7)] {
            let rate = Rate::new(permits, per).unwrap();
            for (on, off) in [(1, 0), (10, 5), (3, 20), (100, 1), (9, 9), (1, 1)] {
                for end in [0, 1, 9, 10, 99, 1000] {
                    let got = on_off(rate, constant(on), constant(off), span(50, 0, end));
                    assert_eq!(got, slowly(rate, on, off, 50, end), "{rate} on {on} off {off} to {end}");
                }
            }
        }
    }

    #[test]
    fn sparse_phases_are_skipped_quickly() {
        let one_a_day = Rate::new(1, 86_400 * SECOND).unwrap();
        let at = on_off(one_a_day, Phase::Constant(1), Phase::Constant(1), span(0, 0, 100 * 86_400 * SECOND));
        assert_eq!(at.len(), 50);
    }

    #[test]
    fn exponential_phases_share_the_time() {
        let phase = |seconds: u64| Phase::Exponential(seconds * SECOND);
        let at = on_off(rate(10, 1), phase(1), phase(3), span(0, 0, 400_000 * SECOND));
        // About 100,000 cycles. Time on in a long run T has variance 2 · T · on² · off² / (on + off)³ = 2.81e-1 · T.
        let deviation = 10.0 * (0.28125f64 * 400_000.0).sqrt();
        assert!((at.len() as f64 - 1e6).abs() < 5.0 * deviation, "{}", at.len());
        assert!(at.is_sorted());
    }

    /// Fixed for a target: a change here changes every scenario's figures.
    #[test]
    fn golden() {
        let phase = |seconds: u64| Phase::Exponential(seconds * SECOND);
        assert_eq!(
            on_off(rate(1, 1), phase(1), phase(2), span(1_000, 0, 12 * SECOND)),
            [1_259_067_299, 2_406_131_269, 5_592_942_670, 7_527_846_266, 8_527_846_266, 9_527_846_266, 10_527_846_266]
        );
    }

    #[test]
    fn an_on_phase_is_needed() {
        for on in [Phase::Constant(0), Phase::Exponential(0)] {
            assert!(OnOff::new(rate(1, 1), on, Phase::Constant(1), span(0, 0, 9), streams(0, "on-off")).is_err());
        }
    }
}
