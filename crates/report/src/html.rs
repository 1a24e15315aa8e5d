//! The report as one HTML page that needs nothing else: offline, light and dark, on a phone.

use serde_json::Value;

use crate::draw::ink::dark_css;
use crate::figures::Drawn;
use crate::markdown::MOST_KEYS;
use crate::metrics::{Metric, Section, sections};
use crate::{Report, money, number};

const STYLE: &str = include_str!("page.css");

/// The page with the figures `drawn` in it.
pub fn page(report: &Report, drawn: &[Drawn]) -> String {
    let name = escape(report.name());
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{name} – rate limits compared</title>\n\
         <style>\n{STYLE}@media (prefers-color-scheme: dark){{{}}}\n</style>\n</head>\n<body>\n<main>\n",
        dark_css()
    );
    head(&mut out, report, &name);
    for section in sections(report) {
        out.push_str(&format!("<h2>{}</h2>\n<p>{}</p>\n", section.title, escape(&section.lead)));
        table(&mut out, &section, &section.main(), section.ranked);
    }
    legend(&mut out, report);
    for Drawn { figure, svg, .. } in drawn {
        out.push_str(&format!(
            "<figure id=\"{}\">\n<div class=\"wide\">{svg}</div>\n<figcaption>{}</figcaption>\n</figure>\n",
            figure.name,
            escape(figure.reading)
        ));
    }
    details(&mut out, report);
    clients(&mut out, report);
    keys(&mut out, report);
    provenance(&mut out, report);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn head(out: &mut String, report: &Report, name: &str) {
    out.push_str(&format!("<h1>{name}</h1>\n"));
    if !report.summary.is_empty() {
        out.push_str(&format!("<p class=\"lead\">{}</p>\n", escape(&report.summary)));
    }
    if let (Some((limit, window)), Some(row)) = (report.quota(), report.tables.summary.first()) {
        out.push_str(&format!(
            "<p class=\"facts\">{} permits per {} · {} requests · seed {}</p>\n",
            number::count(limit),
            escape(&number::duration(window as f64)),
            number::count(row.requests),
            row.seed
        ));
    }
    let notes: Vec<_> = report.notes().collect();
    if !notes.is_empty() {
        out.push_str("<ul class=\"notes\">\n");
        for note in notes {
            out.push_str(&format!("<li><b>{}</b>: {}</li>\n", escape(&note.kind), escape(&note.text)));
        }
        out.push_str("</ul>\n");
    }
    for paragraph in report.analysis.split("\n\n").map(str::trim).filter(|paragraph| !paragraph.is_empty()) {
        out.push_str(&format!("<p>{}</p>\n", prose(paragraph)));
    }
}

