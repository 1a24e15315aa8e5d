//! What the page plays with: the chosen limiter, every other algorithm beside it under the same requests, and traffic that
//! goes on by itself. It owns no clock: every question says when it is asked.

use crate::crowd::{Ask, Crowd, Told};
use crate::lane::{Counts, Lane, Reply};
use crate::record::{Record, Why};
use crate::settings::{Fault, LABEL, Settings, Understood};
use limiters::{ALGORITHMS, Nanos, Outcome, Request};
use std::collections::VecDeque;
use traffic::clients::{Failure, Preset};

/// Keys with a limiter of their own, at most.
pub const MOST_KEYS: usize = 1_000;
/// Events of traffic that one call to [`Play::advance`] plays, at most; what is left is played by the next.
const MOST_EVENTS: usize = 200_000;
/// Instants of admissions kept for the picture of a log.
const MOST_TICKS: usize = 200;
const S: Nanos = 1_000_000_000;

/// Money and work, in micro-dollars and calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Money {
    /// What passed, and the model calls of agents.
    pub spent: u64,
    /// What the same clients spend without a limiter, less what they spent; for requests from outside, which have no twin,
    /// what was refused.
    pub saved: i64,
    /// Calls of use that the twin got and the client did not, or not yet.
    pub useful_lost: u64,
}

/// Traffic that goes on by itself.
enum Traffic {
    None,
    /// Calls at start + k/rate, k = 1, 2 …
    Loop {
        per_second: u64,
        start: Nanos,
        next: u64,
    },
    Agents {
        preset: &'static Preset,
        guarded: Box<Crowd>,
        twin: Box<Crowd>,
    },
}

/// See the file's first line.
pub struct Play {
    settings: Settings,
    understood: Understood,
    main: Lane,
    /// What was chosen before `unlimited`, which has no level to go back from.
    parked: Option<Lane>,
    beside: Vec<Lane>,
    keys: Vec<String>,
    /// The key that was asked for last.
    key: u64,
    high: Nanos,
    since: Nanos,
    traffic: Traffic,
    /// Bursts to come: when, and how many calls.
    bursts: VecDeque<(Nanos, u64)>,
    /// Of traffic that is over, and of single calls.
    money: Money,
    /// All that a budget counts.
    budgeted: u64,
    ticks: VecDeque<(Nanos, u64)>,
    record: Record,
    revision: u64,
}

impl Play {
    /// Fresh limiters of these settings.
    pub fn new(settings: Settings, now: Nanos) -> Result<Play, Fault> {
        let understood = settings.understand()?;
        let main = Lane::chosen(&understood, now).ok_or_else(|| Fault::new("algorithm", "cannot be built"))?;
        let beside = beside(&understood, now);
        Ok(Play {
            settings,
            understood,
            main,
            parked: None,
            beside,
            keys: vec!["all".into()],
            key: 0,
            high: now,
            since: now,
            traffic: Traffic::None,
            bursts: VecDeque::new(),
            money: Money::default(),
            budgeted: 0,
            ticks: VecDeque::new(),
            record: Record::default(),
            revision: 0,
        })
    }

    /// Forgets everything but the settings. Traffic stops.
    pub fn reset(&mut self, now: Nanos) {
        self.advance(now);
        if let Ok(fresh) = Play::new(self.settings.clone(), self.high) {
            *self = Play { revision: self.revision + 1, ..fresh };
        }
    }

    /// Plays the traffic that is due.
    pub fn advance(&mut self, now: Nanos) {
        for _ in 0..MOST_EVENTS {
            let burst = self.bursts.front().map(|(at, _)| *at);
            let due = [burst, self.next_of_traffic()].into_iter().flatten().min();
            let Some(at) = due.filter(|at| *at <= now) else { break };
            if burst == Some(at) {
                let (_, calls) = self.bursts.pop_front().unwrap_or_default();
                for _ in 0..calls {
                    self.single(at, 0, 1);
                }
            } else {
                self.step(at);
            }
        }
        self.high = self.high.max(now);
    }

