//! Where requests come from: arrival patterns, recorded traces, and the keys and costs they carry.
//!
//! Nothing here reads a clock. A [`Source`] hands out batches of requests in time order; every random draw is keyed by
//! the seed, the source's place in the scenario and its purpose, so that one source never shifts another's luck.

pub mod spec;

use limiters::Batch;
use std::path::PathBuf;

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

impl std::fmt::Display for TrafficError {
    /// `path:line: column "tokens": what is wrong (read "abc")`.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(path) = &self.path {
            write!(f, "{}:", path.display())?;
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
