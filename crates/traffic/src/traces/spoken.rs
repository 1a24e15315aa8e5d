//! Dates as mail, web servers, `date` and spreadsheets write them: with names of months, or with the day first.

use super::calendar::{DAY, SHAPE, clf_month, days_since_1970, time_of_day, zone};
use super::number::digits;
use limiters::Nanos;

/// Why a date in slashes is not read.
const AMBIGUOUS: &str = "day and month cannot be told apart, since some write the day first and others the month; export \
                         the times in ISO 8601, such as 2026-01-31T13:05:01Z";
const NAMED: &str = "zones are read as Z, UTC, GMT or an offset such as +0100, not by other names, which mean different \
                     offsets in different places; export the times in UTC";
const CALENDAR: &str = "not a day of the calendar from 1970 to 2554";
const DAYS: [&[u8]; 7] = [b"sunday", b"monday", b"tuesday", b"wednesday", b"thursday", b"friday", b"saturday"];

/// A date and time of RFC 5322 and HTTP (`Thu, 01 Jan 2026 00:00:00 GMT`), of C's ctime and `date`
/// (`Thu Jan  1 00:00:00 UTC 2026`), or with dots and the day first (`31.01.2026 13:05:01.5`); as
/// [`calendar`](super::calendar::calendar) answers.
#[cold]
pub(super) fn spoken(text: &[u8]) -> Result<(Nanos, bool, bool), &'static str> {
    if text.first().is_some_and(u8::is_ascii_digit)
        && let Some((day, rest)) = number(text)
        && let [separator @ (b'.' | b'/' | b'-'), rest @ ..] = rest
        && let Some((month, rest)) = number(rest)
        && let Some(rest) = rest.strip_prefix(&[*separator])
    {
        return numbered(*separator, day, month, rest);
    }
    // Mail may repeat the zone in a comment.
    let text = match text.strip_suffix(b")") {
        Some(inner) => &inner[..inner.iter().rposition(|byte| *byte == b'(').ok_or(SHAPE)?],
        None => text,
    };
    let mut words = text.split(|byte| byte.is_ascii_whitespace()).filter(|word| !word.is_empty()).peekable();
    let weekday = words.peek().and_then(|word| weekday(word));
    if weekday.is_some() {
        words.next();
    }
    let first = words.next().ok_or(SHAPE)?;
    let day_first = first[0].is_ascii_digit();
    let second = words.next().ok_or(SHAPE)?;
    let (day, month) = if day_first { (first, second) } else { (second, first) };
    let day = digits(day).filter(|_| day.len() <= 2).ok_or(SHAPE)?;
    let month = clf_month(month).ok_or(SHAPE)?;
    let mut year = if day_first { words.next().map(year).transpose()? } else { None };
    let Some(clock) = words.next() else { return Err(if year.is_some() { DAY } else { SHAPE }) };
    let (mut of_day, rest, cut) = time_of_day(clock)?;
    if !rest.is_empty() {
        return Err(SHAPE);
    }
    let half = words.next_if(|word| word.eq_ignore_ascii_case(b"AM") || word.eq_ignore_ascii_case(b"PM"));
    if let Some(half) = half {
        of_day = half_day(of_day, half.eq_ignore_ascii_case(b"PM"))?;
    }
    let mut zone_of = None;
    if let Some(word) = words.next_if(|word| !word[0].is_ascii_digit()) {
        zone_of = Some(zone(if word == b"UT" { b"UTC" } else { word }).ok_or(NAMED)?);
    }
    if year.is_none() {
        year = words.next().map(self::year).transpose()?;
    }
    let year = year.ok_or("a date without a year")?;
    if words.next().is_some() {
        return Err(SHAPE);
    }
    let days = days_since_1970(year, month, day).ok_or(CALENDAR)?;
    // 1970 began on a Thursday.
    if weekday.is_some_and(|weekday| weekday != (days + 4) % 7) {
        return Err("the day of the week is not that of the date");
    }
    let (zone, zoned) = zone_of.unwrap_or((0, false));
    Ok((instant(days, of_day, zone)?, zoned, cut))
}

/// The rest behind a day and a month that are numbers: year, time of day, zone.
fn numbered(separator: u8, day: u64, month: u64, rest: &[u8]) -> Result<(Nanos, bool, bool), &'static str> {
    let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if ![2, 4].contains(&length) {
        return Err(SHAPE);
    }
    // Dots come with the day first everywhere; slashes and dashes with either, whatever some rows would allow.
    if separator != b'.' {
        return Err(AMBIGUOUS);
    }
    let (written, rest) = rest.split_at(length);
    let year = year(written)?;
    let days = days_since_1970(year, month, day).ok_or(CALENDAR)?;
    let rest = match rest.strip_prefix(b",").unwrap_or(rest) {
        [] => return Err(DAY),
        [b'T' | b' ', rest @ ..] => rest.trim_ascii_start(),
        _ => return Err(SHAPE),
    };
    let (of_day, rest, cut) = time_of_day(rest)?;
    let rest = rest.trim_ascii_start();
    let named = rest.first().is_some_and(u8::is_ascii_alphabetic);
    let (zone, zoned) = zone(rest).ok_or(if named { NAMED } else { SHAPE })?;
    Ok((instant(days, of_day, zone)?, zoned, cut))
}

fn instant(days: u64, of_day: Nanos, zone: i64) -> Result<Nanos, &'static str> {
    let at = i128::from(days) * 86_400_000_000_000 + i128::from(of_day) - i128::from(zone) * 1_000_000_000;
    Nanos::try_from(at).map_err(|_| "the time is before 1970 or after 2554")
}

