//! Closed-loop clients: agents, workers and libraries that react to a refusal.
//!
//! A client is one population of agents. An agent works in turns: a model call (the turn), some thinking, then a tool call. A
//! refused call goes through the client library's retries, and through whatever loops are stacked above it; when all of them
//! have given up, the agent stops or takes its next turn. A client may also be made of recorded calls ([`Scripts`]), which it
//! plays in their order. Here is what such a client is ([`spec`]), how long its library waits
//! ([`Retry::after`](spec::Retry::after)), what its calls cost ([`Bill`]), and where every number comes from: [`LIBRARIES`],
//! [`PRESETS`] and the dated price list. The loop that plays them against a limiter is in `replay::world`.
//!
//! Draws are asked for by number ([`crate::draw::Numbered`]): the n-th turn of an agent thinks as long and costs as much
//! whatever a limiter said before.

mod again;
mod bill;
mod law;
mod libraries;
mod presets;
mod retry;
mod scripts;
pub mod spec;

pub use crate::prices::{PRICES_AS_OF, Price, price, prices};
pub use again::{Again, retry_as, retry_names};
pub use bill::{Bill, Paid};
pub use law::{Law, share};
pub use libraries::{LIBRARIES, Library, library};
pub use presets::{PRESETS, Preset, preset};
pub use retry::{Failure, Next};
pub use scripts::{Script, Scripts, Step};
