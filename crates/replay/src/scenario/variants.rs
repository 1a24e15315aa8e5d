//! What a `[[limiter]]` sets of its own: a quota, parameters, and the values of a sweep.

use super::keys::{Key, LIMITER, Takes};
use super::limiter::{LimiterSpec, What};
use super::limiter_tables::Draft;
use super::table::{Table, Value};
use super::top::{meter_called, one_window};
use super::value::Problem;
use super::{QuotaSpec, answers, read};
use crate::diagnose::valid_values;
use limiters::{Algorithm, Meter, Nanos, Param, Quota, Settings};
use toml::de::DeValue;

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
pub(crate) fn variants<'a>(
    table: Table<'a>,
    mut common: LimiterSpec,
    label: Option<String>,
    known: &'static Algorithm,
    quota: QuotaSpec,
    span: (Nanos, Nanos),
) -> Vec<Draft<'a>> {
    if let Some(scope) = table.get("key", read::choice) {
        common.per_key = scope == "per-key";
    }
    if let Some(meter) = table.get("meter", read::choice) {
        common.meter = meter_called(meter);
    } else if known.name == "spend-cap" && answers::is_money(&table) {
        // A cap that is written in dollars counts dollars.
        common.meter = Meter::Spend;
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
            let settings = settings(&table, own, spec.meter, quota);
            answers::read(&table, &mut spec, settings.quota);
            let settings = answers::on_calendar(&table, known, settings, span);
            spec.what = What::Algorithm { name: known.name, settings };
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
