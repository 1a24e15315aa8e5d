//! `clients.csv`: what came of each population of clients behind each limiter.

use replay::rows::ClientRow;

use super::{Row, six_opt};

impl Row for ClientRow {
    const FILE: &str = "clients.csv";

    fn round(&mut self) {
        six_opt(&mut self.attempts_per_call);
        six_opt(&mut self.refused_again_ratio);
    }
}
