//! The tables in a terminal: aligned, equal guarantee first, the best of a column marked only there.

use unicode_width::UnicodeWidthStr;

use crate::Report;
use crate::metrics::{Metric, Section, sections};

const BOLD: &str = "\x1b[1m";
const DIM: &str = "\x1b[2m";
const GREEN: &str = "\x1b[1;32m";
const PLAIN: &str = "\x1b[0m";

/// The report's tables and notes as text of at most `width` columns, with colours if `colour`. Columns that do not fit
/// are left out and named.
pub fn tables(report: &Report, width: usize, colour: bool) -> String {
    let paint = |style: &str, text: &str| if colour { format!("{style}{text}{PLAIN}") } else { text.to_owned() };
    let mut out = String::new();
    out.push_str(&paint(BOLD, report.name()));
    if !report.summary.is_empty() {
        out.push_str(&format!(": {}", report.summary));
    }
    out.push('\n');
    let mut marked = false;
    for section in sections(report) {
        out.push_str(&format!("\n{}  {}\n", paint(BOLD, section.title), paint(DIM, &section.lead)));
        let (text, any) = table(&section, width, &paint);
        out.push_str(&text);
        marked |= any;
    }
    if marked {
        out.push_str(&format!("\n{}\n", paint(DIM, "* best of its column among limiters with the same guarantee")));
    }
    for note in report.notes() {
        out.push_str(&format!("\n{}: {}", paint(BOLD, &note.kind), note.text));
    }
    if report.notes().next().is_some() {
        out.push('\n');
    }
    out
}

/// A cell: its text and whether it is the best of its column.
type Cell = (String, bool);

fn table(section: &Section<'_>, width: usize, paint: &dyn Fn(&str, &str) -> String) -> (String, bool) {
    let names: Vec<Cell> = section.entries.iter().map(|entry| (entry.row.limiter.clone(), false)).collect();
    let mut columns: Vec<(&Metric, Vec<Cell>)> = section
        .main()
        .into_iter()
        .map(|metric| {
            let cell = |entry| ((metric.text)(entry), section.is_best(metric, entry));
            (metric, section.entries.iter().map(cell).collect())
        })
        .collect();
    let name_width = names.iter().map(|(name, _)| name.width()).fold("limiter".width(), usize::max);
    let mut dropped = Vec::new();
    while name_width + columns.iter().map(|(metric, cells)| 2 + room(metric.name, cells)).sum::<usize>() > width {
        let Some(last) = (0..columns.len()).max_by_key(|&i| (columns[i].0.main, i)) else { break };
        dropped.push(columns.remove(last).0.name);
    }
    let mut head = pad("limiter", name_width, false);
    for (metric, cells) in &columns {
        // The mark has a column of its own, so that digits stand under digits.
        head.push_str(&format!("  {} ", pad(metric.name, room(metric.name, cells) - 1, true)));
    }
    let mut out = format!("{}\n", paint(DIM, head.trim_end()));
    for (i, (name, _)) in names.iter().enumerate() {
        let mut line = pad(name, name_width, false);
        for (metric, cells) in &columns {
            let (text, best) = &cells[i];
            let text = pad(text, room(metric.name, cells) - 1, true);
            line.push_str("  ");
            line.push_str(&if *best { paint(GREEN, &format!("{text}*")) } else { format!("{text} ") });
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    if !dropped.is_empty() {
        out.push_str(&format!("{}\n", paint(DIM, &format!("(no room for: {})", dropped.join(", ")))));
    }
    let marked = columns.iter().any(|(_, cells)| cells.iter().any(|(_, best)| *best));
    (out, marked)
}

/// Width of a column, its mark included.
fn room(name: &str, cells: &[Cell]) -> usize {
    cells.iter().map(|(text, _)| text.width()).fold(name.width(), usize::max) + 1
}

fn pad(text: &str, width: usize, right: bool) -> String {
    let blanks = " ".repeat(width.saturating_sub(text.width()));
    if right { blanks + text } else { text.to_owned() + &blanks }
}
