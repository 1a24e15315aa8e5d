//! Times as logs write them: numbers in some unit, ISO 8601, and the Common Log Format's. Exact to the nanosecond.

use super::fault::Fault;
use super::format::{Clock, Notes};
use super::number::{Decimal, decimal, digits};
use limiters::Nanos;

/// Names of units with their length in nanoseconds as a power of ten.
const UNITS: [(&[&str], i32, &str); 4] = [
    (&["ns", "nano", "nanos", "nanoseconds", "nanosecond", "unixnano"], 0, "nanoseconds"),
    (&["us", "µs", "micro", "micros", "microseconds", "microsecond"], 3, "microseconds"),
    (&["ms", "milli", "millis", "msec", "milliseconds", "millisecond"], 6, "milliseconds"),
    (&["s", "sec", "secs", "second", "seconds"], 9, "seconds"),
];

/// The smallest number that is taken for a time since 1970 by its magnitude: 1973 in seconds. Each unit's range spans a
/// factor of a thousand, so that no time from 1973 to 5138 fits two.
const EPOCH: u64 = 100_000_000;

/// A unit of numeric times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    power: i32,
    name: &'static str,
}

impl Unit {
    pub const NS: Unit = Unit { power: 0, name: UNITS[0].2 };
    pub const MS: Unit = Unit { power: 6, name: UNITS[2].2 };

    /// The unit of that name: `ns`, `us`, `ms`, `s` or a longer spelling.
    pub fn named(name: &str) -> Option<Unit> {
        UNITS.iter().find(|(names, ..)| names.contains(&name)).map(|&(_, power, name)| Unit { power, name })
    }

    /// The unit that a column's name ends in: `t_ms`, `at_ns`, `timestamp (ms)`, `startTimeUnixNano`.
    pub fn of_column(name: &str) -> Option<Unit> {
        if name.ends_with("UnixNano") {
            return Some(Unit::NS);
        }
        let last = name.trim_end_matches([')', ']']).rsplit(['_', ' ', '(', '[', '-', '.']).next()?;
        if last.len() == name.len() { None } else { Unit::named(&last.to_lowercase()) }
    }

    /// Nanoseconds of one unit.
    fn length(self) -> Nanos {
        10u64.pow(self.power.unsigned_abs())
    }

    /// The unit in which a number is a time since 1970; `None` below 1973.
    fn of_magnitude(number: u64) -> Option<Unit> {
        let (_, power, name) = match number / EPOCH {
            0 => return None,
            1..1_000 => UNITS[3],
            1_000..1_000_000 => UNITS[2],
            1_000_000..1_000_000_000 => UNITS[1],
            _ => UNITS[0],
        };
        Some(Unit { power, name })
    }
}

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
    unit: Option<Unit>,
    /// Who said the unit.
    said_by: &'static str,
    clock: Option<Clock>,
    /// Whether `clock` holds whatever the numbers look like.
    fixed: bool,
    notation: Option<Notation>,
    /// Whether a time had digits below a nanosecond.
    cut: bool,
    /// The last date that was read, and its midnight.
    day: ([u8; 10], Nanos),
    minute: Minute,
}

/// The beginning of a date and time up to its minute, and when that minute began in UTC: rows of a log follow closely, so
/// most differ from the one before only in what comes behind.
#[derive(Clone, Copy, Debug, Default)]
struct Minute {
    text: [u8; 17],
    began: Nanos,
}

impl Minute {
    /// The minute of a time in ISO 8601 in UTC; none for anything else.
    fn of(text: &[u8], at: Nanos) -> Minute {
        let utc = text.last().is_some_and(|last| *last == b'Z' || last.is_ascii_digit() && !text.contains(&b'+'));
        match text.first_chunk() {
            // A minus behind the date would be a zone.
            Some(start) if utc && start[16] == b':' && start[4] == b'-' && !text[17..].contains(&b'-') => {
                Minute { text: *start, began: at - at % 60_000_000_000 }
            }
            _ => Minute::default(),
        }
    }

    /// Seconds and their fraction behind the same minute: `05.123Z`, with a Z when `zoned` and else without.
    #[inline]
    fn read(&self, text: &[u8], zoned: bool) -> Option<Nanos> {
        let (start, rest) = text.split_first_chunk::<17>()?;
        if *start != self.text {
            return None;
        }
        let rest = if zoned { rest.strip_suffix(b"Z")? } else { rest };
        let (tens, ones, fraction) = match rest {
            [tens, ones] => (tens, ones, &[][..]),
            [tens, ones, b'.', fraction @ ..] if (1..=9).contains(&fraction.len()) => (tens, ones, fraction),
            _ => return None,
        };
        let second = two(*tens, *ones).filter(|second| *second < 60)?;
        let nanos = if fraction.is_empty() { 0 } else { digits(fraction)? * TENS[9 - fraction.len()] };
        Some(self.began + second * 1_000_000_000 + nanos)
    }
}

