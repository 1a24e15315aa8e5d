//! The report's README: tables and figures for a git host. It holds no wall-clock value.

use crate::figures::FIGURES;
use crate::metrics::{Metric, Section, sections};
use crate::{Report, money, number};

/// The page.
pub fn page(report: &Report) -> String {
    let mut out = format!("# {}\n", escape(report.name()));
    if !report.summary.is_empty() {
        out.push_str(&format!("\n{}\n", report.summary));
    }
    if let Some(command) = report.command() {
        out.push_str(&format!("\nMade by\n\n    {command}\n"));
    }
    if !report.analysis.is_empty() {
        out.push_str(&format!("\n{}\n", report.analysis));
    }
    for note in report.notes() {
        out.push_str(&format!("\n> **{}**: {}\n", escape(&note.kind), escape(&note.text)));
    }
    for section in sections(report) {
        out.push_str(&format!("\n## {}\n\n{}\n\n", section.title, section.lead));
        table(&mut out, &section, &deterministic(section.main()), section.ranked);
    }
    legend(&mut out, report);
    for figure in FIGURES.iter().filter(|figure| !figure.timing && (figure.applies)(report)) {
        let (name, title) = (figure.name, figure.title);
        out.push_str(&format!("\n## {title}\n\n{}\n\n", figure.answers));
        out.push_str(&format!("[![{title}]({name}.png)]({name}.svg)\n\n{}\n", figure.reading));
    }
    let details: Vec<_> = sections(report);
    if !details.is_empty() {
        out.push_str("\n## Details\n");
    }
    for section in details {
        out.push_str(&format!("\n### {}\n\n", section.title));
        table(&mut out, &section, &deterministic(section.details()), false);
    }
    clients(&mut out, report);
    keys(&mut out, report);
    out
}

/// What came of each population, where there are several.
fn clients(out: &mut String, report: &Report) {
    let Some((names, rows)) = money::clients(report) else { return };
    out.push_str("\n### Clients\n\nEach population behind each limiter; more in [clients.csv](clients.csv).\n\n");
    out.push_str(&format!("| {} |\n|:--|:--|{}\n", names.join(" | "), "--:|".repeat(names.len() - 2)));
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| escape(cell)).collect();
        out.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
}

/// The columns that are the same in every run.
fn deterministic(metrics: Vec<&'static Metric>) -> Vec<&'static Metric> {
    metrics.into_iter().filter(|metric| metric.name != "ns/decision").collect()
}

fn table(out: &mut String, section: &Section<'_>, metrics: &[&Metric], parameters: bool) {
    out.push_str("| limiter |");
    metrics.iter().for_each(|metric| out.push_str(&format!(" {} |", metric.name)));
    out.push_str(if parameters { " parameters |" } else { "" });
    out.push_str("\n|:--|");
    metrics.iter().for_each(|_| out.push_str("--:|"));
    out.push_str(if parameters { ":--|\n" } else { "\n" });
    for entry in &section.entries {
        out.push_str(&format!("| {} |", escape(&entry.row.limiter)));
        for metric in metrics {
            let text = escape(&(metric.text)(entry));
            out.push_str(&if section.is_best(metric, entry) { format!(" **{text}** |") } else { format!(" {text} |") });
        }
        if parameters {
            out.push_str(&format!(" {} |", escape(&entry.row.parameters)));
        }
        out.push('\n');
    }
}

fn legend(out: &mut String, report: &Report) {
    let sections = sections(report);
    if sections.is_empty() {
        return;
    }
    out.push_str("\nBold: best of its column among limiters with the same guarantee.\n\n");
    let mut known: Vec<&str> = Vec::new();
    // Sections of one kind have the same columns; the table about money has its own.
    for metric in sections.iter().take(2).flat_map(Section::main).filter(|metric| metric.name != "ns/decision") {
        if !known.contains(&metric.name) {
            known.push(metric.name);
            out.push_str(&format!("* **{}**: {}\n", metric.name, metric.meaning));
        }
    }
}

fn keys(out: &mut String, report: &Report) {
    let rows = &report.tables.keys;
    let distinct: std::collections::BTreeSet<_> = rows.iter().map(|row| &row.key).collect();
    if distinct.len() < 2 {
        return;
    }
    let shown = &rows[..rows.len().min(MOST_KEYS)];
    out.push_str("\n### Keys\n\nThe most affected first; more in [keys.csv](keys.csv).\n\n");
    out.push_str("| limiter | key | offered | admitted | refused | peak |\n|:--|:--|--:|--:|--:|--:|\n");
    for row in shown {
        let peak = row.peak_window.map(number::count).unwrap_or_default();
        out.push_str(&format!(
            "| {} | {} | {} | {} | {} | {peak} |\n",
            escape(&crate::report::label(&row.limiter, &row.comparison)),
            escape(&row.key),
            number::count(row.offered_permits),
            number::count(row.admitted_permits),
            number::count(row.refused_permits),
        ));
    }
}

/// Rows of the table of keys.
pub const MOST_KEYS: usize = 30;

/// Text that means itself in Markdown, also inside a table.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '\n' | '\r' => out.push(' '),
            '|' | '*' | '_' | '`' | '<' | '>' | '[' | ']' | '\\' | '#' => out.extend(['\\', letter]),
            _ => out.push(letter),
        }
    }
    out
}
