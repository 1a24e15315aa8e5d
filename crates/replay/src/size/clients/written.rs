//! The scenario with the chosen limiter: the file as it is, its limiters and expectations replaced, and what must come out.
//!
//! The text is edited where it has to change and copied elsewhere, so that comments and the order of tables stay.

use super::{ClientsRow, Kind, Varied, play};
use crate::rows::SummaryRow;
use crate::scenario::Scenario;
use crate::size::value::{permits, span, text};
use crate::size::{Family, Sizable};
use limiters::{Accounting, Meter};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use toml::de::{DeTable, DeValue};
use traffic::clients::spec::Client;

/// What is to be written.
pub struct Written<'a> {
    /// The file that was read, and what it holds.
    pub scenario: &'a Scenario,
    #[allow(missing_docs)]
    pub source: &'a str,
    /// The clients with the roles they had.
    pub clients: &'a [Client],
    /// What was varied: a plain limiter.
    pub varied: &'a Varied,
    /// The row to take.
    pub row: &'a ClientsRow,
    /// The new file.
    pub target: &'a Path,
    /// A recorded file as the new file is to name it.
    pub near: &'a dyn Fn(&Path) -> Result<PathBuf, String>,
    /// The command that made it.
    pub command: &'a str,
    /// Why that limiter, in words.
    pub analysis: &'a str,
}

/// The text of the file. It was parsed and run: what it expects holds, and is what the row says.
///
/// # Errors
/// Where the file cannot be edited so that it says the same.
pub fn written(written: &Written<'_>) -> Result<String, String> {
    let mut out = edited(written)?;
    let scenario = Scenario::parse(written.target, &out).map_err(|problems| {
        problems.first().map_or_else(String::new, |problem| format!("the written file would not be read: {problem}"))
    })?;
    let run = play(&scenario, scenario.seed)?;
    let label = label(written);
    let row = run.summary.iter().find(|row| row.limiter == label).ok_or("the written file does not run its limiter")?;
    let (saved, lost) = (written.row.cost_saved_microusd, written.row.useful_lost_ratio);
    if (row.cost_saved_microusd, row.useful_lost_ratio) != (Some(saved), lost) {
        return Err("the written file would run otherwise than what was tried".to_owned());
    }
    out.push_str(&expectation(&label, row));
    Ok(out)
}

fn label(written: &Written<'_>) -> String {
    written.varied.name((written.row.given(), written.row.value()))
}

fn expectation(label: &str, row: &SummaryRow) -> String {
    let mut out = format!("\n[[expect]]\nlimiter = {}\nadmitted = {}\n", text(label), row.admitted);
    if let Some(saved) = row.cost_saved_microusd {
        let money = permits(saved.unsigned_abs(), Meter::Spend);
        let money = if saved < 0 { money.replacen('$', "-$", 1) } else { money };
        let _ = writeln!(out, "cost-saved-microusd = {money}");
    }
    // A limiter may let more be done than is done without it, which no expectation says.
    if let Some(lost) = row.useful_lost_ratio.filter(|lost| *lost >= 0.0) {
        let _ = writeln!(out, "useful-lost-ratio = {lost}");
    }
    out
}

fn edited(written: &Written<'_>) -> Result<String, String> {
    let source = written.source;
    let document = DeTable::parse(source).map_err(|error| error.message().to_owned())?;
    let top = document.get_ref();
    let mut edits: Vec<(Range<usize>, String)> = Vec::new();
    for (key, value) in top {
        if ["limiters", "summary", "analysis"].contains(&key.get_ref().as_ref()) {
            edits.push((whole_lines(source, key.span().start..value.span().end), String::new()));
        }
    }
    let inline = |name: &str| top.get(name).is_some_and(|value| source[value.span()].contains('{'));
    if ["limiter", "expect"].into_iter().any(inline) {
        return Err("the file has limiters or expectations on one line; write them as tables first".to_owned());
    }
    let blocks = blocks(source, top);
    let gone = blocks.iter().filter(|(name, _)| ["limiter", "expect"].contains(name));
    edits.extend(gone.map(|(_, range)| (range.clone(), String::new())));
    traces(written, top, &mut edits)?;
    roles(written, top, &mut edits)?;
    edits.sort_by_key(|(range, _)| range.start);
    let mut out = head(written);
    let mut at = 0;
    for (range, new) in edits {
        // A key within a block that goes has gone with it.
        if range.start >= at {
            out.push_str(&source[at..range.start]);
            out.push_str(&new);
            at = range.end;
        }
    }
    out.push_str(&source[at..]);
    Ok(format!("{}\n\n{}", out.trim_end(), limiter(written)))
}