    fn next_of_traffic(&self) -> Option<Nanos> {
        match &self.traffic {
            Traffic::None => None,
            Traffic::Loop { per_second, start, next } => {
                Some(start + (u128::from(*next) * u128::from(S) / u128::from(*per_second)) as u64)
            }
            Traffic::Agents { guarded, twin, .. } => [guarded.next(), twin.next()].into_iter().flatten().min(),
        }
    }

    fn step(&mut self, at: Nanos) {
        match std::mem::replace(&mut self.traffic, Traffic::None) {
            Traffic::None => {}
            Traffic::Loop { per_second, start, next } => {
                self.traffic = Traffic::Loop { per_second, start, next: next + 1 };
                self.single(at, 0, 1);
            }
            Traffic::Agents { preset, mut guarded, mut twin } => {
                if guarded.next() == Some(at) {
                    guarded.step(&mut |at, ask| self.answer(at, ask));
                } else {
                    twin.step(&mut |at, _| Ok(at));
                }
                self.traffic = Traffic::Agents { preset, guarded, twin };
            }
        }
    }

    fn answer(&mut self, at: Nanos, ask: Ask) -> Told {
        match ask {
            Ask::Turn(paid) => {
                self.main.spend(at, paid.microusd);
                self.budgeted = self.budgeted.saturating_add(paid.microusd);
                if self.settings.cap.is_some() {
                    self.record.spoil(Why::Agents);
                }
                Ok(at)
            }
            Ask::Tool(paid) => {
                let reply = self.ask(at, 0, 1, paid.microusd);
                let hint = reply.answer.unwrap_or(limiters::Answer { status: 429, retry_after: None });
                // A header says whole seconds.
                let retry_after = hint.retry_after_seconds().map(|seconds| seconds.saturating_mul(S));
                reply.outcome.starts(at.max(self.high)).ok_or(Failure { status: hint.status, retry_after })
            }
        }
    }

    /// One request, to the chosen limiter and to all beside it.
    fn ask(&mut self, at: Nanos, key: u64, permits: u64, microusd: u64) -> Reply {
        self.high = self.high.max(at);
        let request = Request { at: self.high, key, requests: permits, microusd, ..Request::default() };
        self.record.push(&request);
        let reply = self.main.ask(&request);
        for lane in &mut self.beside {
            lane.ask(&request);
        }
        if reply.outcome.passes() {
            self.budgeted = self.budgeted.saturating_add(microusd);
            match self.ticks.back_mut() {
                Some((at, times)) if *at == self.high => *times += permits,
                _ => self.ticks.push_back((self.high, permits)),
            }
            if self.ticks.len() > MOST_TICKS {
                self.ticks.pop_front();
            }
        }
        reply
    }

    /// A request that no client comes back for.
    fn single(&mut self, at: Nanos, key: u64, permits: u64) -> Reply {
        let microusd = permits.saturating_mul(self.understood.price);
        let reply = self.ask(at, key, permits, microusd);
        if reply.outcome.passes() {
            self.money.spent = self.money.spent.saturating_add(microusd);
        } else {
            self.money.saved = self.money.saved.saturating_add_unsigned(microusd);
        }
        reply
    }

    /// A call from outside, by its key's name. Errors: when there is no room for another key.
    pub fn call(&mut self, now: Nanos, key: &str, permits: u64) -> Result<(u64, Nanos, Reply), Fault> {
        self.advance(now);
        let key = if self.settings.scope == "global" { 0 } else { self.key(key)? };
        self.key = key;
        let reply = self.single(now, key, permits);
        Ok((key, self.high, reply))
    }

    fn key(&mut self, name: &str) -> Result<u64, Fault> {
        if let Some(known) = self.keys.iter().position(|known| known == name) {
            return Ok(known as u64);
        }
        if self.keys.len() >= MOST_KEYS {
            return Err(Fault::new("key", format!("there are {MOST_KEYS} keys already; reset to begin again")));
        }
        self.keys.push(name.to_string());
        Ok(self.keys.len() as u64 - 1)
    }

