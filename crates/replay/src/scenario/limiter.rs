//! Limiters of a scenario: the registered algorithms, `[[limiter]]` variants, sweeps and stacks, and which of them run.

use super::keys::{Key, LIMITER, Takes};
use super::stack;
use super::table::{Table, Value};
use super::top::{many_tables, meter_called, one_window};
use super::value::Problem;
use super::{QuotaSpec, read};
use crate::diagnose::valid_values;
use limiters::{ALGORITHMS, Algorithm, AnyRule, Meter, Nanos, Param, ParamError, Quota, Settings, algorithm};
use toml::de::DeValue;

/// A limiter that runs, or a part of a stack.
#[derive(Clone, Debug)]
pub struct LimiterSpec {
    /// What tables, files and expectations call it; no other that runs has the same.
    pub label: String,
    /// The label before a sweep made it one of several.
    pub swept_from: Option<String>,
    /// A registered algorithm under the scenario's quota, not a variant of the file's.
    pub registered: bool,
    /// What decides.
    pub what: What,
    /// What a permit is; a stack's is its first part's.
    pub meter: Meter,
    /// One state per key; a stack's is its first part's.
    pub per_key: bool,
    /// Replicas with a state each; at least 1.
    pub nodes: u64,
    /// Which replica sees a request.
    pub routing: Routing,
    /// Time from t = 0 at which everything is forgotten.
    pub restart_at: Option<Nanos>,
    /// Whether it runs alone, or only within stacks.
    pub compare: bool,
}

/// What decides for a limiter.
#[derive(Clone, Debug)]
pub enum What {
    /// An algorithm of the registry.
    Algorithm {
        /// Its name there.
        name: &'static str,
        /// Its quota and parameters; the origin is 0 until [`LimiterSpec::build`] sets it.
        settings: Settings,
    },
    /// Several limiters that must all admit; none is a stack itself.
    AllOf(Vec<LimiterSpec>),
}

/// Which replica sees a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Routing {
    /// One after the other.
    #[default]
    RoundRobin,
    /// Always the same for a key.
    KeyHash,
    /// Any, drawn from the seed.
    Random,
}

impl LimiterSpec {
    /// The algorithm's name as CSV files say it; `all-of` for a stack.
    pub fn algorithm(&self) -> &'static str {
        match &self.what {
            What::Algorithm { name, .. } => name,
            What::AllOf(_) => "all-of",
        }
    }

    /// The quota it runs under; a stack's is its first part's.
    pub fn quota(&self) -> Option<Quota> {
        match &self.what {
            What::Algorithm { settings, .. } => Some(settings.quota),
            What::AllOf(parts) => parts.first().and_then(LimiterSpec::quota),
        }
    }

    /// Its rule with t = 0 at `origin`; `None` for a stack. A checked scenario builds without errors at its own start.
    pub fn build(&self, origin: Nanos) -> Option<Result<Box<dyn AnyRule>, ParamError>> {
        match &self.what {
            What::Algorithm { name, settings } => {
                algorithm(name).map(|known| (known.build)(&settings.clone().starting_at(origin)))
            }
            What::AllOf(_) => None,
        }
    }

    /// The single limiters it is made of: itself, or the parts of a stack.
    pub fn parts(&self) -> impl Iterator<Item = &LimiterSpec> {
        match &self.what {
            What::Algorithm { .. } => std::slice::from_ref(self).iter(),
            What::AllOf(parts) => parts.iter(),
        }
    }

    /// Whether `label` is its label, or that of the sweep it comes from.
    pub fn answers_to(&self, label: &str) -> bool {
        self.label == label || self.swept_from.as_deref() == Some(label)
    }

    pub(crate) fn registered(known: &'static Algorithm, quota: QuotaSpec) -> LimiterSpec {
        LimiterSpec {
            label: known.name.to_string(),
            swept_from: None,
            registered: true,
            what: What::Algorithm { name: known.name, settings: Settings::new(quota.quota) },
            meter: quota.meter,
            per_key: quota.per_key,
            nodes: 1,
            routing: Routing::RoundRobin,
            restart_at: None,
            compare: true,
        }
    }
}

