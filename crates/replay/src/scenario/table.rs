//! A table of a scenario file being read: values by key, problems noted with their place, nothing stopped by the first one.

use super::keys::{Key, Section};
use super::value::Problem;
use crate::diagnose::{Diagnostic, Place, valid_values};
use std::cell::RefCell;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The file and what has been found wrong with it so far.
pub(crate) struct File<'a> {
    pub path: &'a str,
    pub text: &'a str,
    found: RefCell<Vec<(usize, Diagnostic)>>,
}

impl<'a> File<'a> {
    pub fn new(path: &'a str, text: &'a str) -> File<'a> {
        File { path, text, found: RefCell::default() }
    }

    pub fn report(&self, span: Range<usize>, problem: Problem) {
        let span = problem.span.unwrap_or(span);
        let diagnostic = Diagnostic {
            path: self.path.to_string(),
            place: Some(Place::of(self.text, span.clone())),
            message: problem.message,
            notes: problem.notes,
        };
        let mut found = self.found.borrow_mut();
        if !found.iter().any(|(_, other)| *other == diagnostic) {
            found.push((span.start, diagnostic));
        }
    }

    /// Every problem, in the order of the file.
    pub fn into_problems(self) -> Vec<Diagnostic> {
        let mut found = self.found.into_inner();
        found.sort_by_key(|(at, _)| *at);
        found.into_iter().map(|(_, diagnostic)| diagnostic).collect()
    }

    pub fn has_problems(&self) -> bool {
        !self.found.borrow().is_empty()
    }
}

/// A value with the place it was read from.
pub(crate) type Value<'a> = &'a Spanned<DeValue<'a>>;

/// A key and its value as they stand in the file.
#[derive(Clone)]
pub(crate) struct Entry<'a> {
    pub name: &'a str,
    pub span: Range<usize>,
    pub value: Value<'a>,
}

/// The entries of a TOML table in the order of the file.
pub(crate) fn entries<'a>(table: &'a DeTable<'a>) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry<'a>> =
        table.iter().map(|(key, value)| Entry { name: key.get_ref().as_ref(), span: key.span(), value }).collect();
    entries.sort_by_key(|entry| entry.span.start);
    entries
}

/// A table with the section it is an instance of.
#[derive(Clone)]
pub(crate) struct Table<'a> {
    pub file: &'a File<'a>,
    pub section: &'static Section,
    pub span: Range<usize>,
    pub entries: Vec<Entry<'a>>,
}

impl<'a> Table<'a> {
    pub fn new(file: &'a File<'a>, section: &'static Section, span: Range<usize>, table: &'a DeTable<'a>) -> Table<'a> {
        Table { file, section, span, entries: entries(table) }
    }

    /// Notes every key that is neither the section's own nor one of `more`. `hint` may explain a key.
    pub fn reject_unknown(&self, more: &[&str], hint: impl Fn(&str) -> Option<String>) {
        let own = self.section.keys().map(|key| key.name);
        let valid: Vec<&str> =
            more.iter().copied().filter(|name| self.section.key(name).is_none()).chain(own).collect();
        let place = match self.section.header {
            "" => "at the top of the file".to_string(),
            header => format!("in {header}"),
        };
        for entry in self.entries.iter().filter(|entry| !valid.contains(&entry.name)) {
            let problem = Problem::new(format!("unknown key `{}` {place}", entry.name));
            let problem = match hint(entry.name) {
                Some(hint) => problem.note(hint),
                None => problem,
            };
            self.file.report(entry.span.clone(), problem.notes(valid_values(entry.name, "valid keys", &valid)));
        }
    }

    pub fn entry(&self, name: &str) -> Option<&Entry<'a>> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.entry(name).is_some()
    }

    /// The place of a key's value, or of the table's header.
    pub fn value_span(&self, name: &str) -> Range<usize> {
        self.entry(name).map_or(self.span.clone(), |entry| entry.value.span())
    }

    /// The value of `name` as `read` takes it; a missing or bad one is `None`, and noted if it must be there.
    pub fn get<T>(&self, name: &'static str, read: impl FnOnce(Value<'a>, &Key) -> Result<T, Problem>) -> Option<T> {
        let key = self.section.key(name).expect("readers ask for keys of their own section, which a test visits all");
        let Some(entry) = self.entry(name) else {
            if key.default.is_none() {
                let note = format!("`{name}` takes {}", key.takes.words());
                self.file.report(
                    self.span.clone(),
                    Problem::new(format!("{} needs `{name}`", self.section.header)).note(note),
                );
            }
            return None;
        };
        match read(entry.value, key) {
            Ok(value) => Some(value),
            Err(problem) => {
                self.wrong(name, problem);
                None
            }
        }
    }

    /// Notes a problem with the value of a key, naming the key.
    pub fn wrong(&self, name: &str, problem: Problem) {
        let message = format!("`{name}`: {}", problem.message);
        self.file.report(self.value_span(name), Problem { message, ..problem });
    }
}

/// What kind of value stands there, for a message.
pub(crate) fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a decimal",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}
