//! `spend.csv`: money spent so far and attempts, over time.

use replay::rows::SpendRow;

use super::Row;

impl Row for SpendRow {
    const FILE: &str = "spend.csv";

    fn round(&mut self) {}
}
