//! What `workbench size --scenario` says.

use crate::size_clients::Looked;
use crate::size_text::share;
use crate::text::{Table, wrapped};
use limiters::Meter;
use replay::size::clients::{ClientsRow, Found};
use report::number::{count, dollars, duration, percent};
use std::fmt::Write;
use traffic::clients::spec::Stand;

/// Rows that a screen holds.
const SHOWN: usize = 12;

/// What was tried, the frontier, and what to take.
pub fn text(looked: &Looked<'_>) -> String {
    let mut text = head(looked);
    text.push_str(&frontier(looked));
    text.push_str(&match recommended(looked) {
        Some(name) => format!("\nrecommended: {name}\n"),
        None => "\nrecommended: nothing\n".to_owned(),
    });
    // A number and its percent sign stay on one line.
    text.push_str(&wrapped(&reason(looked).replace(" %", "\u{a0}%"), "  ").replace('\u{a0}', " "));
    for (kind, note) in &looked.found.notes {
        let _ = write!(text, "\n{kind}: {note}");
    }
    if !looked.found.notes.is_empty() {
        text.push('\n');
    }
    text
}

fn head(looked: &Looked<'_>) -> String {
    let (found, varied, scenario) = (looked.found, looked.asked.varied, looked.scenario);
    let sides = &found.sides;
    let clients = sides.rogue.len() + sides.legit.len() + sides.neither.len();
    let clients = if clients == 1 { "1 client".to_owned() } else { format!("{clients} clients") };
    let scope = if varied.per_key() { "one limit for each key" } else { "one limit for all" };
    let mut text = format!(
        "{}: {clients} over {}, seed {}; {} of {}, {scope}\n",
        scenario.path.display(),
        duration(found.duration as f64),
        scenario.seed,
        varied.algorithm(),
        varied.meter().name()
    );
    let mut line = |head: &str, rest: &str| {
        let rest = wrapped(rest, "                 ");
        let _ = write!(text, "  {head:<15}{}", rest.trim_start_matches(' '));
    };
    line(
        "rogue",
        &format!("{}: {} without a limiter", quoted(&sides.rogue), worth(&found.without, found.without.rogue)),
    );
    let own = found.without.rogue_useful;
    let useful = match sides.legit.is_empty() {
        true => format!("nobody; useful are the first {} of the rogues themselves (useful-calls)", calls(own)),
        false => {
            let useful = calls(found.without.legit - own);
            format!("{}: {useful}, all useful, without a limiter and without rogues", quoted(&sides.legit))
        }
    };
    let own = match own {
        own if own == 0 || sides.legit.is_empty() => String::new(),
        own => format!("; useful are also the first {} of the rogues themselves (useful-calls)", calls(own)),
    };
    line("legitimate", &format!("{useful}{own}"));
    if !sides.neither.is_empty() {
        line("neither", &format!("{}: take part and are not counted", quoted(&sides.neither)));
    }
    line("limiter", &what(looked));
    line("stands", &places(looked));
    line("without it", &format!("{} of the useful work is lost", lost(&found.without)));
    let tried = format!("{}, each in a closed loop of its own from the same seed", settings(found.rows.len()));
    line("tried", &tried);
    text
}

fn settings(count: usize) -> String {
    if count == 1 { "1 setting".to_owned() } else { format!("{count} settings") }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ")
}

fn calls(number: u64) -> String {
    if number == 1 { "1 call".to_owned() } else { format!("{} calls", count(number)) }
}

/// In place of what the limiter runs, and what stays beside it.
fn what(looked: &Looked<'_>) -> String {
    let (varied, found) = (looked.asked.varied, looked.found);
    let place = match (&varied.of_file, &found.left_out[..]) {
        (Some(label), []) => format!("`{label}` of the file with other values"),
        (Some(label), others) => {
            format!("`{label}` of the file with other values, alone: {} do not run", labels(others.iter()))
        }
        (None, []) => "a plain one, alone".to_owned(),
        (None, others) => format!("a plain one, in place of all of the file's: {} do not run", labels(others.iter())),
    };
    let kept = varied.kept();
    let beside = match kept.is_empty() {
        true => String::new(),
        false => format!("; {} stays beside it in the stack", labels(kept.iter())),
    };
    format!("{place}{beside}; it answers {}", varied.answers())
}

