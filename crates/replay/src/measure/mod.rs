//! Everything measured about one limiter, one module per metric. All counts are integers; `METHODOLOGY.md` has the formulas.

mod departures;
mod envelope;
mod keys;
mod lookback;
mod stream;
mod timeline;
mod trailing;
mod unit_log;

pub use envelope::Envelope;
pub use keys::{Key, Keys};
pub use stream::Stream;
pub use timeline::{Bin, Timeline, round_width};

use departures::Departures;
use hdrhistogram::Histogram;
use limiters::{Nanos, Outcome, Quota, Rate};
use std::hint::select_unpredictable;
use trailing::Trailing;

/// What has to be known to measure a limiter.
pub struct Setup<'a> {
    /// The quota it is measured against.
    pub quota: Quota,
    /// Window lengths of the envelope.
    pub taus: &'a [Nanos],
    /// Absolute time of t = 0.
    pub start: Nanos,
    /// Length of a timeline bin, and how many there are at first.
    pub bin: Nanos,
    /// See [`Setup::bin`].
    pub bins: usize,
    /// Whether each key has a limiter of its own: then peaks, over-admission and false refusals are per key.
    pub per_key: bool,
    /// Whether requests are of more than one key, as far as is known.
    pub many_keys: bool,
    /// Whether admitted requests may start later than they asked.
    pub shaper: bool,
    /// Starts the envelope may remember.
    pub budget: usize,
}

impl<'a> Setup<'a> {
    /// Of a lane that is only asked what its clients pay: everything in one bin, nothing of an envelope.
    pub fn of_bills(quota: &'a Quota, start: Nanos, bin: Nanos) -> Setup<'a> {
        Setup {
            quota: *quota,
            taus: std::slice::from_ref(&quota.window),
            start,
            bin,
            bins: 1,
            per_key: false,
            many_keys: false,
            shaper: false,
            budget: 1,
        }
    }
}

/// The measurements of one limiter.
pub struct Measure {
    quota: Quota,
    start: Nanos,
    per_key: bool,
    shaper: bool,
    /// Requests admitted, refused, too large for ever, delayed.
    pub admitted: u64,
    /// See [`Measure::admitted`].
    pub refused: u64,
    /// See [`Measure::admitted`].
    pub never_fits: u64,
    /// See [`Measure::admitted`].
    pub delayed: u64,
    /// Most permits of one admitted request.
    pub largest: u64,
    /// Whether more than 2^64 − 1 permits were asked for; nothing is measured from then on, and the run is an error.
    pub overflowed: bool,
    /// Permits asked for.
    pub offered_permits: u64,
    /// Permits admitted.
    pub admitted_permits: u64,
    /// Requests refused though they fitted among this limiter's own admissions of the trailing window.
    pub falsely_refused: u64,
    /// First refusal, absolute.
    pub first_refusal: Option<Nanos>,
    /// Most refusals in a row.
    pub longest_streak: u64,
    /// Longest time from the last refusal of a streak to the next admission.
    pub recovery: Option<Nanos>,
    /// Time of the first and last arrival, absolute.
    pub arrivals: Option<(Nanos, Nanos)>,
    /// Longest wait of an admitted request.
    pub longest_wait: Nanos,
    /// Waits of admitted requests; only for shapers.
    pub waits: Option<Histogram<u64>>,
    /// See [`Timeline`].
    pub timeline: Timeline,
    /// See [`Envelope`].
    pub envelope: Envelope,
    /// See [`Stream`].
    pub stream: Stream,
    /// Per key; only where there may be several.
    pub keys: Option<Keys>,
    trailing: Trailing,
    streak: u64,
    last_refusal: Nanos,
    departures: Departures,
    starts: Starts,
}

/// Starts of one block, in columns.
#[derive(Default)]
struct Starts {
    at: Vec<Nanos>,
    key: Vec<u64>,
    cost: Vec<u64>,
}

impl Starts {
    fn clear(&mut self) {
        self.at.clear();
        self.key.clear();
        self.cost.clear();
    }

