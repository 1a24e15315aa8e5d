//! Virtual time for peers: the thread that asks says what time it is, and their clock hooks read it.

use limiters::Nanos;
use std::cell::Cell;

thread_local! {
    static NOW: Cell<Nanos> = const { Cell::new(0) };
}

/// Sets the time that [`Virtual`] reads on this thread.
#[inline]
pub fn set_now(now: Nanos) {
    NOW.set(now);
}

/// A clock that reads what [`set_now`] said last, counted from `origin`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Virtual {
    /// Where it starts to count.
    pub origin: Nanos,
}

impl Virtual {
    /// Nanoseconds since the origin.
    #[inline]
    pub fn read(self) -> Nanos {
        NOW.get().saturating_sub(self.origin)
    }
}
