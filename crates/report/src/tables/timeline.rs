//! `timeline.csv`: what each limiter did in each bin of time.

use replay::rows::TimelineRow;

use super::Row;

impl Row for TimelineRow {
    const FILE: &str = "timeline.csv";

    fn round(&mut self) {}
}
