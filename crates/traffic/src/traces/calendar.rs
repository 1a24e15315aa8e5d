//! Dates and times of day as logs write them: ISO 8601 and the Common Log Format's, and those that [`spoken`] reads.

use super::number::digits;
use super::spoken::spoken;
use limiters::Nanos;

/// What is wrong with a date alone.
pub(super) const DAY: &str = "a date without a time of day: totals of a day are not requests";

/// What is no time in any form that is read.
pub(super) const SHAPE: &str =
    "not a time: neither a number nor a date such as 2026-01-31T23:59:59.5Z or 31/Jan/2026:23:59:59 +0000";

/// A date and time in ISO 8601 (`2026-01-01T00:00:00.5Z`, a space or slashes are allowed) or as the Common Log Format has
/// it (`10/Oct/2000:13:55:36 -0700`, also in brackets), or as [`spoken`] reads it: nanoseconds since 1970, whether a zone
/// was given, and whether digits below a nanosecond were dropped.
pub(super) fn calendar(text: &[u8], day: &mut ([u8; 10], Nanos)) -> Result<(Nanos, bool, bool), &'static str> {
    match usual(text, day) {
        Err(why) if why == SHAPE => spoken(text),
        read => read,
    }
}

fn usual(text: &[u8], day: &mut ([u8; 10], Nanos)) -> Result<(Nanos, bool, bool), &'static str> {
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
        [] => return Err(DAY),
        _ => return Err(SHAPE),
    };
    let (of_day, rest, cut) = time_of_day(rest)?;
    let (zone, zoned) = zone(rest.trim_ascii_start()).ok_or(SHAPE)?;
    let at = i128::from(midnight) + i128::from(of_day) - i128::from(zone) * 1_000_000_000;
    let at = Nanos::try_from(at).map_err(|_| "the time is before 1970 or after 2554")?;
    Ok((at, zoned, cut))
}

/// A time of day (`23:59`, `23:59:59.5`) in nanoseconds, what follows it, and whether digits below a nanosecond were
/// dropped.
pub(super) fn time_of_day(text: &[u8]) -> Result<(Nanos, &[u8], bool), &'static str> {
    let [h1, h2, b':', m1, m2, rest @ ..] = text else { return Err(SHAPE) };
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
    Ok(((hour * 3600 + minute * 60 + second) * 1_000_000_000 + fraction, rest, cut))
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
    let month = clf_month(&date[3..6])?;
    Some((digits(&date[7..])?, month, two(date[0], date[1])?)).filter(|_| date[2] == b'/' && date[6] == b'/')
}

/// The number of a month by the first three letters of its name.
pub(super) fn clf_month(name: &[u8]) -> Option<u64> {
    const MONTHS: [&[u8; 3]; 12] =
        [b"jan", b"feb", b"mar", b"apr", b"may", b"jun", b"jul", b"aug", b"sep", b"oct", b"nov", b"dec"];
    MONTHS.iter().position(|known| known.eq_ignore_ascii_case(name)).map(|at| at as u64 + 1)
}

/// Days from 1970-01-01; `None` for what is no day of the calendar, before 1970 or after 2553.
pub(super) fn days_since_1970(year: u64, month: u64, day: u64) -> Option<u64> {
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
pub(super) fn zone(text: &[u8]) -> Option<(i64, bool)> {
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

/// The beginning of a date and time up to its minute, and when that minute began in UTC: rows of a log follow closely, so
/// most differ from the one before only in what comes behind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Minute {
    text: [u8; 17],
    began: Nanos,
}

impl Minute {
    /// The minute of a time in ISO 8601 in UTC; none for anything else.
    pub fn of(text: &[u8], at: Nanos) -> Minute {
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
    pub fn read(&self, text: &[u8], zoned: bool) -> Option<Nanos> {
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
}