const TENS: [u64; 10] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000];

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

    /// Times whose unit the format itself fixes, from the scenario's start.
    pub fn relative(column: &str, unit: Unit) -> Times {
        Times {
            column: column.to_owned(),
            unit: Some(unit),
            said_by: "as the format says",
            clock: Some(Clock::Relative),
            fixed: true,
            notation: None,
            cut: false,
            day: ([0; 10], 0),
            minute: Minute::default(),
        }
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
                let (at, zoned, cut) =
                    calendar(text, &mut self.day).map_err(|why| Fault::row("time not understood", why))?;
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
            (None, None) if self.notation.is_none() && number.exponent < 0 => {
                (self.unit, self.said_by) = (Unit::named("s"), "since they are small and have fractions");
                self.unit.unwrap_or(Unit::MS)
            }
            (None, None) if self.notation.is_none() => {
                return Err(Fault::file(
                    "the number is too small for a time since 1970, so it may be of any unit; say which with time-unit, one of ns, us, ms and s",
                ));
            }
            (None, None) => return Err(too_small()),
        };
        let too_late = || Fault::row("time out of range", "the time is later than the year 2554");
        let (at, exact) = number.scaled(unit.power).ok_or_else(too_late)?;
        self.cut |= !exact;
        let notation = Notation::Number(unit);
        self.agree(notation, clock_of(at))?;
        match (self.clock(), clock_of(at)) {
            _ if self.fixed => Ok(at),
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
                    "times in \"{column}\" are read as {} since {from}, {}; time-unit overrides",
                    unit.name, self.said_by
                ));
            }
            _ => {}
        }
        if self.cut {
            notes.guess(format!("times in \"{column}\" have digits below a nanosecond, which are dropped"));
        }
    }
}

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

/// A date and time in ISO 8601 (`2026-01-01T00:00:00.5Z`, a space or slashes are allowed) or as the Common Log Format has
/// it (`10/Oct/2000:13:55:36 -0700`, also in brackets): nanoseconds since 1970, whether a zone was given, and whether
/// digits below a nanosecond were dropped.
pub(super) fn calendar(text: &[u8], day: &mut ([u8; 10], Nanos)) -> Result<(Nanos, bool, bool), &'static str> {
    const SHAPE: &str =
        "not a time: neither a number nor a date such as 2026-01-31T23:59:59.5Z or 31/Jan/2026:23:59:59 +0000";
    let text = text.strip_prefix(b"[").and_then(|text| text.strip_suffix(b"]")).unwrap_or(text);
    let clf = text.get(2) == Some(&b'/');
    let date_length = if clf { 11 } else { 10 };
    let Some((date, rest)) = text.split_at_checked(date_length) else { return Err(SHAPE) };
    let midnight = if date == day.0 {
        day.1
    } else {
        let (year, month, of_month) = if clf { clf_date(date) } else { iso_date(date) }.ok_or(SHAPE)?;
        let days = days_since_1970(year, month, of_month).ok_or("not a day of the calendar from 1970 to 2554")?;
        let midnight = days * 86_400_000_000_000;
        if !clf {
            day.0.copy_from_slice(date);
            day.1 = midnight;
        }
        midnight
    };
    let rest = match rest {
        [b'T' | b't' | b' ' | b'_', rest @ ..] if !clf => rest,
        [b':', rest @ ..] if clf => rest,
        [] => return Err("a date without a time of day: totals of a day are not requests"),
        _ => return Err(SHAPE),
    };
    let [h1, h2, b':', m1, m2, rest @ ..] = rest else { return Err(SHAPE) };
    let (hour, minute) = (two(*h1, *h2).ok_or(SHAPE)?, two(*m1, *m2).ok_or(SHAPE)?);
    let (second, rest) = match rest {
        [b':', s1, s2, rest @ ..] => (two(*s1, *s2).ok_or(SHAPE)?, rest),
        [b':', ..] => return Err(SHAPE),
        rest => (0, rest),
    };
    if hour > 23 || minute > 59 || second > 60 {
        return Err("not a time of day");
    }
    let (fraction, rest, cut) = fraction(rest);
    let (zone, zoned) = zone(rest.trim_ascii_start()).ok_or(SHAPE)?;
    let seconds = hour * 3600 + minute * 60 + second;
    let at = i128::from(midnight) + i128::from(seconds * 1_000_000_000 + fraction) - i128::from(zone) * 1_000_000_000;
    let at = Nanos::try_from(at).map_err(|_| "the time is before 1970 or after 2554")?;
    Ok((at, zoned, cut))
}

fn two(a: u8, b: u8) -> Option<u64> {
    digits(&[a, b])
}

