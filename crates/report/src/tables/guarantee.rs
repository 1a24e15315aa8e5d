//! `guarantee.csv`: what each algorithm refuses when tuned never to pass a peak.

use replay::rows::GuaranteeRow;

use super::{Row, six};

impl Row for GuaranteeRow {
    const FILE: &str = "guarantee.csv";

    fn round(&mut self) {
        six(&mut self.refused_ratio);
    }
}
