//! Stacks of limiters, and which limiters run: labels looked up, narrowed, and every rule built once to see that it can be.

use super::QuotaSpec;
use super::keys::QUOTA;
use super::limiter::{LimiterSpec, What};
use super::limiter_tables::Draft;
use super::read;
use super::table::Table;
use super::top::sole_table;
use super::value::Problem;
use crate::diagnose::valid_values;
use limiters::{ALGORITHMS, Nanos, ParamError};

/// Keys of a `[[limiter]]` that a stack leaves to its parts.
const OF_PARTS: &[&str] = &[
    "algorithm",
    "limit",
    "window",
    "burst",
    "key",
    "meter",
    "nodes",
    "routing",
    "restart-at",
    "sweep",
    "accounting",
    "estimate",
    "status",
    "retry-after",
    "charge-on-reject",
    "identical",
    "among",
    "cooldown",
    "calendar",
    "zone",
];

/// A stack; its parts are looked up later.
pub(crate) fn draft<'a>(table: Table<'a>, common: LimiterSpec, label: Option<String>) -> Option<Draft<'a>> {
    let mut clean = true;
    for name in OF_PARTS.iter().filter(|name| table.has(name)) {
        table.wrong(name, Problem::new("belongs to the parts of a stack, not beside `all-of`"));
        clean = false;
    }
    let parts = table.get("all-of", |value, key| match read::texts(value, key)? {
        short if short.len() < 2 => Err(Problem::new("a stack has at least two parts")),
        parts => Ok(parts),
    })?;
    let joined = || parts.iter().map(|(label, _)| *label).collect::<Vec<_>>().join(" + ");
    let spec = LimiterSpec { label: label.unwrap_or_else(joined), ..common };
    clean.then_some(Draft { spec, table, parts })
}

