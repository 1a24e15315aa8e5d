//! `waits.csv`: how long admitted requests waited, by quantile.

use replay::rows::WaitRow;

use super::{Row, six};

impl Row for WaitRow {
    const FILE: &str = "waits.csv";

    fn round(&mut self) {
        six(&mut self.quantile);
    }
}
