//! Times as logs write them: numbers in some unit, ISO 8601, and the Common Log Format's. Exact to the nanosecond.

use super::calendar::{DAY, Minute, calendar};
use super::fault::Fault;
use super::format::{Clock, Notes};
use super::number::{Decimal, decimal, digits};
use super::unit::{EPOCH, Unit};
use crate::spec::{Said, Trace};
use limiters::Nanos;
use std::ops::RangeInclusive;

/// How the times of a file are written. All rows of a file agree in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Notation {
    /// A calendar date and time; with or without a zone.
    Calendar { zoned: bool },
    /// A number of units.
    Number(Unit),
}

/// Reads the times of one column.
pub(super) struct Times {
    column: String,
    /// What settings begin with: two dashes for flags.
    dashes: &'static str,
    /// Whether a date alone is its midnight.
    days: bool,
    unit: Option<Unit>,
    /// Who said the unit.
    said_by: &'static str,
    clock: Option<Clock>,
    /// Whether `clock` holds whatever the numbers look like.
    fixed: bool,
    /// What is added to every number.
    base: Nanos,
    notation: Option<Notation>,
    /// Whether a time had digits below a nanosecond.
    cut: bool,
    /// The last date that was read, and its midnight.
    day: ([u8; 10], Nanos),
    minute: Minute,
}

impl Times {
    /// The times of `column`. A `setting` names the unit of numbers; else the column's name may.
    pub fn new(column: &str, setting: Option<&str>) -> Result<Times, Box<Fault>> {
        let (unit, said_by) = match setting {
            Some(name) => {
                let unknown = || Fault::file(format!("unknown time-unit {name:?}; valid are ns, us, ms and s"));
                (Some(Unit::named(name).ok_or_else(unknown)?), "as time-unit says")
            }
            None => (Unit::of_column(column), "as the column's name says"),
        };
        Ok(Times { unit, said_by, clock: None, fixed: false, ..Times::relative(column, Unit::NS) })
    }

    /// Times whose unit the type of their column fixes.
    #[cfg(feature = "parquet")]
    pub fn typed(column: &str, unit: Unit) -> Times {
        Times { said_by: "as the column's type says", clock: None, fixed: false, ..Times::relative(column, unit) }
    }

    /// Times whose unit the format itself fixes, from the scenario's start.
    pub fn relative(column: &str, unit: Unit) -> Times {
        Times {
            column: column.to_owned(),
            dashes: "",
            days: false,
            unit: Some(unit),
            said_by: "as the format says",
            clock: Some(Clock::Relative),
            fixed: true,
            base: 0,
            notation: None,
            cut: false,
            day: ([0; 10], 0),
            minute: Minute::default(),
        }
    }

    /// The same of numbers that count from an instant that is known.
    pub fn counted_from(self, start: Nanos) -> Times {
        Times { base: start, clock: Some(Clock::Wall), ..self }
    }

    /// Says settings as `spec` does, and takes a date alone where totals are spread.
    pub fn named(self, spec: &Trace) -> Times {
        let dashes = if spec.said == Said::Flags { "--" } else { "" };
        Times { dashes, days: spec.spread == Some(true), ..self }
    }

    /// What the times count from; [`Clock::Relative`] until a row said otherwise.
    pub fn clock(&self) -> Clock {
        self.clock.unwrap_or(Clock::Relative)
    }

    /// One time. The first one fixes the notation; a later one that differs in it is an error of the whole file.
    #[inline]
    pub fn read(&mut self, bytes: &[u8]) -> Result<Nanos, Box<Fault>> {
        match self.notation {
            Some(Notation::Number(unit)) => {
                if let Some(number) = digits(bytes)
                    && let Some(at) = number.checked_mul(unit.length())
                    && self.fits(unit, number, at)
                    && let Some(at) = at.checked_add(self.base)
                {
                    return Ok(at);
                }
            }
            Some(Notation::Calendar { zoned }) => {
                if let Some(at) = self.minute.read(bytes, zoned) {
                    return Ok(at);
                }
            }
            None => {}
        }
        let text = bytes.trim_ascii();
        self.read_any(text).map_err(|fault| fault.column(&self.column).value(text))
    }

