//! A window that slides over requests, by two ways through them: one is ahead and adds, one is behind and takes away. So
//! no window holds its requests, however long it is.

use super::metered::{Metered, Requests, Row};
use limiters::Nanos;
use traffic::TrafficError;

/// What happens to the half-open window that ends with the request that came last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slid {
    /// A request came.
    Enters(Row),
    /// One is too old now.
    Leaves(Row),
    /// All of these have left, so that the window that begins with the request at `from` is complete up to `last`.
    Stands {
        /// The request that came last.
        last: Row,
        /// The time of the oldest one in the window.
        from: Nanos,
    },
}

/// Slides a window of length `window`, at least 1, over requests whose times never go back. `ahead` and `behind` hand out
/// the same requests. O(n), no memory of its own.
///
/// # Errors
/// What `ahead` and `behind` say.
pub fn slide(
    mut ahead: impl FnMut() -> Result<Option<Row>, TrafficError>,
    mut behind: impl FnMut() -> Result<Option<Row>, TrafficError>,
    window: Nanos,
    mut hear: impl FnMut(Slid),
) -> Result<(), TrafficError> {
    let mut oldest = behind()?;
    while let Some(last) = ahead()? {
        hear(Slid::Enters(last));
        while let Some(first) = oldest.filter(|first| last.at - first.at >= window) {
            hear(Slid::Leaves(first));
            oldest = behind()?;
        }
        hear(Slid::Stands { last, from: oldest.map_or(last.at, |first| first.at) });
    }
    Ok(())
}

/// The same over all requests.
///
/// # Errors
/// When they cannot be read back.
pub fn slide_over(asked: &Metered, window: Nanos, hear: impl FnMut(Slid)) -> Result<(), TrafficError> {
    let (mut ahead, mut behind): (Requests<'_>, Requests<'_>) = (asked.pass(), asked.pass());
    slide(|| ahead.next_row(), || behind.next_row(), window, hear)
}
