//! What a `[[limiter]]` says about being a guard: when it charges, how it answers, on which calendar its budget is given, and
//! the one guard that is no algorithm: the loop breaker.

use super::limiter::{LimiterSpec, What, default_response};
use super::limiter_tables::Draft;
use super::read;
use super::table::Table;
use super::value::Problem;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use limiters::{Accounting, Algorithm, Meter, Nanos, Quota, Rate, Response, RetryAfter, Settings};

/// Keys that only a loop breaker has.
pub(crate) const OF_BREAKERS: &[&str] = &["identical", "among", "cooldown"];

/// Keys that a loop breaker leaves to others.
const NOT_OF_BREAKERS: &[&str] = &[
    "limit",
    "window",
    "burst",
    "meter",
    "nodes",
    "routing",
    "restart-at",
    "sweep",
    "accounting",
    "estimate",
    "charge-on-reject",
    "calendar",
    "zone",
];

/// Whether the limit, or the cap, is written in dollars.
pub(crate) fn is_money(table: &Table<'_>) -> bool {
    let dollars = |name| {
        table.entry(name).and_then(|entry| entry.value.get_ref().as_str()).is_some_and(|text| text.contains('$'))
    };
    dollars("limit") || dollars("cap")
}

/// Reads accounting and response into `spec`, which runs under `quota`.
pub(crate) fn read(table: &Table<'_>, spec: &mut LimiterSpec, quota: Quota) {
    let spend = spec.meter == Meter::Spend;
    let estimate = table.get("estimate", |value, _| read::permits(value, spend, 1));
    spec.accounting = match table.get("accounting", read::choice) {
        Some("post") => Accounting::Post,
        Some("reserve") => Accounting::Reserve { estimate },
        _ => Accounting::Immediate,
    };
    if table.has("estimate") && !matches!(spec.accounting, Accounting::Reserve { .. }) {
        table.wrong("estimate", Problem::new("means nothing without accounting = \"reserve\""));
    }
    spec.response = response(table, spec.meter, quota);
}

fn response(table: &Table<'_>, meter: Meter, quota: Quota) -> Response {
    let plain = default_response(meter);
    let retry_after = match table.get("retry-after", read::choice) {
        Some("none") => RetryAfter::None,
        Some("next-permit") => RetryAfter::NextPermit,
        Some("window-reset") => RetryAfter::WindowReset(quota.window),
        Some("full") => RetryAfter::Full,
        Some("queue-aware") => {
            Rate::new(quota.limit, quota.window).map_or(RetryAfter::NextPermit, RetryAfter::QueueAware)
        }
        _ => plain.retry_after,
    };
    Response {
        status: table.get("status", read::whole).and_then(|status| status.try_into().ok()).unwrap_or(plain.status),
        retry_after,
        charge_on_reject: table.get("charge-on-reject", read::flag).unwrap_or(false),
    }
}

/// A loop breaker.
pub(crate) fn breaker<'a>(table: Table<'a>, mut spec: LimiterSpec, label: Option<String>) -> Option<Draft<'a>> {
    for name in NOT_OF_BREAKERS.iter().filter(|name| table.has(name)) {
        table.wrong(name, Problem::new("means nothing to a loop-breaker, which counts identical calls"));
    }
    if let Some(scope) = table.get("key", read::choice) {
        spec.per_key = scope == "per-key";
    }
    let identical = table.get("identical", read::whole).unwrap_or(5);
    let among = table.get("among", read::whole).unwrap_or(identical);
    let cooldown = table.get("cooldown", read::time).unwrap_or(600_000_000_000);
    if among < identical {
        let problem = Problem::new(format!("among {among} calls there are never {identical} identical ones"));
        table.wrong("among", problem.note(format!("give {identical} or more")));
        return None;
    }
    spec.meter = Meter::Requests;
    spec.response = response(&table, Meter::Requests, Quota { limit: 1, window: cooldown, burst: 1 });
    spec.label = label.unwrap_or_else(|| "loop-breaker".into());
    spec.what = What::LoopBreaker { identical, among, cooldown };
    Some(Draft { spec, table, parts: Vec::new() })
}

/// Days after the run for which resets are written down, so that waits across the end are right.
const BEYOND: i64 = 400;

/// The settings with a budget given anew each day or month of a calendar, where the table asks for that. `span` is start and
/// duration of the run.
pub(crate) fn on_calendar(
    table: &Table<'_>,
    known: &'static Algorithm,
    settings: Settings,
    span: (Nanos, Nanos),
) -> Settings {
    let zone = table.get("zone", |value, key| {
        let name = read::text(value, key)?;
        TimeZone::get(&name).map_err(|_| {
            Problem::new(format!("unknown time zone {name:?}")).note("a name such as \"UTC\" or \"Europe/Berlin\"")
        })
    });
    let calendar = table.get("calendar", read::choice);
    let Some(calendar) = calendar else {
        if table.has("zone") {
            table.wrong("zone", Problem::new("means nothing without `calendar`"));
        }
        return settings;
    };
    if known.name != "spend-cap" {
        table.wrong("calendar", Problem::new("belongs to spend-cap: other algorithms have windows"));
        return settings;
    }
    match resets(calendar == "month", &zone.unwrap_or(TimeZone::UTC), span) {
        Some(instants) => settings.resetting_at(instants),
        None => {
            table.wrong("calendar", Problem::new("the run is beyond the years that calendars know here (to 9999)"));
            settings
        }
    }
}

/// Midnights, or those that begin a month, from before the run until well after it.
fn resets(months: bool, zone: &TimeZone, (start, duration): (Nanos, Nanos)) -> Option<Vec<Nanos>> {
    let day = |nanos: u64| {
        Some(jiff::Timestamp::from_nanosecond(i128::from(nanos)).ok()?.to_zoned_datetime(zone.clone()).date())
    };
    let last = day(start.checked_add(duration)?)?.checked_add(jiff::Span::new().days(BEYOND)).ok()?;
    let mut date: Date = day(start)?;
    if months {
        date = date.first_of_month();
    }
    let step = if months { jiff::Span::new().months(1) } else { jiff::Span::new().days(1) };
    let mut instants = Vec::new();
    while date <= last {
        // Where a clock change leaves a day out of midnight, the day begins at its first instant.
        let begins = date.to_zoned_datetime(zone.clone()).ok()?.start_of_day().ok()?;
        if let Ok(instant) = u64::try_from(begins.timestamp().as_nanosecond()) {
            instants.push(instant);
        }
        date = date.checked_add(step).ok()?;
    }
    Some(instants)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(months: bool, zone: &str, start: &str, days: u64) -> Vec<String> {
        let start: jiff::Timestamp = start.parse().unwrap();
        let span = (start.as_nanosecond() as u64, days * 86_400_000_000_000);
        let zone = TimeZone::get(zone).unwrap();
        let instants = resets(months, &zone, span).unwrap();
        let time = |nanos: &u64| jiff::Timestamp::from_nanosecond(i128::from(*nanos)).unwrap().to_string();
        instants.iter().take(3).map(time).collect()
    }

    #[test]
    fn midnights_and_months_are_those_of_the_zone() {
        assert_eq!(
            written(true, "UTC", "2026-01-31T23:59:59Z", 40),
            ["2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z", "2026-03-01T00:00:00Z"]
        );
        // Clocks in Berlin go forward on 29 March 2026: that day has 23 hours.
        assert_eq!(
            written(false, "Europe/Berlin", "2026-03-28T12:00:00Z", 2),
            ["2026-03-27T23:00:00Z", "2026-03-28T23:00:00Z", "2026-03-29T22:00:00Z"]
        );
    }
}
