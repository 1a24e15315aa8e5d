//! `envelope.csv`: the most each limiter let start in any window of a length, and the proven bound.

use replay::rows::EnvelopeRow;

use super::Row;

impl Row for EnvelopeRow {
    const FILE: &str = "envelope.csv";

    fn round(&mut self) {}
}
