//! What all handlers share: the world behind its lock, its clock, and the frames of live state.

use crate::headers::Written;
use crate::play::Play;
use crate::settings::Settings;
use crate::state::state;
use axum::body::Bytes;
use limiters::Nanos;
use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use tokio::sync::watch;

/// Open event streams, at most.
pub const MOST_STREAMS: usize = 512;

/// See the file's first line.
pub struct App {
    world: Mutex<World>,
    since: Instant,
    epoch: Nanos,
    /// Live state, the latest only: a slow reader skips frames.
    pub frames: watch::Receiver<Bytes>,
    /// Event streams that are open.
    pub streams: AtomicUsize,
}

/// The world and the last call from outside.
pub struct World {
    /// The limiters.
    pub play: Play,
    /// What the last call was told.
    pub last: Option<Written>,
}

/// Handlers' state.
pub type Shared = Arc<App>;

impl App {
    /// A fresh world whose clock starts from the wall clock and then only goes forward.
    pub fn new(frames: watch::Receiver<Bytes>) -> Option<App> {
        let epoch = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_nanos().try_into().ok()?;
        let play = Play::new(Settings::default(), epoch).ok()?;
        let world = Mutex::new(World { play, last: None });
        Some(App { world, since: Instant::now(), epoch, frames, streams: AtomicUsize::new(0) })
    }

    /// The world and the time. Not held across a wait.
    pub fn world(&self) -> (MutexGuard<'_, World>, Nanos) {
        // A panic while it was held leaves counts as they are: better shown than hidden behind a dead page.
        let world = self.world.lock().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock, so that times are asked in order.
        let now = self.epoch.saturating_add(self.since.elapsed().as_nanos().try_into().unwrap_or(Nanos::MAX));
        (world, now)
    }

    /// Plays what is due and writes a frame of live state.
    pub fn frame(&self) -> Bytes {
        let (mut world, now) = self.world();
        world.play.advance(now);
        let state = state(&world.play, world.last.as_ref());
        drop(world);
        Bytes::from(format!("data: {state}\n\n"))
    }

    /// Plays what is due.
    pub fn advance(&self) {
        let (mut world, now) = self.world();
        world.play.advance(now);
    }
}
