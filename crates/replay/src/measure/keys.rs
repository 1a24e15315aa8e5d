//! Per-key figures: what each key was offered and got, its own peak, and how fair the shares are.

use super::trailing::Trailing;
use limiters::{KeyHash, Nanos, Rate};
use std::collections::HashMap;

/// What is known of one key.
#[derive(Clone, Debug, Default)]
pub struct Key {
    /// Permits asked for.
    pub offered: u64,
    /// Permits admitted.
    pub admitted: u64,
    /// Most permits started in any half-open window.
    pub most: u64,
    /// What the window still remembers; dropped while the key is idle.
    recent: Option<Box<Recent>>,
}

#[derive(Clone, Debug)]
struct Recent {
    /// Admissions, by the time they were asked for.
    admissions: Trailing,
    /// Starts, where they can be later than admissions.
    starts: Option<Trailing>,
    backlog: u128,
    backlog_at: Nanos,
}

impl Recent {
    fn new(window: Nanos, shaper: bool, now: Nanos) -> Recent {
        let starts = shaper.then(|| Trailing::new(window));
        Recent { admissions: Trailing::new(window), starts, backlog: 0, backlog_at: now }
    }

    fn backlog_at(&self, now: Nanos, rate: Rate) -> u128 {
        let leaked = u128::from(now - self.backlog_at) * u128::from(rate.permits());
        self.backlog.saturating_sub(leaked)
    }

    /// Whether forgetting it at `now` changes nothing that is measured later.
    fn is_idle(&mut self, now: Nanos, rate: Rate) -> bool {
        self.admissions.sum(now) == 0
            && self.starts.as_mut().is_none_or(|starts| starts.sum(now.max(self.backlog_at)) == 0)
            && self.backlog_at <= now
            && self.backlog_at(now, rate) == 0
    }
}

impl Key {
    /// Counts a start; `sum` is what started of this key in the window that ends with it. Returns the backlog with it.
    #[inline]
    fn start(&mut self, now: Nanos, cost: u64, sum: u64, rate: Rate) -> u128 {
        self.most = self.most.max(sum);
        let Some(recent) = &mut self.recent else { return 0 };
        recent.backlog = recent.backlog_at(now, rate) + u128::from(cost) * u128::from(rate.per());
        recent.backlog_at = now;
        recent.backlog
    }
}

/// All keys that asked.
#[derive(Clone, Debug)]
pub struct Keys {
    window: Nanos,
    rate: Rate,
    shaper: bool,
    keys: HashMap<u64, Key, KeyHash>,
    /// Keys with something recent, and how many of them the next sweep waits for.
    remembered: Vec<u64>,
    sweep_at: usize,
    backlog_max: u128,
}

/// Keys with something recent before the first sweep.
const SWEEP: usize = 1_024;

impl Keys {
    /// No key seen yet; peaks are measured over `window`, and backlogs leak at `rate`. Behind a shaper an admission is no
    /// start: each start is told by [`Keys::started`].
    pub fn new(window: Nanos, rate: Rate, shaper: bool) -> Keys {
        let keys = HashMap::with_hasher(KeyHash::default());
        Keys { window, rate, shaper, keys, remembered: Vec::new(), sweep_at: SWEEP, backlog_max: 0 }
    }

    /// Counts a request, and says how many permits of this key were admitted in the trailing window before it.
    pub fn asked(&mut self, key: u64, now: Nanos, cost: u64, admitted: bool) -> u64 {
        let shaper = self.shaper;
        let known = self.keys.entry(key).or_default();
        known.offered += cost;
        if !admitted {
            return known.recent.as_mut().map_or(0, |recent| recent.admissions.sum(now));
        }
        known.admitted += cost;
        let recent = known.recent.get_or_insert_with(|| {
            self.remembered.push(key);
            Box::new(Recent::new(self.window, shaper, now))
        });
        let before = recent.admissions.sum(now);
        let sum = recent.admissions.add(now, cost);
        if !shaper {
            self.backlog_max = self.backlog_max.max(known.start(now, cost, sum, self.rate));
        }
        if self.remembered.len() > self.sweep_at {
            self.sweep(now);
        }
        before
    }

    /// Counts a start of `key` behind a shaper. Starts of one key come in time order.
    pub fn started(&mut self, key: u64, now: Nanos, cost: u64) {
        let (window, known) = (self.window, self.keys.entry(key).or_default());
        let recent = known.recent.get_or_insert_with(|| {
            self.remembered.push(key);
            Box::new(Recent::new(window, true, now))
        });
        let sum = recent.starts.get_or_insert_with(|| Trailing::new(window)).add(now, cost);
        self.backlog_max = self.backlog_max.max(known.start(now, cost, sum, self.rate));
    }

    /// Forgets what is recent of idle keys. The next sweep waits until twice as many keys are remembered, so that a request
    /// pays O(1) on average, and memory is that of the keys that are busy together.
    fn sweep(&mut self, now: Nanos) {
        let (rate, keys) = (self.rate, &mut self.keys);
        self.remembered.retain(|key| {
            let Some(known) = keys.get_mut(key) else { return false };
            if known.recent.as_mut().is_some_and(|recent| recent.is_idle(now, rate)) {
                known.recent = None;
            }
            known.recent.is_some()
        });
        self.sweep_at = (self.remembered.len() * 2).max(SWEEP);
    }

    /// How many keys asked.
    pub fn count(&self) -> usize {
        self.keys.len()
    }

    /// Each key that asked, with its number, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Key)> {
        self.keys.iter().map(|(&number, key)| (number, key))
    }

    /// The largest peak of any key, and the largest bucket any key's starts need (sigma, permits).
    pub fn busiest(&self) -> (u64, u64) {
        let sigma = self.backlog_max.div_ceil(self.rate.per().into());
        (self.keys.values().map(|key| key.most).max().unwrap_or(0), sigma.try_into().unwrap_or(u64::MAX))
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
        assert_eq!((key.most, key.offered, key.admitted, keys.count()), (5, 6, 6, 1));
    }

    #[test]
    fn idle_keys_are_forgotten_and_their_peaks_are_not() {
        let mut keys = keys();
        for number in 0..20_000 {
            keys.asked(number, number * 10, 1, true);
        }
        assert!(keys.remembered.len() < 2_000 && keys.count() == 20_000);
        for _ in 0..4 {
            keys.asked(7, 1_000_000, 1, true);
        }
        assert_eq!(keys.asked(7, 1_000_050, 1, false), 4);
        assert_eq!(keys.busiest(), (4, 4));
    }
}
