//! What `workbench size` says.

use crate::size::Found;
use crate::text::{Table, wrapped};
use limiters::{Meter, Span};
use replay::size::frontier::FrontierRow;
use replay::size::keys;
use replay::size::{Candidate, Family, Promise, SHARES, Share, unit_name};
use report::number::{count, duration, percent, significant};
use std::fmt::Write;

/// The tables, the proposal and what stands behind it.
pub fn text(found: &Found<'_>) -> String {
    let mut text = head(found);
    text.push_str(&curve(found));
    if let Some(chosen) = found.chosen() {
        let _ =
            write!(text, "\nproposal: {}\n  {}\n", name(found, chosen), reasons(found, chosen).replace('\n', "\n  "));
    }
    text.push_str(&who(found));
    text.push_str(&today(found));
    if let Some((rows, best)) = &found.frontier {
        text.push_str(&frontier(found, rows, best.as_ref()));
    }
    text.push_str(&paste(found));
    for note in &found.file.notes {
        let _ = write!(text, "\n{}: {}", replay::rows::kind(note.kind), note.text);
    }
    if !found.file.notes.is_empty() {
        text.push('\n');
    }
    text
}

fn head(found: &Found<'_>) -> String {
    let (file, demand) = (found.file, found.demand);
    let keys = match file.keys() {
        1 => "1 key".to_owned(),
        many => format!("{} keys", count(many as u64)),
    };
    let scope = if demand.per_key { "one limit for each key" } else { "one limit for all" };
    let asked = match found.meter {
        Meter::Requests => format!("{} requests", count(demand.len() as u64)),
        _ => format!("{} requests, {}", count(demand.len() as u64), amount(demand.permits(), found.meter)),
    };
    format!(
        "{}: {asked} over {}, {keys}; {}, {scope}\n",
        file.path,
        duration(file.span as f64),
        found.ask.sized.algorithm.name
    )
}

/// Micro-dollars as dollars, exactly: what is read here is set somewhere, and less by a micro-dollar refuses somebody.
fn money(value: u64) -> String {
    let dollars = format!("{}.{:06}", value / 1_000_000, value % 1_000_000);
    format!("${}", dollars.trim_end_matches('0').trim_end_matches('.'))
}

/// Permits with their unit.
fn amount(value: u64, meter: Meter) -> String {
    match meter {
        Meter::Requests => count(value),
        Meter::Spend => money(value),
        _ => format!("{} {}", count(value), meter.name()),
    }
}

/// One of what is counted.
fn permit(meter: Meter) -> &'static str {
    match meter {
        Meter::Requests => "permit",
        Meter::Spend => "micro-dollar",
        _ => "token",
    }
}

fn value(found: &Found<'_>, value: u64) -> String {
    if found.meter == Meter::Spend { amount(value, found.meter) } else { count(value) }
}

/// The rate or window of a candidate.
fn given(found: &Found<'_>, one: &Candidate) -> String {
    match found.ask.sized.family {
        Family::Bucket => {
            let unit = unit_name(one.given.window);
            let per = if unit.is_empty() { Span(one.given.window).to_string() } else { unit.to_owned() };
            format!("{}/{per}", value(found, one.given.limit))
        }
        Family::Window => Span(one.given.window).to_string(),
    }
}

fn name(found: &Found<'_>, one: &Candidate) -> String {
    match found.ask.sized.family {
        Family::Bucket => format!("{} with a burst of {}", given(found, one), value(found, one.value)),
        Family::Window => format!("{} in {}", value(found, one.value), given(found, one)),
    }
}

/// A share of requests that may be refused.
pub fn share((part, whole): Share) -> String {
    match part {
        0 => "nobody".to_owned(),
        _ => format!("{} %", significant(part as f64 * 100.0 / whole as f64)),
    }
}

