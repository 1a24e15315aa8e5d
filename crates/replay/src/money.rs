//! What clients came to: each limiter's world beside its twins, as rows.

use crate::entry::Entry;
use crate::rows::{BillRow, ClientRow, SpendRow, SummaryRow, ratio, six_decimals};
use crate::world::{Largest, PULSE, Tally, World};
use limiters::{Meter, Nanos, Stack};
use traffic::clients::Bill;
use traffic::clients::spec::{Client, Role, Stand};

/// Name of the world without a guard, in files.
pub const UNPROTECTED: &str = "none";

/// The worlds that the others are compared with: same seed, no guard.
pub struct Twins<'a> {
    /// With everybody.
    pub unprotected: &'a World,
    /// Without rogues; `None` where there are none, or nobody else.
    pub without_rogues: Option<&'a World>,
}

impl Twins<'_> {
    /// The most useful calls that the population could have made, and when it would have made the last.
    fn reference(&self, tally: &Tally) -> (u64, Option<Nanos>) {
        let honest = (tally.role == Role::Legitimate).then_some(self.without_rogues).flatten();
        let world = honest.unwrap_or(self.unprotected);
        let twin = world.tallies.iter().find(|twin| twin.name == tally.name);
        twin.map_or((0, None), |twin| (twin.useful, twin.last_useful))
    }
}

/// What is needed to know what a run can cost at most.
pub struct Prices<'a> {
    /// The clients.
    pub clients: &'a [Client],
    /// Length of the run.
    pub duration: Nanos,
    /// How many keys there are.
    pub keys: u64,
    /// The largest requests that are not from clients.
    pub open: Largest,
}

impl Prices<'_> {
    /// The least of what each guard of `entry` proves about the bill; `None` where none bounds it.
    fn worst(&self, entry: &Entry) -> Option<u64> {
        let largest = self.recorded();
        let of = |guard: &crate::entry::GuardInfo| {
            let dearest = self.dearest(guard.meter)?;
            let keys = if guard.per_key { self.keys } else { 1 };
            let permits = (guard.all)(self.duration.saturating_sub(1), dearest.max(largest.permits), keys)?;
            let price = match guard.meter {
                Meter::Spend => 1,
                Meter::Requests if largest.free => return None,
                Meter::Requests => u128::from(dearest),
                _ => return None,
            };
            u64::try_from(permits.checked_mul(price)?).ok()
        };
        // A cap that fits each cost exactly needs no dearest call: its bound does not depend on one.
        let exact = |guard: &crate::entry::GuardInfo| {
            let covers = self.clients.iter().all(|client| self.largest(client, guard.meter, 0, 1).is_some());
            let (least, most) = ((guard.bound)(self.duration - 1, 1)?, (guard.bound)(self.duration - 1, u64::MAX / 2)?);
            let keys = if guard.per_key { u128::from(self.keys) } else { 1 };
            (covers && guard.meter == Meter::Spend && least == most).then_some(())?;
            u64::try_from(least * keys).ok()
        };
        entry.guards.iter().filter_map(|guard| of(guard).or_else(|| exact(guard))).min()
    }

    /// The dearest that one permit of a guard under `meter` can be, in micro-dollars, by what the scenario says of prices; `None`
    /// where no call is the dearest, or money is spent that the guard is not asked about.
    pub fn dearest(&self, meter: Meter) -> Option<u64> {
        let mut dearest = self.recorded().microusd;
        for client in self.clients {
            let (call, turn) = (Bill::new(&client.per_call).most()?, Bill::new(&client.per_turn).most()?);
            dearest = dearest.max(self.largest(client, meter, call, turn)?);
        }
        Some(dearest)
    }

    /// The largest of what recorded calls and open-loop requests ask for.
    fn recorded(&self) -> Largest {
        let mut largest = self.open;
        let scripts = self.clients.iter().filter_map(|client| client.scripts.as_ref());
        scripts.flat_map(|scripts| &scripts.steps).for_each(|step| largest.see(step.cost, step.microusd));
        largest
    }

    /// Why nothing bounds the bill behind `entry` although one of its guards bounds what it counts, and what would; empty where
    /// something does, or where no guard bounds anything.
    pub fn unbounded(&self, entry: &Entry) -> Vec<String> {
        let counts = |guard: &crate::entry::GuardInfo| {
            matches!(guard.meter, Meter::Requests | Meter::Spend)
                && (guard.bound)(self.duration.saturating_sub(1), 1).is_some()
        };
        let mut why = Vec::new();
        if self.worst(entry).is_some() || !entry.guards.iter().any(counts) {
            return why;
        }
        for client in self.clients {
            let name = &client.name;
            for (what, cost) in [("per-call", &client.per_call), ("per-turn", &client.per_turn)] {
                if Bill::new(cost).most().is_none() {
                    why.push(format!(
                        "`{what}` of client \"{name}\" is drawn from a distribution without a largest value; a bound \
                         needs a `max` in it (under [client.cost])"
                    ));
                }
            }
            let seen = |guard: &crate::entry::GuardInfo| self.largest(client, guard.meter, 0, 1).is_some();
            if !entry.guards.iter().filter(|guard| counts(guard)).any(seen) {
                why.push(format!(
                    "client \"{name}\" pays for model calls that no guard sees; a bound needs \
                     `rate = \"turn\"` or `cap = \"turn\"` (under [client.guards]), which puts a guard in front of them"
                ));
            }
        }
        if why.is_empty() && self.recorded().free {
            why.push("some requests cost money and no permit".to_owned());
        }
        why
    }

    /// The most that one permit of a guard under `meter` can let a client spend; `None` where it spends without asking.
    fn largest(&self, client: &Client, meter: Meter, call: u64, turn: u64) -> Option<u64> {
        match if meter == Meter::Spend { client.cap } else { client.rate } {
            Stand::Tool if turn == 0 || matches!(client.per_turn, traffic::clients::spec::Cost::Free) => Some(call),
            Stand::Tool => None,
            Stand::Turn => Some(call + turn),
            Stand::Both => Some(call.max(turn)),
        }
    }
}

