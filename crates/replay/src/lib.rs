//! What happens when traffic meets limiters: scenario files, the loop, measurements, expectations, overhead.

pub mod engine;
pub mod entry;
pub mod guarantee;
pub mod lane;
pub mod measure;
pub mod rows;