fn curve(found: &Found<'_>) -> String {
    let (ask, what) = (found.ask, found.ask.sized.searched());
    let given_name = if ask.sized.family == Family::Bucket { "refill" } else { "window" };
    let other = ask.keys_at.is_some() || !SHARES.contains(&ask.blocked);
    let asked = match ask.keys_at {
        Some((part, whole)) => format!("{} % of keys", significant(part as f64 * 100.0 / whole as f64)),
        None => share(ask.blocked),
    };
    let mut heads = vec![given_name.to_owned()];
    heads.extend(SHARES.iter().map(|one| share(*one)));
    if other {
        heads.push(asked.clone());
    }
    if found.file.keys() > 1 {
        heads.push("keys touched".to_owned());
    }
    let fitted = ask.holdout.0 > 0;
    if fitted {
        heads.extend(["fitted", "refused later", "headroom"].map(str::to_owned));
    }
    heads.push(String::new());
    let mut table = Table::new(&heads.iter().map(String::as_str).collect::<Vec<_>>());
    for (index, one) in found.plan.candidates.iter().enumerate() {
        let mut cells = vec![given(found, one)];
        cells.extend(one.at.iter().map(|at| at.map_or("-".to_owned(), |at| value(found, at))));
        if other {
            cells.push(value(found, one.value));
        }
        if found.file.keys() > 1 {
            cells.push(count(one.touched));
        }
        if fitted {
            cells.extend(match one.fit {
                Some(fit) => [
                    value(found, fit.value),
                    if fit.requests == 0 { "-".to_owned() } else { percent(fit.refused as f64 / fit.requests as f64) },
                    format!("{:.2}×", fit.headroom),
                ],
                None => ["-", "-", "-"].map(str::to_owned),
            });
        }
        let mut marks: Vec<String> = Vec::new();
        if found.plan.knee == Some(index) {
            marks.push("knee".to_owned());
        }
        if found.plan.chosen == Some(index) {
            marks.push("proposed".to_owned());
        }
        marks.extend(one.breaks.iter().map(|promise| broken(found, *promise)));
        cells.push(marks.join(", "));
        table.row(cells);
    }
    let mut text = format!("\nleast {what} at which no more than so many requests are refused\n{}", table.text());
    if fitted {
        let kept = (1.0 - ask.holdout.0 as f64 / ask.holdout.1 as f64) * 100.0;
        let kept = significant(kept);
        let _ = writeln!(
            text,
            "  fitted: for {asked} on the first {kept} % of the time; refused later: what it refuses of the rest; headroom: what all the\n  \
             time needs over what the first part did"
        );
    }
    if ask.blocked.0 > 0 || SHARES.iter().any(|share| share.0 > 0) {
        let unit = found.demand.is_unit();
        let doubt = match (unit, ask.sized.monotone) {
            (true, true) => None,
            (true, false) => Some(format!(
                "that refusals of {} fall as its {what} grows is tested, not proven",
                ask.sized.algorithm.name
            )),
            (false, _) => Some(format!(
                "with costs above 1 a larger {what} may refuse more requests, so where some are refused a smaller {what} may do as well"
            )),
        };
        if let Some(doubt) = doubt {
            let _ = writeln!(text, "  {doubt}; \"nobody\" is exact");
        }
    }
    text
}

fn broken(found: &Found<'_>, promise: Promise) -> String {
    match promise {
        Promise::Peak(Some(bound)) => {
            format!("peak can reach {}", u64::try_from(bound).map_or(bound.to_string(), |bound| value(found, bound)))
        }
        Promise::Peak(None) => "no bound on its peak is proven".to_owned(),
        Promise::Backend(passed) => format!("backend sees {}", value(found, passed)),
        Promise::Spend(spent) => format!("spends {}", amount(spent, Meter::Spend)),
    }
}

