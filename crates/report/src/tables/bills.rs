//! `bills.csv`: the bill of each seed behind each limiter.

use replay::rows::BillRow;

use super::{Row, six_opt};

impl Row for BillRow {
    const FILE: &str = "bills.csv";

    fn round(&mut self) {
        six_opt(&mut self.useful_lost_ratio);
    }
}