/// A limiter of the file with the table it came from.
pub(crate) struct Draft<'a> {
    pub spec: LimiterSpec,
    pub table: Table<'a>,
    /// Labels of a stack's parts, not yet looked up.
    pub parts: Vec<(&'a str, std::ops::Range<usize>)>,
}

/// Parameters that count things, not permits, and so never take money.
const COUNTS: &[&str] = &["segments", "sub-buckets"];

/// A parameter as a key of a table.
pub(crate) fn key_of(param: &Param) -> Key {
    let takes = match param.kind {
        limiters::Kind::Permits { min } if COUNTS.contains(&param.name) => Takes::Whole { min, max: u64::MAX },
        limiters::Kind::Permits { min } => Takes::Permits { min },
        limiters::Kind::Duration => Takes::Duration { zero: false },
        limiters::Kind::Rate => Takes::Rate { zero: false },
        limiters::Kind::Choice(words) => Takes::Choice(words),
    };
    Key { name: param.name, takes, default: Some(""), doc: param.doc }
}

/// Every `[[limiter]]`, in the order of the file, sweeps spread out.
pub(crate) fn read<'a>(top: &Table<'a>, quota: QuotaSpec, duration: Option<Nanos>) -> Vec<Draft<'a>> {
    let Some(entry) = top.entry("limiter") else { return Vec::new() };
    let tables = many_tables(top.file, entry.span.clone(), entry.value, &LIMITER);
    tables.into_iter().flat_map(|table| entry_drafts(table, quota, duration)).collect()
}

fn entry_drafts<'a>(table: Table<'a>, quota: QuotaSpec, duration: Option<Nanos>) -> Vec<Draft<'a>> {
    let known = table.get("algorithm", |value, key| {
        let name = read::text(value, key)?;
        let names: Vec<&str> = ALGORITHMS.iter().map(|known| known.name).collect();
        algorithm(&name).ok_or_else(|| {
            Problem::new(format!("unknown algorithm {name:?}")).notes(valid_values(&name, "algorithms", &names))
        })
    });
    reject_unknown(&table, known);
    let label = table.get("label", |value, key| match read::text(value, key)? {
        empty if empty.trim().is_empty() => Err(Problem::new("a label needs a character that can be seen")),
        odd if odd.chars().any(char::is_control) => Err(Problem::new("a label is one line of plain text")),
        label => Ok(label),
    });
    let routing = match table.get("routing", read::choice) {
        Some("key-hash") => Routing::KeyHash,
        Some("random") => Routing::Random,
        _ => Routing::RoundRobin,
    };
    let nodes = table.get("nodes", read::whole).unwrap_or(1);
    let alone = nodes == 1 && !table.has("sweep");
    if table.has("routing") && alone {
        table.wrong("routing", Problem::new("means nothing to a single node").note("set `nodes` above 1"));
    }
    let restart_at = table.get("restart-at", read::time);
    if let (Some(at), Some(duration)) = (restart_at, duration)
        && at >= duration
    {
        table.wrong("restart-at", Problem::new("not before the end of the scenario"));
    }
    let compare = table.get("compare", read::flag).unwrap_or(true);
    let common = LimiterSpec {
        label: String::new(),
        swept_from: None,
        registered: false,
        what: What::AllOf(Vec::new()),
        meter: quota.meter,
        per_key: quota.per_key,
        nodes,
        routing,
        restart_at,
        compare,
    };
    if table.has("all-of") {
        return stack::draft(table, common, label).into_iter().collect();
    }
    match known {
        Some(known) => variants(table, common, label, known, quota),
        None if table.has("algorithm") => Vec::new(),
        None => {
            let names: Vec<&str> = ALGORITHMS.iter().map(|known| known.name).collect();
            let problem =
                Problem::new("[[limiter]] needs `algorithm`").note(format!("algorithms: {}", names.join(", ")));
            table.file.report(table.span.clone(), problem.note("or all-of = [...] for a stack"));
            Vec::new()
        }
    }
}

