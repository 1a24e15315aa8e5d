//! Rows of a Parquet file, row group by row group and page by page; only the columns that are wanted are decoded.

use super::columns::{Columns, list};
use super::fault::Fault;
use super::format::{Clock, Notes, Rows, Setup};
use super::own;
use super::role::Role;
use super::row::Row;
use super::time::Times;
use super::unit::Unit;
use crate::COUNTS_FROM;
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use parquet::record::reader::RowIter;
use parquet::schema::types::{Type, TypePtr};
use std::cell::Cell;
use std::io::{Read, Write};
use std::panic;
use std::sync::{Arc, Once};

/// A table of which nothing was read yet, or that is being read.
enum State {
    Closed(Box<dyn FileReader>),
    Open(RowIter<'static>),
    Ended,
}

struct Table {
    state: State,
    root: TypePtr,
    /// The columns that can be read, in the order of their names.
    fields: Vec<TypePtr>,
    columns: Columns,
    times: Times,
    /// The columns that are read, by the place of their names.
    wanted: Vec<usize>,
    values: Vec<Vec<u8>>,
    number: u64,
}

/// A file is read where it lies; what comes from a pipe is kept in memory, since its index stands at its end.
pub(super) fn open(setup: Setup<'_>) -> Result<Box<dyn Rows>, Box<Fault>> {
    let Setup { spec, mut input, notes } = setup;
    let reader: Box<dyn FileReader> = match input.file {
        Some(file) => Box::new(guarded(|| SerializedFileReader::new(file))?),
        None => {
            let mut bytes = Vec::new();
            input.reader.read_to_end(&mut bytes).map_err(|error| Fault::io(&error))?;
            Box::new(guarded(|| SerializedFileReader::new(bytes::Bytes::from(bytes)))?)
        }
    };
    let root = reader.metadata().file_metadata().schema_descr().root_schema_ptr();
    let plain = |field: &&TypePtr| field.is_primitive() && field.get_basic_info().repetition() != Repetition::REPEATED;
    let fields: Vec<TypePtr> = root.get_fields().iter().filter(plain).cloned().collect();
    let names: Vec<String> = fields.iter().map(|field| field.name().to_owned()).collect();
    let columns = Columns::find(spec, &names, notes)?;
    let time = columns.one(Role::Time).ok_or_else(|| {
        let choose = spec.choose("time", "…");
        Fault::file(format!(
            "no column is known to be the time; say which with {choose}. The file has {}",
            list(&names)
        ))
    })?;
    let is_own = names.iter().map(String::as_str).take(3).eq(["at_ns", "key", "cost"]);
    let times = match unit_of(&fields[time]) {
        _ if is_own => {
            let file = reader.metadata().file_metadata();
            let start = file.key_value_metadata().and_then(|all| all.iter().find(|one| one.key == COUNTS_FROM));
            own::times(start.and_then(|one| one.value.as_deref()).map(str::as_bytes), notes)?
        }
        Some(unit) if spec.time_unit.is_none() => Times::typed(&names[time], unit).named(spec),
        _ => Times::new(&names[time], spec.time_unit.as_deref())?.named(spec),
    };
    let values = vec![Vec::new(); names.len()];
    let state = State::Closed(reader);
    Ok(Box::new(Table { state, root, fields, columns, times, wanted: Vec::new(), values, number: 0 }))
}

/// What is wrong with a file.
fn broken(error: impl std::fmt::Display) -> Box<Fault> {
    Fault::file(format!("the Parquet data is cut off or damaged, or is written in a way that is not read ({error})"))
}

/// Does something with the file. The `parquet` crate panics on some damaged files (seen in 60.1, of which a bit was turned); for
/// people who read one that is an error of the file and not of the program, and is to be said like any other.
fn guarded<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Box<Fault>> {
    thread_local!(static AT_WORK: Cell<bool> = const { Cell::new(false) });
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        // What a panic prints is decided for the whole process; elsewhere it stays as it was.
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !AT_WORK.get() {
                usual(info)
            }
        }));
    });
    AT_WORK.set(true);
    // What was being read is not looked at again.
    let done = panic::catch_unwind(panic::AssertUnwindSafe(work));
    AT_WORK.set(false);
    let panicked = |_| broken("its parts contradict each other");
    done.map_err(panicked)?.map_err(broken)
}