/// Why the proposal is what it is, a line for each reason.
pub fn reasons(found: &Found<'_>, chosen: &Candidate) -> String {
    let all = found.demand.len() as u64;
    let refused = chosen.refused.requests;
    let mut lines = vec![match refused {
        0 => format!("refuses none of {} requests; one {} less would refuse some", count(all), permit(found.meter)),
        _ => format!(
            "refuses {} of {} requests ({}), of {} of {} keys",
            count(refused),
            count(all),
            percent(refused as f64 / all as f64),
            count(chosen.touched),
            count(found.file.keys() as u64)
        ),
    }];
    if refused == 0 && chosen.value == 1 {
        lines[0] =
            format!("refuses none of {} requests; {} is the least there is", count(all), value(found, chosen.value));
    }
    let knee = found.plan.knee.map(|index| &found.plan.candidates[index]);
    lines.push(match knee {
        Some(knee) if knee.given == chosen.given => {
            "the curve bends here: a lower rate needs much more burst, a higher one saves little".to_owned()
        }
        Some(knee) => format!(
            "the curve bends at {}, which breaks a promise; this is the nearest that keeps all",
            given(found, knee)
        ),
        None if found.plan.candidates.len() == 1 => "nothing else was looked at".to_owned(),
        None => "the curve has no knee; this is nearest to the middle of what was looked at".to_owned(),
    });
    if found.ask.sized.family == Family::Window && knee.is_some_and(|knee| knee.given == chosen.given) {
        lines[1] = "the curve of limits over lengths bends here".to_owned();
    }
    if let Some(fit) = chosen.fit {
        let rest = match fit.requests {
            0 => "and no request came later".to_owned(),
            requests => format!("which refuses {} of {} later requests", count(fit.refused), count(requests)),
        };
        lines.push(match fit.value == chosen.value {
            true => format!("the first part of the time asks for the same, {rest}"),
            false if fit.value > chosen.value => {
                format!("the first part of the time alone asks for {}, {rest}", value(found, fit.value))
            }
            false => format!(
                "the first part of the time asks for {}, {rest}; in the end {:.2} times as much was needed, so leave room for a \
                 step of that size after the last one seen",
                value(found, fit.value),
                fit.headroom
            ),
        });
    }
    let usual = if found.ask.sized.family == Family::Window { chosen.given.window } else { 1_000_000_000 };
    let window = found.ask.peak.map_or(usual, |(_, window)| window);
    lines.push(match found.bound(chosen, window) {
        Some(bound) => format!(
            "lets at most {} through in any {}{}, on any traffic",
            u64::try_from(bound).map_or_else(|_| bound.to_string(), |bound| value(found, bound)),
            Span(window),
            if found.demand.per_key { " for each key" } else { "" }
        ),
        None => format!("no bound on what it lets through in {} is proven", Span(window)),
    });
    lines.join("\n")
}

/// The keys that feel it, and where the crowd ends.
fn who(found: &Found<'_>) -> String {
    if found.file.keys() < 2 {
        return String::new();
    }
    let mut text = String::new();
    if let Some(crowd) = found.crowd {
        let what = found.ask.sized.searched();
        let _ = writeln!(
            text,
            "\nthe crowd: {} keys need a {what} of at most {}, then {} need {} and more",
            count(crowd.keys as u64),
            value(found, crowd.need),
            count(crowd.others as u64),
            value(found, crowd.others_from)
        );
    }
    let sized = &found.ask.sized;
    if found.demand.per_key && found.chosen().is_some() && !keys::knows(sized) {
        let _ = writeln!(
            text,
            "\nthe crowd: unknown, for no formula says what a single key needs of {}; of token-bucket, leaky-bucket, gcra, \
             fixed-window and sliding-window-log one does",
            sized.algorithm.name
        );
    }
    if let (Some(losses), Some(chosen)) = (&found.losses, found.chosen()) {
        let what = match losses.value == chosen.value {
            true => "the proposal".to_owned(),
            false => format!("1 % refused (a {} of {})", found.ask.sized.searched(), value(found, losses.value)),
        };
        let _ = writeln!(text, "\nkeys that {what} would touch: {}", count(losses.keys.len() as u64));
        text.push_str(&most_affected(found, &losses.keys));
    }
    text
}

fn most_affected(found: &Found<'_>, losses: &[replay::size::keys::Loss]) -> String {
    if losses.is_empty() {
        return String::new();
    }
    let mut table = Table::new(&["most affected", "requests", "refused", "of its own"]);
    for loss in losses.iter().take(10) {
        table.row([
            found.file.key_name(loss.key),
            count(loss.requests),
            count(loss.refused),
            percent(loss.refused as f64 / loss.requests as f64),
        ]);
    }
    table.text()
}