/// Where the guards stand, in words; several clients may differ.
fn place(clients: &[Client], entry: Option<&Entry>) -> String {
    let guards = entry.map(|entry| &entry.guards[..]).unwrap_or_default();
    let named = |what: &str, stand: &dyn Fn(&Client) -> Stand| {
        let mut places: Vec<&str> = clients.iter().map(|client| stand(client).name()).collect();
        places.sort_unstable();
        places.dedup();
        format!("{what}: {}", places.join("/"))
    };
    let mut words = Vec::new();
    if guards.iter().any(|guard| guard.meter != Meter::Spend) {
        words.push(named("rate", &|client| client.rate));
    }
    if guards.iter().any(|guard| guard.meter == Meter::Spend) {
        words.push(named("cap", &|client| client.cap));
    }
    words.join(", ")
}

/// A finished world with what it was played against.
pub struct Scene<'a> {
    /// `None` is the world without a guard.
    pub entry: Option<&'a Entry>,
    /// The world.
    pub world: &'a World,
    /// Its guards at the end.
    pub stack: Option<&'a Stack>,
    /// Absolute end of the run.
    pub end: Nanos,
}

impl Scene<'_> {
    fn label(&self) -> (String, String) {
        match self.entry {
            Some(entry) => (entry.label.clone(), entry.comparison.name().into()),
            None => (UNPROTECTED.into(), "twin".into()),
        }
    }

    /// Fills the money columns of `row`.
    pub fn fill(&self, row: &mut SummaryRow, twins: &Twins<'_>, prices: &Prices<'_>) {
        let (world, tallies) = (self.world, &self.world.tallies);
        let of = |role: Role| tallies.iter().filter(move |tally| tally.role == role);
        let sum = |count: fn(&Tally) -> u64| tallies.iter().map(count).sum::<u64>();
        let (spent, unprotected) = (micro(world.spent()), micro(twins.unprotected.spent()));
        row.cost_spent_microusd = Some(spent);
        row.cost_unprotected_microusd = Some(unprotected);
        row.cost_saved_microusd = Some(signed(unprotected, spent));
        row.worst_bill_microusd = self.entry.and_then(|entry| prices.worst(entry));
        row.useful_calls = Some(sum(|tally| tally.useful));
        let reference = tallies.iter().map(|tally| twins.reference(tally).0).sum();
        row.useful_lost_ratio = lost(sum(|tally| tally.useful), reference);
        let later = of(Role::Legitimate).filter_map(|tally| {
            let last = tally.last_useful?;
            Some(last.saturating_sub(twins.reference(tally).1?))
        });
        row.finished_later_ns = later.max();
        row.attempts_per_call = ratio(sum(|tally| tally.attempts), sum(|tally| tally.turns));
        row.refused_again_ratio = ratio(sum(|tally| tally.refused_again), sum(|tally| tally.asked_again));
        let capped = self.entry.is_some_and(|entry| entry.guards.iter().any(|guard| guard.cap.is_some()));
        row.cap_overshoot_microusd = capped.then_some(world.overshoot);
        row.cap_unused_microusd = self.unused();
        row.cap_reached_ns = world.cap_reached;
        let rogues: Vec<&Tally> = of(Role::Rogue).collect();
        row.wasted_calls = (!rogues.is_empty()).then(|| sum(|tally| tally.wasted));
        let stopped: Option<Vec<Nanos>> = rogues.iter().map(|tally| tally.stopped).collect();
        row.rogue_stopped_ns = stopped.and_then(|times| times.into_iter().max());
        row.rogue_first_refusal_ns = of(Role::Rogue).filter_map(|tally| tally.first_refusal).min();
        row.legitimate_first_refusal_ns = of(Role::Legitimate).filter_map(|tally| tally.first_refusal).min();
        row.alert_ns = world.alert.fired;
        row.attempts_peak_100ms = Some(world.curve.peak);
        let pulses = prices.duration.div_ceil(PULSE).max(1);
        let mean = world.curve.attempts as f64 / pulses as f64;
        row.attempts_peak_to_mean = (mean > 0.0).then(|| six_decimals(world.curve.peak as f64 / mean));
        row.guard_place = place(prices.clients, self.entry);
    }

    /// What is left of the caps that everybody shares: of the one with least.
    fn unused(&self) -> Option<u64> {
        let (entry, stack) = (self.entry?, self.stack?);
        let shared = entry.guards.iter().zip(stack.guards()).filter(|(info, _)| info.cap.is_some() && !info.per_key);
        let left = shared.filter_map(|(_, guard)| guard.level(0, self.end.saturating_sub(1)));
        left.map(|level| level.available_milli.max(0) as u64 / 1000).min()
    }

    /// A row for each population.
    pub fn clients(&self, twins: &Twins<'_>, clients: &[Client]) -> Vec<ClientRow> {
        let (limiter, comparison) = self.label();
        let row = |(tally, client): (&Tally, &Client)| {
            let twin = twins.unprotected.tallies.iter().find(|twin| twin.name == tally.name);
            let (spent, unprotected) = (micro(tally.spent()), micro(twin.map_or(0, Tally::spent)));
            ClientRow {
                limiter: limiter.clone(),
                comparison: comparison.clone(),
                client: tally.name.clone(),
                role: tally.role.name().into(),
                guard_place: place(std::slice::from_ref(client), self.entry),
                agents: tally.agents,
                calls: tally.turns,
                attempts: tally.attempts,
                admitted: tally.admitted,
                refused: tally.refused,
                failed: tally.failed,
                gave_up: tally.gave_up,
                terminal: tally.terminal,
                detected: tally.detected,
                useful_calls: tally.useful,
                useful_reference: twins.reference(tally).0,
                wasted_calls: tally.wasted,
                spent_on_calls_microusd: micro(tally.spent_calls),
                spent_on_turns_microusd: micro(tally.spent_turns),
                spent_microusd: spent,
                unprotected_microusd: unprotected,
                saved_microusd: signed(unprotected, spent),
                attempts_per_call: ratio(tally.attempts, tally.turns),
                refused_again_ratio: ratio(tally.refused_again, tally.asked_again),
                first_refusal_ns: tally.first_refusal,
                last_useful_ns: tally.last_useful,
                last_attempt_ns: tally.last_attempt,
                stopped_ns: tally.stopped,
            }
        };
        self.world.tallies.iter().zip(clients).map(row).collect()
    }

    /// Spending over time.
    pub fn spend(&self) -> Vec<SpendRow> {
        let (limiter, comparison) = self.label();
        let curve = &self.world.curve;
        let mut sum = 0u64;
        let row = |(index, step): (usize, &crate::world::Step)| {
            sum = sum.saturating_add(step.spent);
            SpendRow {
                limiter: limiter.clone(),
                comparison: comparison.clone(),
                bin_start_ns: index as u64 * curve.bin,
                bin_ns: curve.bin,
                spent_microusd: sum,
                attempts: step.attempts,
                attempts_peak_100ms: step.peak,
            }
        };
        curve.steps.iter().enumerate().map(row).collect()
    }
}

/// The bill of a finished row.
pub fn bill(row: &SummaryRow) -> Option<BillRow> {
    Some(BillRow {
        limiter: row.limiter.clone(),
        comparison: row.comparison.clone(),
        seed: row.seed,
        spent_microusd: row.cost_spent_microusd?,
        unprotected_microusd: row.cost_unprotected_microusd?,
        worst_microusd: row.worst_bill_microusd,
        useful_calls: row.useful_calls?,
        useful_lost_ratio: row.useful_lost_ratio,
    })
}

fn lost(done: u64, reference: u64) -> Option<f64> {
    (reference > 0).then(|| six_decimals(1.0 - done as f64 / reference as f64))
}

fn micro(money: u128) -> u64 {
    money.try_into().unwrap_or(u64::MAX)
}

fn signed(more: u64, less: u64) -> i64 {
    (i128::from(more) - i128::from(less)).clamp(i64::MIN.into(), i64::MAX.into()) as i64
}
