//! `[[traffic.…]]`: patterns of requests, and the checks of their costs against the limiters.

use super::keys::Section;
use super::limiter::LimiterSpec;
use super::pattern_keys::PATTERNS;
use super::table::{File, Table, kind_of};
use super::top::{Around, many_tables, unknown_pattern};
use super::value::Problem;
use super::{amount, read};
use limiters::{Meter, Nanos, Outcome, Span};
use std::path::Path;
use toml::de::DeValue;
use traffic::spec::{Amount, KeyNormalise, Keys, Pattern, Said, Shape, Trace};
use traffic::traces::Where;

/// A pattern with the table it came from.
pub(crate) struct Found<'a> {
    pub pattern: Pattern,
    table: Table<'a>,
}

impl Found<'_> {
    pub fn is_trace(&self) -> bool {
        matches!(self.pattern.shape, Shape::Trace(_))
    }
}

/// Every pattern, in the order of the file.
pub(crate) fn read<'a>(top: &Table<'a>, duration: Option<Nanos>, path: &Path, around: &Around<'_>) -> Vec<Found<'a>> {
    let missing = || {
        if top.has("client") || around.has_traffic {
            return Vec::new();
        }
        let problem = Problem::new("the scenario has no traffic")
            .note("for example: [[traffic.constant]], rate = \"2/s\"; or `workbench run` it with --trace FILE");
        top.file.report(0..0, problem);
        Vec::new()
    };
    let Some(entry) = top.entry("traffic") else { return missing() };
    let DeValue::Table(kinds) = entry.value.get_ref() else {
        let what = format!("`traffic` is a table of patterns, not {}", kind_of(entry.value.get_ref()));
        top.file.report(entry.span.clone(), Problem::new(what).note("write [[traffic.burst]], for example"));
        return Vec::new();
    };
    let mut tables: Vec<Table<'a>> = Vec::new();
    for kind in super::table::entries(kinds) {
        match PATTERNS.iter().find(|(name, _)| *name == kind.name) {
            Some((_, section)) => tables.extend(many_tables(top.file, kind.span, kind.value, section)),
            None => top.file.report(kind.span, unknown_pattern(kind.name)),
        }
    }
    if tables.is_empty() && !top.file.has_problems() {
        return missing();
    }
    tables.sort_by_key(|table| table.span.start);
    tables.into_iter().filter_map(|table| pattern(table, duration, path, around.is_there)).collect()
}

fn pattern<'a>(
    table: Table<'a>,
    duration: Option<Nanos>,
    path: &Path,
    is_there: &dyn Fn(&Path) -> bool,
) -> Option<Found<'a>> {
    table.reject_unknown(&[], |name| elsewhere(name, table.section));
    let shape = shape(&table, duration, path, is_there);
    if matches!(shape, Some(Shape::Trace(_))) || table.section.key("cost").is_none() {
        return Some(Found { pattern: Pattern { shape: shape?, ..of_trace(Trace::default()) }, table });
    }
    let key = table.get("key", read::text);
    let count = table.get("keys", read::whole);
    let zipf = table.get("zipf", read::decimal);
    if zipf.is_some() && !table.has("keys") {
        table.wrong("zipf", Problem::new("shares among several keys need `keys`"));
    }
    let keys = match count {
        Some(count) => Keys::Many { prefix: key.unwrap_or_else(|| "key".into()), count, zipf: zipf.unwrap_or(0.0) },
        None => Keys::One(key.unwrap_or_else(|| "all".into())),
    };
    let cost = table.get("cost", amount::read).unwrap_or(Amount::Constant(1));
    let input_tokens = table.get("input-tokens", amount::read);
    let output_tokens = table.get("output-tokens", amount::read);
    let price = table.get("price", amount::read);
    Some(Found { pattern: Pattern { shape: shape?, keys, cost, input_tokens, output_tokens, price }, table })
}

/// A pattern that plays a trace: keys and costs come from the file.
pub(crate) fn of_trace(trace: Trace) -> Pattern {
    Pattern {
        shape: Shape::Trace(trace),
        keys: Keys::One("all".into()),
        cost: Amount::Constant(1),
        input_tokens: None,
        output_tokens: None,
        price: None,
    }
}

fn elsewhere(name: &str, here: &Section) -> Option<String> {
    let homes: Vec<&str> = PATTERNS
        .iter()
        .filter(|(_, section)| section.header != here.header && section.key(name).is_some())
        .map(|(_, section)| section.header)
        .collect();
    (!homes.is_empty()).then(|| format!("`{name}` belongs to {}", homes.join(", ")))
}

