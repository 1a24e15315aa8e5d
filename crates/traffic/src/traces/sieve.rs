//! The filter of one file: bound to its columns, and counting what it leaves out.

use super::fault::Fault;
use super::field::{Field, Kind};
use super::filter::{Where, WhereError};
use super::format::Rows;
use super::row::Row;
use crate::spec::Trace;
use crate::{Note, NoteKind};

/// A filter that knows where the columns lie.
pub(super) struct Sieve {
    /// As it is written, with the name of its setting.
    said: String,
    filter: Where,
    /// Where each column that it names lies among the row's own.
    slots: Vec<usize>,
    kept: u64,
    left_out: u64,
}

impl Sieve {
    /// The filter of `spec`, if there is one. It may ask only for what `rows` have.
    pub fn new(spec: &Trace, rows: &mut dyn Rows, format: &str) -> Result<Option<Sieve>, Box<Fault>> {
        let Some(text) = &spec.filter else { return Ok(None) };
        let setting = spec.setting("where");
        let wrong = |error: WhereError| Fault::file(format!("{setting}: {}", error.within(text)));
        let mut filter = Where::parse(text).map_err(wrong)?;
        let has = rows.fields();
        for (field, place) in filter.fields() {
            if has.has(field) {
                continue;
            }
            if field.kind() == Kind::Text && rows.names().iter().any(|name| name == field.name()) {
                filter.put_column(field);
                continue;
            }
            let known: Vec<&str> = has.names().collect();
            let mut message = format!("the format {format} has no {} in this file", field.name());
            let mut names = rows.names();
            if names.is_empty() {
                message = format!("rows of the format {format} have no {}", field.name());
            }
            names.retain(|name| Field::named(name).is_none());
            let columns = match names.as_slice() {
                [] => String::new(),
                names => format!(", and column(\"…\") of {}", super::columns::list(names)),
            };
            let note = format!("there are {}{columns}", known.join(", "));
            return Err(wrong(WhereError { place, message, notes: vec![note] }));
        }
        let mut slots = Vec::new();
        for (at, name) in filter.columns().iter().enumerate() {
            let slot = rows.ask(name).ok_or_else(|| {
                let names = rows.names();
                let message = if names.is_empty() {
                    format!(
                        "the format {format} has no columns to name; it has {}",
                        has.names().collect::<Vec<_>>().join(", ")
                    )
                } else {
                    super::columns::absent(name, &names)
                };
                wrong(WhereError { place: filter.place_of(at), message, notes: Vec::new() })
            })?;
            slots.push(slot);
        }
        Ok(Some(Sieve { said: format!("{setting} '{text}'"), filter, slots, kept: 0, left_out: 0 }))
    }

    /// Whether a row counts.
    #[inline]
    pub fn holds(&mut self, row: &Row) -> bool {
        let holds = self.filter.holds(row, &self.slots);
        if holds {
            self.kept += 1;
        } else {
            self.left_out += 1;
        }
        holds
    }

    /// Rows that do not count.
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// What to say when not one row counts.
    pub fn nothing(&self) -> Option<String> {
        let Sieve { left_out, said, .. } = self;
        (self.kept == 0 && *left_out > 0)
            .then(|| format!("none of the {left_out} rows that can be read matches {said}"))
    }

    /// What to say at the end.
    pub fn note(&self) -> Note {
        let Sieve { kept, left_out, said, .. } = self;
        let text = match left_out {
            0 => format!("all {kept} rows match {said}"),
            _ => format!("{left_out} of {} rows do not match {said} and are left out", kept + left_out),
        };
        Note { kind: NoteKind::Skipped, text }
    }
}
