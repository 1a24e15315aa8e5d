//! What happens when traffic meets limiters: scenario files, the loop, measurements, expectations, overhead.

pub mod diagnose;
pub mod engine;
pub mod entry;
pub mod expect;
pub mod guarantee;
pub mod lane;
pub mod measure;
pub mod rows;
pub mod scenario;
