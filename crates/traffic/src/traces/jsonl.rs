//! One JSON object per line, or one list of objects, with the wanted values at paths such as `request.user.id`.

use super::columns::{Columns, list};
use super::elements::Elements;
use super::fault::Fault;
use super::format::{Clock, Format, Notes, Rows, Setup};
use super::input::Input;
use super::lines::Lines;
use super::role::Role;
use super::row::Row;
use super::time::Times;
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::HashSet;
use std::fmt;

/// The entry of the registry.
pub(super) const FORMAT: Format = Format {
    name: "jsonl",
    summary: "one JSON object per line (JSONL, NDJSON), or one JSON list of objects",
    recognised_by: "a first line that is a JSON object, or a list that begins with one",
    time: "a field such as timestamp, ts, time; or columns.time, a path with dots",
    key: "a field such as key, client_ip, user_id, id, or one within others such as request.client_ip; or columns.key",
    cost: "a field cost, permits or weight; or columns.cost; 1 when there is none",
    detect: |head| {
        let first = head.first_object();
        !first.is_empty() && (head.bytes.trim_ascii_start().starts_with(b"[") || head.first_line() == first)
    },
    open: |setup| Objects::open(setup, None).map(|objects| Box::new(objects) as Box<dyn Rows>),
};

/// Lines from which the names of fields are learnt.
const LEARNT: usize = 100;

/// Whether `object` is a JSON object of which `test` holds.
pub(super) fn has_fields(object: &[u8], test: impl Fn(&serde_json::Value) -> bool) -> bool {
    object.starts_with(b"{") && serde_json::from_slice(object).is_ok_and(|value| test(&value))
}

/// Where the objects of a file are.
enum Text {
    Lines(Lines),
    List(Elements),
}

/// A file of objects that is being read.
pub(super) struct Objects {
    text: Text,
    wanted: Tree,
    columns: Columns,
    times: Times,
    /// The values of the row at hand as text, one per field; memory is kept from row to row.
    values: Vec<Vec<u8>>,
}

impl Objects {
    /// Begins to read; `times` when the format fixes how they are written.
    pub fn open(setup: Setup<'_>, times: Option<Times>) -> Result<Objects, Box<Fault>> {
        let (mut names, mut filled) = (Vec::new(), HashSet::new());
        let Input { head, reader, .. } = setup.input;
        let is_list = head.bytes.trim_ascii_start().starts_with(b"[");
        let mut learn = |object: &[u8]| {
            // The last line of the head may be cut, and a broken one is reported when its turn comes.
            if let Ok(value) = serde_json::from_slice(object) {
                leaves(&value, &mut String::new(), &mut names, &mut filled);
            }
        };
        if is_list {
            learn(head.first_object());
        } else {
            head.lines().take(LEARNT).for_each(|(_, line)| learn(line));
        }
        let columns = Columns::find_filled(setup.spec, &names, &|name| filled.contains(name), setup.notes)?;
        let time = columns.one(Role::Time).ok_or_else(|| {
            let known = list(&names);
            Fault::file(format!(
                "no field is known to be the time; say which with {}. The file has {known}",
                setup.spec.choose("time", "\"a.b\"")
            ))
        })?;
        let times = match times {
            Some(times) => times,
            None => Times::new(&names[time], setup.spec.time_unit.as_deref())?.named(setup.spec),
        };
        let mut wanted = Tree::default();
        for place in columns.places() {
            wanted.insert(&names[place], place);
        }
        let values = vec![Vec::new(); names.len()];
        let text = if is_list { Text::List(Elements::new(reader)) } else { Text::Lines(Lines::new(reader)) };
        Ok(Objects { text, wanted, columns, times, values })
    }
}

impl Rows for Objects {
    fn next(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        let object = match &mut self.text {
            Text::Lines(lines) => lines.next()?,
            Text::List(elements) => elements.next()?,
        };
        let Some((number, line)) = object else { return Ok(false) };
        for value in &mut self.values {
            value.clear();
        }
        let mut deserializer = serde_json::Deserializer::from_slice(line);
        let read = Find { tree: &self.wanted, values: &mut self.values }.deserialize(&mut deserializer);
        read.and_then(|()| deserializer.end()).map_err(|error| {
            let message = format!("not a JSON object (goes wrong at character {})", error.column());
            Fault::row("not a JSON object", message).at(number).value(line)
        })?;
        let values = &self.values;
        self.columns.fill(&mut self.times, row, |place| &values[place]).map_err(|fault| fault.at(number))?;
        Ok(true)
    }

