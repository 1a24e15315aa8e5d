//! What makes a recorded file less trustworthy, and how that is said: what was seen, why it matters, what to do.

use super::format::{Clock, Notes};
use super::grain::{Grain, Minutes};
use limiters::Nanos;

const SECOND: Nanos = 1_000_000_000;

/// Warns when times are too coarse for short windows: on whole seconds or coarser, or coarse enough that requests share
/// one. Below 1 ms nothing is said, and of two rows nothing can be.
pub(super) fn warn_of_grain(grain: Grain, rows: u64, notes: &mut Notes) {
    let Grain { unit, shared, largest, .. } = grain;
    let resolution = grain.resolution(rows);
    // Few rows that never share a time lie on whole seconds, or minutes, by chance or by hand.
    let sparse = shared == 0 && (rows < 10 || resolution < SECOND);
    if sparse || rows < 3 || resolution < 1_000_000 {
        return;
    }
    let length = show(resolution);
    let lie = if unit == resolution {
        format!("all times lie {length} or a multiple of it apart")
    } else {
        format!("nearly all times that differ lie {length} or more apart")
    };
    let bursts = if shared > 0 {
        format!(", and {shared} of {rows} requests share their time with the one before (at most {largest} at once)")
    } else {
        String::new()
    };
    notes.warning(format!(
        "{lie}{bursts}: unless requests truly come at once, the log rounds their times, and figures for windows and bursts below {length} are artefacts; test windows well above {length} or record finer times"
    ));
}

/// Warns of times that went back.
pub(super) fn warn_of_order(steps: u64, largest: Nanos, furthest: Nanos, rows: u64, as_is: bool, notes: &mut Notes) {
    if steps == 0 {
        return;
    }
    let did = if as_is {
        "they are fed as they come and clamped to the latest time before them; order = \"sort\" in a scenario sorts them"
    } else {
        "they are sorted by time, equal times in file order; order = \"as-is\" in a scenario feeds them as they come"
    };
    notes.warning(format!(
        "{steps} of {rows} rows are earlier than the row before, by up to {}, and up to {} behind the latest: {did}",
        show(largest),
        show(furthest)
    ));
}

/// Warns of a log whose times all lie in the same one or two minutes of their hours.
pub(super) fn warn_of_minutes(found: Minutes, clock: Clock, notes: &mut Notes) {
    let Minutes { rows, minutes, hours } = found;
    if clock == Clock::Relative || rows < 100 {
        return;
    }
    if hours < 10 || minutes.count_ones() > 2 {
        return;
    }
    let list: Vec<String> = (0..60).filter(|m| minutes >> m & 1 == 1).map(|m| format!("{m:02}")).collect();
    notes.warning(format!(
        "all {rows} requests of {hours} hours lie in minute {} of their hour: the times were probably rewritten or sampled, so rates and bursts are artificial; use this log to try the reading of logs, not to choose a limit",
        list.join(" or ")
    ));
}

/// Warns of a log that another limiter shaped.
pub(super) fn warn_of_refusals(too_many: u64, unavailable: u64, rows: u64, notes: &mut Notes) {
    let refused = too_many + unavailable;
    if refused == 0 {
        return;
    }
    notes.warning(format!(
        "{refused} of {rows} requests ({}) were answered with 429 or 503 ({too_many} and {unavailable}): another limiter shaped this traffic, and retries of what it refused are in the log, so demand without it would look different",
        percent(refused, rows)
    ));
}

/// Warns of keys that number requests.
pub(super) fn warn_of_keys(keys: u64, rows: u64, notes: &mut Notes) {
    if rows < 20 || keys < rows {
        return;
    }
    notes.warning(format!(
        "each of the {rows} requests has a key of its own: if the key numbers requests and not who sends them, a limit per key never refuses; --key-by or columns = {{ key = … }} chooses another"
    ));
}

/// Warns that tokens of an answer are known too early.
pub(super) fn warn_of_output(notes: &mut Notes) {
    notes.warning(
        "output tokens were known only after the answer; a limit that counts them at arrival is clairvoyant: reserve an estimate and settle it afterwards to see what a real limiter can do",
    );
}

fn percent(part: u64, whole: u64) -> String {
    let hundredths = u128::from(part) * 10_000 / u128::from(whole.max(1));
    if hundredths == 0 { "< 0.01 %".to_owned() } else { format!("{}.{:02} %", hundredths / 100, hundredths % 100) }
}

/// A length of time in the largest unit that keeps it whole, or to three decimals of a unit.
pub(super) fn show(length: Nanos) -> String {
    const SHOWN: [(Nanos, &str); 6] = [
        (24 * 3600 * SECOND, "d"),
        (3600 * SECOND, "h"),
        (60 * SECOND, "min"),
        (SECOND, "s"),
        (1_000_000, "ms"),
        (1_000, "µs"),
    ];
    for (unit, name) in SHOWN {
        if length >= unit && length.is_multiple_of(unit) {
            return format!("{} {name}", length / unit);
        }
        if length >= unit && (unit <= SECOND || length >= 100 * unit) {
            let decimals = format!("{:.3}", length as f64 / unit as f64);
            return format!("{} {name}", decimals.trim_end_matches('0').trim_end_matches('.'));
        }
    }
    format!("{length} ns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_read_well() {
        for (length, text) in [
            (0, "0 ns"),
            (1500, "1.5 µs"),
            (20_000_000, "20 ms"),
            (1_390_000_000, "1.39 s"),
            (59 * SECOND, "59 s"),
            (90 * SECOND, "90 s"),
            (7200 * SECOND, "2 h"),
        ] {
            assert_eq!(show(length), text);
        }
    }
}