/// Notes keys that are neither common ones nor parameters of the algorithm, and says whose they are.
fn reject_unknown(table: &Table<'_>, known: Option<&'static Algorithm>) {
    let names = |known: &'static Algorithm| known.params.iter().map(|param| param.name);
    let valid: Vec<&str> = match known {
        Some(known) => names(known).collect(),
        None => ALGORITHMS.iter().flat_map(names).collect(),
    };
    table.reject_unknown(&valid, |name| {
        let homes: Vec<&str> =
            ALGORITHMS.iter().filter(|one| names(one).any(|n| n == name)).map(|one| one.name).collect();
        let here = known.map_or("stacks", |known| known.name);
        (!homes.is_empty()).then(|| format!("`{name}` is a parameter of {}; {here} does not have it", homes.join(", ")))
    });
}

/// What a `[[limiter]]` sets of its own.
#[derive(Clone, Default)]
struct Own {
    limit: Option<(u64, Option<Nanos>)>,
    window: Option<Nanos>,
    burst: Option<u64>,
    nodes: Option<u64>,
    params: Vec<(&'static str, limiters::Value)>,
}

impl Own {
    /// Takes the value of a key that is a quota's, a count of nodes, or a parameter; `None` for another key.
    fn take(
        &mut self,
        name: &str,
        value: Value<'_>,
        known: &'static Algorithm,
        spend: bool,
    ) -> Option<Result<(), Problem>> {
        let mut mine = true;
        let quota = match (name, LIMITER.key(name)) {
            ("limit", _) => read::limit(value, spend).map(|limit| self.limit = Some(limit)),
            ("window", Some(key)) => read::time(value, key).map(|window| self.window = Some(window)),
            ("burst", _) => read::permits(value, spend, 1).map(|burst| self.burst = Some(burst)),
            ("nodes", Some(key)) => read::whole(value, key).map(|nodes| self.nodes = Some(nodes)),
            _ => {
                mine = false;
                Ok(())
            }
        };
        let Some(param) = known.params.iter().find(|param| param.name == name) else { return mine.then_some(quota) };
        // A parameter may have the name of a quota's key, and then it is both.
        Some(quota.and_then(|()| param_value(param, value, spend)).map(|value| self.params.push((param.name, value))))
    }
}

fn param_value(param: &Param, value: Value<'_>, spend: bool) -> Result<limiters::Value, Problem> {
    let key = key_of(param);
    Ok(match param.kind {
        limiters::Kind::Permits { min } => {
            limiters::Value::Permits(read::permits(value, spend && !COUNTS.contains(&param.name), min)?)
        }
        limiters::Kind::Duration => limiters::Value::Duration(read::time(value, &key)?),
        limiters::Kind::Rate => limiters::Value::Rate(read::rate(value, &key)?),
        limiters::Kind::Choice(words) => limiters::Value::Choice(read::word(value, &key, words)?),
    })
}

/// The variants of one `[[limiter]]`: one, or one for each combination of swept values.
fn variants<'a>(
    table: Table<'a>,
    mut common: LimiterSpec,
    label: Option<String>,
    known: &'static Algorithm,
    quota: QuotaSpec,
) -> Vec<Draft<'a>> {
    if let Some(scope) = table.get("key", read::choice) {
        common.per_key = scope == "per-key";
    }
    if let Some(meter) = table.get("meter", read::choice) {
        common.meter = meter_called(meter);
    }
    let spend = common.meter == Meter::Spend;
    let mut own = Own::default();
    for entry in &table.entries {
        if let Some(Err(problem)) = own.take(entry.name, entry.value, known, spend) {
            table.wrong(entry.name, problem);
        }
    }
    own.window = one_window(&table, own.limit, own.window);
    let base = label.unwrap_or_else(|| known.name.to_string());
    let mut variants = vec![(base.clone(), own)];
    for (name, values) in sweep(&table) {
        let mut spread = Vec::new();
        for (label, own) in &variants {
            for value in &values {
                let mut own = own.clone();
                match own.take(name, value, known, spend) {
                    Some(Ok(())) => spread.push((format!("{label}, {name} {}", read::written(value.get_ref())), own)),
                    Some(Err(problem)) => table.wrong("sweep", problem.at(value.span())),
                    None => {
                        let valid: Vec<&str> = ["limit", "window", "burst", "nodes"]
                            .into_iter()
                            .chain(known.params.iter().map(|p| p.name))
                            .collect();
                        let problem = Problem::new(format!("`{name}` cannot be swept for {}", known.name));
                        table.wrong("sweep", problem.notes(valid_values(name, "keys to sweep", &valid)));
                    }
                }
            }
        }
        variants = spread;
    }
    let swept = table.has("sweep");
    variants
        .into_iter()
        .map(|(label, own)| {
            let mut spec = common.clone();
            spec.swept_from = swept.then(|| base.clone());
            spec.nodes = own.nodes.unwrap_or(spec.nodes);
            spec.label = label;
            spec.what = What::Algorithm { name: known.name, settings: settings(&table, own, spec.meter, quota) };
            Draft { spec, table: table.clone(), parts: Vec::new() }
        })
        .collect()
}

