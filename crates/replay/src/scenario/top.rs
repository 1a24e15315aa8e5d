//! A whole file: its top, `[quota]`, and what only shows when all tables are read.

use super::client_keys::{CLIENT, UPSTREAM};
use super::keys::{EXPECT, LIMITER, QUOTA, TOP};
use super::limiter::{LimiterSpec, What};
use super::pattern_keys::PATTERNS;
use super::table::{File, Table, Value, kind_of};
use super::value::Problem;
use super::{QuotaSpec, Scenario, client, expects, limiter_tables, patterns, read, stack, upstream};
use crate::diagnose::{Diagnostic, nearest, valid_values};
use limiters::{Meter, Nanos, Quota};
use std::ops::Range;
use std::path::Path;
use toml::de::{DeTable, DeValue};
use traffic::{Note, NoteKind, words};

/// Mistakes of syntax shown at most; those behind the first few are often its consequences.
const SYNTAX_SHOWN: usize = 5;

/// Bins of a timeline at most.
const MAX_BINS: u64 = 100_000;

/// What a file's own text does not tell.
pub(crate) struct Around<'a> {
    /// Whether there is a file that it names.
    pub is_there: &'a dyn Fn(&Path) -> bool,
    /// Whether traffic comes from elsewhere, so that it needs none of its own.
    pub has_traffic: bool,
}

pub(crate) fn parse(path: &Path, text: &str, around: &Around<'_>) -> Result<Scenario, Vec<Diagnostic>> {
    let shown = path.display().to_string();
    let file = File::new(&shown, text);
    let (document, errors) = DeTable::parse_recoverable(text);
    // A second mistake on a line is as a rule the first one seen again.
    let line = |at: usize| text.as_bytes()[..at.min(text.len())].iter().filter(|&&byte| byte == b'\n').count();
    let mut lines: Vec<usize> = Vec::new();
    for error in &errors {
        let span = error.span().unwrap_or(0..0);
        if lines.len() < SYNTAX_SHOWN && !lines.contains(&line(span.start)) {
            lines.push(line(span.start));
            file.report(span, Problem::new(format!("not TOML: {}", error.message())));
        }
    }
    if !errors.is_empty() {
        return Err(file.into_problems());
    }
    let scenario = read_all(&file, document.get_ref(), path, around);
    match scenario {
        Some(scenario) if !file.has_problems() => Ok(scenario),
        _ => Err(file.into_problems()),
    }
}

fn read_all<'a>(file: &'a File<'a>, document: &'a DeTable<'a>, path: &Path, around: &Around<'_>) -> Option<Scenario> {
    let top = Table::new(file, &TOP, 0..0, document);
    reject_unknown_tables(&top);
    let start = top.get("start", read::timestamp);
    let duration = top.get("duration", read::time);
    let bin = top.get("bin", read::time);
    let summary = top.get("summary", read::text).unwrap_or_default();
    let analysis = top.get("analysis", read::text).unwrap_or_default();
    let seed = top.get("seed", read::whole).unwrap_or(0);
    let patience = top.get("patience", read::time);
    check_times(&top, start, duration, bin);

    let quota = quota(&top);
    let found = patterns::read(&top, duration, path, around);
    let clients = client::read(&top, duration);
    let upstream = upstream::read(&top, duration);
    let endless = found.iter().any(|one| !one.is_trace()) || !clients.is_empty();
    if duration.is_none() && !top.has("duration") && endless {
        let problem = Problem::new("the scenario needs `duration`").note("only traces bring a length of their own");
        file.report(top.span.clone(), problem);
    }
    // Without a quota the other tables are still looked at, under one that no rule is built from.
    let any = QuotaSpec { quota: Quota { limit: 1, window: 1, burst: 1 }, per_key: false, meter: Meter::Requests };
    let drafts = limiter_tables::read(&top, quota.unwrap_or(any), start, duration);
    let origin = start.unwrap_or(0);
    let limiters = stack::select(&top, drafts, quota.unwrap_or(any), quota.is_some(), origin);
    let expects = expects::read(&top, &limiters);
    let quota = quota?;
    patterns::check_costs(&found, &limiters, file, origin);
    let mut notes = client::doubts(&clients, &limiters);
    notes.extend(burst_doubts(quota.quota, &limiters));
    Some(Scenario {
        name: name_of(path),
        path: path.to_path_buf(),
        summary,
        analysis,
        start,
        duration,
        seed,
        bin,
        patience,
        quota,
        patterns: found.into_iter().map(|one| one.pattern).collect(),
        clients,
        upstream,
        limiters,
        expects,
        notes,
    })
}