fn head(written: &Written<'_>) -> String {
    let name = written.varied.algorithm();
    let summary = text(&format!("A {name} sized for the clients of {}.", written.scenario.name));
    let analysis = format!("{}\n\nMade by `{}`.", written.analysis.trim(), written.command);
    let plain = !analysis.contains("'''") && analysis.chars().all(|letter| letter == '\n' || !letter.is_control());
    let analysis = if plain { format!("'''\n{analysis}\n'''") } else { text(&analysis) };
    format!("summary = {summary}\nanalysis = {analysis}\nlimiters = [\"unlimited\", {}]\n", text(&label(written)))
}

fn limiter(written: &Written<'_>) -> String {
    let (varied, row) = (written.varied, written.row);
    let mut out = format!(
        "[[limiter]]\nlabel = {}\nalgorithm = \"{}\"\nmeter = \"{}\"\nkey = \"{}\"\nlimit = {}\n",
        text(&label(written)),
        varied.algorithm(),
        varied.meter().name(),
        if varied.per_key() { "per-key" } else { "global" },
        permits(row.limit, varied.meter())
    );
    if let Some(window) = row.window_ns {
        let _ = writeln!(out, "window = {}", span(window));
    }
    if let (Some(burst), Kind::Sized(Sizable { family: Family::Bucket, .. })) = (row.burst, varied.kind) {
        let _ = writeln!(out, "burst = {}", permits(burst, varied.meter()));
    }
    if varied.accounting() == Accounting::Post {
        out.push_str("accounting = \"post\"\n");
    }
    out
}

/// Recorded files, as the new file's folder sees them.
fn traces(written: &Written<'_>, top: &DeTable<'_>, edits: &mut Vec<(Range<usize>, String)>) -> Result<(), String> {
    let traces = top.get("traffic").and_then(|traffic| traffic.get_ref().as_table()).and_then(|all| all.get("trace"));
    let Some(traces) = traces.and_then(|traces| traces.get_ref().as_array()) else { return Ok(()) };
    let folder = written.scenario.path.parent().unwrap_or(Path::new(""));
    for trace in traces.iter().filter_map(|trace| trace.get_ref().as_table()) {
        let Some(path) = trace.get("path") else { continue };
        let near = (written.near)(&folder.join(path.get_ref().as_str().unwrap_or_default()))?;
        edits.push((path.span(), text(&near.display().to_string())));
    }
    Ok(())
}

/// Roles that were taken for others than the file's.
fn roles(written: &Written<'_>, top: &DeTable<'_>, edits: &mut Vec<(Range<usize>, String)>) -> Result<(), String> {
    let tables: Vec<&DeTable<'_>> = match top.get("client").map(|value| value.get_ref()) {
        Some(DeValue::Array(list)) => list.iter().filter_map(|one| one.get_ref().as_table()).collect(),
        _ => Vec::new(),
    };
    let spans: Vec<usize> = match top.get("client").map(|value| value.get_ref()) {
        Some(DeValue::Array(list)) => list.iter().map(|one| one.span().start).collect(),
        _ => Vec::new(),
    };
    for (index, client) in written.clients.iter().enumerate() {
        let own = written.scenario.clients.get(index);
        if own.is_some_and(|own| own.role == client.role) {
            continue;
        }
        let (Some(_), Some(table), Some(&start)) = (own, tables.get(index), spans.get(index)) else {
            // A file's sessions are legitimate unless a flag says otherwise.
            if client.role == traffic::clients::spec::Role::Legitimate {
                continue;
            }
            return Err(format!(
                "client \"{}\" is made of a recorded file, and a scenario cannot say that such a one is rogue",
                client.name
            ));
        };
        let rogue = client.role == traffic::clients::spec::Role::Rogue;
        let says: &[(&str, &str)] = match rogue {
            true => &[("role", "\"rogue\""), ("useful-calls", "0")],
            false => &[("role", "\"legitimate\""), ("useful-calls", "\"unlimited\""), ("cycle", "0")],
        };
        // Below its name, where it has one, else below its header.
        let above = table.get("name").or(table.get("preset")).map_or(start, |value| value.span().end);
        let below = written.source[above..].find('\n').map_or(written.source.len(), |end| above + end + 1);
        for (key, value) in says {
            match table.get(*key) {
                Some(known) => edits.push((known.span(), (*value).to_owned())),
                None => edits.push((below..below, format!("{key} = {value}\n"))),
            }
        }
    }
    Ok(())
}

