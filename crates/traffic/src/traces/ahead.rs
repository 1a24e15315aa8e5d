//! The first rows of a file, read ahead to tell whether they are requests or totals.

use super::checks::show;
use super::fault::Fault;
use super::row::Row;
use super::spread::{Looks, Spread, interval, looks};
use crate::spec::Trace;
use limiters::Nanos;
use std::collections::VecDeque;

/// Rows that are looked at.
const ROWS: usize = 100;

/// What the columns of a file say of totals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Totals {
    /// The column with the number of requests that a row stands for.
    pub requests: Option<String>,
    /// The column with the time.
    pub time: String,
    /// Whether a row has tokens.
    pub tokens: bool,
}

impl Totals {
    /// The interval that the time's name tells.
    fn named(&self) -> Option<Nanos> {
        const HOUR: Nanos = 3_600_000_000_000;
        let name: String = self.time.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
        match name.as_str() {
            "date" | "day" | "usagedate" | "usagedateutc" => Some(24 * HOUR),
            "hour" => Some(HOUR),
            _ => None,
        }
    }

    /// Whether the time's name says that something is summed up from there on.
    fn is_bucket(&self) -> bool {
        let name = self.time.to_lowercase();
        self.named().is_some() || ["bucket", "interval", "period", "window"].iter().any(|word| name.contains(word))
    }
}

/// Rows that were read ahead, and the fault that came behind them.
#[derive(Default)]
pub(super) struct Ahead {
    rows: VecDeque<Row>,
    fault: Option<Box<Fault>>,
}

/// How a number of requests is chosen.
fn over(setting: &str) -> String {
    format!("{setting}{}60", if setting.starts_with('-') { "=" } else { " = " })
}

impl Ahead {
    /// Reads ahead with `next`, and says how totals are to be spread, if they are.
    ///
    /// Nothing is read where no column has numbers of requests.
    pub fn look(
        spec: &Trace,
        totals: Option<Totals>,
        format: &str,
        mut next: impl FnMut(&mut Row) -> Result<bool, Box<Fault>>,
    ) -> Result<(Ahead, Option<Spread>), Box<Fault>> {
        let setting = spec.setting("spread");
        let wanted = spec.spread == Some(true);
        let totals = match totals {
            Some(totals) => totals,
            None if wanted => {
                let message =
                    format!("{setting}: the format {format} has a row for each request, so there is nothing to spread");
                return Err(Fault::file(message));
            }
            None => return Ok(Default::default()),
        };
        let requests = spec.choose("requests", "…");
        let may_be = totals.requests.is_some() || totals.tokens && totals.is_bucket();
        if let (Some(column), Some(over)) = (&totals.requests, spec.spread_over) {
            let equals = if setting.starts_with('-') { "=" } else { " = " };
            return Err(Fault::file(format!(
                "{setting}{equals}{over}: \"{column}\" says how many requests a row stands for; give {setting} without a number"
            )));
        }
        let Some(column) = totals
            .requests
            .clone()
            .or_else(|| spec.spread_over.map(|_| String::new()))
            .filter(|_| wanted)
            .or_else(|| (may_be && spec.spread.is_none()).then(|| totals.requests.clone().unwrap_or_default()))
        else {
            if !wanted {
                return Ok(Default::default());
            }
            let message = format!(
                "{setting}: no column says how many requests a row stands for; say which with {requests}, or choose how many with {}",
                over(&setting)
            );
            return Err(Fault::file(message));
        };
        let mut ahead = Ahead::default();
        while ahead.rows.len() < ROWS && ahead.fault.is_none() {
            let mut row = Row::default();
            match next(&mut row) {
                Ok(true) => ahead.rows.push_back(row),
                Ok(false) => break,
                Err(fault) => ahead.fault = Some(fault),
            }
        }
        let rows = ahead.rows.make_contiguous();
        if wanted {
            let length = interval(rows, totals.named()).filter(|length| *length > 1);
            let ends = rows.iter().all(|row| row.end.is_some());
            let length = length.or((ends || rows.is_empty()).then_some(1)).ok_or_else(|| {
                let end = spec.choose("end", "…");
                Fault::file(format!(
                    "{setting}: nothing tells how long the interval of a total is: the times lie no equal distance apart; name the column of its end with {end}"
                ))
            })?;
            return Ok((ahead, Some(Spread::over(length, column, spec.spread_over.map(|over| over.get().into())))));
        }
        let one = format!(
            "{setting}{}false takes each row as one request",
            if setting.starts_with('-') { "=" } else { " = " }
        );
        let on = if setting.starts_with('-') { setting.clone() } else { format!("{setting} = true") };
        let wrong = "replayed as one request each, the load would be far too low and its peaks would be made up";
        if totals.requests.is_none() {
            let hourly = rows.iter().all(|row| row.at.is_multiple_of(3_600_000_000_000));
            if !hourly || rows.is_empty() || interval(rows, totals.named()).is_none_or(|length| length == 1) {
                return Ok((ahead, None));
            }
            return Err(Fault::file(format!(
                "the rows look like totals of tokens from each \"{}\" on, not like requests: {wrong}; {on} can spread them if a column says how many requests they stand for ({requests}), and {} spreads each over 60 requests, or as many as you know there to be; {one}",
                totals.time,
                over(&setting)
            )));
        }
        let length = match looks(rows, totals.named()) {
            Looks::Totals(length) => format!(" of {}", show(length)),
            Looks::Unclear if totals.is_bucket() => String::new(),
            _ => return Ok((ahead, None)),
        };
        Err(Fault::file(format!(
            "each row is a total{length}: \"{column}\" says how many requests it stands for; {wrong}; {on} spreads each total evenly over its interval, and peaks below that are artefacts; {one}"
        )))
    }

    /// Whether all were given.
    #[inline]
    pub fn is_past(&self) -> bool {
        self.rows.is_empty() && self.fault.is_none()
    }

    /// The next row that was read ahead; `None` when all were given.
    pub fn give(&mut self, row: &mut Row) -> Option<Result<(), Box<Fault>>> {
        match self.rows.pop_front() {
            Some(next) => {
                *row = next;
                Some(Ok(()))
            }
            None => self.fault.take().map(Err),
        }
    }
}