/// One or two digits, and what follows them.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = text.split_at(length);
    digits(number).filter(|_| length <= 2).map(|number| (number, rest))
}

/// A year in four digits.
fn year(text: &[u8]) -> Result<u64, &'static str> {
    digits(text).filter(|_| text.len() == 4).ok_or("a year must have four digits")
}

/// The number of a day of the week, Sunday's being 0, by its name or the first three letters of it.
fn weekday(word: &[u8]) -> Option<u64> {
    let word = word.strip_suffix(b",").unwrap_or(word).to_ascii_lowercase();
    let at = DAYS.iter().position(|day| *day == word || day[..3] == word)?;
    Some(at as u64)
}

/// A time of day by a clock of twelve hours.
fn half_day(of_day: Nanos, afternoon: bool) -> Result<Nanos, &'static str> {
    const HOUR: Nanos = 3_600_000_000_000;
    match of_day / HOUR {
        1..=11 => Ok(of_day + if afternoon { 12 * HOUR } else { 0 }),
        12 => Ok(of_day - if afternoon { 0 } else { 12 * HOUR }),
        _ => Err("not a time of day"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::{Timestamp, fmt::rfc2822, tz::TimeZone};
    use proptest::prelude::*;

    const AT: Nanos = 1_769_864_701_000_000_000; // 2026-01-31T13:05:01Z

    #[test]
    fn dates_as_people_have_them() {
        for (text, zoned) in [
            ("Sat, 31 Jan 2026 13:05:01 +0000", true),
            ("Sat, 31 Jan 2026 14:05:01 +0100 (CET)", true),
            ("Sat, 31 Jan 2026 13:05:01 GMT", true),
            ("31 Jan 2026 13:05:01 UT", true),
            ("Sat Jan 31 13:05:01 UTC 2026", true),
            ("Sat Jan 31 01:05:01 PM UTC 2026", true),
            ("Sat 31 Jan 2026 01:05:01 PM UTC", true),
            ("Sat Jan 31 13:05:01 2026", false),
            ("Sat Jan 31 08:05:01 -0500 2026", true),
            ("31.01.2026 13:05:01", false),
            ("31.1.2026, 13:05:01", false),
            ("31.01.2026 13:05:01 Z", true),
        ] {
            assert_eq!(spoken(text.as_bytes()), Ok((AT, zoned, false)), "{text}");
        }
        assert_eq!(spoken(b"31.01.2026 13:05:01.25"), Ok((AT + 250_000_000, false, false)));
        assert_eq!(spoken(b"31.01.2026 13:05"), Ok((AT - 1_000_000_000, false, false)));
        assert_eq!(spoken(b"Thu Jan  1 12:00:00.5 AM GMT 1970"), Ok((500_000_000, true, false)));
    }

    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for (text, why) in [
            ("01/02/2026 13:05", AMBIGUOUS),
            ("1/31/2026 1:05:01 PM", AMBIGUOUS),
            ("31/01/26 13:05", AMBIGUOUS),
            ("01-02-2026 13:05", AMBIGUOUS),
            ("Sat Jan 31 13:05:01 CET 2026", NAMED),
            ("Sat, 31 Jan 2026 13:05:01 EST", NAMED),
            ("31.01.2026 13:05 MEZ", NAMED),
            ("Jan 31 13:05:01", "a date without a year"),
            ("Fri, 31 Jan 2026 13:05:01 GMT", "the day of the week is not that of the date"),
            ("31.01.26 13:05", "a year must have four digits"),
            ("31.02.2026 13:05", CALENDAR),
            ("01.31.2026 13:05", CALENDAR),
            ("31.01.2026", DAY),
            ("31 Jan 2026", DAY),
            ("Sat Jan 31 13:05:01 PM UTC 2026", "not a time of day"),
            ("Sat Jan 31 24:05:01 UTC 2026", "not a time of day"),
            ("Sat Jan 31 13:05:01 UTC 2026 x", SHAPE),
            ("Sat", SHAPE),
            (")", SHAPE),
            ("", SHAPE),
        ] {
            assert_eq!(spoken(text.as_bytes()), Err(why), "{text}");
        }
    }

    #[test]
    fn dates_agree_with_an_independent_reader() {
        for days in (0..213_000i64).step_by(97) {
            let at = Timestamp::from_second(days * 86_400 + days * 37 % 86_400).unwrap();
            let zoned = at.to_zoned_datetime(TimeZone::UTC);
            let read = Ok((at.as_nanosecond() as u64, true, false));
            for text in [
                rfc2822::to_string(&zoned).unwrap(),
                zoned.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string(),
                zoned.strftime("%a %b %e %H:%M:%S UTC %Y").to_string(),
                zoned.strftime("%a %b %e %I:%M:%S %p UTC %Y").to_string(),
                zoned.strftime("%d.%m.%Y %H:%M:%SZ").to_string(),
            ] {
                assert_eq!(spoken(text.as_bytes()), read, "{text}");
            }
        }
    }

    proptest! {
        #[test]
        fn any_words_are_a_time_or_are_refused(
            words in prop::collection::vec("[0-9]{1,4}|[0-9:.,/+-]{1,9}|[0-2][0-9]:[0-5][0-9]|(Sat,?|Jan|PM|UTC|CET|[()])", 0..7),
        ) {
            let _ = spoken(words.join(" ").as_bytes());
            let _ = spoken(words.concat().as_bytes());
        }
    }
}
