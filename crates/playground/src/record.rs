//! What was asked since the last reset, as a scenario that gives the same answers.

use crate::settings::{Settings, quoted};
use limiters::{Nanos, Request};
use replay::scenario::Scenario;
use std::fmt::Write;

/// Requests in time order; equal ones that follow each other share an entry.
#[derive(Debug, Default)]
pub struct Record {
    entries: Vec<(Request, u64)>,
    spoiled: Option<Why>,
}

/// Why there is no scenario to save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Nothing was asked.
    Empty,
    /// A scenario's limiters stay as they are.
    Settings,
    /// More than [`MOST_ENTRIES`].
    Many,
    /// A budget was told of spending without being asked.
    Agents,
}

impl Why {
    /// A word for programs.
    pub fn code(self) -> &'static str {
        match self {
            Why::Empty => "empty",
            Why::Settings => "settings",
            Why::Many => "many",
            Why::Agents => "agents",
        }
    }

    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Why::Empty => "nothing was asked since the last reset",
            Why::Settings => "settings were changed after requests",
            Why::Many => "more than 20,000 instants were recorded",
            Why::Agents => "a budget was told of model calls, which a scenario's bursts do not have",
        }
    }
}

/// Entries kept, at most.
pub const MOST_ENTRIES: usize = 20_000;

impl Record {
    /// Adds a request.
    pub fn push(&mut self, request: &Request) {
        let full = self.entries.len() == MOST_ENTRIES;
        match self.entries.last_mut() {
            _ if self.spoiled.is_some() => {}
            Some((last, times)) if last == request => *times += 1,
            _ if full => self.spoil(Why::Many),
            _ => self.entries.push((*request, 1)),
        }
    }

    /// Gives up recording until the next reset, and says why.
    pub fn spoil(&mut self, why: Why) {
        self.spoiled.get_or_insert(why);
        self.entries = Vec::new();
    }

    /// Whether nothing was asked yet.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.spoiled.is_none()
    }

    /// Entries so far.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Why there is no scenario to save, if so.
    pub fn why_not(&self) -> Option<Why> {
        self.spoiled.or(self.entries.is_empty().then_some(Why::Empty))
    }

    /// The scenario: traffic from `start` to `end`, the limiters, and the counts of each as expectations.
    ///
    /// # Errors
    /// Why it cannot be written.
    pub fn scenario(
        &self,
        settings: &Settings,
        keys: &[String],
        (start, end): (Nanos, Nanos),
        counts: &[(String, u64, u64)],
    ) -> Result<String, String> {
        if let Some(why) = self.why_not() {
            return Err(format!("{}; reset, and what follows is recorded", why.text()));
        }
        // A scenario begins at a whole millisecond, which has a name on the wall clock.
        let origin = start - start % 1_000_000;
        let began = jiff::Timestamp::from_nanosecond(origin.into()).map_err(|error| error.to_string())?;
        let labels: Vec<String> = counts.iter().map(|(label, ..)| quoted(label)).collect();
        let mut toml = String::new();
        let mut add = |line: std::fmt::Arguments<'_>| writeln!(toml, "{line}");
        let written = (|| -> std::fmt::Result {
            add(format_args!("summary = \"Recorded by hand with `workbench serve`.\""))?;
            add(format_args!("start = {}", quoted(&began.to_string())))?;
            add(format_args!("duration = \"{}ns\"", end - origin + 1))?;
            add(format_args!("limiters = [{}]", labels.join(", ")))?;
            for (_, line) in settings.tables(true) {
                add(format_args!("{line}"))?;
            }
            for (request, times) in &self.entries {
                add(format_args!("\n[[traffic.burst]]\nat = \"{}ns\"\nrequests = {times}", request.at - origin))?;
                if request.requests != 1 {
                    add(format_args!("cost = {}", request.requests))?;
                }
                if let Some(key) = keys.get(request.key as usize) {
                    add(format_args!("key = {}", quoted(key)))?;
                }
                if request.microusd > 0 {
                    let (dollars, rest) = (request.microusd / 1_000_000, request.microusd % 1_000_000);
                    add(format_args!("price = \"${dollars}.{rest:06}\""))?;
                }
            }
            for (label, admitted, refused) in counts {
                let label = quoted(label);
                add(format_args!("\n[[expect]]\nlimiter = {label}\nadmitted = {admitted}\nrefused = {refused}"))?;
            }
            Ok(())
        })();
        written.map_err(|error| error.to_string())?;
        match Scenario::parse_text(&toml) {
            Ok(_) => Ok(toml),
            Err(problems) => Err(problems.first().map_or_else(String::new, |problem| {
                std::iter::once(&problem.message).chain(&problem.notes).cloned().collect::<Vec<_>>().join("; ")
            })),
        }
    }
}
