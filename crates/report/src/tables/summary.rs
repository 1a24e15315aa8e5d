//! `summary.csv`: one row per limiter.

use replay::rows::SummaryRow;

use super::{Row, six_opt};

impl Row for SummaryRow {
    const FILE: &str = "summary.csv";

    fn round(&mut self) {
        for ratio in [
            &mut self.admitted_ratio,
            &mut self.admitted_per_s,
            &mut self.gap_cv,
            &mut self.fairness,
            &mut self.hint_honest_ratio,
        ] {
            six_opt(ratio);
        }
    }
}