fn today(found: &Found<'_>) -> String {
    let mut text = String::new();
    let mut counts = match found.meter {
        Meter::Requests => String::new(),
        meter => format!(" (counts requests, as that server does, not {})", meter.name()),
    };
    if found.demand.per_key {
        counts.push_str(", one for each key");
    }
    for today in &found.today {
        let all = found.demand.len() as u64;
        let _ = writeln!(
            text,
            "\ntoday: {}{counts}\n  refuses {} of {} requests ({}), of {} of {} keys",
            today.setting.label,
            count(today.refused.requests),
            count(all),
            percent(today.refused.requests as f64 / all as f64),
            count(today.losses.len() as u64),
            count(found.file.keys() as u64)
        );
        if found.file.keys() > 1 {
            text.push_str(&most_affected(found, &today.losses));
        }
    }
    text
}

fn frontier(found: &Found<'_>, rows: &[FrontierRow], best: Option<&FrontierRow>) -> String {
    let setting = |row: &FrontierRow| match row.burst {
        Some(burst) => {
            let unit = unit_name(row.window_ns);
            let per = if unit.is_empty() { Span(row.window_ns).to_string() } else { unit.to_owned() };
            format!("{}/{per}, burst {}", value(found, row.limit), value(found, burst))
        }
        None => format!("{} in {}", value(found, row.limit), Span(row.window_ns)),
    };
    let part = |part: u64, whole: u64| if whole == 0 { "-".to_owned() } else { percent(part as f64 / whole as f64) };
    let mut kept: Vec<&FrontierRow> = rows.iter().filter(|row| row.frontier).collect();
    kept.sort_by_key(|row| row.lost);
    let unit = rows.first().map_or("", |row| row.unit.as_str());
    let mut text =
        format!("\nsaved of the rogue keys against lost of the others, in {unit}: settings that no other beats\n");
    let mut table = Table::new(&["setting", "saved", "of rogue", "lost", "of useful", ""]);
    // Every so many, so that a screen holds them; the ends and the recommended one always.
    let step = kept.len().div_ceil(12).max(1);
    for (index, row) in kept.iter().enumerate() {
        let recommended = best == Some(*row);
        if index % step == 0 || index + 1 == kept.len() || recommended {
            table.row([
                setting(row),
                count(row.saved),
                part(row.saved, row.rogue),
                count(row.lost),
                part(row.lost, row.legit),
                if recommended { "recommended".to_owned() } else { String::new() },
            ]);
        }
    }
    text.push_str(&table.text());
    let may = match found.ask.blocked.0 {
        0 => "none of the useful work".to_owned(),
        _ => format!("at most {} of the useful work", share(found.ask.blocked)),
    };
    let _ = match best {
        Some(row) => writeln!(
            text,
            "  recommended: {}, because it refuses {may} and of such settings saves most: {} of what the rogue keys cost",
            setting(row),
            part(row.saved, row.rogue)
        ),
        None => {
            let by_key = if found.demand.per_key { "" } else { ", or limit each key by itself with --per-key" };
            writeln!(
                text,
                "  none is recommended: no setting that refuses {may} saves anything, for these keys do not stand out by rate; allow more \
                 with --blocked-at-most{by_key}"
            )
        }
    };
    text
}

fn paste(found: &Found<'_>) -> String {
    let mut text = String::new();
    for (one, refused) in &found.pasted {
        let what = if one.keyed == found.demand.per_key { "it" } else { "that one bucket" };
        let refused = refused.map_or_else(String::new, |refused| {
            format!(" On this traffic {what} refuses {} requests.", count(refused.requests))
        });
        let really = wrapped(&format!("{}{refused}", one.really), "  ");
        let _ = write!(text, "\n{}\n    {}\n{really}", one.server, one.text.replace('\n', "\n    "));
        let _ = writeln!(text, "  To compare it: --limiter '{}'.", one.setting);
    }
    text
}

/// Why there is no proposal.
pub fn nothing_fits(found: &Found<'_>) -> String {
    if found.plan.candidates.is_empty() {
        return format!(
            "error: {}: no setting of {} keeps what was asked for",
            found.file.path, found.ask.sized.algorithm.name
        );
    }
    "error: no setting keeps all promises at once; the last column of the table says which each breaks. Ask for less, allow more \
     refusals with --blocked-at-most, or look at other rates with --rate"
        .to_owned()
}
