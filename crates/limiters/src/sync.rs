//! The shared memory that the shared limiters use: the standard library's, or loom's when `--cfg loom` checks every
//! interleaving of it.

#[cfg(loom)]
pub(crate) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU64, Ordering},
};
#[cfg(not(loom))]
pub(crate) use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicU64, Ordering},
};