    #[inline]
    fn push(&mut self, at: Nanos, key: u64, cost: u64) {
        // A request for nothing starts nothing.
        if cost > 0 {
            self.at.push(at);
            self.key.push(key);
            self.cost.push(cost);
        }
    }
}

impl Measure {
    /// Nothing measured yet.
    pub fn new(setup: &Setup<'_>) -> Measure {
        let rate = Rate::new(setup.quota.limit, setup.quota.window);
        let rate = rate.expect("a scenario's limit and window are above zero");
        Measure {
            quota: setup.quota,
            start: setup.start,
            per_key: setup.per_key,
            shaper: setup.shaper,
            admitted: 0,
            refused: 0,
            never_fits: 0,
            delayed: 0,
            largest: 0,
            overflowed: false,
            offered_permits: 0,
            admitted_permits: 0,
            falsely_refused: 0,
            first_refusal: None,
            longest_streak: 0,
            recovery: None,
            arrivals: None,
            longest_wait: 0,
            // Four digits: three cannot tell p99.9 from p99.99 of 1..=10000.
            waits: setup.shaper.then(|| Histogram::new(4).expect("four significant digits are supported")),
            timeline: Timeline::new(setup.start, setup.bin, setup.bins),
            envelope: Envelope::new(setup.taus, setup.budget, setup.quota.window),
            stream: Stream::new(setup.quota, setup.per_key),
            keys: (setup.per_key || setup.many_keys).then(|| Keys::new(setup.quota.window, rate, setup.shaper)),
            trailing: Trailing::new(setup.quota.window),
            streak: 0,
            last_refusal: 0,
            departures: Departures::default(),
            starts: Starts::default(),
        }
    }

    /// The absolute time at which the bin that holds `at` ends: a block must not reach beyond it.
    pub fn block_end(&self, at: Nanos) -> Nanos {
        self.timeline.end_of_bin(at)
    }

    /// Takes a block of decisions in time order, all within one bin. All slices have the same length, at least 1.
    pub fn observe(&mut self, key: &[u64], at: &[Nanos], cost: &[u64], outcomes: &[Outcome]) {
        let (Some(&first), Some(&last)) = (at.first(), at.last()) else { return };
        let asked: u128 = cost.iter().map(|&cost| u128::from(cost)).sum();
        if self.overflowed || u128::from(self.offered_permits) + asked > u128::from(u64::MAX) {
            self.overflowed = true;
            return;
        }
        self.arrivals = Some((self.arrivals.map_or(first, |(first, _)| first), last));
        self.starts.clear();
        let mut bin = Bin::default();
        let unit = self.keys.is_none() && self.trailing.is_unit() && cost.iter().all(|&cost| cost == 1);
        if unit {
            self.scan_unit(at, outcomes, &mut bin);
        } else if self.per_key {
            self.scan::<true>(key, at, cost, outcomes, &mut bin);
        } else {
            self.scan::<false>(key, at, cost, outcomes, &mut bin);
        }
        if self.shaper {
            self.depart(last);
        } else {
            bin.started = bin.admitted;
        }
        let total = self.timeline.bin(first);
        total.offered += bin.offered;
        total.admitted += bin.admitted;
        total.delayed += bin.delayed;
        total.started += bin.started;
        total.trailing = total.trailing.max(bin.trailing);
        self.offered_permits += bin.offered;
        self.admitted_permits += bin.admitted;
        if self.shaper || !unit {
            self.flush_starts();
        }
    }