    /// Whether a number is of the magnitude that the rows before had.
    fn fits(&self, unit: Unit, number: u64, at: Nanos) -> bool {
        self.fixed
            || (clock_of(at) == self.clock()) && (self.said_by != MAGNITUDE || Unit::of_magnitude(number) == Some(unit))
    }

    fn read_any(&mut self, text: &[u8]) -> Result<Nanos, Box<Fault>> {
        if text.is_empty() || text == b"-" {
            return Err(Fault::row("missing time", "the time is missing"));
        }
        match decimal(text) {
            Some(number) => self.number(number),
            None => {
                let midnight;
                let text = if self.days && text.len() == 10 {
                    midnight = [text, b"T00:00"].concat();
                    midnight.as_slice()
                } else {
                    text
                };
                let (at, zoned, cut) = calendar(text, &mut self.day).map_err(|why| {
                    let spread = match why == DAY {
                        true if self.dashes.is_empty() => "; spread = true spreads them over it".to_owned(),
                        true => "; --spread spreads them over it".to_owned(),
                        false => String::new(),
                    };
                    Fault::row("time not understood", format!("{why}{spread}"))
                })?;
                self.cut |= cut;
                self.agree(Notation::Calendar { zoned }, Clock::Wall)?;
                self.minute = Minute::of(text, at);
                Ok(at)
            }
        }
    }

    fn number(&mut self, number: Decimal) -> Result<Nanos, Box<Fault>> {
        if number.negative && number.mantissa != 0 {
            return Err(Fault::row("negative time", "the time is negative"));
        }
        let whole = number.scaled(0).map_or(u64::MAX, |(whole, _)| whole);
        let unit = match (self.unit, Unit::of_magnitude(whole)) {
            (Some(unit), _) => unit,
            (None, Some(unit)) => {
                self.said_by = MAGNITUDE;
                unit
            }
            (None, None) if self.notation.is_none() && number.exponent < 0 && SHEET.contains(&whole) => {
                let setting = format!("{}time-unit", self.dashes);
                return Err(Fault::file(format!(
                    "the number may be a date as spreadsheets keep it, in days since 1899-12-30, or seconds from a start; for days export the dates as text such as 2026-01-31T13:05:01Z, for seconds say {setting}{}",
                    if self.dashes.is_empty() { " = \"s\"" } else { " s" }
                )));
            }
            (None, None) if self.notation.is_none() && number.exponent < 0 => {
                (self.unit, self.said_by) = (Unit::named("s"), "since they are small and have fractions");
                self.unit.unwrap_or(Unit::MS)
            }
            (None, None) if self.notation.is_none() => {
                let setting = format!("{}time-unit", self.dashes);
                return Err(Fault::file(format!(
                    "the number is too small for a time since 1970, so it may be of any unit; say which with {setting}, one of ns, us, ms and s{}",
                    if SHEET.contains(&whole) {
                        ", or export dates as text where a spreadsheet kept them as days"
                    } else {
                        ""
                    }
                )));
            }
            (None, None) => return Err(too_small()),
        };
        let too_late = || Fault::row("time out of range", "the time is later than the year 2554");
        let (at, exact) = number.scaled(unit.power).ok_or_else(too_late)?;
        self.cut |= !exact;
        let notation = Notation::Number(unit);
        self.agree(notation, clock_of(at))?;
        match (self.clock(), clock_of(at)) {
            _ if self.fixed => at.checked_add(self.base).ok_or_else(too_late),
            (Clock::Relative, Clock::Wall) => {
                Err(Fault::file("the file mixes time units: the rows before count from a start, this one from 1970"))
            }
            (Clock::Wall, Clock::Relative) => Err(too_small()),
            _ => Ok(at),
        }
    }

    fn agree(&mut self, notation: Notation, clock: Clock) -> Result<(), Box<Fault>> {
        self.clock.get_or_insert(clock);
        let first = *self.notation.get_or_insert(notation);
        if first == notation {
            return Ok(());
        }
        Err(Fault::file(format!(
            "the file mixes time units: the rows before have {}, this one has {}",
            first.describe(),
            notation.describe()
        )))
    }

