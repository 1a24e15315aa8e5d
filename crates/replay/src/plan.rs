//! The plan of a run: the entries that a scenario asks for.

use crate::entry::{Bound, Comparison, Entry};
use crate::lane::{StackGate, StoreGate};
use crate::scenario::{LimiterSpec, Routing, Scenario, What};
use limiters::{AnyRule, Guard, Nanos, Nodes, ParamError, Replicated, Scope, Stack, Store};
use std::sync::Arc;

/// Entries for every limiter that the scenario runs, with t = 0 at `origin`.
pub fn entries(scenario: &Scenario, origin: Nanos, seed: u64) -> Result<Vec<Entry>, ParamError> {
    scenario.limiters.iter().map(|spec| entry(spec, scenario, origin, seed)).collect()
}

fn entry(spec: &LimiterSpec, scenario: &Scenario, origin: Nanos, seed: u64) -> Result<Entry, ParamError> {
    if let Some(peer) = spec.peer() {
        let quota = spec.quota().unwrap_or(scenario.quota.quota);
        return Entry::of_peer(&spec.label, peer, quota, spec.meter, spec.per_key);
    }
    let parts = spec.parts().map(|part| Part::new(part, origin, seed)).collect::<Result<Vec<_>, _>>()?;
    let comparison = if spec.registered { Comparison::EqualQuota } else { Comparison::Variant };
    let parameters = parts.iter().map(|part| part.parameters.clone()).collect::<Vec<_>>().join(" and ");
    let single = matches!(spec.what, What::Algorithm { .. });
    let (meter, per_key) = (spec.meter, spec.per_key);
    // What refuses anything refuses it for all, so the least bound of the parts that count the same holds.
    let bounds: Vec<Bound> = parts
        .iter()
        .filter(|part| part.spec.meter == meter && (part.spec.per_key == per_key || !part.spec.per_key))
        .map(|part| Arc::clone(&part.bound))
        .collect();
    let delays = parts.iter().any(|part| part.rule.delays());
    let plain = match &parts[..] {
        [only] if single && only.nodes.is_none() && !per_key => Some(Arc::clone(&only.rule)),
        _ => None,
    };
    let bound: Bound = Arc::new(move |tau, largest| bounds.iter().filter_map(|bound| bound(tau, largest)).min());
    Ok(Entry {
        label: spec.label.clone(),
        algorithm: spec.algorithm().into(),
        parameters,
        comparison,
        quota: spec.quota().unwrap_or(scenario.quota.quota),
        meter,
        per_key,
        delays,
        bound,
        supply: Arc::new(move |end| plain.as_ref()?.supply(end)),
        make: match <[Part; 1]>::try_from(parts) {
            Ok([only]) if single => Arc::new(move || Box::new(StoreGate { store: only.store(), meter })),
            Ok([only]) => Arc::new(move || Box::new(StackGate(Stack::new(vec![only.guard()])))),
            Err(parts) => Arc::new(move || Box::new(StackGate(Stack::new(parts.iter().map(Part::guard).collect())))),
        },
    })
}

/// One limiter of an entry.
struct Part {
    spec: LimiterSpec,
    rule: Arc<dyn AnyRule>,
    nodes: Option<Nodes>,
    bound: Bound,
    parameters: String,
}

impl Part {
    fn new(spec: &LimiterSpec, origin: Nanos, seed: u64) -> Result<Part, ParamError> {
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
        let bounding = Arc::clone(&rule);
        let bound: Bound = Arc::new(move |tau, largest| Some(bounding.envelope(tau, largest)? * u128::from(states)));
        Ok(Part { spec: spec.clone(), rule, nodes, bound, parameters })
    }

    fn store(&self) -> Box<dyn Store + Send> {
        match self.nodes {
            // `new` made one like it.
            Some(nodes) => Box::new(replicated(nodes, &self.rule, self.spec.per_key).expect("made once before")),
            None => self.rule.store(self.spec.per_key),
        }
    }

    fn guard(&self) -> Guard {
        let scope = if self.spec.per_key { Scope::PerKey } else { Scope::Global };
        Guard::new(&self.spec.label, self.spec.meter, scope, self.store())
    }
}

fn replicated(nodes: Nodes, rule: &Arc<dyn AnyRule>, per_key: bool) -> Result<Replicated, ParamError> {
    let rule = Arc::clone(rule);
    Replicated::new(nodes, move || rule.store(per_key)).ok_or_else(|| ParamError::new("nodes", "at least 1 node"))
}
