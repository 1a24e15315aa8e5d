//! `overhead.csv`: how long a decision takes on one machine.

use replay::rows::OverheadRow;

use super::{Row, six};

impl Row for OverheadRow {
    const FILE: &str = "overhead.csv";

    fn round(&mut self) {
        for ns in [&mut self.mean_ns, &mut self.batch_mean_p50_ns, &mut self.batch_mean_p99_ns, &mut self.ratio_to_noop]
        {
            six(ns);
        }
    }
}