fn table(out: &mut String, section: &Section<'_>, metrics: &[&Metric], parameters: bool) {
    out.push_str("<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">limiter</th>");
    for metric in metrics {
        out.push_str(&format!(
            "<th scope=\"col\" class=\"n\" title=\"{}\">{}</th>",
            escape(metric.meaning),
            escape(metric.name)
        ));
    }
    out.push_str(if parameters {
        "<th scope=\"col\">parameters</th></tr></thead>\n<tbody>\n"
    } else {
        "</tr></thead>\n<tbody>\n"
    });
    for entry in &section.entries {
        out.push_str(&format!("<tr><th scope=\"row\">{}</th>", escape(&entry.row.limiter)));
        for metric in metrics {
            let best = if section.is_best(metric, entry) { " best" } else { "" };
            out.push_str(&format!("<td class=\"n{best}\">{}</td>", escape(&(metric.text)(entry))));
        }
        if parameters {
            out.push_str(&format!("<td>{}</td>", escape(&entry.row.parameters)));
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
}

fn legend(out: &mut String, report: &Report) {
    let sections = sections(report);
    let mut metrics: Vec<&Metric> = Vec::new();
    for metric in sections.iter().flat_map(Section::main) {
        if !metrics.iter().any(|known| known.name == metric.name) {
            metrics.push(metric);
        }
    }
    if metrics.is_empty() {
        return;
    }
    out.push_str("<details><summary>What the columns mean</summary>\n<dl>\n");
    for metric in metrics {
        out.push_str(&format!("<dt>{}</dt><dd>{}</dd>\n", escape(metric.name), escape(metric.meaning)));
    }
    out.push_str("</dl>\n<p>A value in <b class=\"best\">green</b> is the best of its column among limiters with the same guarantee.</p>\n</details>\n");
}

fn details(out: &mut String, report: &Report) {
    let sections = sections(report);
    if sections.is_empty() {
        return;
    }
    out.push_str("<h2>Details</h2>\n");
    for section in sections.iter().filter(|section| !section.details().is_empty()) {
        out.push_str(&format!("<h3>{}</h3>\n", section.title));
        table(out, section, &section.details(), false);
    }
    out.push_str("<details><summary>What the columns mean</summary>\n<dl>\n");
    let mut known: Vec<&str> = Vec::new();
    for metric in sections.iter().flat_map(Section::details) {
        if !known.contains(&metric.name) {
            known.push(metric.name);
            out.push_str(&format!("<dt>{}</dt><dd>{}</dd>\n", escape(metric.name), escape(metric.meaning)));
        }
    }
    out.push_str("</dl>\n</details>\n");
}

fn clients(out: &mut String, report: &Report) {
    let Some((names, rows)) = money::clients(report) else { return };
    out.push_str("<h2>Clients</h2>\n<p>Each population behind each limiter; more in clients.csv.</p>\n");
    out.push_str("<div class=\"wide\"><table>\n<thead><tr>");
    for (index, name) in names.iter().enumerate() {
        let class = if index < 2 { "" } else { " class=\"n\"" };
        out.push_str(&format!("<th scope=\"col\"{class}>{name}</th>"));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        out.push_str(&format!("<tr><th scope=\"row\">{}</th><td>{}</td>", escape(&row[0]), escape(&row[1])));
        row[2..].iter().for_each(|cell| out.push_str(&format!("<td class=\"n\">{}</td>", escape(cell))));
        out.push_str("</tr>\n");
    }
    out.push_str("</tbody>\n</table></div>\n");
}

fn keys(out: &mut String, report: &Report) {
    let rows = &report.tables.keys;
    let distinct: std::collections::BTreeSet<_> = rows.iter().map(|row| &row.key).collect();
    if distinct.len() < 2 {
        return;
    }
    out.push_str("<h2>Keys</h2>\n<p>The most affected first; more in keys.csv.</p>\n<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">limiter</th><th scope=\"col\">key</th>");
    for name in ["offered", "admitted", "refused", "peak"] {
        out.push_str(&format!("<th scope=\"col\" class=\"n\">{name}</th>"));
    }
    out.push_str("</tr></thead>\n<tbody>\n");
    for row in rows.iter().take(MOST_KEYS) {
        let label = crate::report::label(&row.limiter, &row.comparison);
        out.push_str(&format!("<tr><th scope=\"row\">{}</th><td>{}</td>", escape(&label), escape(&row.key)));
        let peak = row.peak_window.map(number::count).unwrap_or_default();
        for value in [row.offered_permits, row.admitted_permits, row.refused_permits].map(number::count) {
            out.push_str(&format!("<td class=\"n\">{value}</td>"));
        }
        out.push_str(&format!("<td class=\"n\">{peak}</td></tr>\n"));
    }
    out.push_str("</tbody>\n</table></div>\n");
}

fn provenance(out: &mut String, report: &Report) {
    out.push_str("<h2>How it was made</h2>\n");
    if let Some(command) = report.command() {
        out.push_str(&format!("<pre>{}</pre>\n", escape(command)));
    }
    let Some(Value::Object(run)) = &report.run else { return };
    out.push_str("<div class=\"wide\"><table class=\"run\">\n<tbody>\n");
    for (name, value) in run {
        let cell = match value {
            Value::String(text) => escape(text),
            Value::Object(_) | Value::Array(_) => format!("<pre>{}</pre>", escape(&format!("{value:#}"))),
            _ => escape(&value.to_string()),
        };
        out.push_str(&format!("<tr><th scope=\"row\">{}</th><td>{cell}</td></tr>\n", escape(&name.replace('_', " "))));
    }
    out.push_str("</tbody>\n</table></div>\n");
}

/// Escaped text in which `code` between backquotes is set as code, and *words* between asterisks are emphasised.
fn prose(text: &str) -> String {
    let mut out = String::new();
    for (i, part) in text.split('`').enumerate() {
        out.push_str(&if i % 2 == 1 { format!("<code>{}</code>", escape(part)) } else { emphasis(part) });
    }
    out
}

/// Escaped text with emphasis; an asterisk that stands alone, or next to a space on its inner side, is itself.
fn emphasis(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('*') {
        out.push_str(&escape(before));
        let inner = after.split_once('*').filter(|(inner, _)| !inner.is_empty() && inner.trim() == *inner);
        match inner {
            Some((inner, behind)) => {
                out.push_str(&format!("<em>{}</em>", escape(inner)));
                rest = behind;
            }
            None => {
                out.push('*');
                rest = after;
            }
        }
    }
    out + &escape(rest)
}

/// Text that means itself in HTML and SVG, also inside an attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_has_code_and_emphasis_and_nothing_else() {
        assert_eq!(prose("*no* `a*b` <c> *d & e*"), "<em>no</em> <code>a*b</code> &lt;c&gt; <em>d &amp; e</em>");
        assert_eq!(prose("2 * 3 * 4, a * b"), "2 * 3 * 4, a * b");
    }
}
