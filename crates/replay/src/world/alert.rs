//! The moment at which somebody would have been told that something is wrong.
//!
//! Rule: attempts are counted in steps of 10 s. A step is bad when more than half of its attempts are refused; the alert
//! fires at the end of the sixth bad step in a row, a minute after the trouble began. A step without attempts is neither good
//! nor bad and interrupts nothing.

use limiters::Nanos;

const STEP: Nanos = 10_000_000_000;
const BAD_STEPS: u64 = 6;

/// See the module.
#[derive(Clone, Debug)]
pub struct Alert {
    start: Nanos,
    step: u64,
    asked: u64,
    refused: u64,
    bad: u64,
    /// When it fired, counted from t = 0.
    pub fired: Option<Nanos>,
}

impl Alert {
    pub(super) fn new(start: Nanos) -> Alert {
        Alert { start, step: 0, asked: 0, refused: 0, bad: 0, fired: None }
    }

    #[inline]
    pub(super) fn asked(&mut self, at: Nanos, passed: bool) {
        let step = (at - self.start) / STEP;
        if step != self.step {
            self.close();
            self.step = step;
        }
        self.asked += 1;
        self.refused += u64::from(!passed);
    }

    fn close(&mut self) {
        if self.asked > 0 {
            self.bad = if self.refused * 2 > self.asked { self.bad + 1 } else { 0 };
            if self.bad == BAD_STEPS && self.fired.is_none() {
                self.fired = Some((self.step + 1) * STEP);
            }
        }
        (self.asked, self.refused) = (0, 0);
    }

    pub(super) fn finish(&mut self, end: Nanos) {
        // A step that the end of the run cut short has not ended.
        if end - self.start >= (self.step + 1) * STEP {
            self.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_minute_of_refusals_fires_once() {
        let mut alert = Alert::new(0);
        for second in 0..200 {
            alert.asked(second * 1_000_000_000, second < 30);
        }
        alert.finish(200_000_000_000);
        assert_eq!(alert.fired, Some(90_000_000_000));
        let mut quiet = Alert::new(0);
        for second in 0..200 {
            quiet.asked(second * 1_000_000_000, second % 2 == 0);
        }
        quiet.finish(200_000_000_000);
        assert_eq!(quiet.fired, None, "half is not more than half");
    }
}
