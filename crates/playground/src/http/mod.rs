//! The server's side: who may ask, what is asked, and how it is answered.

mod answers;
mod api;
mod app;
mod call;
mod gate;
mod pages;
pub mod server;
