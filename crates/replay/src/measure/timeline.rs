//! The timeline: what was offered, admitted, delayed, refused and started in each bin of time.

use limiters::Nanos;

/// One bin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bin {
    /// Permits asked for.
    pub offered: u64,
    /// Permits admitted, at the time they were asked for.
    pub admitted: u64,
    /// Permits admitted that had to wait.
    pub delayed: u64,
    /// Permits that started in this bin.
    pub started: u64,
    /// Most permits admitted in a trailing window that ends at an admission of this bin.
    pub trailing: u64,
    /// Permits available in the last nanosecond of the bin, in thousandths.
    pub level_milli: Option<i64>,
}

/// Bins of equal length from t = 0. Starts after the last arrival make the list longer.
#[derive(Clone, Debug)]
pub struct Timeline {
    start: Nanos,
    width: Nanos,
    bins: Vec<Bin>,
    /// Bins whose level is known.
    levelled: usize,
}

/// Bins beyond this many are not added: what starts later is counted in the last one.
const MAX_BINS: usize = 20_000;

impl Timeline {
    /// `count` empty bins of `width` nanoseconds from the absolute time `start`.
    pub fn new(start: Nanos, width: Nanos, count: usize) -> Timeline {
        Timeline { start, width: width.max(1), bins: vec![Bin::default(); count.clamp(1, MAX_BINS)], levelled: 0 }
    }

    /// The bin that holds the absolute time `at`.
    pub fn bin(&mut self, at: Nanos) -> &mut Bin {
        let index = self.index(at);
        if index >= self.bins.len() {
            self.bins.resize(index + 1, Bin::default());
        }
        &mut self.bins[index]
    }

    fn index(&self, at: Nanos) -> usize {
        (((at.saturating_sub(self.start)) / self.width) as usize).min(MAX_BINS - 1)
    }

    /// The first absolute time after the bin that holds `at`.
    pub fn end_of_bin(&self, at: Nanos) -> Nanos {
        let index = at.saturating_sub(self.start) / self.width;
        self.start.saturating_add((index + 1).saturating_mul(self.width))
    }

    /// The absolute end of the first bin whose level is not known; `None` when all bins have one.
    pub fn next_level(&self) -> Option<Nanos> {
        let index = self.levelled as u64;
        (self.levelled < self.bins.len()).then(|| self.start.saturating_add((index + 1).saturating_mul(self.width)))
    }

    /// Sets the level of that bin.
    pub fn set_level(&mut self, available_milli: Option<i64>) {
        self.bins[self.levelled].level_milli = available_milli;
        self.levelled += 1;
    }

    /// Length of a bin.
    pub fn width(&self) -> Nanos {
        self.width
    }

    /// All bins in time order.
    pub fn bins(&self) -> &[Bin] {
        &self.bins
    }
}

/// A bin width that cuts `duration` into 100 to 250 bins of a round length (1, 2 or 5 times a power of ten of a unit that
/// people read).
pub fn round_width(duration: Nanos) -> Nanos {
    const MINUTE: Nanos = 60_000_000_000;
    const STEPS: [Nanos; 14] = [
        5 * MINUTE / 60,
        10 * MINUTE / 60,
        15 * MINUTE / 60,
        30 * MINUTE / 60,
        MINUTE,
        2 * MINUTE,
        5 * MINUTE,
        10 * MINUTE,
        15 * MINUTE,
        30 * MINUTE,
        60 * MINUTE,
        120 * MINUTE,
        360 * MINUTE,
        1440 * MINUTE,
    ];
    let least = duration.div_ceil(250).max(1);
    let mut decimal = 1;
    while decimal <= 2_000_000_000 {
        for factor in [1, 2, 5] {
            if decimal * factor >= least && decimal * factor <= 2_000_000_000 {
                return decimal * factor;
            }
        }
        decimal *= 10;
    }
    STEPS.into_iter().find(|&step| step >= least).unwrap_or_else(|| least.div_ceil(1440 * MINUTE) * 1440 * MINUTE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_are_round_and_few() {
        let second = 1_000_000_000;
        assert_eq!(round_width(180 * second), second);
        assert_eq!(round_width(60 * second), second / 2);
        assert_eq!(round_width(3600 * second), 15 * second);
        assert_eq!(round_width(8 * 3600 * second), 120 * second);
        assert_eq!(round_width(1), 1);
        for duration in [7, 1_001, 61 * second, 86_400 * second, 366 * 86_400 * second] {
            assert!(duration.div_ceil(round_width(duration)) <= 250);
        }
    }

    #[test]
    fn late_starts_make_it_longer() {
        let mut timeline = Timeline::new(1_000, 10, 3);
        timeline.bin(1_055).started += 1;
        assert_eq!(timeline.bins().len(), 6);
        assert_eq!(timeline.bins()[5].started, 1);
        assert_eq!(timeline.end_of_bin(1_055), 1_060);
    }
}
