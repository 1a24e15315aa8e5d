//! Recorded traffic: one file of code per log format, and the one list of them.
//!
//! [`open`] reads a file to its end and keeps its rows packed, in order of time; [`Stream`] gives its rows one by one without keeping
//! them. Both say what they assumed, left out and distrust as [`Note`]s, and fail with one [`TrafficError`] that names
//! the file, line, column and value.

mod access_log;
mod agent;
mod ahead;
mod alb;
mod azure;
mod calendar;
mod checks;
mod chunk;
mod cloudflare;
mod columns;
mod compression;
mod csv;
mod elements;
mod fault;
mod field;
mod filter;
mod format;
mod grain;
mod har;
mod header;
mod http;
mod input;
mod jsonl;
mod key_by;
mod keys;
mod lines;
mod litellm;
mod ltsv;
mod mooncake;
mod names;
mod number;
mod otlp;
mod own;
mod packed;
mod parquet;
#[cfg(feature = "parquet")]
mod parquet_table;
mod parse;
mod pass;
mod playback;
mod pricing;
mod recorded;
mod refused;
mod role;
mod row;
mod s3;
mod scripts;
mod sieve;
mod split;
mod spoken;
mod spread;
mod stream;
mod time;
mod tracelab;
mod unit;
mod w3c;

pub use filter::{Where, WhereError};
pub use format::{Clock, Format};
pub use packed::Limits;
pub use pass::{Columns, Pass};
pub use playback::Playback;
pub use recorded::{Reading, Recorded, open, open_watched, read, read_within};
pub use refused::{Calls, calls, retried};
pub use row::Row;
pub use scripts::{Sessions, is_closed_loop, read_sessions, sessions};
pub use stream::Stream;

#[cfg(doc)]
use crate::{Note, TrafficError};

/// Every format that can be read, the most particular first: a file is read by the first one that recognises it.
pub const FORMATS: &[Format] = &[
    parquet::FORMAT,
    own::FORMAT,
    tracelab::FORMAT,
    azure::FORMAT,
    mooncake::FORMAT,
    agent::FORMAT,
    litellm::FORMAT,
    cloudflare::FORMAT,
    otlp::FORMAT,
    har::FORMAT,
    jsonl::FORMAT,
    access_log::FORMAT,
    alb::FORMAT,
    s3::FORMAT,
    w3c::FORMAT,
    ltsv::FORMAT,
    csv::FORMAT,
];

/// What a column of a trace can be, as a scenario's `columns` names it.
pub fn roles() -> impl Iterator<Item = &'static str> {
    role::Role::ALL.into_iter().map(role::Role::name)
}

/// Name of the format whose rows are rounds of sessions, for closed-loop replay.
pub const SESSIONS: &str = tracelab::FORMAT.name;

/// The format of that name.
pub fn format(name: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|format| format.name == name)
}
