//! The words a scenario uses for an algorithm's parameters, and how one shared quota becomes each algorithm's own.

use crate::{Nanos, Rate};
use std::fmt;
use std::sync::Arc;

/// One promise, which every algorithm translates: `limit` permits per `window`, `burst` at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    /// Permits per window; at least 1.
    pub limit: u64,
    /// Length of the window in nanoseconds; at least 1.
    pub window: Nanos,
    /// Permits that may pass at one instant after a long silence; at least 1. Windows ignore it.
    pub burst: u64,
}

/// The kind of value a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A whole number of permits (micro-dollars where spend is metered), at least this many.
    Permits {
        /// Smallest accepted value.
        min: u64,
    },
    /// A length of time above zero.
    Duration,
    /// A rate such as `2/s`.
    Rate,
    /// One of these words.
    Choice(&'static [&'static str]),
}

/// A parameter of an algorithm, as scenario files and `workbench list` name it.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Kebab-case name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What it means, in one line that ends with its default.
    pub doc: &'static str,
}

/// A parameter's value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// For [`Kind::Permits`].
    Permits(u64),
    /// For [`Kind::Duration`].
    Duration(Nanos),
    /// For [`Kind::Rate`].
    Rate(Rate),
    /// For [`Kind::Choice`].
    Choice(&'static str),
}

/// A quota with the parameters that a limiter sets in its own words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// What parameters that are not set are derived from.
    pub quota: Quota,
    /// The time of t = 0, from which a bucket with `initial` permits starts to fill.
    pub origin: Nanos,
    /// Instants in time order at which a budget is given anew, such as the months of some time zone's calendar; for
    /// algorithms that have resets.
    pub resets: Option<Arc<[Nanos]>>,
    values: Vec<(&'static str, Value)>,
}

impl Settings {
    /// Settings that follow the quota alone.
    pub fn new(quota: Quota) -> Settings {
        Settings { quota, origin: 0, resets: None, values: Vec::new() }
    }

    /// Sets a parameter; a later value replaces an earlier one.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: Value) -> Settings {
        self.values.retain(|(known, _)| *known != name);
        self.values.push((name, value));
        self
    }

    /// The same settings with t = 0 at `origin`.
    #[must_use]
    pub fn starting_at(mut self, origin: Nanos) -> Settings {
        self.origin = origin;
        self
    }

    /// The same settings with resets at these instants.
    #[must_use]
    pub fn resetting_at(mut self, instants: impl Into<Arc<[Nanos]>>) -> Settings {
        self.resets = Some(instants.into());
        self
    }

    /// A number of permits that was set.
    pub fn permits(&self, name: &str) -> Option<u64> {
        self.values.iter().find_map(|(known, value)| match value {
            Value::Permits(permits) if *known == name => Some(*permits),
            _ => None,
        })
    }

    /// A length of time that was set.
    pub fn duration(&self, name: &str) -> Option<Nanos> {
        self.values.iter().find_map(|(known, value)| match value {
            Value::Duration(duration) if *known == name => Some(*duration),
            _ => None,
        })
    }

    /// A rate that was set.
    pub fn rate(&self, name: &str) -> Option<Rate> {
        self.values.iter().find_map(|(known, value)| match value {
            Value::Rate(rate) if *known == name => Some(*rate),
            _ => None,
        })
    }

    /// A word that was set.
    pub fn choice(&self, name: &str) -> Option<&'static str> {
        self.values.iter().find_map(|(known, value)| match value {
            Value::Choice(word) if *known == name => Some(*word),
            _ => None,
        })
    }

    /// The quota's limit and window, for algorithms that take them as they are.
    pub fn limit_per_window(&self) -> Result<(u64, Nanos), ParamError> {
        match self.quota {
            Quota { limit: 0, .. } => Err(ParamError::new("limit", "at least 1 permit")),
            Quota { window: 0, .. } => Err(ParamError::new("window", "a length of time above zero")),
            Quota { limit, window, .. } => Ok((limit, window)),
        }
    }

    /// A bucket's capacity: the parameter `capacity`, or the quota's burst.
    pub fn capacity(&self) -> Result<u64, ParamError> {
        match self.permits("capacity") {
            Some(0) => Err(ParamError::new("capacity", "at least 1 permit")),
            Some(capacity) => Ok(capacity),
            None if self.quota.burst == 0 => Err(ParamError::new("burst", "at least 1 permit")),
            None => Ok(self.quota.burst),
        }
    }

    /// The refill rate: the parameter `refill`, or the quota's limit per window.
    pub fn refill(&self) -> Result<Rate, ParamError> {
        if let Some(rate) = self.rate("refill") {
            return Ok(rate);
        }
        let (limit, window) = self.limit_per_window()?;
        Rate::new(limit, window).ok_or_else(|| ParamError::new("limit", "a limit and a window above zero"))
    }
}

/// Why a rule cannot be built from its settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// The parameter at fault, as a scenario names it; `limit`, `window` and `burst` are the quota's.
    pub param: &'static str,
    /// What is wrong and what would be right.
    pub message: String,
}

impl ParamError {
    /// An error about `param`.
    pub fn new(param: &'static str, message: impl Into<String>) -> ParamError {
        ParamError { param, message: message.into() }
    }
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.param, self.message)
    }
}

impl std::error::Error for ParamError {}