    /// What [`Measure::scan`] does, for requests of one permit while nothing else was seen and nobody asks for keys: in
    /// loops of one purpose without branches on the answers, which nothing can predict under load.
    fn scan_unit(&mut self, at: &[Nanos], outcomes: &[Outcome], bin: &mut Bin) {
        let requests = at.len() as u64;
        let answers = outcomes.iter().map(|outcome| (outcome.passes(), *outcome == Outcome::Refused));
        let (count, judged) = self.trailing.block(at, self.quota.limit, answers);
        let admitted = count as u64;
        if self.first_refusal.is_none() && admitted < requests {
            self.first_refusal = outcomes.iter().position(|outcome| !outcome.passes()).map(|first| at[first]);
        }
        self.streaks(at, outcomes);
        if self.shaper {
            self.queue_unit(at, outcomes, bin);
        }
        let (most, newest) = self.trailing.newest(count);
        if !self.shaper {
            self.envelope.observe_unit(newest);
            self.stream.observe_unit(newest);
        }
        self.trailing.forget();
        self.admitted += admitted;
        self.refused += judged.refused;
        self.never_fits += requests - admitted - judged.refused;
        self.falsely_refused += judged.falsely;
        self.largest = self.largest.max(admitted.min(1));
        bin.offered = requests;
        bin.admitted = admitted;
        bin.trailing = most;
    }

    /// Refusals in a row, and how long it took to admit again.
    fn streaks(&mut self, at: &[Nanos], outcomes: &[Outcome]) {
        let (mut streak, mut longest, mut last) = (self.streak, self.longest_streak, self.last_refusal);
        let (mut recovery, mut ended_any) = (0, false);
        for (&at, outcome) in at.iter().zip(outcomes) {
            let passes = outcome.passes();
            let ended = passes & (streak > 0);
            ended_any |= ended;
            recovery = recovery.max(select_unpredictable(ended, at.wrapping_sub(last), 0));
            streak = select_unpredictable(passes, 0, streak + 1);
            longest = longest.max(streak);
            last = select_unpredictable(passes, last, at);
        }
        if ended_any {
            self.recovery = self.recovery.max(Some(recovery));
        }
        (self.streak, self.longest_streak, self.last_refusal) = (streak, longest, last);
    }

    /// Puts what a shaper admitted in the queue of departures.
    fn queue_unit(&mut self, at: &[Nanos], outcomes: &[Outcome], bin: &mut Bin) {
        for (&at, outcome) in at.iter().zip(outcomes) {
            let Some(start) = outcome.starts(at) else { continue };
            let delayed = u64::from(start > at);
            self.delayed += delayed;
            bin.delayed += delayed;
            self.longest_wait = self.longest_wait.max(start - at);
            if let Some(waits) = &mut self.waits {
                waits.record(start - at).expect("the histogram grows to any 64-bit value");
            }
            self.departures.push((start, 0, 1));
        }
    }

    /// The pass over a block that looks at every request.
    fn scan<const PER_KEY: bool>(
        &mut self,
        key: &[u64],
        at: &[Nanos],
        cost: &[u64],
        outcomes: &[Outcome],
        bin: &mut Bin,
    ) {
        let limit = self.quota.limit;
        for (((&outcome, &at), &cost), &key) in outcomes.iter().zip(at).zip(cost).zip(key) {
            bin.offered += cost;
            let passes = outcome.passes();
            let by_key = match &mut self.keys {
                Some(keys) => keys.asked(key, at, cost, passes),
                None => 0,
            };
            if passes {
                self.admitted += 1;
                self.largest = self.largest.max(cost);
                bin.admitted += cost;
                bin.trailing = bin.trailing.max(self.trailing.add(at, cost));
                if self.streak > 0 {
                    self.recovery = self.recovery.max(Some(at - self.last_refusal));
                    self.streak = 0;
                }
                if self.shaper {
                    let start = outcome.starts(at).unwrap_or(at);
                    if start > at {
                        self.delayed += 1;
                        bin.delayed += cost;
                    }
                    self.longest_wait = self.longest_wait.max(start - at);
                    if let Some(waits) = &mut self.waits {
                        waits.record(start - at).expect("the histogram grows to any 64-bit value");
                    }
                    self.departures.push((start, key, cost));
                } else {
                    self.starts.push(at, key, cost);
                }
                continue;
            }
            self.streak += 1;
            self.longest_streak = self.longest_streak.max(self.streak);
            self.last_refusal = at;
            if self.first_refusal.is_none() {
                self.first_refusal = Some(at);
            }
            if outcome == Outcome::NeverFits {
                self.never_fits += 1;
            } else {
                self.refused += 1;
                let among = if PER_KEY { by_key } else { self.trailing.sum(at) };
                self.falsely_refused += u64::from(among.saturating_add(cost) <= limit);
            }
        }
    }

