//! The CSV files: one row type, one file name and one file of code each.

use std::path::Path;

use csv::{ReaderBuilder, StringRecord, WriterBuilder};
use replay::rows::{
    BillRow, ClientRow, EnvelopeRow, GuaranteeRow, KeyRow, NoteRow, OverheadRow, SpendRow, SummaryRow, TimelineRow,
    WaitRow,
};
use serde::{Serialize, de::DeserializeOwned};

use crate::Error;

mod bills;
mod clients;
mod envelope;
mod guarantee;
mod keys;
mod notes;
mod overhead;
mod spend;
mod summary;
mod timeline;
mod waits;

/// A row that has a CSV file of its own.
pub trait Row: Clone + Default + Serialize + DeserializeOwned {
    /// Name of the file in the report's folder.
    const FILE: &'static str;
    /// Rounds every fraction to six decimals, so that a file does not change with the last bit of a division.
    fn round(&mut self);
}

/// Everything a run measured: the rows of every CSV file, each in registry order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    /// One row per limiter.
    pub summary: Vec<SummaryRow>,
    /// Limiter × bin.
    pub timeline: Vec<TimelineRow>,
    /// Limiter × window length.
    pub envelope: Vec<EnvelopeRow>,
    /// Algorithm × guaranteed peak.
    pub guarantee: Vec<GuaranteeRow>,
    /// Limiter × quantile.
    pub waits: Vec<WaitRow>,
    /// Limiter × key.
    pub keys: Vec<KeyRow>,
    /// What a reader must know. The note of kind `command` is the command that made the report.
    pub notes: Vec<NoteRow>,
    /// How long decisions took. Without rows there is no file: timing never enters git.
    pub overhead: Vec<OverheadRow>,
    /// Limiter × population of clients. This and the next two have a file only where there are clients.
    pub clients: Vec<ClientRow>,
    /// Spending and attempts over time.
    pub spend: Vec<SpendRow>,
    /// Limiter × seed.
    pub bills: Vec<BillRow>,
}

impl Tables {
    /// Writes the files into `dir`, which must exist. `overhead.csv` is written only if it has rows.
    ///
    /// # Errors
    /// When a file cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), Error> {
        write(dir, &self.summary)?;
        write(dir, &self.timeline)?;
        write(dir, &self.envelope)?;
        write(dir, &self.guarantee)?;
        write(dir, &self.waits)?;
        write(dir, &self.keys)?;
        write(dir, &self.notes)?;
        write_any(dir, &self.clients)?;
        write_any(dir, &self.spend)?;
        write_any(dir, &self.bills)?;
        write_any(dir, &self.overhead)
    }

    /// Reads the files of `dir`. `overhead.csv` may be missing.
    ///
    /// # Errors
    /// When a file is missing, has another header, or holds a value its column cannot have.
    pub fn read(dir: &Path) -> Result<Self, Error> {
        Ok(Self {
            summary: read(dir)?,
            timeline: read(dir)?,
            envelope: read(dir)?,
            guarantee: read(dir)?,
            waits: read(dir)?,
            keys: read(dir)?,
            notes: read(dir)?,
            overhead: read_any(dir)?,
            clients: read_any(dir)?,
            spend: read_any(dir)?,
            bills: read_any(dir)?,
        })
    }
}

/// The file names of [`Tables`], in the order they are written.
pub const FILES: &[&str] = &[
    SummaryRow::FILE,
    TimelineRow::FILE,
    EnvelopeRow::FILE,
    GuaranteeRow::FILE,
    WaitRow::FILE,
    KeyRow::FILE,
    NoteRow::FILE,
    OverheadRow::FILE,
    ClientRow::FILE,
    SpendRow::FILE,
    BillRow::FILE,
];

/// `rows` as CSV text: always a header, fractions with at most six decimals.
pub fn to_csv<T: Row>(rows: &[T]) -> String {
    let mut writer = WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    let memory = "writing rows of plain values to memory cannot fail";
    writer.write_record(&header::<T>()).expect(memory);
    for row in rows {
        let mut row = row.clone();
        row.round();
        writer.serialize(row).expect(memory);
    }
    String::from_utf8(writer.into_inner().expect(memory)).expect("csv of text is text")
}

/// The columns of `T`, in order.
pub fn header<T: Row>() -> StringRecord {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let memory = "writing one default row to memory cannot fail";
    writer.serialize(T::default()).expect(memory);
    let bytes = writer.into_inner().expect(memory);
    csv::Reader::from_reader(&bytes[..]).headers().expect("just written").clone()
}

/// Whether `found` can be the header of `T`: one is the beginning of the other, since columns are only ever appended.
pub fn same_header<T: Row>(found: &StringRecord) -> bool {
    !found.is_empty() && header::<T>().iter().zip(found).all(|(want, have)| want == have)
}

fn write<T: Row>(dir: &Path, rows: &[T]) -> Result<(), Error> {
    let path = dir.join(T::FILE);
    std::fs::write(&path, to_csv(rows)).map_err(|error| Error::at(&path, error))
}

/// A file only where there are rows.
fn write_any<T: Row>(dir: &Path, rows: &[T]) -> Result<(), Error> {
    if rows.is_empty() { Ok(()) } else { write(dir, rows) }
}

/// The rows of a file that may be missing.
fn read_any<T: Row>(dir: &Path) -> Result<Vec<T>, Error> {
    if dir.join(T::FILE).exists() { read(dir) } else { Ok(Vec::new()) }
}

fn read<T: Row>(dir: &Path) -> Result<Vec<T>, Error> {
    let path = dir.join(T::FILE);
    let mut reader = ReaderBuilder::new().from_path(&path).map_err(|error| Error::at(&path, error))?;
    let found = reader.headers().map_err(|error| Error::at(&path, error))?.clone();
    if !same_header::<T>(&found) {
        let wanted = header::<T>();
        let at = wanted.iter().zip(&found).position(|(want, have)| want != have).unwrap_or(0);
        let (want, have) = (wanted.get(at).unwrap_or(""), found.get(at).unwrap_or(""));
        return Err(Error::at(&path, format!("line 1: column {} is `{have}`, not `{want}`", at + 1)));
    }
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| Error::at(&path, error))?;
        rows.push(
            record.deserialize(Some(&found)).map_err(|error| Error::at(&path, located(&error, &record, &found)))?,
        );
    }
    Ok(rows)
}

/// Line, column and value of a field that does not fit its column.
fn located(error: &csv::Error, record: &StringRecord, header: &StringRecord) -> String {
    let line = record.position().map_or(0, csv::Position::line);
    let csv::ErrorKind::Deserialize { err, .. } = error.kind() else { return error.to_string() };
    match err.field().and_then(|field| Some((header.get(field as usize)?, record.get(field as usize)?))) {
        Some((column, value)) => format!("line {line}: column `{column}` cannot be `{value}`: {}", wanted(err.kind())),
        None => format!("line {line}: {}", err.kind()),
    }
}

fn wanted(kind: &csv::DeserializeErrorKind) -> String {
    match kind {
        csv::DeserializeErrorKind::ParseInt(_) => "a whole number is wanted".to_owned(),
        csv::DeserializeErrorKind::ParseFloat(_) => "a number is wanted".to_owned(),
        other => other.to_string(),
    }
}

/// Six decimals.
fn six(value: &mut f64) {
    *value = (*value * 1e6).round() / 1e6;
}

fn six_opt(value: &mut Option<f64>) {
    if let Some(value) = value {
        six(value);
    }
}
