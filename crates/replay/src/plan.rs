//! The plan of a run: the entries that a scenario asks for.

use crate::entry::{Bound, BoundOfAll, Comparison, Entry, GuardInfo};
use crate::lane::{StackGate, StoreGate};
use crate::scenario::{LimiterSpec, Routing, Scenario, What};
use limiters::{
    Accounting, AnyRule, Guard, LoopBreaker, Meter, Nanos, Nodes, ParamError, Replicated, Scope, Span, Stack, Store,
};
use std::sync::Arc;

/// Entries for every limiter that the scenario runs, with t = 0 at `origin`.
pub fn entries(scenario: &Scenario, origin: Nanos, seed: u64) -> Result<Vec<Entry>, ParamError> {
    scenario.limiters.iter().map(|spec| entry(spec, scenario, origin, seed)).collect()
}

fn entry(spec: &LimiterSpec, scenario: &Scenario, origin: Nanos, seed: u64) -> Result<Entry, ParamError> {
    if let Some(peer) = spec.peer() {
        let quota = spec.quota().unwrap_or(scenario.quota.quota);
        if !scenario.clients.is_empty() {
            let message = format!(
                "`{}` is a limiter of another crate, which cannot be settled afterwards; it stays out of scenarios with clients",
                spec.label
            );
            return Err(ParamError::new("algorithm", message));
        }
        return Entry::of_peer(&spec.label, peer, quota, spec.meter, spec.per_key);
    }
    let flight = Flight::of(scenario);
    let parts = spec.parts().map(|part| Part::new(part, origin, seed, flight)).collect::<Result<Vec<_>, _>>()?;
    let comparison = if spec.registered { Comparison::EqualQuota } else { Comparison::Variant };
    let parameters = parts.iter().map(|part| part.parameters.clone()).collect::<Vec<_>>().join(" and ");
    let single = !matches!(spec.what, What::AllOf(_));
    let (meter, per_key) = (spec.meter, spec.per_key);
    // What refuses anything refuses it for all, so the least bound of the parts that count the same holds.
    let bounds: Vec<Bound> = parts
        .iter()
        .filter(|part| part.spec.meter == meter && (part.spec.per_key == per_key || !part.spec.per_key))
        .map(|part| Arc::clone(&part.bound))
        .collect();
    let delays = parts.iter().any(|part| part.rule.as_ref().is_some_and(|rule| rule.delays()));
    // A budget and a loop breaker promise nothing in a window. A stack is held against the scenario's quota, which only parts
    // that count the same promise.
    let windowed = parts.iter().all(|part| {
        let promises = part.breaker.is_none() && part.spec.algorithm() != "spend-cap";
        promises && (single || part.spec.meter == scenario.quota.meter)
    });
    let plain = match &parts[..] {
        [only] if single && only.nodes.is_none() && !per_key && only.is_plain() => only.rule.clone(),
        _ => None,
    };
    let bound: Bound = Arc::new(move |tau, largest| bounds.iter().filter_map(|bound| bound(tau, largest)).min());
    let guards = parts
        .iter()
        .map(|part| GuardInfo {
            meter: part.spec.meter,
            per_key: part.spec.per_key,
            cap: part.cap(),
            bound: Arc::clone(&part.bound),
            all: Arc::clone(&part.all),
        })
        .collect();
    // Clients are answered one by one, with statuses and hints, which a bare store does not have.
    let bare = single && scenario.clients.is_empty();
    Ok(Entry {
        label: spec.label.clone(),
        algorithm: spec.algorithm().into(),
        parameters,
        comparison,
        quota: spec.quota().unwrap_or(scenario.quota.quota),
        meter,
        per_key,
        delays,
        windowed,
        bound,
        supply: Arc::new(move |end| plain.as_ref()?.supply(end)),
        guards,
        make: match <[Part; 1]>::try_from(parts) {
            Ok([only]) if bare && only.is_plain() => {
                Arc::new(move || Box::new(StoreGate { store: only.store(), meter }))
            }
            Ok([only]) => Arc::new(move || Box::new(StackGate(Stack::new(vec![only.guard()])))),
            Err(parts) => Arc::new(move || Box::new(StackGate(Stack::new(parts.iter().map(Part::guard).collect())))),
        },
    })
}

