//! `[[expect]]`: what a run must come out with, read from the file.

use super::keys::EXPECT;
use super::limiter::LimiterSpec;
use super::read;
use super::table::{Entry, Table, Value, kind_of};
use super::top::many_tables;
use super::value::{Problem, duration, money};
use crate::diagnose::{Place, valid_values};
use crate::expect::{Column, columns};
use limiters::Nanos;
use toml::de::DeValue;

/// One `[[expect]]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Expect {
    /// Label of the limiter.
    pub limiter: String,
    /// Which of its rows; `None`: the one that is not `equal-guarantee`.
    pub comparison: Option<&'static str>,
    /// Length of the interval that `peak` asks about.
    pub within: Option<Nanos>,
    /// What must hold; at least one.
    pub checks: Vec<Check>,
}

/// One column and what it must hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Check {
    /// Kebab-case name, or `peak`.
    pub column: &'static str,
    /// What it must be.
    pub bound: Bound,
    /// Where it is written.
    pub place: Place,
}

/// What a number must be.
#[derive(Clone, Debug, PartialEq)]
pub enum Bound {
    /// This.
    Exactly(Number),
    /// Not below the first and not above the second; at least one is there.
    Between(Option<Number>, Option<Number>),
}

/// A number and how it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Number {
    /// In the column's unit: nanoseconds, micro-dollars, permits or a ratio.
    pub value: f64,
    /// The same where it is whole, exactly.
    pub whole: Option<u64>,
    /// As the file says it.
    pub written: String,
}

/// The name that stands for E over `within`.
pub(crate) const PEAK: &str = "peak";

/// Every `[[expect]]`, checked against what runs.
pub(crate) fn read(top: &Table<'_>, runs: &[LimiterSpec]) -> Vec<Expect> {
    let Some(entry) = top.entry("expect") else { return Vec::new() };
    let tables = many_tables(top.file, entry.span.clone(), entry.value, &EXPECT);
    tables.iter().filter_map(|table| one(table, runs)).collect()
}

fn one(table: &Table<'_>, runs: &[LimiterSpec]) -> Option<Expect> {
    let numeric = columns().iter().filter(|column| !column.text);
    let names: Vec<&str> = numeric.map(|column| column.kebab.as_str()).chain([PEAK]).collect();
    table.reject_unknown(&names, |name| {
        columns()
            .iter()
            .any(|column| column.text && column.kebab == name)
            .then(|| format!("`{name}` is a text, not a number"))
    });
    let limiter = table.get("limiter", |value, key| {
        let label = read::text(value, key)?;
        if runs.iter().any(|limiter| limiter.label == label) {
            return Ok(label);
        }
        let valid: Vec<&str> = runs.iter().map(|limiter| limiter.label.as_str()).collect();
        Err(Problem::new(format!("no limiter is called {label:?} here")).notes(valid_values(&label, "labels", &valid)))
    });
    let comparison = table.get("comparison", read::choice);
    let within = table.get("within", read::time);
    let mut checks = Vec::new();
    for entry in &table.entries {
        let column = columns().iter().find(|column| !column.text && column.kebab == entry.name);
        let (name, unit) = match column {
            Some(column) => (column.kebab.as_str(), Unit::of(column)),
            None if entry.name == PEAK => (PEAK, Unit::Count),
            None => continue,
        };
        match bound(entry, unit) {
            Ok(bound) => {
                checks.push(Check { column: name, bound, place: Place::of(table.file.text, entry.span.clone()) });
            }
            Err(problem) => table.wrong(entry.name, problem),
        }
    }
    match (table.has("within"), table.has(PEAK)) {
        (true, false) => {
            table.wrong("within", Problem::new("says over which length `peak` is asked, and there is no `peak`"))
        }
        (false, true) => table.wrong(PEAK, Problem::new("needs `within`").note("for example: within = \"2s\"")),
        _ if table.entries.iter().all(|entry| table.section.key(entry.name).is_some()) => {
            let problem = Problem::new("[[expect]] expects nothing").note(format!("columns: {}", names.join(", ")));
            table.file.report(table.span.clone(), problem);
        }
        _ => {}
    }
    Some(Expect { limiter: limiter?, comparison, within, checks })
}

/// What a column counts.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Unit {
    Count,
    Ratio,
    Time,
    Money,
}

impl Unit {
    pub fn of(column: &Column) -> Unit {
        match () {
            () if column.kebab.ends_with("-ns") => Unit::Time,
            () if column.kebab.ends_with("-microusd") => Unit::Money,
            () if column.decimal => Unit::Ratio,
            () => Unit::Count,
        }
    }

    fn example(self) -> &'static str {
        match self {
            Unit::Count => "a whole number",
            Unit::Ratio => "a number",
            Unit::Time => "a length of time such as \"2s\", or nanoseconds",
            Unit::Money => "money such as \"$5\", or micro-dollars",
        }
    }
}

fn bound(entry: &Entry<'_>, unit: Unit) -> Result<Bound, Problem> {
    let DeValue::Table(limits) = entry.value.get_ref() else { return number(entry.value, unit).map(Bound::Exactly) };
    let (mut min, mut max) = (None, None);
    for limit in super::table::entries(limits) {
        let slot = match limit.name {
            "min" => &mut min,
            "max" => &mut max,
            other => {
                let problem = Problem::new(format!("unknown key `{other}`"));
                return Err(problem.notes(valid_values(other, "valid keys", &["min", "max"])).at(limit.span));
            }
        };
        *slot = Some(number(limit.value, unit).map_err(|problem| problem.at(limit.value.span()))?);
    }
    match (&min, &max) {
        (None, None) => Err(Problem::new("takes a number or { min, max }, and here are neither")),
        (Some(low), Some(high)) if low.value > high.value => {
            Err(Problem::new(format!("min {} is above max {}", low.written, high.written)))
        }
        _ => Ok(Bound::Between(min, max)),
    }
}

fn number(value: Value<'_>, unit: Unit) -> Result<Number, Problem> {
    let whole = |whole: u64, written: String| Number { value: whole as f64, whole: Some(whole), written };
    let takes =
        || Problem::new(format!("takes {} or {{ min, max }}, not {}", unit.example(), kind_of(value.get_ref())));
    match (value.get_ref(), unit) {
        (DeValue::String(text), Unit::Time) => duration(text).map(|nanos| whole(nanos, text.to_string())),
        // What is saved may be a loss.
        (DeValue::String(text), Unit::Money) if text.trim_start().starts_with('-') => {
            let micro = money(text.trim_start().trim_start_matches('-'))?;
            Ok(Number { value: -(micro as f64), whole: None, written: text.to_string() })
        }
        (DeValue::String(text), Unit::Money) => money(text).map(|micro| whole(micro, text.to_string())),
        (other, _) => {
            let exact = read::number(other).ok_or_else(takes)??;
            let written = match other {
                DeValue::Integer(integer) => integer.to_string(),
                DeValue::Float(float) => float.to_string(),
                _ => return Err(takes()),
            };
            match exact.times(1) {
                Ok(number) => Ok(whole(number, written)),
                Err(_) if unit == Unit::Ratio && !exact.negative => {
                    let value = exact.digits as f64 / 10f64.powi(exact.scale as i32);
                    Ok(Number { value, whole: None, written })
                }
                Err(_) => Err(Problem::new(format!("{written} cannot be; it takes {}", unit.example()))),
            }
        }
    }
}