    /// Moves departures up to `now` into the started stream.
    fn depart(&mut self, now: Nanos) {
        let (mut bin_end, mut in_bin, mut started) = (0, 0, 0);
        while let Some((start, key, cost)) = self.departures.pop(now) {
            if start >= bin_end {
                self.timeline.bin(in_bin).started += started;
                (bin_end, in_bin, started) = (self.timeline.end_of_bin(start), start, 0);
            }
            started += cost;
            self.starts.push(start, key, cost);
            if let Some(keys) = &mut self.keys {
                keys.started(key, start, cost);
            }
        }
        self.timeline.bin(in_bin).started += started;
    }

    fn flush_starts(&mut self) {
        let Starts { at, key, cost } = &self.starts;
        if self.keys.is_none() && cost.iter().all(|&cost| cost == 1) {
            self.envelope.observe_unit(at);
            self.stream.observe_unit(at);
        } else {
            self.envelope.observe(at, cost);
            self.stream.observe(at, key, cost);
        }
    }

    /// Notes how full the limiter is at the end of every bin that ends at or before `now`. `level` is asked for times that
    /// no request of a later bin has changed yet.
    pub fn levels_until(&mut self, now: Nanos, level: impl Fn(Nanos) -> Option<i64>) {
        while let Some(end) = self.timeline.next_level().filter(|&end| end <= now) {
            let available = level(end - 1);
            self.timeline.set_level(available);
        }
    }

    /// Lets everything depart that still waits.
    pub fn finish(&mut self) {
        self.starts.clear();
        self.depart(Nanos::MAX);
        self.flush_starts();
    }

    /// Most permits in a half-open window: of the whole stream, or of the busiest key where each has its own limiter.
    pub fn peak_window(&self) -> u64 {
        match (&self.keys, self.per_key) {
            (Some(keys), true) => keys.busiest().0,
            _ => self.envelope.most(self.quota.window).unwrap_or(0),
        }
    }

    /// See [`Stream::sigma`]; of the busiest key where each has its own limiter.
    pub fn sigma(&self) -> u64 {
        match (&self.keys, self.per_key) {
            (Some(keys), true) => keys.busiest().1,
            _ => self.stream.sigma(),
        }
    }

    /// A time counted from t = 0.
    pub fn since_start(&self, at: Nanos) -> Nanos {
        at.saturating_sub(self.start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waits(values: impl IntoIterator<Item = u64>) -> Histogram<u64> {
        let mut waits = Histogram::new(4).unwrap();
        values.into_iter().for_each(|value| waits.record(value).unwrap());
        waits
    }

    #[test]
    fn quantiles_are_nearest_ranks() {
        let ten_thousand = waits(1..=10_000);
        let at = |quantile| ten_thousand.value_at_quantile(quantile);
        assert_eq!([0.5, 0.99, 0.999, 0.9999, 1.0].map(at), [5000, 9900, 9990, 9999, 10_000]);
        let mostly_two = waits([1, 2, 2, 2, 2]);
        assert_eq!((mostly_two.value_at_quantile(0.2), mostly_two.value_at_quantile(0.25)), (1, 2));
        assert_eq!(waits([1, 2]).value_at_quantile(0.5), 1);
    }

    #[test]
    fn long_waits_keep_four_digits() {
        let day = 86_400_000_000_000;
        let measured = waits([0, day]).value_at_quantile(1.0);
        assert!(measured.abs_diff(day) <= day / 10_000, "{measured}");
    }
}
