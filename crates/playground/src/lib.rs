//! The local page: limiters in a running HTTP server that a person, `curl` and an agent all meet at once.
//!
//! [`Play`](play::Play) is the page's world without a clock; [`Server`] gives it one, and the network.

pub mod crowd;
mod headers;
mod http;
pub mod lane;
pub mod play;
pub mod record;
pub mod settings;
pub mod source;
mod state;

pub use http::server::{Options, Server, serve};
