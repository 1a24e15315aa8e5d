//! What happens when traffic meets limiters: scenario files, the loop, measurements, expectations, overhead.

pub mod rows;
