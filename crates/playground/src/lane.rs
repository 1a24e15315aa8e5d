//! A limiter at work: a stack of the chosen algorithm and, where there is one, a budget, with what it has answered.

use crate::settings::Understood;
use limiters::{Algorithm, Answer, AnyRule, Guard, Level, Meter, Nanos, Outcome, Quota, Request, Response, RetryAfter};
use limiters::{Scope, Settings, Stack};
use std::sync::Arc;

/// Answers so far, in requests and permits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Requests that passed, delayed ones included.
    pub admitted: u64,
    /// Requests that did not.
    pub refused: u64,
    /// Requests that passed later than they came.
    pub delayed: u64,
    /// Permits that passed.
    pub permits: u64,
}

/// What a lane says to a request.
#[derive(Clone, Copy, Debug)]
pub struct Reply {
    /// The answer.
    pub outcome: Outcome,
    /// What a refused client is told.
    pub answer: Option<Answer>,
    /// Which guard refused: 0 is the algorithm, 1 the budget.
    pub refused_by: Option<usize>,
}

/// A limiter with its answers.
pub struct Lane {
    /// Name in the registry.
    pub algorithm: &'static str,
    /// Its rule, for bounds and words.
    pub rule: Arc<dyn AnyRule>,
    /// Answers so far.
    pub counts: Counts,
    stack: Stack,
    window: Nanos,
    overflow: Overflow,
}

/// Permits that came while the bucket was full, counted from the last change of settings.
#[derive(Clone, Copy, Debug, Default)]
struct Overflow {
    before: i128,
    supplied: i128,
    held: i128,
    passed: i128,
}

/// Algorithms whose level moves with every nanosecond.
const CONTINUOUS: [&str; 4] = ["token-bucket", "leaky-bucket", "leaky-bucket-meter", "gcra"];
/// Steps in which a window's use is copied to another window, at most.
const STEPS: u64 = 512;
/// The guard of the algorithm in a request to [`Stack::charge_of`]; the budget's is the next bit.
const RATE: u64 = 1;
const CAP: u64 = 2;

impl Lane {
    /// A registered algorithm under a quota.
    pub fn registered(known: &'static Algorithm, quota: Quota, per_key: bool, origin: Nanos) -> Option<Lane> {
        let rule = (known.build)(&Settings::new(quota).starting_at(origin)).ok()?;
        Some(Lane::of(known.name, rule.into(), quota.window, per_key, None, origin))
    }

    /// The limiter that was set, fresh at `origin`.
    pub fn chosen(settings: &Understood, origin: Nanos) -> Option<Lane> {
        let rule = settings.rate.build(origin)?.ok()?;
        Lane::built(settings, rule, origin)
    }

    /// The limiter that was set, with what `old` has used. Budgets begin with `spent` micro-dollars.
    ///
    /// A change hands out nothing and forgets nothing. A bucket keeps its level, up to the new capacity: what can pass right
    /// after the change could pass right before. A window keeps what it has used and when, so that only a raised limit makes
    /// room, by as much as it was raised. A budget keeps what was spent: a raised one is new money.
    pub fn carried(settings: &Understood, old: &Lane, keys: u64, spent: u64, now: Nanos) -> Option<Lane> {
        let rule = settings.full().build(0)?.ok()?;
        let mut new = Lane::built(settings, rule, now)?;
        new.counts = old.counts;
        for key in 0..keys.max(1) {
            new.carry(old, key, now);
        }
        if spent > 0 {
            let request = Request { at: now, microusd: spent, ..Request::default() };
            new.stack.charge_of(&request, CAP);
        }
        new.overflow.before = old.lost(now).unwrap_or(0).into();
        new.mark(now);
        Some(new)
    }

    fn built(settings: &Understood, rule: Box<dyn AnyRule>, origin: Nanos) -> Option<Lane> {
        let cap = match &settings.cap {
            Some(cap) => Some(cap.build(origin)?.ok()?),
            None => None,
        };
        let spec = &settings.rate;
        let window = spec.quota().map_or(settings.window(), |quota| quota.window);
        Some(Lane::of(spec.algorithm(), rule.into(), window, spec.per_key, cap, origin))
    }

    fn of(
        algorithm: &'static str,
        rule: Arc<dyn AnyRule>,
        window: Nanos,
        per_key: bool,
        cap: Option<Box<dyn AnyRule>>,
        origin: Nanos,
    ) -> Lane {
        let scope = if per_key { Scope::PerKey } else { Scope::Global };
        let mut guards = vec![Guard::new(algorithm, Meter::Requests, scope, rule.store(per_key))];
        if let Some(cap) = cap {
            let spent_up = Response { status: 402, retry_after: RetryAfter::None, charge_on_reject: false };
            let guard = Guard::new("budget", Meter::Spend, Scope::Global, cap.store(false));
            guards.push(guard.with_response(spent_up));
        }
        let (counts, overflow) = (Counts::default(), Overflow::default());
        let mut lane = Lane { algorithm, rule, counts, stack: Stack::new(guards), window, overflow };
        lane.mark(origin);
        lane
    }