const TABLES: &[&str] = &["quota", "limiter", "traffic", "client", "upstream", "expect"];

fn reject_unknown_tables(top: &Table<'_>) {
    let is_table = |value: &DeValue<'_>| {
        value.is_table() || value.as_array().is_some_and(|list| list.iter().any(|item| item.get_ref().is_table()))
    };
    let (tables, keys): (Vec<_>, Vec<_>) = top.entries.iter().cloned().partition(|one| is_table(one.value.get_ref()));
    for table in tables.iter().filter(|one| !TABLES.contains(&one.name) && top.section.key(one.name).is_none()) {
        let headers =
            [QUOTA.header, LIMITER.header, "[[traffic.PATTERN]]", CLIENT.header, UPSTREAM.header, EXPECT.header];
        let mut problem = Problem::new(format!("unknown table `{}`", table.name));
        if let Some(near) = nearest(table.name, TABLES.iter().copied()) {
            problem = problem.note(format!("did you mean `{near}`?"));
        }
        top.file.report(table.span.clone(), problem.note(format!("valid tables: {}", headers.join(", "))));
    }
    Table { entries: keys, ..top.clone() }.reject_unknown(TABLES, |_| None);
}

fn check_times(top: &Table<'_>, start: Option<Nanos>, duration: Option<Nanos>, bin: Option<Nanos>) {
    if let (Some(start), Some(duration)) = (start, duration)
        && start.checked_add(duration).is_none()
    {
        top.wrong("duration", Problem::new("start + duration is beyond the year 2554, the last that can be counted"));
    }
    if let (Some(bin), Some(duration)) = (bin, duration) {
        if bin > duration {
            top.wrong("bin", Problem::new("longer than the duration"));
        } else if duration / bin > MAX_BINS {
            top.wrong("bin", Problem::new(format!("{} bins; {MAX_BINS} are the most a timeline has", duration / bin)));
        }
    }
}

fn quota(top: &Table<'_>) -> Option<QuotaSpec> {
    let Some(table) = sole_table(top, "quota", &QUOTA) else {
        if !top.has("quota") {
            let problem =
                Problem::new("the scenario needs [quota]").note("for example: [quota], limit = 100, window = \"1min\"");
            top.file.report(0..0, problem);
        }
        return None;
    };
    table.reject_unknown(&[], |_| None);
    let meter = table.get("meter", read::choice);
    let per_key = table.get("key", read::choice) == Some("per-key");
    if meter.is_none() && table.has("meter") {
        return None;
    }
    let meter = meter.map_or(Meter::Requests, meter_called);
    let spend = meter == Meter::Spend;
    let limit = table.get("limit", |value, _| read::limit(value, spend));
    let window = table.get("window", read::time);
    let burst = table.get("burst", |value, _| read::permits(value, spend, 1));
    let window = one_window(&table, limit, window);
    let (limit, window) = (limit?.0, window?);
    if burst.is_none() && table.has("burst") {
        return None;
    }
    Some(QuotaSpec { quota: Quota { limit, window, burst: burst.unwrap_or(limit) }, per_key, meter })
}

/// What the quota's burst does to limiters that take it in a way one may not expect.
fn burst_doubts(quota: Quota, limiters: &[LimiterSpec]) -> Vec<Note> {
    let mut notes = Vec::new();
    let registered = || limiters.iter().filter(|limiter| limiter.registered);
    if quota.burst != quota.limit && registered().any(|limiter| limiter.algorithm().contains("window")) {
        let text = "the quota's burst means nothing to windows, which admit up to their limit at once".to_string();
        notes.push(Note { kind: NoteKind::Fact, text });
    }
    for part in limiters.iter().flat_map(LimiterSpec::parts) {
        let What::Algorithm { name: "token-bucket-interval", settings } = &part.what else { continue };
        let tick = settings.permits("per-tick").unwrap_or(settings.quota.limit);
        if let Some(capacity) = settings.capacity().ok().filter(|capacity| *capacity < tick) {
            let text = format!(
                "`{}` gains {} permits a tick and holds {}: the rest overflows, so that it admits no more than {} a tick",
                part.label,
                words::count(tick),
                words::count(capacity),
                words::count(capacity)
            );
            notes.push(Note { kind: NoteKind::Warning, text });
        }
    }
    notes
}

