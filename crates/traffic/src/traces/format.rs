//! What a log format is: how it is recognised, what its rows mean, and how to read them.

use super::ahead::Totals;
use super::columns::Columns;
use super::fault::Fault;
use super::field::{Field, Fields};
use super::input::{Head, Input};
use super::row::Row;
use crate::spec::Trace;
use crate::{Note, NoteKind};

/// Begins to read a file.
pub(super) type Open = fn(Setup<'_>) -> Result<Box<dyn Rows>, Box<Fault>>;

/// A log format, an entry of [`FORMATS`](super::FORMATS).
pub struct Format {
    /// Its name in scenarios and on the command line.
    pub name: &'static str,
    /// What it is, in a few words.
    pub summary: &'static str,
    /// What a file must look like to be read as this format when none is named.
    pub recognised_by: &'static str,
    /// Where the time of a request comes from.
    pub time: &'static str,
    /// Where the key comes from.
    pub key: &'static str,
    /// Where costs and tokens come from.
    pub cost: &'static str,
    pub(super) detect: fn(&Head) -> bool,
    pub(super) open: Open,
}

impl Format {
    /// Whether a file that begins with these bytes (after decompression) looks like this format.
    pub fn detects(&self, first_bytes: &[u8]) -> bool {
        (self.detect)(&Head::new(first_bytes.to_vec(), false))
    }
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Format").field("name", &self.name).finish_non_exhaustive()
    }
}

/// What the times of a file count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    /// The Unix epoch.
    Wall,
    /// The scenario's start.
    Relative,
}

/// What a format needs to begin.
pub(super) struct Setup<'a> {
    pub spec: &'a Trace,
    pub input: Input,
    pub notes: &'a mut Notes,
}

impl Setup<'_> {
    /// Refuses `columns` for the format `name`, which has none to choose.
    pub fn no_columns(&self, name: &str) -> Result<(), Box<Fault>> {
        match self.spec.columns.first() {
            None => Ok(()),
            Some((role, names)) => {
                let said = self.spec.chosen(role, names);
                let key_by = self.spec.setting("key-by");
                let instead =
                    if role == "key" { format!("; {key_by} makes a key of what it has") } else { String::new() };
                Err(Fault::file(format!(
                    "{said}: the format {name} has no columns, so {role} cannot be chosen{instead}"
                )))
            }
        }
    }
}

/// The rows of a file, in file order. A lending iterator: each call overwrites one row, so that nothing is allocated.
pub(super) trait Rows: Send {
    /// Reads the next row into `row`, which is reset beforehand; `false` at the end. After a fault that is not fatal the
    /// next call goes on with the next row.
    fn next(&mut self, row: &mut Row) -> Result<bool, Box<Fault>>;

    /// What the times count from; known once a row was read.
    fn clock(&self) -> Clock;

    /// 1-based line of the row read last.
    fn line(&self) -> u64;

    /// Whether the row read last ended with the file instead of a line end.
    fn unended(&self) -> bool;

    /// The file's own columns, for a format that has such; the four answers after it follow from them.
    fn columns(&self) -> Option<&Columns> {
        None
    }

    /// The fields that its rows may have.
    fn fields(&self) -> Fields {
        self.columns().map_or(Fields::of(&[Field::Key, Field::Cost]), Columns::fields)
    }

    /// Names of the file's own columns, where it has such.
    fn names(&self) -> Vec<String> {
        self.columns().map_or_else(Vec::new, |columns| columns.names().to_vec())
    }

    /// Has the column `name` put into `own` of every row, and says where; `None` where there is no such column.
    fn ask(&mut self, _name: &str) -> Option<usize> {
        None
    }

    /// The field that the column `name` is read as.
    fn plays(&self, name: &str) -> Option<Field> {
        self.columns()?.plays(name)
    }

    /// What its columns say of totals; `None` for a format that has a row for each request.
    fn totals(&self) -> Option<Totals> {
        self.columns()?.totals()
    }

    /// Whether calls may name a model, by which they are priced.
    fn has_models(&self) -> bool {
        false
    }

    /// What is wrong with a file in which no row was found, good or bad.
    fn nothing(&self) -> String {
        "the file has no requests".to_owned()
    }

    /// Says what was found out while reading.
    fn finish(&mut self, _notes: &mut Notes) {}
}

/// Notes in the order they were made.
#[derive(Debug, Default)]
pub(super) struct Notes(pub Vec<Note>);

impl Notes {
    pub fn guess(&mut self, text: impl Into<String>) {
        self.0.push(Note { kind: NoteKind::Guess, text: text.into() });
    }

    pub fn warning(&mut self, text: impl Into<String>) {
        self.0.push(Note { kind: NoteKind::Warning, text: text.into() });
    }
}
