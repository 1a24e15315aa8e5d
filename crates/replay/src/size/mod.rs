//! Sizing: the smallest limits that recorded traffic would not feel, and what tighter ones refuse.

mod demand;
mod family;
mod grid;
mod plan;
mod scenario;
mod search;
mod sigma;
mod starts;
mod value;

pub mod clients;
pub mod frontier;
pub mod keys;

pub use demand::{Demand, Refused};
pub use family::{Family, Given, Sizable};
pub use grid::{UNITS, knee, rates, unit_name};
pub use plan::{Ask, Candidate, Fit, Plan, Promise, SHARES, SizeRow, across, plan, ratio};
pub use scenario::{Written, scenario};
pub use search::{Share, least, within};
pub use sigma::{sigma, sigmas};