/// Every table of the text with the first part of its name: from the comments right above its header to those above the next.
fn blocks<'a>(source: &'a str, top: &DeTable<'_>) -> Vec<(&'a str, Range<usize>)> {
    let mut inside = Vec::new();
    top.iter().for_each(|(_, value)| leaves(source, value.get_ref(), value.span(), &mut inside));
    let mut starts: Vec<(&str, usize)> = Vec::new();
    let (mut at, mut comments) = (0, None);
    for line in source.split_inclusive('\n') {
        let begins = line.trim_start();
        let within = inside.iter().any(|leaf: &Range<usize>| leaf.start < at && at < leaf.end);
        if begins.starts_with('[') && !within {
            let name = begins.trim_start_matches('[').trim_start();
            let name = name.split(['.', ']']).next().unwrap_or("").trim().trim_matches(['"', '\'']);
            starts.push((name, comments.unwrap_or(at)));
        }
        comments = if begins.starts_with('#') && !within { comments.or(Some(at)) } else { None };
        at += line.len();
    }
    let ends: BTreeSet<usize> = starts.iter().map(|(_, start)| *start).chain([source.len()]).collect();
    let end = |start: usize| ends.range(start + 1..).next().copied().unwrap_or(source.len());
    starts.into_iter().map(|(name, start)| (name, start..end(start))).collect()
}

/// Values that may hold lines which look like headers and are none.
fn leaves(source: &str, value: &DeValue<'_>, span: Range<usize>, into: &mut Vec<Range<usize>>) {
    let is_header = source.get(span.start..).is_some_and(|rest| rest.starts_with('['));
    match value {
        DeValue::Table(table) => table.iter().for_each(|(_, one)| leaves(source, one.get_ref(), one.span(), into)),
        DeValue::Array(list) if is_header && list.iter().all(|one| one.get_ref().is_table()) && !list.is_empty() => {
            list.iter().for_each(|one| leaves(source, one.get_ref(), one.span(), into));
        }
        _ => into.push(span),
    }
}

/// A key with its value to the end of its last line.
fn whole_lines(source: &str, span: Range<usize>) -> Range<usize> {
    let end = source[span.end..].find('\n').map_or(source.len(), |end| span.end + end + 1);
    span.start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_begin_with_their_comments_and_text_holds_none() {
        let source = "a = '''\n[limiter]\n'''\nb = [\n  [\"x\"],\n]\n\n# of q\n[quota]\nlimit = 1\n\n# one\n# two\n[[limiter]]\nx = 1\n[limiter.sweep]\n\n[[client]]\n";
        let document = DeTable::parse(source).unwrap();
        let found = blocks(source, document.get_ref());
        let shown: Vec<(&str, &str)> =
            found.iter().map(|(name, range)| (*name, source[range.clone()].lines().next().unwrap())).collect();
        assert_eq!(
            shown,
            [("quota", "# of q"), ("limiter", "# one"), ("limiter", "[limiter.sweep]"), ("client", "[[client]]")]
        );
    }

    #[test]
    fn every_shipped_scenario_keeps_its_clients_and_traffic() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
        let mut seen = 0;
        for path in std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let Ok(source) = std::fs::read_to_string(&path) else { continue };
            let Ok(scenario) = Scenario::parse(&path, &source) else { continue };
            let which = super::super::Which::Plain { algorithm: "token-bucket", meter: None, per_key: true };
            let varied = Varied::of(&scenario, &which).unwrap();
            let row = ClientsRow { limit: 5, window_ns: Some(60_000_000_000), burst: Some(7), ..ClientsRow::default() };
            let written = Written {
                scenario: &scenario,
                source: &source,
                clients: &scenario.clients,
                varied: &varied,
                row: &row,
                target: &path,
                near: &|trace| Ok(std::fs::canonicalize(trace).unwrap()),
                command: "workbench size",
                analysis: "of the test",
            };
            let text = edited(&written).unwrap();
            let again = Scenario::parse(&path, &text).unwrap_or_else(|problems| panic!("{}\n{text}", problems[0]));
            assert_eq!(again.clients, scenario.clients, "{}", path.display());
            assert_eq!(
                (again.patterns.len(), again.upstream.is_some()),
                (scenario.patterns.len(), scenario.upstream.is_some())
            );
            assert_eq!((again.start, again.duration, again.seed), (scenario.start, scenario.duration, scenario.seed));
            let labels: Vec<&str> = again.labels().collect();
            assert_eq!((labels, again.expects.len()), (vec!["unlimited", "5/min, burst 7"], 0));
            seen += 1;
        }
        assert!(seen > 20, "{seen}");
    }
}