fn labels<T: std::fmt::Display>(labels: impl Iterator<Item = T>) -> String {
    labels.map(|label| format!("`{label}`")).collect::<Vec<_>>().join(", ")
}

/// In front of what the limiter stands.
pub fn places(looked: &Looked<'_>) -> String {
    let sides = &looked.found.sides;
    let spend = looked.asked.varied.meter() == Meter::Spend;
    let mut places: Vec<(Stand, Vec<&str>)> = Vec::new();
    let mut recorded = sides.rogue.iter().chain(&sides.legit).chain(&sides.neither).collect::<Vec<_>>();
    for client in &looked.scenario.clients {
        let stand = if spend { client.cap } else { client.rate };
        recorded.retain(|name| **name != client.name);
        match places.iter_mut().find(|(known, _)| *known == stand) {
            Some((_, names)) => names.push(&client.name),
            None => places.push((stand, vec![&client.name])),
        }
    }
    // Recorded agents have one call to a turn.
    if !recorded.is_empty() {
        places.push((Stand::Tool, recorded.iter().map(|name| name.as_str()).collect()));
    }
    let place = |stand: Stand| match stand {
        Stand::Tool => "in front of the paid call alone",
        Stand::Turn => "in front of the model call and what follows",
        Stand::Both => "in front of the model call, and again of the paid call",
    };
    let key = if spend { "cap" } else { "rate" };
    let of = |(stand, names): &(Stand, Vec<&str>)| {
        let names = names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        format!("{} of {names} ({key} = \"{}\" under [client.guards])", place(*stand), stand.name())
    };
    places.iter().map(of).collect::<Vec<_>>().join("; ")
}

/// A setting as people write it.
pub fn name(looked: &Looked<'_>, row: &ClientsRow) -> String {
    looked.asked.varied.name((row.given(), row.value()))
}

/// Saved or spent, in the unit of the row.
fn worth(row: &ClientsRow, value: u64) -> String {
    if row.unit == "micro-dollars" { dollars(value) } else { format!("{} {}", count(value), row.unit) }
}

fn signed(row: &ClientsRow) -> String {
    let sign = if row.saved < 0 { "-" } else { "" };
    format!("{sign}{}", worth(row, row.saved.unsigned_abs()))
}

fn part(part: i64, whole: u64) -> String {
    match whole {
        0 => "-".to_owned(),
        _ if part < 0 => format!("-{}", percent(part.unsigned_abs() as f64 / whole as f64)),
        _ => percent(part as f64 / whole as f64),
    }
}

fn saved(row: &ClientsRow) -> String {
    format!("{} of {} ({})", signed(row), worth(row, row.rogue), part(row.saved, row.rogue))
}

fn lost(row: &ClientsRow) -> String {
    let sign = if row.lost < 0 { "-" } else { "" };
    format!("{sign}{} of {} ({})", count(row.lost.unsigned_abs()), calls(row.legit), part(row.lost, row.legit))
}

fn frontier(looked: &Looked<'_>) -> String {
    let found = looked.found;
    let mut kept: Vec<&ClientsRow> = found.rows.iter().filter(|row| row.frontier).collect();
    kept.sort_by_key(|row| row.lost);
    let unit = cost(found);
    let mut text =
        format!("\nsaved of the rogue clients' {unit} against useful calls lost: settings that no other beats\n");
    let heads = ["setting", "saved", "of rogue", "lost", "of useful", "rogue refused", "legit refused", ""];
    let mut table = Table::new(&heads);
    let step = kept.len().div_ceil(SHOWN).max(1);
    for (index, row) in kept.iter().enumerate() {
        if index % step == 0 || index + 1 == kept.len() || row.recommended {
            table.row([
                name(looked, row),
                signed(row),
                part(row.saved, row.rogue),
                row.lost.to_string(),
                part(row.lost, row.legit),
                count(row.rogue_refused),
                count(row.legit_refused),
                if row.recommended { "recommended".to_owned() } else { String::new() },
            ]);
        }
    }
    text.push_str(&table.text());
    if step > 1 {
        let _ = writeln!(text, "  every {step} of {} such settings; --out writes all", kept.len());
    }
    text
}

fn cost(found: &Found) -> &'static str {
    if found.without.unit == "micro-dollars" { "bill" } else { "waste" }
}

fn recommended(looked: &Looked<'_>) -> Option<String> {
    Some(name(looked, &looked.found.rows[looked.found.best?]))
}