    /// Says how the times were read.
    pub fn finish(&self, notes: &mut Notes) {
        let Some(notation) = self.notation else { return };
        let column = &self.column;
        match notation {
            Notation::Calendar { zoned: false } => {
                notes.guess(format!("times in \"{column}\" name no zone and are read as UTC"));
            }
            Notation::Number(unit) if self.said_by != "as the format says" => {
                let from = if self.clock() == Clock::Wall { "1970" } else { "the scenario's start" };
                notes.guess(format!(
                    "times in \"{column}\" are read as {} since {from}, {}; {}time-unit overrides",
                    unit.name, self.said_by, self.dashes
                ));
            }
            _ => {}
        }
        if self.cut {
            notes.guess(format!("times in \"{column}\" have digits below a nanosecond, which are dropped"));
        }
    }
}

/// Days from 1899-12-30 of 1970 to 2099, as spreadsheets keep dates.
const SHEET: RangeInclusive<u64> = 25_569..=73_050;

const MAGNITUDE: &str = "by their magnitude";

/// What a number of nanoseconds counts from, by its magnitude.
fn clock_of(at: Nanos) -> Clock {
    if at >= EPOCH * 1_000_000_000 { Clock::Wall } else { Clock::Relative }
}

#[cold]
fn too_small() -> Box<Fault> {
    Fault::row("time out of range", "the number is too small for a time since 1970, which the rows before are")
}

impl Notation {
    fn describe(self) -> &'static str {
        match self {
            Notation::Calendar { zoned: true } => "dates with a zone",
            Notation::Calendar { zoned: false } => "dates without a zone",
            Notation::Number(unit) => unit.name,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iso(text: &str) -> Result<(Nanos, bool, bool), &'static str> {
        calendar(text.as_bytes(), &mut ([0; 10], 0))
    }

    #[test]
    fn a_minute_that_is_known_reads_the_same() {
        let known = ["2026-01-01T00:05:00.5Z", "2026-01-01T00:05:00", "2026-01-01 00:05:59.25"];
        let others =
            ["00", "59.999", "07Z", "07.1234567Z", "07.1234567891", "60", "07+01:00", "07-01:00", "7", "07.", "07.5z"];
        for first in known {
            for other in others {
                let text = [&first[..17], other].concat();
                let mut times = Times::new("time", None).unwrap();
                times.read(first.as_bytes()).unwrap();
                let read = times.read(text.as_bytes()).ok();
                let fresh = Times::new("time", None).unwrap().read(text.as_bytes()).ok();
                let mixed = iso(&text).is_ok_and(|(_, zoned, _)| zoned != first.ends_with('Z'));
                assert_eq!(read, fresh.filter(|_| !mixed), "{text} behind {first}");
            }
        }
        let mut times = Times::new("time", None).unwrap();
        times.read(b"2026-01-01T00:05:00+00:30").unwrap();
        assert_eq!(times.read(b"2026-01-01T00:05:01Z").unwrap(), 1_767_225_901_000_000_000);
    }

    #[test]
    fn magnitudes_tell_units() {
        let mut times = Times::new("ts", None).unwrap();
        assert_eq!(times.read(b"1705320645.5").unwrap(), 1_705_320_645_500_000_000);
        assert_eq!(times.read(b"1705320646").unwrap(), 1_705_320_646_000_000_000);
        assert_eq!(times.read(b"1.705320646e9").unwrap(), 1_705_320_646_000_000_000);
        assert!(times.read(b"1705320646000").unwrap_err().fatal);
        assert!(times.read(b"2026-01-01T00:00:00Z").unwrap_err().fatal);
        assert!(!times.read(b"12").unwrap_err().fatal);
        assert!(!times.read(b"-1").unwrap_err().fatal);
        assert!(Times::new("ts", None).unwrap().read(b"12").unwrap_err().message.contains("time-unit"));
        assert_eq!(Times::new("ts", Some("us")).unwrap().read(b"12").unwrap(), 12_000);
    }

    #[test]
    fn a_relative_clock_does_not_become_an_epoch() {
        let mut times = Times::new("t_s", None).unwrap();
        assert_eq!((times.read(b"0").unwrap(), times.clock()), (0, Clock::Relative));
        assert!(times.read(b"1705320645").unwrap_err().fatal);
        let mut own = Times::relative("at_ns", Unit::NS);
        assert_eq!(
            (own.read(b"0").unwrap(), own.read(b"1705320645000000000").unwrap()),
            (0, 1_705_320_645_000_000_000)
        );
    }
}