/// The entry without a guard, which the others' spending is compared with.
pub fn unprotected(scenario: &Scenario, origin: Nanos, seed: u64) -> Result<Entry, ParamError> {
    let unlimited = limiters::algorithm("unlimited").ok_or_else(|| ParamError::new("algorithm", "no baseline"))?;
    entry(&LimiterSpec::registered(unlimited, scenario.quota), scenario, origin, seed)
}

/// Calls that can overdraw a budget.
#[derive(Clone, Copy)]
struct Flight {
    /// Calls that can be in flight at once, or one after another where they are settled as they are asked.
    calls: u64,
    /// Whether each place belongs to an agent with one key for good, so that the places of all keys together are `calls`. The
    /// places of recorded sessions go from key to key, and any key may come from patterns.
    own_keys: bool,
}

impl Flight {
    fn of(scenario: &Scenario) -> Flight {
        let clients = &scenario.clients;
        // A request of a pattern is settled as it is asked, on top of the calls of clients in flight.
        let patterns = u64::from(!scenario.patterns.is_empty());
        Flight {
            calls: crate::world::most_in_flight(clients).saturating_add(patterns).max(1),
            own_keys: patterns == 0 && clients.iter().all(|client| client.scripts.is_none()),
        }
    }
}

/// One limiter of an entry.
struct Part {
    spec: LimiterSpec,
    /// What decides; a loop breaker has no rule.
    rule: Option<Arc<dyn AnyRule>>,
    breaker: Option<LoopBreaker>,
    nodes: Option<Nodes>,
    bound: Bound,
    all: BoundOfAll,
    parameters: String,
}

impl Part {
    fn new(spec: &LimiterSpec, origin: Nanos, seed: u64, flight: Flight) -> Result<Part, ParamError> {
        if let What::LoopBreaker { identical, among, cooldown } = &spec.what {
            let many = |count: &u64| usize::try_from(*count).unwrap_or(usize::MAX);
            let breaker = LoopBreaker::new(many(identical), many(among), *cooldown)?;
            let parameters = match identical == among {
                true => format!("{identical} identical calls in a row, then one each {}", Span(*cooldown)),
                false => format!("{identical} identical of the last {among} calls, then one each {}", Span(*cooldown)),
            };
            let (bound, all): (Bound, BoundOfAll) = (Arc::new(|_, _| None), Arc::new(|_, _, _| None));
            let spec = spec.clone();
            return Ok(Part { spec, rule: None, breaker: Some(breaker), nodes: None, bound, all, parameters });
        }
        let built = spec.build(origin).unwrap_or_else(|| Err(ParamError::new("all-of", "a stack within a stack")));
        let rule: Arc<dyn AnyRule> = built?.into();
        let routing = match spec.routing {
            Routing::RoundRobin => limiters::Routing::RoundRobin,
            Routing::KeyHash => limiters::Routing::KeyHash,
            Routing::Random => limiters::Routing::Random { seed },
        };
        let mut nodes = Nodes::new(spec.nodes.try_into().unwrap_or(usize::MAX), routing);
        nodes.restart_at = spec.restart_at.map(|at| origin.saturating_add(at));
        let nodes = (nodes.count != 1 || nodes.restart_at.is_some()).then_some(nodes);
        let states = match nodes {
            Some(nodes) => replicated(nodes, &rule, spec.per_key)?.states(),
            None => 1,
        };
        let mut parameters = rule.parameters();
        if spec.nodes > 1 {
            parameters = format!("{} nodes of {parameters}", spec.nodes);
        }
        if let Some(at) = spec.restart_at {
            parameters = format!("{parameters}, restarts at {:.3} s", at as f64 / 1e9);
        }
        parameters.push_str(&in_words(spec));
        let bounding = Arc::clone(&rule);
        let (accounting, cap) = (spec.accounting, cap_of(spec));
        let all: BoundOfAll = Arc::new(move |tau, largest, keys| {
            let each_key = bounding.envelope(tau, largest)?.checked_mul(u128::from(states))?;
            let promised = each_key.checked_mul(u128::from(keys))?;
            // Each budget that is given can be overdrawn by what its key has in flight when it is spent; over keys that is what
            // all have in flight, since an agent keeps its key.
            let places = u128::from(flight.calls) * if flight.own_keys { 1 } else { u128::from(keys) };
            let beyond = |each: u64| {
                let budgets = each_key / u128::from(cap?.max(1));
                promised.checked_add(budgets.checked_mul(places)?.checked_mul(u128::from(each))?)
            };
            match accounting {
                Accounting::Immediate | Accounting::Reserve { estimate: None } => Some(promised),
                Accounting::Reserve { estimate: Some(estimate) } => beyond(largest.saturating_sub(estimate)),
                Accounting::Post => beyond(largest),
            }
        });
        let one = Arc::clone(&all);
        let bound: Bound = Arc::new(move |tau, largest| one(tau, largest, 1));
        Ok(Part { spec: spec.clone(), rule: Some(rule), breaker: None, nodes, bound, all, parameters })
    }