fn allowed(looked: &Looked<'_>) -> String {
    match looked.asked.allowed {
        (0, _) if looked.found.without.lost > 0 => {
            format!(
                "no more of the useful work than the rogues take without any limiter ({})",
                looked.found.without.lost
            )
        }
        (0, _) => "none of the useful work".to_owned(),
        share_of => format!("at most {} of the useful work", share(share_of)),
    }
}

/// Why that one, or why none, in words.
pub fn reason(looked: &Looked<'_>) -> String {
    let found = looked.found;
    let Some(best) = found.best else { return why_none(looked) };
    let row = &found.rows[best];
    let mut text = format!(
        "because it loses {} and of such settings saves most: {}; lost are {}\n",
        allowed(looked),
        saved(row),
        lost(row)
    );
    let shares = |of: fn(&ClientsRow) -> (i64, u64)| {
        let shares: Vec<f64> = found
            .again
            .iter()
            .map(of)
            .filter(|(_, whole)| *whole > 0)
            .map(|(part, whole)| part as f64 / whole as f64)
            .collect();
        let (least, most) = (
            shares.iter().copied().fold(f64::INFINITY, f64::min),
            shares.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        );
        let percent = |share: f64| if share < 0.0 { format!("-{}", percent(-share)) } else { percent(share) };
        match shares.is_empty() {
            true => "-".to_owned(),
            false if percent(least) == percent(most) => percent(least),
            false => format!("{} to {}", percent(least), percent(most)),
        }
    };
    let _ = writeln!(
        text,
        "on {} other seeds it saves {} and loses {}",
        found.again.len(),
        shares(|row| (row.saved, row.rogue)),
        shares(|row| (row.lost, row.legit))
    );
    let beyond = found.again.iter().filter(|row| !row.bearable(&found.without, looked.asked.allowed)).count();
    if beyond > 0 {
        let _ = writeln!(
            text,
            "on {beyond} of them it loses more than was allowed: the first seed was kind to it, so take a looser setting than this"
        );
    }
    if found.again.iter().any(|row| !row.saves()) {
        text.push_str("on some of them it saves nothing to speak of: do not rely on it\n");
    }
    if let Some(later) = row.useful_later_ns.filter(|later| *later > 0) {
        let _ = writeln!(text, "the last of the useful work is done {} later than without it", duration(later as f64));
    }
    if row.unit == "micro-dollars" {
        let worst = found.played.as_ref().and_then(|row| row.worst_bill_microusd);
        let _ = match worst {
            Some(worst) => {
                writeln!(text, "whatever the clients do, the run costs at most {} behind it", dollars(worst))
            }
            None => writeln!(text, "nothing bounds the bill of whatever the clients might do behind it"),
        };
    }
    text
}

fn why_none(looked: &Looked<'_>) -> String {
    let found = looked.found;
    let Some(most) = found.rows.iter().max_by_key(|row| row.saved) else { return String::new() };
    if found.without.rogue == 0 {
        return "nothing can be saved: without a limiter the rogue clients cost nothing and waste no call".to_owned();
    }
    if most.saves() {
        let kept = found.rows.iter().filter(|row| row.frontier && row.saves());
        let cheapest = kept.min_by_key(|row| row.lost);
        let cheapest = cheapest.map_or_else(String::new, |row| {
            format!("; of those that do, {} loses least: {}, for {} saved", name(looked, row), lost(row), saved(row))
        });
        let keyed = if looked.asked.varied.per_key() { "" } else { ", or limit each key by itself with --per-key" };
        return format!(
            "no setting that loses {} saves 1 % of the rogues' {}{cheapest}. Allow more with --blocked-at-most{keyed}",
            allowed(looked),
            cost(found)
        );
    }
    let worst = found.rows.iter().min_by_key(|row| row.saved).filter(|row| row.saved < 0);
    match worst {
        Some(row) => format!(
            "every setting that refuses these clients anything raises their bill, {} most: {}. A refused call is over sooner than an \
             admitted one, and what asks again is paid for. Put the guard in front of the whole turn (rate = \"turn\" or cap = \
             \"turn\" under [client.guards]), answer with a Retry-After that the client obeys, or try --algorithm spend-cap",
            name(looked, row),
            signed(row)
        ),
        None => "no setting saves anything to speak of: a refused call is asked again until it passes. Try --algorithm spend-cap".to_owned(),
    }
}
