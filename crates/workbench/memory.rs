//! Bytes that a store of keys asks the allocator for, counted where the cargo feature `peers` is on.

use std::any::Any;

#[cfg(feature = "peers")]
#[global_allocator]
static ALLOCATOR: &stats_alloc::StatsAlloc<std::alloc::System> = &stats_alloc::INSTRUMENTED_SYSTEM;

/// Bytes a key of what `fill` makes for `keys` keys and still holds; `None` where nothing counts.
pub fn per_key(keys: u64, fill: impl FnOnce(u64) -> Box<dyn Any>) -> Option<f64> {
    #[cfg(feature = "peers")]
    {
        let region = stats_alloc::Region::new(ALLOCATOR);
        let held = fill(keys);
        let change = region.change();
        drop(held);
        Some((change.bytes_allocated as f64 - change.bytes_deallocated as f64) / keys as f64)
    }
    #[cfg(not(feature = "peers"))]
    {
        let _ = (keys, fill);
        None
    }
}
