//! How much burst, or limit, each rate or window needs, at several shares of refused requests.

use super::Picture;
use crate::draw::frame::Head;
use crate::draw::ink::{Dash, Ink};
use crate::draw::labels::{Line, Lines};
use crate::draw::scale::{Scale, Unit};
use crate::number;
use replay::size::clients::ClientsRow;
use replay::size::frontier::FrontierRow;
use replay::size::{SizeRow, unit_name};

/// A setting that runs today, as a dot: its name, rate or window, and burst or limit.
pub type Dot = (String, f64, f64);

/// Draws the least values of `size.csv`, with `today` as dots.
pub fn size(rows: &[SizeRow], today: &[Dot]) -> Picture {
    let windows = rows.first().is_some_and(|row| row.burst.is_none());
    // Rates may be written per second and per minute; the axis has the unit of the first.
    let per = rows.first().map_or(1, |row| row.window_ns) as f64;
    let across = |row: &SizeRow| match windows {
        true => row.window_ns as f64,
        false => row.limit as f64 * per / row.window_ns as f64,
    };
    let up = |row: &SizeRow| row.burst.unwrap_or(row.limit) as f64;
    let mut shares: Vec<f64> = rows.iter().filter_map(|row| row.blocked_at_most).collect();
    shares.sort_by(f64::total_cmp);
    shares.dedup();
    let line = |name: String, points: Vec<(f64, f64)>, ink, dash| Line {
        names: vec![name],
        points,
        ink,
        dash,
        remark: String::new(),
    };
    let mut lines = Vec::new();
    for (nth, &share) in shares.iter().enumerate() {
        let name =
            if share == 0.0 { "nobody refused".to_owned() } else { format!("at most {} refused", percent(share)) };
        let own = rows.iter().filter(|row| row.blocked_at_most == Some(share));
        let ink = if share == 0.0 { Ink::Admitted } else { Ink::Series(1 + nth) };
        lines.push(line(name, own.map(|row| (across(row), up(row))).collect(), ink, Dash::ALL[nth % Dash::ALL.len()]));
    }
    let served: Vec<_> =
        rows.iter().filter(|row| row.blocked_at_most.is_none()).map(|row| (across(row), up(row))).collect();
    if !served.is_empty() {
        lines.push(line("for the share of keys".to_owned(), served, Ink::Text, Dash::Long));
    }
    let fitted: Vec<_> = rows.iter().filter_map(|row| Some((across(row), row.fitted? as f64))).collect();
    if !fitted.is_empty() {
        lines.push(line("fitted on the first part".to_owned(), fitted, Ink::Muted, Dash::Dots));
    }
    lines.extend(today.iter().map(|(name, x, y)| line(name.clone(), vec![(*x, *y)], Ink::Refused, Dash::Solid)));
    let all = || lines.iter().flat_map(|line| line.points.iter().copied());
    let unit = rows.first().map_or("", |row| unit_name(row.window_ns));
    let marked = rows.iter().find(|row| row.chosen).map(|row| ("proposed", row));
    let marked = marked.or_else(|| rows.iter().find(|row| row.knee).map(|row| ("knee", row)));
    let (x_name, y_name) = match windows {
        true => ("length of the window".to_owned(), "least limit"),
        false => (format!("refill, permits per {unit}"), "least burst, permits"),
    };
    let svg = Lines {
        head: Head {
            title: "The smallest limits that this traffic would not feel",
            lead: "How much does each rate or window need so that no more than a share of requests is refused?"
                .to_owned(),
            legend: Vec::new(),
        },
        x_name: &x_name,
        y_name,
        x: Scale::log(all().map(|(x, _)| x), if windows { Unit::Time } else { Unit::Amount }),
        y: Scale::log(all().map(|(_, y)| y), Unit::Amount),
        guide: marked.map(|(what, row)| (across(row), format!("{what}: {}", label(row, windows)))),
        lines,
        x_ticks: Vec::new(),
        foot: "Below a line more is refused than it says.".to_owned(),
        file: "size.csv",
    }
    .draw();
    Picture { name: "size", svg }
}

fn label(row: &SizeRow, windows: bool) -> String {
    match windows {
        true => format!("{} in {}", number::count(row.limit), number::duration(row.window_ns as f64)),
        false => {
            let (limit, burst) = (number::count(row.limit), number::count(row.burst.unwrap_or(0)));
            format!("{limit}/{}, burst {burst}", unit_name(row.window_ns))
        }
    }
}

/// A small share with the digits it needs.
fn percent(share: f64) -> String {
    format!("{} %", number::significant(share * 100.0))
}

/// Draws what is saved against what is lost.
pub fn frontier(rows: &[FrontierRow], chosen: Option<&FrontierRow>) -> Picture {
    let at = |row: &FrontierRow| (part(row.lost as f64, row.legit), part(row.saved as f64, row.rogue));
    saved_against_lost(
        rows.iter().filter(|row| row.frontier).map(at).collect(),
        chosen.map(at),
        "What of the rogue keys' cost does a limit save, and what of the others' work does it refuse?",
        "useful work refused",
    )
}

/// The same of clients that react.
pub fn clients_frontier(rows: &[ClientsRow]) -> Picture {
    let at = |row: &ClientsRow| (part(row.lost as f64, row.legit), part(row.saved as f64, row.rogue));
    saved_against_lost(
        rows.iter().filter(|row| row.frontier).map(at).collect(),
        rows.iter().find(|row| row.recommended).map(at),
        "By how much does the rogue clients' bill fall behind a limiter, and how much useful work is not done?",
        "useful work lost",
    )
}

fn part(part: f64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part / whole as f64 }
}

fn saved_against_lost(
    mut points: Vec<(f64, f64)>,
    chosen: Option<(f64, f64)>,
    lead: &str,
    x_name: &'static str,
) -> Picture {
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let line = |name: &str, points, ink| Line {
        names: vec![name.to_owned()],
        points,
        ink,
        dash: Dash::Solid,
        remark: String::new(),
    };
    let lost = points.last().map_or(0.01, |point| point.0);
    // A brake may raise the bill, and a limiter may let more useful work be done than rogues leave without one.
    let least = |of: fn(&(f64, f64)) -> f64| points.iter().chain(&chosen).map(of).fold(0.0, f64::min);
    let (left, bottom) = (least(|point| point.0), least(|point| point.1));
    let mut lines = vec![line("best settings", points, Ink::Admitted)];
    lines.extend(chosen.map(|at| line("recommended", vec![at], Ink::Refused)));
    let svg = Lines {
        head: Head { title: "Saved against useful work lost", lead: lead.to_owned(), legend: Vec::new() },
        x_name,
        y_name: "rogue cost saved",
        x: Scale::from_zero([left, lost], Unit::Percent),
        y: Scale::linear(bottom, 1.0, Unit::Percent),
        lines,
        guide: None,
        x_ticks: Vec::new(),
        foot: "Each point is a setting that no other beats on both counts.".to_owned(),
        file: "frontier.csv",
    }
    .draw();
    Picture { name: "frontier", svg }
}
