//! The clients without a limiter: what they ask for where it would stand, and what they spend.

use super::Varied;
use crate::cast::{cast, check_worlds};
use crate::engine::Sink;
use crate::lane::Lane;
use crate::measure::Setup;
use crate::open::open;
use crate::plan;
use crate::run::{Options, play};
use crate::scenario::{LimiterSpec, QuotaSpec, Scenario};
use crate::size::Demand;
use limiters::{Batch, Nanos, Outcome, algorithm};
use std::ops::Range;

/// What nobody refused comes to.
pub(super) struct Unguarded {
    /// Everything asked, in time order.
    pub demand: Demand,
    /// The smallest that is asked at once; at least 1.
    pub smallest: u64,
    /// Micro-dollars spent by all.
    pub spent: u64,
    /// Length of the run.
    pub duration: Nanos,
}

/// Keeps what was asked.
#[derive(Default)]
struct Asks {
    at: Vec<Nanos>,
    key: Vec<u64>,
    cost: Vec<u64>,
}

impl Sink for Asks {
    fn block(&mut self, batch: &Batch, cost: &[u64], range: Range<usize>, _: &[Outcome]) {
        self.at.extend_from_slice(&batch.at[range.clone()]);
        self.key.extend_from_slice(&batch.key[range.clone()]);
        self.cost.extend_from_slice(&cost[range]);
    }
}

/// Plays the scenario with the limiter that admits everything where `varied` stands.
pub(super) fn unguarded(scenario: &Scenario, varied: &Varied) -> Result<Unguarded, String> {
    let file = scenario.path.display();
    let mut scenario = scenario.clone();
    scenario.quota = QuotaSpec { meter: varied.meter(), per_key: false, ..scenario.quota };
    let baseline = algorithm("unlimited").ok_or_else(|| format!("{file}: no baseline"))?;
    // What is opened depends on what the limiters count.
    scenario.limiters = vec![LimiterSpec::registered(baseline, scenario.quota)];
    let mut opened = open(&scenario, scenario.seed, &|_| {}).map_err(|error| error.to_string())?;
    let (start, duration) = (opened.start, opened.duration);
    let traffic = &mut opened.traffic;
    let cast = cast(&scenario, traffic, scenario.seed, (start, duration, duration.max(1)))
        .ok_or_else(|| format!("{file}: no [[client]] in it"))?;
    let entry = plan::unprotected(&scenario, start, scenario.seed).map_err(|error| format!("{file}: {error}"))?;
    let setup = Setup::of_bills(&entry.quota, start, cast.bin);
    let lane = Lane::new((entry.make)(), entry.meter, scenario.patience, &setup).with_clients(&cast);
    let options = Options { seed: scenario.seed, overhead: false, decisions: None, progress: &|_| {} };
    let end = start.saturating_add(duration);
    let (lanes, _) = play(vec![(lane, Asks::default())], &[], traffic, &options, end)?;
    let mut spent = 0;
    let mut asks = Asks::default();
    for (lane, all) in lanes {
        check_worlds(&scenario, std::iter::once(("no limiter", &lane)), &mut Vec::new())?;
        spent = lane.world().map_or(0, |world| u64::try_from(world.spent()).unwrap_or(u64::MAX));
        asks = all;
    }
    debug_assert!(asks.at.is_sorted(), "a world asks in the order of time");
    let keys = asks.key.iter().max().map_or(1, |most| *most as usize + 1);
    let smallest = asks.cost.iter().copied().filter(|cost| *cost > 0).min().unwrap_or(1);
    let demand = Demand::new(asks.at, asks.key, asks.cost, keys, varied.per_key());
    Ok(Unguarded { demand, smallest, spent, duration })
}