    fn columns(&self) -> Option<&Columns> {
        Some(&self.columns)
    }

    fn ask(&mut self, name: &str) -> Option<usize> {
        let (place, slot) = self.columns.ask(name)?;
        self.wanted.insert(&self.columns.names()[place], place);
        Some(slot)
    }

    fn clock(&self) -> Clock {
        self.times.clock()
    }

    fn line(&self) -> u64 {
        match &self.text {
            Text::Lines(lines) => lines.number(),
            Text::List(elements) => elements.number(),
        }
    }

    fn unended(&self) -> bool {
        matches!(&self.text, Text::Lines(lines) if lines.unended())
    }

    fn finish(&mut self, notes: &mut Notes) {
        self.times.finish(notes);
    }
}

/// The paths of all values in `value` that are no objects or lists, in their order and without repeats; and those of
/// values that say something.
fn leaves(value: &serde_json::Value, path: &mut String, names: &mut Vec<String>, filled: &mut HashSet<String>) {
    match value {
        serde_json::Value::Object(fields) => {
            for (name, field) in fields {
                let length = path.len();
                if length > 0 {
                    path.push('.');
                }
                path.push_str(name);
                leaves(field, path, names, filled);
                path.truncate(length);
            }
        }
        serde_json::Value::Array(_) => {}
        value => {
            if !value.is_null() && value != "" && !filled.contains(path) {
                filled.insert(path.clone());
            }
            if !names.contains(path) {
                names.push(path.clone());
            }
        }
    }
}

/// Wanted fields by name, and those within them.
#[derive(Debug, Default)]
struct Tree {
    fields: Vec<(String, Field)>,
}

#[derive(Debug, Default)]
struct Field {
    place: Option<usize>,
    within: Tree,
}

impl Tree {
    /// Adds a path; a field whose own name has the dots is found as well.
    fn insert(&mut self, path: &str, place: usize) {
        self.field(path).place = Some(place);
        if let Some((first, rest)) = path.split_once('.') {
            self.field(first).within.insert(rest, place);
        }
    }

    fn field(&mut self, name: &str) -> &mut Field {
        let at = self.fields.iter().position(|(known, _)| known == name).unwrap_or_else(|| {
            self.fields.push((name.to_owned(), Field::default()));
            self.fields.len() - 1
        });
        &mut self.fields[at].1
    }
}

/// Reads an object, keeps the wanted values and skips the rest.
struct Find<'t> {
    tree: &'t Tree,
    values: &'t mut [Vec<u8>],
}

impl<'de> DeserializeSeed<'de> for Find<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Find<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(at) = map.next_key_seed(Name(self.tree))? {
            let Some(field) = at.map(|at| &self.tree.fields[at].1) else {
                map.next_value::<IgnoredAny>()?;
                continue;
            };
            let raw: &RawValue = map.next_value()?;
            if let Some(place) = field.place {
                text_of(raw, &mut self.values[place]);
            }
            if raw.get().starts_with('{') && !field.within.fields.is_empty() {
                let inner = Find { tree: &field.within, values: &mut *self.values };
                inner
                    .deserialize(&mut serde_json::Deserializer::from_str(raw.get()))
                    .map_err(serde::de::Error::custom)?;
            }
        }
        Ok(())
    }
}

/// Reads a field's name as its place among the wanted ones.
struct Name<'t>(&'t Tree);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Option<usize>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<usize>, E> {
        Ok(self.0.fields.iter().position(|(known, _)| known == name))
    }
}

/// The text of a value: a string without its quotes and escapes, nothing for null, everything else as it is written.
fn text_of(raw: &RawValue, into: &mut Vec<u8>) {
    let text = raw.get();
    into.clear();
    match text.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
        Some(plain) if !plain.contains('\\') => into.extend_from_slice(plain.as_bytes()),
        Some(_) => into.extend_from_slice(serde_json::from_str::<String>(text).unwrap_or_default().as_bytes()),
        None if text == "null" => {}
        None => into.extend_from_slice(text.as_bytes()),
    }
}