    /// Whether it charges what is asked when it is asked.
    fn is_plain(&self) -> bool {
        self.rule.is_some() && self.spec.accounting == Accounting::Immediate && !self.spec.response.charge_on_reject
    }

    /// The budget of a spending cap, in micro-dollars.
    fn cap(&self) -> Option<u64> {
        cap_of(&self.spec).filter(|_| self.spec.meter == Meter::Spend)
    }

    fn store(&self) -> Box<dyn Store + Send> {
        let rule = self.rule.as_ref().expect("asked only of parts with a rule");
        match self.nodes {
            // `new` made one like it.
            Some(nodes) => Box::new(replicated(nodes, rule, self.spec.per_key).expect("made once before")),
            None => rule.store(self.spec.per_key),
        }
    }

    fn guard(&self) -> Guard {
        let scope = if self.spec.per_key { Scope::PerKey } else { Scope::Global };
        let guard = match &self.breaker {
            Some(breaker) => Guard::loop_breaker(&self.spec.label, scope, breaker.clone()),
            None => Guard::new(&self.spec.label, self.spec.meter, scope, self.store()),
        };
        guard.with_accounting(self.spec.accounting).with_response(self.spec.response)
    }
}

/// The budget of a `spend-cap`.
fn cap_of(spec: &LimiterSpec) -> Option<u64> {
    match &spec.what {
        What::Algorithm { name: "spend-cap", settings } => {
            Some(settings.permits("cap").unwrap_or(settings.quota.limit))
        }
        _ => None,
    }
}

/// What a guard adds to its limiter, where it is not the default.
fn in_words(spec: &LimiterSpec) -> String {
    let mut text = match spec.accounting {
        Accounting::Immediate => String::new(),
        Accounting::Post => ", charged afterwards".into(),
        Accounting::Reserve { estimate: None } => ", reserved".into(),
        Accounting::Reserve { estimate: Some(estimate) } => format!(", reserves {estimate}"),
    };
    if spec.response.status != 429 {
        text.push_str(&format!(", answers {}", spec.response.status));
    }
    if spec.response.charge_on_reject {
        text.push_str(", charges refusals");
    }
    text
}

fn replicated(nodes: Nodes, rule: &Arc<dyn AnyRule>, per_key: bool) -> Result<Replicated, ParamError> {
    let rule = Arc::clone(rule);
    Replicated::new(nodes, move || rule.store(per_key)).ok_or_else(|| ParamError::new("nodes", "at least 1 node"))
}