/// The unit of a column of times; 96-bit times are read to the millisecond.
fn unit_of(field: &Type) -> Option<Unit> {
    if field.get_physical_type() == Physical::INT96 {
        return Unit::named("ms");
    }
    match field.get_basic_info().logical_type_ref()? {
        LogicalType::Timestamp(time) => Unit::named(match time.unit {
            TimeUnit::MILLIS => "ms",
            TimeUnit::MICROS => "us",
            TimeUnit::NANOS => "ns",
        }),
        _ => None,
    }
}

impl Table {
    /// Begins to read the columns that are wanted by now.
    fn begin(&mut self, reader: Box<dyn FileReader>) -> Result<RowIter<'static>, Box<Fault>> {
        self.wanted = self.columns.places().collect();
        self.wanted.sort_unstable();
        self.wanted.dedup();
        let fields = self.wanted.iter().map(|place| Arc::clone(&self.fields[*place])).collect();
        let projection = Type::group_type_builder(self.root.name()).with_fields(fields).build().map_err(broken)?;
        guarded(|| RowIter::from_file_into(reader).project(Some(projection)))
    }
}

/// The text of a value, as a CSV file would have it.
fn write(value: &Field, into: &mut Vec<u8>) {
    into.clear();
    // Writing into memory cannot fail.
    let _ = match value {
        Field::Null => Ok(()),
        Field::Str(text) => into.write_all(text.as_bytes()),
        Field::Bytes(bytes) => into.write_all(bytes.data()),
        Field::TimestampMillis(at) | Field::TimestampMicros(at) => write!(into, "{at}"),
        Field::Byte(number) => write!(into, "{number}"),
        Field::Short(number) => write!(into, "{number}"),
        Field::Int(number) => write!(into, "{number}"),
        Field::Long(number) => write!(into, "{number}"),
        Field::UByte(number) => write!(into, "{number}"),
        Field::UShort(number) => write!(into, "{number}"),
        Field::UInt(number) => write!(into, "{number}"),
        Field::ULong(number) => write!(into, "{number}"),
        Field::Float(number) => write!(into, "{number}"),
        Field::Double(number) => write!(into, "{number}"),
        other => write!(into, "{other}"),
    };
}

impl Rows for Table {
    fn next(&mut self, row: &mut Row) -> Result<bool, Box<Fault>> {
        let mut rows = match std::mem::replace(&mut self.state, State::Ended) {
            State::Closed(reader) => self.begin(reader)?,
            State::Open(rows) => rows,
            State::Ended => return Ok(false),
        };
        let next = guarded(|| rows.next().transpose()).map_err(|fault| fault.at(self.number + 1))?;
        let Some(next) = next else { return Ok(false) };
        self.number += 1;
        self.state = State::Open(rows);
        for ((_, value), place) in next.get_column_iter().zip(&self.wanted) {
            write(value, &mut self.values[*place]);
        }
        let values = &self.values;
        self.columns.fill(&mut self.times, row, |place| &values[place]).map_err(|fault| fault.at(self.number))?;
        Ok(true)
    }

    fn columns(&self) -> Option<&Columns> {
        Some(&self.columns)
    }

    fn ask(&mut self, name: &str) -> Option<usize> {
        self.columns.ask(name).map(|(_, slot)| slot)
    }

    fn clock(&self) -> Clock {
        self.times.clock()
    }

    /// Rows are counted, since there are no lines.
    fn line(&self) -> u64 {
        self.number
    }

    fn unended(&self) -> bool {
        false
    }

    fn nothing(&self) -> String {
        "the file has no rows".to_owned()
    }

    fn finish(&mut self, notes: &mut Notes) {
        self.times.finish(notes);
    }
}
