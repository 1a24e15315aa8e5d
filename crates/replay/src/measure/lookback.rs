//! One comparison per start: whether a window holds more than the most seen so far.

use limiters::Nanos;

/// Starts that are looked at together where that decides nothing less.
const GROUP: usize = 64;
/// Starts that are compared in one go.
const LANES: usize = 8;

/// The most starts in any half-open window of length `tau` that ends at a start from `first_new` on, or `most` if that is
/// more. `at` is sorted, and all starts that a window of `most` + 1 starts could reach are in it.
///
/// A new start raises the most by one at most, and does so iff the start `most` places back is less than `tau` old. Of a
/// group of new starts none does if even its first is `tau` older than the place that its last looks back to.
#[inline]
pub fn raise(at: &[Nanos], first_new: usize, mut most: usize, tau: Nanos) -> usize {
    // While no more than `most` starts exist, the window cannot be beaten by looking back that far.
    let mut next = first_new.max(most);
    while next < at.len() {
        if most >= GROUP {
            while next + GROUP <= at.len() && at[next] - at[next + GROUP - 1 - most] >= tau {
                next += GROUP;
            }
        }
        // In steady state nothing changes: compare some at once before looking closer.
        let until = at.len().min(next + GROUP);
        while next + LANES <= until {
            let new = &at[next..next + LANES];
            let old = &at[next - most..next - most + LANES];
            let young = new.iter().zip(old).fold(false, |any, (new, old)| any | (new - old < tau));
            if young {
                break;
            }
            next += LANES;
        }
        if next < until {
            most += usize::from(at[next] - at[next - most] < tau);
            next += 1;
        }
    }
    most
}