    /// Other settings from `now` on. What may pass is carried over; see [`Lane::carried`].
    pub fn set(&mut self, now: Nanos, settings: Settings) -> Result<(), Fault> {
        self.advance(now);
        if settings == self.settings {
            return Ok(());
        }
        let understood = settings.understand()?;
        let rebuilt = |old: &Lane, settings: &Understood| {
            Lane::carried(settings, old, self.keys.len() as u64, self.budgeted, self.high)
        };
        let limiter = |settings: &Settings| {
            let Settings { algorithm, limit, window, burst, params, cap, scope, .. } = settings.clone();
            (algorithm, limit, window, burst, params, cap, scope)
        };
        if limiter(&settings) != limiter(&self.settings) {
            // Another scope begins fresh, since a key's share of a common bucket is not known.
            let fresh = settings.scope != self.settings.scope;
            let from = match &self.parked {
                Some(parked) if self.main.algorithm == "unlimited" => parked,
                _ => &self.main,
            };
            let new = if fresh { Lane::chosen(&understood, self.high) } else { rebuilt(from, &understood) };
            let mut new = new.ok_or_else(|| Fault::new("algorithm", "cannot be built"))?;
            new.counts = self.main.counts;
            if self.main.algorithm != "unlimited" && new.algorithm == "unlimited" {
                self.parked = Some(std::mem::replace(&mut self.main, new));
            } else {
                self.main = new;
            }
            let mut others = beside(&understood, self.high);
            for lane in &mut others {
                let Some(old) = self.beside.iter().find(|old| old.algorithm == lane.algorithm) else { continue };
                let plain = Understood { rate: understood.plain(lane.algorithm), cap: None, ..understood.clone() };
                if let Some(carried) = rebuilt(old, &plain).filter(|_| !fresh) {
                    *lane = carried;
                }
                lane.counts = old.counts;
            }
            self.beside = others;
            if !self.record.is_empty() {
                self.record.spoil(Why::Settings);
            }
        }
        (self.settings, self.understood) = (settings, understood);
        self.revision += 1;
        Ok(())
    }

    /// Stops what goes on by itself, and what was to come. Its money stays counted.
    pub fn stop(&mut self, now: Nanos) {
        self.advance(now);
        self.money = self.money();
        self.traffic = Traffic::None;
        self.bursts.clear();
    }

    /// Starts calls at a constant rate instead of what goes on.
    pub fn start_loop(&mut self, now: Nanos, per_second: u64) {
        self.stop(now);
        self.traffic = Traffic::Loop { per_second: per_second.max(1), start: self.high, next: 1 };
    }

    /// Starts the agents of a preset instead of what goes on, and their twins without a limiter.
    pub fn start_agents(&mut self, now: Nanos, preset: &'static Preset) {
        self.stop(now);
        let crowd = || Box::new(Crowd::new(&(preset.client)("agent"), self.high));
        self.traffic = Traffic::Agents { preset, guarded: crowd(), twin: crowd() };
    }

    /// Makes many calls at this instant.
    pub fn burst(&mut self, now: Nanos, calls: u64) {
        self.advance(now);
        for _ in 0..calls {
            self.single(now, 0, 1);
        }
    }

    /// Makes many calls just before the next edge of the quota's window on the wall clock and as many at it; says when.
    pub fn burst_at_edge(&mut self, now: Nanos, calls: u64) -> Nanos {
        self.advance(now);
        let (window, before) = (self.understood.window(), self.understood.window().min(2_000_000) / 2);
        let mut edge = now - now % window + window;
        if edge - now <= before {
            edge += window;
        }
        self.bursts = VecDeque::from([(edge - before, calls), (edge, calls)]);
        edge
    }

    /// Money and work so far, of what goes on too.
    pub fn money(&self) -> Money {
        let mut money = self.money;
        if let Traffic::Agents { guarded, twin, .. } = &self.traffic {
            money.spent = money.spent.saturating_add(guarded.tally.spent);
            money.saved = money.saved.saturating_add(twin.tally.spent as i64 - guarded.tally.spent as i64);
            money.useful_lost += twin.tally.useful.saturating_sub(guarded.tally.useful);
        }
        money
    }