/// Variants of a sweep at most.
const MAX_SWEPT: usize = 100;

fn sweep<'a>(table: &Table<'a>) -> Vec<(&'a str, Vec<Value<'a>>)> {
    let lists = table.get("sweep", |value, key| {
        let DeValue::Table(lists) = value.get_ref() else {
            return Err(Problem::new(format!("takes {}", key.takes.words())));
        };
        let mut all = Vec::new();
        for entry in super::table::entries(lists) {
            match entry.value.get_ref().as_array().map(|list| list.iter().collect::<Vec<_>>()) {
                Some(values) if !values.is_empty() => all.push((entry.name, values)),
                _ => {
                    return Err(Problem::new(format!("`{}` needs a list of values", entry.name)).at(entry.value.span()));
                }
            }
        }
        let product = all.iter().try_fold(1usize, |product, (_, values)| product.checked_mul(values.len()));
        match product.filter(|&count| count <= MAX_SWEPT) {
            Some(_) if !all.is_empty() => Ok(all),
            Some(_) => Err(Problem::new(format!("takes {}", key.takes.words()))),
            None => Err(Problem::new(format!("more than {MAX_SWEPT} variants"))),
        }
    });
    lists.unwrap_or_default()
}

fn settings(table: &Table<'_>, own: Own, meter: Meter, shared: QuotaSpec) -> Settings {
    let (limit, in_limit) = own.limit.map_or((None, None), |(limit, window)| (Some(limit), window));
    if meter != shared.meter && limit.is_none() {
        let problem = Problem::new(format!(
            "needs a `limit` of its own: the quota's counts {}, this one {}",
            shared.meter.name(),
            meter.name()
        ));
        table.wrong("meter", problem);
    }
    // The quota's burst is a default only where it was set for the same thing.
    let shared_burst =
        (meter == shared.meter && shared.quota.burst != shared.quota.limit).then_some(shared.quota.burst);
    let limit = limit.unwrap_or(shared.quota.limit);
    let window = own.window.or(in_limit).unwrap_or(shared.quota.window);
    let burst = own.burst.or(shared_burst).unwrap_or(limit);
    own.params
        .into_iter()
        .fold(Settings::new(Quota { limit, window, burst }), |settings, (name, value)| settings.with(name, value))
}
