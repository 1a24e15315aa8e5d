//! Where requests come from: arrival patterns, recorded traces, and the keys and costs they carry.
//!
//! Nothing here reads a clock. A [`Source`] hands out batches of requests in time order, and [`Traffic`] merges sources into
//! one. Every random draw is keyed by the seed, the source and its purpose ([`draw`]), so that one source never shifts another's
//! luck.
//!
//! ```
//! use limiters::{Batch, Rate};
//! use traffic::spec::{Amount, Keys, Pattern, Shape};
//! use traffic::{Settings, Source, Traffic};
//!
//! let steady = Pattern {
//!     shape: Shape::Constant { rate: Rate::new(20, 1_000_000_000).unwrap(), start: 0, end: None },
//!     keys: Keys::One("alice".into()),
//!     cost: Amount::Constant(1),
//!     input_tokens: None,
//!     output_tokens: None,
//!     price: None,
//! };
//! let settings = Settings { seed: 0, start: 0, duration: 60_000_000_000, tokens: false };
//! let mut traffic = Traffic::open(&[steady], &settings, |_, _| unreachable!("no trace")).unwrap();
//! let mut batch = Batch::default();
//! while traffic.fill(&mut batch, 1024).unwrap() > 0 {}
//! assert_eq!((batch.len(), batch.at[0]), (1199, 50_000_000)); // the one at 60 s is at the end of the run: dropped
//! assert_eq!(traffic.key_name(batch.key[0]), "alice");
//! ```

mod alias;
mod amounts;
mod arrivals;
pub mod clients;
pub mod draw;
mod keys;
mod merge;
mod own_form;
#[cfg(feature = "parquet")]
mod own_parquet;
mod pattern;
pub mod prices;
pub mod spec;
pub mod traces;
pub mod words;

pub use arrivals::{ArrivalPattern, PATTERNS};
pub use merge::Traffic;
pub use own_form::{COUNTS_FROM, write_csv};
#[cfg(feature = "parquet")]
pub use own_parquet::write_parquet;

use limiters::{Batch, Nanos};
use std::path::PathBuf;

/// What a run says to all its traffic.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Seed of every random draw.
    pub seed: u64,
    /// Absolute time of t = 0, nanoseconds since the Unix epoch.
    pub start: Nanos,
    /// Length of the run. Requests at or after it are dropped: a run is half-open.
    pub duration: Nanos,
    /// Whether something meters tokens. Then the cost of a source that does not say how many input tokens it has stands
    /// for them.
    pub tokens: bool,
}

impl Settings {
    /// Absolute time of the end, itself not part of the run.
    ///
    /// # Errors
    ///
    /// When it lies beyond the range of nanoseconds since the epoch (July 2554).
    pub fn end(&self) -> Result<Nanos, TrafficError> {
        self.start.checked_add(self.duration).ok_or_else(|| {
            TrafficError::new(format!(
                "`start` and `duration` ({} ns) end after July 2554, beyond the range of nanoseconds",
                self.duration
            ))
        })
    }
}

/// Requests in time order.
pub trait Source: Send {
    /// Appends at most `max` requests to `batch`, with absolute times in nanoseconds since the Unix epoch, and returns how
    /// many. 0 means the end.
    fn fill(&mut self, batch: &mut Batch, max: usize) -> Result<usize, TrafficError>;

    /// The name of a key that this source handed out. Keys are dense: 0, 1, 2 … in no particular order.
    fn key_name(&self, key: u64) -> String;

    /// About how many requests there are in all, for a progress bar; `None` when it cannot be known cheaply.
    fn expected(&self) -> Option<u64> {
        None
    }

    /// Whether times never go back. A source that says `false` is fed to limiters as it comes, for a clamp to correct.
    fn in_order(&self) -> bool {
        true
    }

    /// Whether requests say how many tokens they have. Where they do not, their cost stands for input tokens when
    /// something meters tokens.
    fn has_tokens(&self) -> bool {
        true
    }

    /// Whether requests may have a price.
    fn has_prices(&self) -> bool {
        true
    }

    /// What was seen while reading so far.
    fn notes(&self) -> Vec<Note> {
        Vec::new()
    }
}

/// Something that was seen while reading and that a reader of the report must know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// What kind of note it is.
    pub kind: NoteKind,
    /// What was seen, why it matters, and which flag or key to use.
    pub text: String,
}

/// Kinds of [`Note`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// Something the file did not say and that was assumed.
    Guess,
    /// Rows left out, counted by reason, with the first line of each.
    Skipped,
    /// Something that makes figures less trustworthy.
    Warning,
    /// How something was done, where that is no guess.
    Fact,
}

/// Why traffic cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TrafficError {
    /// The file at fault, when there is one.
    pub path: Option<PathBuf>,
    /// 1-based line in that file.
    pub line: Option<u64>,
    /// Name or 1-based number of the column, or the field's path.
    pub column: Option<String>,
    /// The value that was read.
    pub value: Option<String>,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl TrafficError {
    /// What is wrong, with no file to blame.
    pub fn new(message: impl Into<String>) -> TrafficError {
        TrafficError { path: None, line: None, column: None, value: None, message: message.into() }
    }

    /// What is wrong with a whole file.
    pub fn of_file(path: &std::path::Path, message: impl Into<String>) -> TrafficError {
        TrafficError { path: Some(path.to_owned()), ..TrafficError::new(message) }
    }

    /// The same with the place it happened in front.
    fn within(mut self, place: &str) -> TrafficError {
        self.message = format!("{place}: {}", self.message);
        self
    }
}

impl std::fmt::Display for TrafficError {
    /// `path:line: column "tokens": what is wrong (read "abc")`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Standard input is named by the message where that is about all of it.
        let named = |path: &&PathBuf| path.as_os_str() != "-" || !self.message.starts_with("standard input ");
        if let Some(path) = self.path.as_ref().filter(named) {
            match path.to_str() {
                Some("-") => write!(f, "standard input:")?,
                _ => write!(f, "{}:", path.display())?,
            }
            if let Some(line) = self.line {
                write!(f, "{line}:")?;
            }
            write!(f, " ")?;
        }
        if let Some(column) = &self.column {
            write!(f, "column \"{column}\": ")?;
        }
        write!(f, "{}", self.message)?;
        if let Some(value) = &self.value {
            write!(f, " (read {value:?})")?;
        }
        Ok(())
    }
}

impl std::error::Error for TrafficError {}
