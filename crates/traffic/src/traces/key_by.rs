//! Keys made of parts of a row: `user` and `path`, say, instead of the client address.

use super::columns::{absent, nearest};
use super::fault::Fault;
use super::field::Field;
use super::format::{Notes, Rows};
use super::keys::PART;
use super::row::Row;
use crate::spec::Trace;
use std::io::Write;

/// Fields that may be part of a key; `client` is another name of the format's own key.
const PARTS: [(&str, Field); 6] = [
    ("key", Field::Key),
    ("client", Field::Key),
    ("user", Field::User),
    ("method", Field::Method),
    ("path", Field::Path),
    ("status", Field::Status),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Field(Field),
    /// A column, by its place among the row's own.
    Own(usize),
}

/// Makes the key of each row.
pub(super) struct KeyBy {
    said: String,
    parts: Vec<Part>,
    key: Vec<u8>,
    /// Rows without a user, where the user is part of the key.
    nobody: u64,
}

impl KeyBy {
    /// The parts that `spec` names, if it names any. A column of the file is taken before a field of the same name,
    /// unless it is read as that field.
    pub fn new(spec: &Trace, rows: &mut dyn Rows, format: &str) -> Result<Option<KeyBy>, Box<Fault>> {
        if spec.key_by.is_empty() {
            return Ok(None);
        }
        let setting = spec.setting("key-by");
        let said = format!("{setting} {}", spec.key_by.join(","));
        if let Some((_, names)) = spec.columns.iter().find(|(role, _)| role == "key") {
            let other = spec.chosen("key", names);
            return Err(Fault::file(format!("{said}: the key is chosen twice; leave out this or key in {other}")));
        }
        let mut parts = Vec::new();
        for name in &spec.key_by {
            let (fields, names) = (rows.fields(), rows.names());
            let known = PARTS.iter().find(|(part, _)| part == name).map(|(_, field)| *field);
            let field = known.filter(|field| fields.has(*field));
            let part = match rows.plays(name).filter(|plays| PARTS.iter().any(|(_, field)| field == plays)) {
                Some(field) => Some(Part::Field(field)),
                None => rows.ask(name).map(Part::Own).or(field.map(Part::Field)),
            };
            parts.push(part.ok_or_else(|| {
                let valid: Vec<&str> =
                    PARTS.iter().filter(|(_, field)| fields.has(*field)).map(|(name, _)| *name).collect();
                let message = if names.is_empty() {
                    let near = nearest(name, valid.iter().copied());
                    let near = near.map_or("; valid".to_owned(), |near| format!("; did you mean {near}? Valid"));
                    format!("the format {format} has no \"{name}\"{near} are {}", valid.join(", "))
                } else {
                    let also = if valid.is_empty() { "" } else { "; valid too: " };
                    format!("{}{also}{}", absent(name, &names), valid.join(", "))
                };
                Fault::file(format!("{said}: {message}"))
            })?);
        }
        Ok(Some(KeyBy { said, parts, key: Vec::new(), nobody: 0 }))
    }

    /// Gives `row` its key.
    pub fn put(&mut self, row: &mut Row) {
        self.key.clear();
        for (n, part) in self.parts.iter().enumerate() {
            if n > 0 {
                self.key.push(PART);
            }
            let text = match part {
                Part::Own(slot) => row.own.get(*slot).map_or(&b""[..], |value| value),
                Part::Field(Field::Path) => row.path.split(|byte| *byte == b'?').next().unwrap_or(b""),
                Part::Field(Field::User) if matches!(row.user.as_slice(), b"" | b"-") => {
                    self.nobody += 1;
                    b"-"
                }
                Part::Field(Field::Status) => {
                    // Writing into memory cannot fail.
                    let _ = write!(self.key, "{}", row.status);
                    b""
                }
                Part::Field(field) => field.text(row),
            };
            self.key.extend_from_slice(text);
        }
        std::mem::swap(&mut row.key, &mut self.key);
    }

    /// Says what the parts are.
    pub fn finish(&self, notes: &mut Notes) {
        if self.parts.contains(&Part::Field(Field::Path)) {
            notes.guess(format!("{}: a path is taken without its query", self.said));
        }
        if self.nobody > 0 {
            notes.guess(format!(
                "{}: {} rows name no user (empty or -); they count as one user called -",
                self.said, self.nobody
            ));
        }
    }
}
