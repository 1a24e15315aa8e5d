//! What a reader sees of a run: CSV files, figures, an HTML page, a README, terminal tables.
//!
//! Data flows one way. [`write()`] puts the measured rows into CSV files, reads them back as a [`Report`], and makes
//! everything else from that; [`redraw`] does the second half again for a folder that exists.

#![forbid(unsafe_code)]

mod draw;
mod error;
pub mod figures;
mod files;
mod folder;
mod html;
mod json;
mod markdown;
mod metrics;
mod money;
pub mod number;
mod partial;
pub mod pictures;
mod report;
mod tables;
mod terminal;
mod write;

pub use error::Error;
pub use files::Files;
pub use folder::{Folder, is_report};
pub use json::value as to_json;
pub use metrics::{Better, Entry, METRICS, Metric, Section, sections};
pub use partial::discard_unfinished;
pub use report::Report;
pub use tables::{Row, Tables, to_csv};
pub use terminal::tables as terminal_tables;
pub use write::{redraw, write};
