//! Per-key figures: what each key was offered and got, its own peak, and how fair the shares are.

use super::trailing::Trailing;
use limiters::{Nanos, Rate};

/// What is known of one key.
#[derive(Clone, Debug, Default)]
pub struct Key {
    /// Permits asked for.
    pub offered: u64,
    /// Permits admitted.
    pub admitted: u64,
    /// Admissions in the trailing window; kept for the first [`MAX_PEAKS`] keys.
    trailing: Option<Box<Peak>>,
}

#[derive(Clone, Debug)]
struct Peak {
    /// Admissions, by the time they were asked for.
    trailing: Trailing,
    /// Starts, where they can be later than admissions.
    starts: Option<Trailing>,
    most: u64,
    backlog: u128,
    backlog_at: Nanos,
    backlog_max: u128,
}

impl Peak {
    fn new(window: Nanos, shaper: bool, now: Nanos) -> Peak {
        let starts = shaper.then(|| Trailing::new(window));
        Peak { trailing: Trailing::new(window), starts, most: 0, backlog: 0, backlog_at: now, backlog_max: 0 }
    }

    /// Counts a start; `sum` is what started in the window that ends with it.
    fn start(&mut self, now: Nanos, cost: u64, sum: u64, rate: Rate) {
        self.most = self.most.max(sum);
        let leaked = u128::from(now - self.backlog_at) * u128::from(rate.permits());
        self.backlog = self.backlog.saturating_sub(leaked) + u128::from(cost) * u128::from(rate.per());
        self.backlog_max = self.backlog_max.max(self.backlog);
        self.backlog_at = now;
    }
}

/// Keys whose own peak is measured: those with the lowest numbers, which traffic hands out first.
pub const MAX_PEAKS: usize = 100_000;

/// All keys, by their dense number.
#[derive(Clone, Debug)]
pub struct Keys {
    window: Nanos,
    rate: Rate,
    shaper: bool,
    keys: Vec<Key>,
}

impl Keys {
    /// No key seen yet; peaks are measured over `window`, and backlogs leak at `rate`. Behind a shaper an admission is no
    /// start: each start is told by [`Keys::started`].
    pub fn new(window: Nanos, rate: Rate, shaper: bool) -> Keys {
        Keys { window, rate, shaper, keys: Vec::new() }
    }

    /// Counts a request, and says how many permits of this key were admitted in the trailing window before it.
    pub fn asked(&mut self, key: u64, now: Nanos, cost: u64, admitted: bool) -> u64 {
        let index = key as usize;
        if index >= self.keys.len() {
            self.keys.resize_with(index + 1, Key::default);
        }
        let (window, rate, shaper) = (self.window, self.rate, self.shaper);
        let key = &mut self.keys[index];
        key.offered += cost;
        key.admitted += if admitted { cost } else { 0 };
        if index >= MAX_PEAKS {
            return 0;
        }
        let peak = key.trailing.get_or_insert_with(|| Box::new(Peak::new(window, shaper, now)));
        let before = peak.trailing.sum(now);
        if admitted {
            let sum = peak.trailing.add(now, cost);
            if !shaper {
                peak.start(now, cost, sum, rate);
            }
        }
        before
    }

    /// Counts a start of `key` behind a shaper. Starts of one key come in time order.
    pub fn started(&mut self, key: u64, now: Nanos, cost: u64) {
        let rate = self.rate;
        let key = self.keys.get_mut(key as usize);
        if let Some(peak) = key.and_then(|key| key.trailing.as_deref_mut())
            && let Some(starts) = &mut peak.starts
        {
            let sum = starts.add(now, cost);
            peak.start(now, cost, sum, rate);
        }
    }

    /// How many keys asked.
    pub fn count(&self) -> usize {
        self.keys.iter().filter(|key| key.offered > 0).count()
    }

    /// Each key that asked, with its number.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Key)> {
        self.keys.iter().enumerate().filter(|(_, key)| key.offered > 0).map(|(index, key)| (index as u64, key))
    }

    /// The largest peak of any key, and the largest bucket any key's admissions need (sigma, permits).
    pub fn busiest(&self) -> (u64, u64) {
        let peaks = || self.keys.iter().filter_map(|key| key.trailing.as_deref());
        let sigma = peaks().map(|peak| peak.backlog_max).max().unwrap_or(0).div_ceil(self.rate.per().into());
        (peaks().map(|peak| peak.most).max().unwrap_or(0), sigma.try_into().unwrap_or(u64::MAX))
    }

    /// Jain's index of admitted permits against the max-min fair share of what was admitted in total. `None` with fewer
    /// than two keys, or when nothing was admitted.
    pub fn fairness(&self) -> Option<f64> {
        let mut demands: Vec<(u64, u64)> = self.iter().map(|(_, key)| (key.offered, key.admitted)).collect();
        let total: u64 = demands.iter().map(|(_, admitted)| admitted).sum();
        if demands.len() < 2 || total == 0 {
            return None;
        }
        // Water-filling: the smallest demands are met whole, the rest share what is left evenly.
        demands.sort_unstable();
        let (mut left, mut sum, mut squares) = (total as f64, 0.0, 0.0);
        let count = demands.len();
        for (index, (offered, admitted)) in demands.into_iter().enumerate() {
            let fair = (offered as f64).min(left / (count - index) as f64);
            left -= fair;
            let share = if fair > 0.0 { admitted as f64 / fair } else { 0.0 };
            sum += share;
            squares += share * share;
        }
        (squares > 0.0).then(|| sum * sum / (count as f64 * squares))
    }
}

impl Key {
    /// Most permits of this key admitted in any half-open window; `None` when it was not measured.
    pub fn peak(&self) -> Option<u64> {
        self.trailing.as_deref().map(|peak| peak.most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keys {
        Keys::new(100, Rate::new(1, 10).unwrap(), false)
    }

    #[test]
    fn equal_shares_are_fair_and_one_winner_is_not() {
        let mut even = keys();
        let mut one = keys();
        for now in 0..100 {
            for key in 0..4 {
                even.asked(key, now, 1, true);
                one.asked(key, now, 1, key == 0);
            }
        }
        assert_eq!(even.fairness(), Some(1.0));
        assert!((one.fairness().unwrap() - 0.25).abs() < 1e-9);
    }

    #[test]
    fn a_small_demand_met_whole_is_fair() {
        let mut keys = keys();
        keys.asked(0, 0, 10, true);
        keys.asked(1, 0, 100, false);
        keys.asked(1, 1, 50, true);
        assert!((keys.fairness().unwrap() - 1.0).abs() < 1e-9);
    }

    #[test]
    fn behind_a_shaper_peaks_are_of_starts() {
        let mut keys = Keys::new(100, Rate::new(1, 10).unwrap(), true);
        keys.asked(0, 0, 1, true);
        keys.asked(0, 0, 1, true);
        keys.started(0, 0, 1);
        keys.started(0, 100, 1);
        assert_eq!(keys.busiest(), (1, 1));
    }

    #[test]
    fn peaks_are_per_key_and_half_open() {
        let mut keys = keys();
        keys.asked(7, 0, 3, true);
        assert_eq!(keys.asked(7, 99, 2, true), 3);
        assert_eq!(keys.asked(7, 100, 1, true), 2);
        let (_, key) = keys.iter().next().unwrap();
        assert_eq!((key.peak(), key.offered, key.admitted, keys.count()), (Some(5), 6, 6, 1));
    }
}