/// What runs, in the order of tables and files. Problems of labels and parameters are noted. Rules are built
/// only when `build`: not where the quota could not be read.
pub(crate) fn select(
    top: &Table<'_>,
    mut drafts: Vec<Draft<'_>>,
    quota: QuotaSpec,
    build: bool,
    origin: Nanos,
) -> Vec<LimiterSpec> {
    fill_stacks(&mut drafts, quota);
    let narrow = top.get("limiters", read::texts);
    let registered: Vec<LimiterSpec> = ALGORITHMS
        .iter()
        .filter(|known| known.default || narrow.is_some())
        .map(|known| LimiterSpec::registered(known, quota))
        .collect();
    unique_labels(&drafts, if narrow.is_some() { &[] } else { &registered });
    let mut runs: Vec<(LimiterSpec, Option<Table<'_>>)> = registered
        .into_iter()
        .filter(|known| !drafts.iter().any(|draft| draft.spec.label == known.label))
        .map(|known| (known, None))
        .collect();
    let inner: Vec<String> = drafts.iter().filter(|d| !d.spec.compare).map(|d| d.spec.label.clone()).collect();
    let compared = drafts.iter().filter(|draft| draft.spec.compare);
    runs.extend(compared.map(|draft| (draft.spec.clone(), Some(draft.table.clone()))));
    if let Some(narrow) = narrow {
        for (label, span) in &narrow {
            if !runs.iter().any(|(spec, _)| spec.answers_to(label)) {
                let valid: Vec<&str> = runs.iter().map(|(spec, _)| spec.label.as_str()).collect();
                let problem = if inner.iter().any(|known| known == label) {
                    Problem::new(format!("`{label}` has compare = false and does not run alone"))
                } else {
                    Problem::new(format!("no limiter is called {label:?}")).notes(valid_values(label, "labels", &valid))
                };
                top.wrong("limiters", problem.at(span.clone()));
            }
        }
        runs.retain(|(spec, _)| narrow.iter().any(|(label, _)| spec.answers_to(label)));
        if narrow.is_empty() {
            top.wrong(
                "limiters",
                Problem::new("an empty list leaves nothing to run").note("leave the key out to run all"),
            );
        }
    }
    if build {
        for (spec, table) in &runs {
            check_rule(top, spec, table.as_ref(), origin);
        }
        for draft in drafts.iter().filter(|draft| !draft.spec.compare) {
            check_rule(top, &draft.spec, Some(&draft.table), origin);
        }
    }
    runs.into_iter().map(|(spec, _)| spec).collect()
}

fn fill_stacks(drafts: &mut [Draft<'_>], quota: QuotaSpec) {
    let known: Vec<LimiterSpec> = drafts
        .iter()
        .map(|draft| draft.spec.clone())
        .chain(ALGORITHMS.iter().map(|known| LimiterSpec::registered(known, quota)))
        .collect();
    let is_stack = |spec: &LimiterSpec| matches!(spec.what, What::AllOf(_));
    for draft in drafts.iter_mut().filter(|draft| !draft.parts.is_empty()) {
        let mut parts = Vec::new();
        for (label, span) in &draft.parts {
            match known.iter().find(|spec| spec.label == *label) {
                Some(spec) if is_stack(spec) => {
                    let problem = Problem::new(format!("`{label}` is a stack itself")).note("name its parts instead");
                    draft.table.wrong("all-of", problem.at(span.clone()));
                }
                Some(spec) if spec.peer().is_some() => {
                    let problem =
                        Problem::new(format!("`{label}` is a limiter of another crate, which no stack can ask"));
                    let problem =
                        problem.note("a stack asks all its parts before it charges one; this one charges at once");
                    draft.table.wrong("all-of", problem.at(span.clone()));
                }
                Some(spec) => parts.push(spec.clone()),
                None => {
                    let valid: Vec<&str> = known.iter().filter(|s| !is_stack(s)).map(|s| s.label.as_str()).collect();
                    let problem = Problem::new(format!("no limiter is called {label:?}"));
                    draft.table.wrong("all-of", problem.notes(valid_values(label, "labels", &valid)).at(span.clone()));
                }
            }
        }
        if let Some(first) = parts.first() {
            (draft.spec.meter, draft.spec.per_key) = (first.meter, first.per_key);
        }
        draft.spec.what = What::AllOf(parts);
    }
}

fn unique_labels(drafts: &[Draft<'_>], registered: &[LimiterSpec]) {
    for (index, draft) in drafts.iter().enumerate() {
        let label = &draft.spec.label;
        let taken_by = if registered.iter().any(|known| known.label == *label) {
            "the registered algorithm of that name, which runs by default"
        } else if drafts[..index].iter().any(|other| other.spec.label == *label) {
            "an earlier [[limiter]]"
        } else {
            continue;
        };
        let span = match draft.table.entry("label").or(draft.table.entry("algorithm")) {
            Some(entry) => entry.value.span(),
            None => draft.table.span.clone(),
        };
        let problem = Problem::new(format!("duplicate label {label:?}: it is that of {taken_by}"))
            .note(format!("give this one a label of its own, such as label = \"{label}, tuned\""));
        draft.table.file.report(span, problem);
    }
}

/// Builds the rules of a limiter once, and notes parameters that cannot be or that change nothing.
fn check_rule(top: &Table<'_>, spec: &LimiterSpec, table: Option<&Table<'_>>, origin: Nanos) {
    let What::Algorithm { name, settings } = &spec.what else { return };
    let of_peer = || spec.peer().and_then(|peer| (peer.parameters)(settings.quota).err()).map(Err);
    match spec.build(origin).or_else(of_peer) {
        Some(Err(ParamError { param, message })) => {
            let problem = Problem::new(format!("`{param}`: {message} ({name})"));
            let quota = sole_table(top, "quota", &QUOTA);
            let at = [table, quota.as_ref()].into_iter().flatten().find(|table| table.has(param));
            let span = match (at, table) {
                (Some(at), _) => at.value_span(param),
                (None, Some(table)) => table.span.clone(),
                (None, None) => quota.map_or(0..0, |quota| quota.span),
            };
            top.file.report(span, problem);
        }
        Some(Ok(rule)) => {
            // A burst that the parameters do not show decides nothing, and whoever wrote it believes otherwise.
            let Some(table) = table.filter(|table| table.has("burst")) else { return };
            let mut other = spec.clone();
            let mut changed = settings.clone();
            changed.quota.burst = settings.quota.burst.saturating_sub(1).max(1);
            if changed.quota.burst == settings.quota.burst {
                changed.quota.burst += 1;
            }
            other.what = What::Algorithm { name, settings: changed };
            if let Some(Ok(same)) = other.build(origin)
                && same.parameters() == rule.parameters()
            {
                let problem = Problem::new(format!("changes nothing: {name} runs with {}", rule.parameters()));
                table.wrong("burst", problem.note("leave it out, or set the parameter that you mean"));
            }
        }
        None => {}
    }
}