fn shape(table: &Table<'_>, duration: Option<Nanos>, path: &Path, is_there: &dyn Fn(&Path) -> bool) -> Option<Shape> {
    let (start, end) = match table.section.key("end") {
        Some(_) => span(table, duration),
        None => (0, None),
    };
    Some(match PATTERNS.iter().find(|(_, section)| section.header == table.section.header)?.0 {
        "constant" => Shape::Constant { rate: table.get("rate", read::rate)?, start, end },
        "poisson" => Shape::Poisson { rate: table.get("rate", read::rate)?, start, end },
        "burst" => burst(table, duration)?,
        "on-off" => {
            let rate = table.get("rate", read::rate);
            let (on, off) = (table.get("on", read::phase), table.get("off", read::phase));
            Shape::OnOff { rate: rate?, on: on?, off: off?, start, end }
        }
        "ramp" => {
            let (from, to) = (table.get("from", read::rate_or_zero), table.get("to", read::rate_or_zero));
            let (from, to) = (from?, to?);
            if from.is_none() && to.is_none() {
                table.wrong("to", Problem::new("a ramp from zero to zero sends nothing"));
            }
            Shape::Ramp { from, to, start, end }
        }
        "sine" => {
            let (mean, amplitude) =
                (table.get("mean", read::rate), table.get("amplitude", read::rate_or_zero).flatten());
            let (period, phase) = (table.get("period", read::time), table.get("phase", read::time).unwrap_or(0));
            let (mean, period) = (mean?, period?);
            if amplitude.is_some_and(|swing| {
                u128::from(swing.permits()) * u128::from(mean.per())
                    > u128::from(mean.permits()) * u128::from(swing.per())
            }) {
                table.wrong(
                    "amplitude",
                    Problem::new(format!("above the mean of {mean}, so the rate would be negative")),
                );
            }
            Shape::Sine { mean, amplitude, period, phase, start, end }
        }
        "pareto" => {
            let (rate, shape) = (table.get("rate", read::rate), table.get("shape", read::decimal));
            Shape::Pareto { rate: rate?, shape: shape?, start, end }
        }
        _ => Shape::Trace(trace(table, path, is_there)?),
    })
}

/// When a pattern begins and ends, checked against the scenario's duration.
fn span(table: &Table<'_>, duration: Option<Nanos>) -> (Nanos, Option<Nanos>) {
    let start = table.get("start", read::time).unwrap_or(0);
    let end = table.get("end", read::time);
    if let Some(end) = end.filter(|end| *end <= start) {
        table.wrong(
            "end",
            Problem::new(format!("the pattern ends at {}, not after its start at {}", Span(end), Span(start))),
        );
    }
    let Some(duration) = duration else { return (start, end) };
    if end.is_some_and(|end| end > duration) {
        table.wrong("end", Problem::new("after the end of the scenario").note("raise `duration` at the top"));
    }
    if start >= duration {
        table.wrong("start", Problem::new("not before the end of the scenario").note("raise `duration` at the top"));
    }
    (start, end)
}

fn burst(table: &Table<'_>, duration: Option<Nanos>) -> Option<Shape> {
    let at = table.get("at", read::time);
    let requests = table.get("requests", read::whole);
    let spread = table.get("spread", read::time).unwrap_or(0);
    let every = table.get("every", read::time);
    if let (Some(at), Some(duration)) = (at, duration) {
        if at >= duration {
            let problem = Problem::new("not before the end of the scenario: a duration is half open");
            table.wrong("at", problem.note("raise `duration` at the top"));
        } else if at.saturating_add(spread) > duration {
            table.wrong("spread", Problem::new("the burst is not over at the end of the scenario"));
        }
    }
    Some(Shape::Burst { at: at?, requests: requests?, spread, every })
}

fn trace(table: &Table<'_>, path: &Path, is_there: &dyn Fn(&Path) -> bool) -> Option<Trace> {
    let file = table.get("path", |value, key| {
        let named = read::text(value, key)?;
        if named == "-" {
            return Ok(named.into());
        }
        let resolved = path.parent().unwrap_or(Path::new("")).join(&named);
        if is_there(&resolved) {
            return Ok(resolved);
        }
        if resolved.is_dir() {
            return Err(Problem::new(format!("{} is a directory", resolved.display())).note("name a file in it"));
        }
        Err(Problem::new(format!("there is no file {}", resolved.display()))
            .note("a relative path is seen from the scenario's folder"))
    });
    let format = table.get("format", read::format);
    let columns = table.get("columns", read::columns).unwrap_or_default();
    let time_unit = table.get("time-unit", read::choice).map(str::to_string);
    let time_scale = table.get("time-scale", read::ratio).filter(|scale| *scale != (1, 1));
    let repeat = table.get("repeat", read::whole).unwrap_or(1);
    let as_is = table.get("order", read::choice) == Some("as-is");
    let key_normalise = match table.get("key-normalise", read::choice) {
        Some("address") => KeyNormalise::Address,
        _ => KeyNormalise::None,
    };
    let key_prefix = table.get("key-prefix", read::whole).and_then(|bits| u8::try_from(bits).ok());
    let key_by = table.get("key-by", read::texts).unwrap_or_default();
    let key_by: Vec<String> = key_by.into_iter().map(|(name, _)| name.to_owned()).collect();
    if !key_by.is_empty() && columns.iter().any(|(role, _)| role == "key") {
        table.wrong("key-by", Problem::new("the key is chosen twice: `columns` has a `key` too"));
    }
    let filter = filter(table);
    let spread = table.get("spread", read::spread);
    let prices = table.get("prices", read::prices).unwrap_or_default().into();
    let skip_bad_rows = table.get("skip-bad-rows", read::flag).unwrap_or(false);
    let retry_as = table.get("retry-as", read::retries);
    let retry_within = table.get("retry-within", read::time);
    if retry_within.is_some() && !table.has("retry-as") {
        table.wrong("retry-within", Problem::new("needs retry-as, whose retries it is about"));
    }
    if retry_as.is_some() && repeat > 1 {
        table.wrong("repeat", Problem::new("a log whose refusals become calls with retry-as is played once"));
    }
    if retry_as.is_some() && time_scale.is_some() {
        table.wrong("time-scale", Problem::new("calls that retry-as makes are tried again in real time"));
    }
    if retry_as.is_some() && as_is {
        table.wrong("order", Problem::new("retry-as needs rows in order of time"));
    }
    let max_bad_rows = table.get("max-bad-rows", read::whole);
    if key_prefix.is_some() && key_normalise == KeyNormalise::None {
        table.wrong("key-prefix", Problem::new("needs key-normalise = \"address\""));
    }
    if max_bad_rows.is_some() && !skip_bad_rows {
        table
            .wrong("max-bad-rows", Problem::new("needs skip-bad-rows = true; otherwise the first bad row is an error"));
    }
    Some(Trace {
        path: file?,
        format,
        columns,
        time_unit,
        time_scale,
        repeat,
        as_is,
        key_normalise,
        key_prefix,
        skip_bad_rows,
        max_bad_rows,
        filter,
        key_by,
        spread: spread.map(|(spread, _)| spread),
        spread_over: spread.and_then(|(_, over)| over),
        prices,
        said: Said::Scenario,
        retry_as,
        retry_within,
        left_out: None,
    })
}