    /// The most that can be spent in `tau`, in micro-dollars: the proven bound at the price of a permit, and no more than
    /// the budget. `None` where nothing bounds it.
    pub fn worst_bill(&self, tau: Nanos) -> Option<u64> {
        let permits = self.main.rule.envelope(tau, 1);
        let bill = permits.map(|permits| permits.saturating_mul(self.understood.price.into()));
        let cap = self.main.budget(self.high).map(|level| (level.capacity_milli / 1000) as u128);
        let worst = [bill, cap].into_iter().flatten().min()?;
        Some(worst.try_into().unwrap_or(u64::MAX))
    }

    /// The recorded requests as a scenario. Errors: why there is none.
    pub fn scenario(&mut self, now: Nanos) -> Result<String, String> {
        self.advance(now);
        let count = |label: &str, counts: &Counts| (label.to_string(), counts.admitted, counts.refused);
        let mut counts = vec![count(LABEL, &self.main.counts)];
        counts.extend(self.beside.iter().map(|lane| count(lane.algorithm, &lane.counts)));
        self.record.scenario(&self.settings, &self.keys, (self.since, self.high), &counts)
    }

    /// What goes on by itself: its kind, and the preset or rate.
    pub fn traffic(&self) -> (&'static str, String) {
        match &self.traffic {
            Traffic::None => ("none", String::new()),
            Traffic::Loop { per_second, .. } => ("loop", per_second.to_string()),
            Traffic::Agents { preset, .. } => ("agent", preset.name.to_string()),
        }
    }

    /// Calls of the agents and of their twins so far.
    pub fn agents(&self) -> Option<[u64; 2]> {
        match &self.traffic {
            Traffic::Agents { guarded, twin, .. } => Some([guarded.tally.asked, twin.tally.asked]),
            _ => None,
        }
    }

    /// The chosen limiter.
    pub fn main(&self) -> &Lane {
        &self.main
    }

    /// Every algorithm under the same quota and requests.
    pub fn beside(&self) -> &[Lane] {
        &self.beside
    }

    /// The key that was asked for last, by its number and name: the one whose limiter is shown.
    pub fn shown(&self) -> (u64, &str) {
        (self.key, self.keys.get(self.key as usize).map_or("", String::as_str))
    }

    /// The settings, as written and as understood.
    pub fn settings(&self) -> (&Settings, &Understood) {
        (&self.settings, &self.understood)
    }

    /// The record since the last reset.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// Instants at which permits passed, and how many, within the last window.
    pub fn ticks(&self) -> impl Iterator<Item = (Nanos, u64)> + '_ {
        let from = self.high.saturating_sub(self.understood.window());
        self.ticks.iter().copied().filter(move |(at, _)| *at > from)
    }

    /// When the next burst comes.
    pub fn next_burst(&self) -> Option<Nanos> {
        self.bursts.front().map(|(at, _)| *at)
    }

    /// The latest time asked about, the time of the last reset, and the number of changes of settings and resets.
    pub fn times(&self) -> (Nanos, Nanos, u64) {
        (self.high, self.since, self.revision)
    }
}

impl Reply {
    /// How long an admitted request waits before it starts.
    pub fn wait(&self, now: Nanos) -> Nanos {
        self.outcome.starts(now).map_or(0, |start| start - now)
    }

    /// Whether it can never pass.
    pub fn never_fits(&self) -> bool {
        self.outcome == Outcome::NeverFits
    }
}

/// Every algorithm that a scenario runs by default, fresh.
fn beside(understood: &Understood, now: Nanos) -> Vec<Lane> {
    let per_key = understood.rate.per_key;
    let plain = ALGORITHMS.iter().filter(|known| known.default);
    plain.filter_map(|known| Lane::registered(known, understood.quota, per_key, now)).collect()
}