    fn carry(&mut self, old: &Lane, key: u64, now: Nanos) {
        let is_window = |lane: &Lane| lane.algorithm.contains("window");
        let cost = |at: Nanos, requests: u64| Request { at, key, requests, ..Request::default() };
        let before = old.level(key, now).available_milli;
        if self.algorithm == "spend-cap" && old.algorithm == "spend-cap" {
            let used = (old.level(key, now).capacity_milli - before).max(0) as u64 / 1000;
            return self.stack.charge_of(&cost(now, used), RATE);
        }
        let mut raised = 0;
        if is_window(self) && is_window(old) {
            raised = (self.level(key, now).capacity_milli - old.level(key, now).capacity_milli).max(0);
            // A permit that comes back after d was used at now + d − W, as exactly as the old window remembers.
            let (left, capacity) = (old.remaining(key, now), (old.level(key, now).capacity_milli / 1000) as u64);
            let step = capacity.saturating_sub(left).div_ceil(STEPS).max(1);
            let mut copied = left;
            while copied < capacity {
                let next = (copied + step).min(capacity);
                let back = old.retry_after(key, now, next).unwrap_or(old.window);
                let used_at = now.saturating_add(back).saturating_sub(old.window).min(now);
                self.stack.charge_of(&cost(used_at, next - copied), RATE);
                copied = next;
            }
        }
        let target = (before + raised).min(self.level(key, now).capacity_milli);
        let excess = self.level(key, now).available_milli - target;
        if excess <= 0 {
            return;
        }
        let permits = (excess as u64).div_ceil(1000);
        let fraction = permits * 1000 - excess as u64;
        // A fraction of a permit is a charge that was made a little earlier.
        let earlier = if fraction > 0 && CONTINUOUS.contains(&self.algorithm) {
            let mut probe = self.rule.limiter();
            probe.charge(now, (self.level(key, now).capacity_milli / 1000) as u64);
            let interval = probe.retry_after(now, 1).unwrap_or(0);
            (u128::from(interval) * u128::from(fraction) / 1000) as u64
        } else {
            0
        };
        self.stack.charge_of(&cost(now.saturating_sub(earlier), permits), RATE);
    }

    /// Asks for a request and counts the answer. Times must not go back.
    pub fn ask(&mut self, request: &Request) -> Reply {
        let verdict = self.stack.try_acquire(request);
        let answer = self.stack.answer(request, &verdict);
        if verdict.outcome.passes() {
            self.counts.admitted += 1;
            self.counts.permits += request.requests;
            self.counts.delayed += u64::from(verdict.outcome != Outcome::Admitted);
        } else {
            self.counts.refused += 1;
        }
        Reply { outcome: verdict.outcome, answer, refused_by: verdict.refused_by }
    }

    /// Tells a budget of money that was spent without asking it.
    pub fn spend(&mut self, at: Nanos, microusd: u64) {
        self.stack.charge_of(&Request { at, microusd, ..Request::default() }, CAP);
    }

    /// How full the algorithm's limiter of `key` is.
    pub fn level(&self, key: u64, now: Nanos) -> Level {
        let nothing = Level { available_milli: 0, capacity_milli: 0 };
        self.stack.guards().first().and_then(|guard| guard.level(key, now)).unwrap_or(nothing)
    }

    /// How full the budget is, in thousandths of a micro-dollar.
    pub fn budget(&self, now: Nanos) -> Option<Level> {
        self.stack.guards().get(1).and_then(|guard| guard.level(0, now))
    }

    /// Permits that would pass the algorithm at once.
    pub fn remaining(&self, key: u64, now: Nanos) -> u64 {
        self.store().map_or(0, |store| store.remaining(key, now))
    }

    /// Least wait until `cost` passes the algorithm.
    pub fn retry_after(&self, key: u64, now: Nanos, cost: u64) -> Option<Nanos> {
        self.store().and_then(|store| store.retry_after(key, now, cost))
    }

    /// Least wait until the algorithm's limiter is as good as fresh.
    pub fn reset_after(&self, key: u64, now: Nanos) -> Option<Nanos> {
        self.store().and_then(|store| store.reset_after(key, now))
    }

    /// Bytes of state of one key.
    pub fn state_bytes(&self) -> usize {
        self.store().map_or(0, |store| store.state_bytes())
    }

    fn store(&self) -> Option<&(dyn limiters::Store + Send)> {
        self.stack.guards().first().and_then(Guard::store)
    }

    /// Permits that came while the bucket was full, since the first of these settings; `None` for limiters that do not
    /// refill. Whole permits: the counts it is made from are rounded down.
    pub fn lost(&self, now: Nanos) -> Option<u64> {
        let supplied = self.rule.supply(now)? as i128 - self.overflow.supplied;
        let passed = i128::from(self.counts.permits) - self.overflow.passed;
        let gained = self.held(now) - self.overflow.held;
        Some((self.overflow.before + supplied - passed - gained).max(0) as u64)
    }

    fn held(&self, now: Nanos) -> i128 {
        i128::from(self.level(0, now).available_milli.div_euclid(1000))
    }

    fn mark(&mut self, now: Nanos) {
        self.overflow.supplied = self.rule.supply(now).unwrap_or(0) as i128;
        self.overflow.held = self.held(now);
        self.overflow.passed = self.counts.permits.into();
    }
}