fn iso_date(date: &[u8]) -> Option<(u64, u64, u64)> {
    let separators = [date[4], date[7]];
    let sound = separators == *b"--" || separators == *b"//";
    Some((digits(&date[..4])?, two(date[5], date[6])?, two(date[8], date[9])?)).filter(|_| sound)
}

fn clf_date(date: &[u8]) -> Option<(u64, u64, u64)> {
    const MONTHS: [&[u8; 3]; 12] =
        [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(&date[3..6]))? as u64 + 1;
    Some((digits(&date[7..])?, month, two(date[0], date[1])?)).filter(|_| date[2] == b'/' && date[6] == b'/')
}

/// Days from 1970-01-01; `None` for what is no day of the calendar, before 1970 or after 2553.
fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
    const BEFORE: [u64; 13] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    if !(1970..2554).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    let at = month as usize;
    let length = BEFORE[at] - BEFORE[at - 1] + u64::from(leap && month == 2);
    if !(1..=length).contains(&day) {
        return None;
    }
    let past = year - 1;
    let leap_days = past / 4 - past / 100 + past / 400 - 477; // 477 leap days up to 1969
    Some((year - 1970) * 365 + leap_days + BEFORE[at - 1] + u64::from(leap && month > 2) + day - 1)
}

/// Nanoseconds of a fraction (`.5`, `,5`), what follows it, and whether digits below a nanosecond were dropped.
fn fraction(text: &[u8]) -> (u64, &[u8], bool) {
    let [b'.' | b',', rest @ ..] = text else { return (0, text, false) };
    let (mut value, mut unit, mut cut) = (0, 100_000_000, false);
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    for byte in &rest[..length] {
        value += u64::from(byte - b'0') * unit;
        cut |= unit == 0 && *byte != b'0';
        unit /= 10;
    }
    (value, &rest[length..], cut)
}

/// Seconds east of UTC, and whether a zone was given at all.
fn zone(text: &[u8]) -> Option<(i64, bool)> {
    let (sign, rest) = match text {
        [] => return Some((0, false)),
        b"Z" | b"z" | b"UTC" | b"GMT" => return Some((0, true)),
        [b'+', rest @ ..] => (1, rest),
        [b'-', rest @ ..] => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = match rest {
        [a, b] => (two(*a, *b)?, 0),
        [a, b, c, d] | [a, b, b':', c, d] => (two(*a, *b)?, two(*c, *d)?),
        _ => return None,
    };
    (hours <= 18 && minutes <= 59).then_some((sign * (hours * 3600 + minutes * 60) as i64, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn iso(text: &str) -> Result<(Nanos, bool, bool), &'static str> {
        calendar(text.as_bytes(), &mut ([0; 10], 0))
    }

    #[test]
    fn dates_are_exact_to_the_nanosecond() {
        for (text, at, zoned) in [
            ("1970-01-01T00:00:00Z", 0, true),
            ("2023-11-16 18:17:03.9799600", 1_700_158_623_979_960_000, false),
            ("2026-01-01T00:00:01.9999999Z", 1_767_225_601_999_999_900, true),
            ("2000-02-29T23:59:59.000000001+01:00", 951_865_199_000_000_001, true),
            ("10/Oct/2000:13:55:36 -0700", 971_211_336_000_000_000, true),
            ("[10/Oct/2000:13:55:36.25 -0700]", 971_211_336_250_000_000, true),
            ("2024/03/01 00:00 UTC", 1_709_251_200_000_000_000, true),
        ] {
            assert_eq!(iso(text), Ok((at, zoned, false)), "{text}");
        }
        assert_eq!(iso("1970-01-01T00:00:00.0000000019Z"), Ok((1, true, true)));
        for text in [
            "2023-02-29T00:00:00Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01",
            "2026-01-01T00:00:0",
            "1969-12-31T23:59:59Z",
            "abc",
            "2026-13-01T00:00:00",
        ] {
            assert!(iso(text).is_err(), "{text}");
        }
    }

    #[test]
    fn dates_agree_with_an_independent_calendar() {
        let mut cache = ([0; 10], 0);
        for days in (0..213_000i64).step_by(13) {
            let at = jiff::Timestamp::from_second(days * 86_400 + days % 86_400).unwrap();
            let read = calendar(at.to_string().as_bytes(), &mut cache);
            assert_eq!(read, Ok((at.as_nanosecond() as u64, true, false)), "{at}");
        }
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
    fn units_come_from_names_and_magnitudes() {
        for (name, unit) in [
            ("t_ms", "ms"),
            ("at_ns", "ns"),
            ("timestamp (ms)", "ms"),
            ("startTimeUnixNano", "ns"),
            ("time.sec", "s"),
            ("arrival-us", "us"),
        ] {
            assert_eq!(Unit::of_column(name), Unit::named(unit), "{name}");
        }
        assert_eq!((Unit::of_column("timestamp"), Unit::of_column("items"), Unit::of_column("s")), (None, None, None));
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
