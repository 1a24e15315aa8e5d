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

/// The longest a limiter's name may get where space is short.
const LONGEST_NAME: usize = 34;

/// A column: its metric, its name in at most two lines, its cells with whether each is the best.
struct Column {
    metric: &'static Metric,
    head: [String; 2],
    cells: Vec<(String, bool)>,
}

impl Column {
    fn new(section: &Section<'_>, metric: &'static Metric) -> Self {
        let cell = |entry| ((metric.text)(entry), section.is_best(metric, entry));
        Self { metric, head: two_lines(metric.name), cells: section.entries.iter().map(cell).collect() }
    }

    /// Width of its texts.
    fn text_width(&self) -> usize {
        let heads = self.head.iter().map(|line| line.width());
        self.cells.iter().map(|(text, _)| text.width()).chain(heads).max().unwrap_or(0)
    }

    /// Width with the space before it and the mark, which has a place of its own so that digits stand under digits.
    fn width(&self) -> usize {
        2 + self.text_width() + usize::from(self.marks())
    }

    fn marks(&self) -> bool {
        self.cells.iter().any(|(_, best)| *best)
    }

    fn pad(&self, text: &str, mark: &str) -> String {
        let mark = if self.marks() { mark } else { "" };
        format!("  {}{mark}", pad_left(text, self.text_width()))
    }
}

fn table(section: &Section<'_>, width: usize, paint: &dyn Fn(&str, &str) -> String) -> (String, bool) {
    let mut columns: Vec<Column> = section.main().into_iter().map(|metric| Column::new(section, metric)).collect();
    let longest = |names: &[String]| names.iter().map(|name| name.width()).fold("limiter".width(), usize::max);
    let mut names: Vec<String> = section.entries.iter().map(|entry| entry.row.limiter.clone()).collect();
    let fits = |names: &[String], columns: &[Column]| {
        longest(names) + columns.iter().map(Column::width).sum::<usize>() <= width
    };
    if !fits(&names, &columns) {
        names.iter_mut().for_each(|name| *name = shorten(name));
    }
    let mut dropped = Vec::new();
    while !fits(&names, &columns) {
        let Some(last) = (0..columns.len()).max_by_key(|&i| (columns[i].metric.main, i)) else { break };
        dropped.push(columns.remove(last).metric.name);
    }
    let name_width = longest(&names);
    let mut out = String::new();
    for line in 0..2 {
        let mut text = pad_right(if line == 1 { "limiter" } else { "" }, name_width);
        columns.iter().for_each(|column| text.push_str(&column.pad(&column.head[line], " ")));
        if !text.trim().is_empty() {
            out.push_str(&format!("{}\n", paint(DIM, text.trim_end())));
        }
    }
    for (i, name) in names.iter().enumerate() {
        let mut line = pad_right(name, name_width);
        for column in &columns {
            let (text, best) = &column.cells[i];
            line.push_str(&if *best { paint(GREEN, &column.pad(text, "*")) } else { column.pad(text, " ") });
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    if !dropped.is_empty() {
        out.push_str(&format!("{}\n", paint(DIM, &format!("(no room for: {})", dropped.join(", ")))));
    }
    (out, columns.iter().any(Column::marks))
}

/// A name in two lines of nearly equal length; one word stands on the lower one.
fn two_lines(name: &str) -> [String; 2] {
    let spaces = name.match_indices(' ').map(|(at, _)| at);
    match spaces.min_by_key(|at| (name[..*at].width().max(name[at + 1..].width()), *at)) {
        Some(at) => [name[..at].to_owned(), name[at + 1..].to_owned()],
        None => [String::new(), name.to_owned()],
    }
}

fn shorten(name: &str) -> String {
    if name.width() <= LONGEST_NAME {
        return name.to_owned();
    }
    let mut short = String::new();
    for letter in name.chars() {
        short.push(letter);
        if short.width() >= LONGEST_NAME {
            short.pop();
            break;
        }
    }
    format!("{}…", short.trim_end())
}

fn pad_left(text: &str, width: usize) -> String {
    " ".repeat(width.saturating_sub(text.width())) + text
}

fn pad_right(text: &str, width: usize) -> String {
    text.to_owned() + &" ".repeat(width.saturating_sub(text.width()))
}