/// An expression that can be read; what is wrong with one is shown at its place in the file where the text has no escapes.
fn filter(table: &Table<'_>) -> Option<String> {
    table.get("where", |value, key| {
        let text = read::text(value, key)?;
        let Err(error) = Where::parse(&text) else { return Ok(text) };
        let span = value.span();
        let written = table.file.text.get(span.start + 1..span.end.saturating_sub(1));
        let problem = match written == Some(text.as_str()) {
            true => Problem::new(error.message)
                .at(span.start + 1 + error.place.start..span.start + 1 + error.place.end.max(error.place.start + 1)),
            false => Problem::new(error.within(&text)),
        };
        Err(problem.notes(error.notes))
    })
}

/// Notes limiters that no request can ever pass, each being above its capacity, and money limits without prices.
pub(crate) fn check_costs(found: &[Found<'_>], limiters: &[LimiterSpec], file: &File<'_>, start: Nanos) {
    for one in found.iter().filter(|one| !one.is_trace()) {
        for limiter in limiters.iter().flat_map(LimiterSpec::parts) {
            let (name, amount) = metered(&one.pattern, limiter.meter);
            let Some(amount) = amount else {
                let what = format!("`{}` counts money, but these requests have no `{name}`", limiter.label);
                file.report(one.table.span.clone(), Problem::new(what).note("for example: price = \"$0.008\""));
                break;
            };
            let (Amount::Constant(cost), Some(rule)) = (amount, limiter.build(start).and_then(Result::ok)) else {
                continue;
            };
            let fits = |other: &Found<'_>| match metered(&other.pattern, limiter.meter).1 {
                Some(Amount::Constant(cost)) => rule.limiter().peek(start, cost) != Outcome::NeverFits,
                _ => true,
            };
            if rule.limiter().peek(start, cost) == Outcome::NeverFits && !found.iter().any(fits) {
                let what =
                    format!("no request can ever pass `{}`: each costs {cost}, above its capacity", limiter.label);
                let problem = Problem::new(what)
                    .note(format!("its parameters: {}", rule.parameters()))
                    .note("raise them, or leave the limiter out with `limiters = [...]` at the top");
                one.table.wrong(name, problem);
                break;
            }
        }
    }
}

/// The key that a meter counts and its amount; `None` where the requests would all be free.
fn metered(pattern: &Pattern, meter: Meter) -> (&'static str, Option<Amount>) {
    let cost = Some(pattern.cost.clone());
    match meter {
        Meter::Requests => ("cost", cost),
        Meter::Spend => ("price", pattern.price.clone()),
        Meter::InputTokens => ("input-tokens", pattern.input_tokens.clone().or(cost)),
        Meter::OutputTokens => ("output-tokens", pattern.output_tokens.clone().or(cost)),
        // The sum of two amounts is a constant only where both are; a single one is checked by itself.
        Meter::Tokens => match (&pattern.input_tokens, &pattern.output_tokens) {
            (None, None) => ("cost", cost),
            (Some(Amount::Constant(input)), None) => ("input-tokens", Some(Amount::Constant(*input))),
            (Some(Amount::Constant(input)), Some(Amount::Constant(output))) => {
                ("input-tokens", Some(Amount::Constant(input.saturating_add(*output))))
            }
            _ => ("input-tokens", Some(Amount::Uniform { min: 0, max: u64::MAX })),
        },
    }
}
