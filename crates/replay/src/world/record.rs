//! What the lane sees of a world: every call with its outcome, in blocks that end with the bins of the timeline.

use crate::measure::Measure;
use limiters::{Batch, Meter, Nanos, Outcome, Request, Stack};
use std::ops::Range;

/// Calls that are handed on together.
const BLOCK: usize = 4_096;

/// Takes each block with its decisions; the same as the lane's.
pub type BlockSink<'a> = &'a mut dyn FnMut(&Batch, &[u64], Range<usize>, &[Outcome]);

/// Where a world puts its calls.
pub struct Record<'a> {
    measure: &'a mut Measure,
    meter: Meter,
    sink: BlockSink<'a>,
    batch: Batch,
    cost: Vec<u64>,
    out: Vec<Outcome>,
    bin_end: Nanos,
}

impl<'a> Record<'a> {
    /// Into `measure` by what `meter` counts, and into `sink`.
    pub fn new(measure: &'a mut Measure, meter: Meter, sink: BlockSink<'a>) -> Record<'a> {
        Record { measure, meter, sink, batch: Batch::default(), cost: Vec::new(), out: Vec::new(), bin_end: 0 }
    }

    /// Time comes to `at`: a bin that ended before is closed with the level at its end.
    #[inline]
    pub fn reach(&mut self, at: Nanos, stack: &Stack) {
        if at >= self.bin_end {
            self.flush();
            self.measure.levels_until(at, |at| stack.level(0, at).map(|level| level.available_milli));
            self.bin_end = self.measure.block_end(at);
        }
    }

    /// A call was decided.
    #[inline]
    pub fn asked(&mut self, request: &Request, outcome: Outcome) {
        self.batch.push(request);
        self.cost.push(self.meter.of(request));
        self.out.push(outcome);
        if self.out.len() == BLOCK {
            self.flush();
        }
    }

    /// Hands on what is left.
    pub fn flush(&mut self) {
        if self.out.is_empty() {
            return;
        }
        self.measure.observe(&self.batch.key, &self.batch.at, &self.cost, &self.out);
        (self.sink)(&self.batch, &self.cost, 0..self.out.len(), &self.out);
        self.batch.clear();
        self.cost.clear();
        self.out.clear();
    }
}

impl Drop for Record<'_> {
    fn drop(&mut self) {
        self.flush();
    }
}