/// The window of a table that has `limit` and `window`, where either may give it but not both.
pub(crate) fn one_window(
    table: &Table<'_>,
    limit: Option<(u64, Option<Nanos>)>,
    window: Option<Nanos>,
) -> Option<Nanos> {
    match (limit.and_then(|(_, window)| window), window) {
        (Some(_), Some(_)) => {
            table.wrong("window", Problem::new("the limit is a rate and brings a window already"));
            None
        }
        (None, None) if !table.has("window") && table.section.header == QUOTA.header && limit.is_some() => {
            let problem =
                Problem::new("[quota] needs `window`").note("write window = \"1min\", or limit = \"100/min\"");
            table.file.report(table.span.clone(), problem);
            None
        }
        (in_limit, given) => in_limit.or(given),
    }
}

/// The meter with this name; names come from a key that takes no other.
pub(crate) fn meter_called(name: &str) -> Meter {
    Meter::ALL.iter().find(|(_, known)| *known == name).map_or(Meter::Requests, |(meter, _)| *meter)
}

/// The table called `name`, which may stand once.
pub(crate) fn sole_table<'a>(
    parent: &Table<'a>,
    name: &str,
    section: &'static super::keys::Section,
) -> Option<Table<'a>> {
    let entry = parent.entry(name)?;
    match entry.value.get_ref() {
        DeValue::Table(table) => {
            Some(Table::new(parent.file, section, header_span(parent.file, entry.value.span()), table))
        }
        other => {
            let problem = Problem::new(format!("`{name}` is a table, not {}", kind_of(other)))
                .note(format!("write it once, under {}", section.header));
            parent.file.report(entry.span.clone(), problem);
            None
        }
    }
}

/// The tables called `name`, which may stand many times; in the order of the file.
pub(crate) fn many_tables<'a>(
    file: &'a File<'a>,
    name_span: Range<usize>,
    value: Value<'a>,
    section: &'static super::keys::Section,
) -> Vec<Table<'a>> {
    let wrong = |span, what: &str| {
        file.report(span, Problem::new(what).note(format!("write {} above its keys", section.header)));
    };
    match value.get_ref() {
        DeValue::Array(list) => {
            let mut tables = Vec::new();
            for item in list.iter() {
                match item.get_ref() {
                    DeValue::Table(table) => {
                        tables.push(Table::new(file, section, header_span(file, item.span()), table))
                    }
                    other => wrong(item.span(), &format!("{} instead of a table", kind_of(other))),
                }
            }
            tables
        }
        DeValue::Table(_) => {
            let single = section.header.replace("[[", "[").replace("]]", "]");
            wrong(name_span, &format!("{single} is a single table, and there may be several of them"));
            Vec::new()
        }
        other => {
            wrong(value.span(), &format!("{} instead of tables", kind_of(other)));
            Vec::new()
        }
    }
}

/// The part of a table's span that is its header, or the first character of an inline table.
fn header_span(file: &File<'_>, span: Range<usize>) -> Range<usize> {
    let text = &file.text[span.start.min(file.text.len())..];
    let first = text.lines().next().unwrap_or("");
    let header = first.rfind(']').filter(|_| first.starts_with('[')).map_or(1, |end| end + 1);
    span.start..span.start + header
}

/// `scenarios/agents/loop.toml` is `agents/loop`; elsewhere the file's name alone.
fn name_of(path: &Path) -> String {
    let plain = path.with_extension("");
    let parts: Vec<String> = plain.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    match parts.iter().rposition(|part| part == "scenarios") {
        Some(folder) if folder + 1 < parts.len() => parts[folder + 1..].join("/"),
        _ => parts.last().cloned().unwrap_or_else(|| "scenario".to_string()),
    }
}

/// A note that lists what `traffic` may hold.
pub(crate) fn unknown_pattern(name: &str) -> Problem {
    let valid: Vec<&str> = PATTERNS.iter().map(|(name, _)| *name).collect();
    Problem::new(format!("unknown pattern of traffic `{name}`")).notes(valid_values(name, "patterns", &valid))
}
