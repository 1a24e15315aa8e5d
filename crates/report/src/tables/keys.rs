//! `keys.csv`: the keys each limiter touched most.

use replay::rows::KeyRow;

use super::Row;

impl Row for KeyRow {
    const FILE: &str = "keys.csv";

    fn round(&mut self) {}
}
