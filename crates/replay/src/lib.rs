//! What happens when traffic meets limiters: scenario files, the loop, measurements, expectations, overhead.

mod cast;
mod decisions;
pub mod diagnose;
pub mod engine;
pub mod entry;
pub mod expect;
pub mod guarantee;
pub mod inspect;
pub mod lane;
pub mod measure;
pub mod money;
mod open;
pub mod overhead;
pub mod peers;
mod plan;
mod recorded;
pub mod rows;
mod run;
pub mod scenario;
pub mod servers;
pub mod size;
mod summarise;
pub mod world;

pub use open::{FileRead, Opened, open};
pub use traffic::words;

pub use run::{Options, Progress, Run, planned, run, usual_windows};
