//! The busiest window of a stream: over all places a window can lie, and over those of a wall clock.

use limiters::Nanos;

/// The most that lies in one window, and where the window begins (absolute).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busiest {
    /// The amount.
    pub amount: u64,
    /// The first instant of the first such window.
    pub from: Nanos,
}

/// Over every half-open window of length `window`: one begins at a request, so those are tried. O(n).
pub fn sliding(requests: impl Iterator<Item = (Nanos, u64)> + Clone, window: Nanos) -> Busiest {
    let mut oldest = requests.clone();
    let mut from = oldest.next();
    let (mut sum, mut most) = (0u64, Busiest::default());
    for (at, amount) in requests {
        sum = sum.saturating_add(amount);
        while let Some((first, gone)) = from.filter(|(first, _)| at - first >= window) {
            sum = sum.saturating_sub(gone);
            debug_assert!(first <= at);
            from = oldest.next();
        }
        if sum > most.amount {
            most = Busiest { amount: sum, from: from.map_or(at, |(first, _)| first) };
        }
    }
    most
}

/// Over the windows that begin at whole multiples of `window` since the Unix epoch, as a fixed window's do. O(n).
pub fn aligned(requests: impl Iterator<Item = (Nanos, u64)>, window: Nanos) -> Busiest {
    let (mut current, mut sum, mut most) = (None, 0u64, Busiest::default());
    for (at, amount) in requests {
        let index = at / window;
        if current != Some(index) {
            (current, sum) = (Some(index), 0);
        }
        sum = sum.saturating_add(amount);
        if sum > most.amount {
            most = Busiest { amount: sum, from: index * window };
        }
    }
    most
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_burst_across_an_edge_counts_once_sliding() {
        let requests = [(9, 1), (9, 1), (10, 1), (18, 4), (19, 1)];
        assert_eq!(sliding(requests.into_iter(), 10), Busiest { amount: 7, from: 9 });
        assert_eq!(aligned(requests.into_iter(), 10), Busiest { amount: 6, from: 10 });
        assert_eq!(sliding([].into_iter(), 10), Busiest::default());
    }

    proptest! {
        #[test]
        fn sliding_is_the_most_over_every_beginning(
            gaps in prop::collection::vec((0..7u64, 0..4u64), 0..40),
            window in 1..20u64,
        ) {
            let mut now = 100;
            let requests: Vec<_> = gaps.iter().map(|(gap, amount)| { now += gap; (now, *amount) }).collect();
            let within = |from: u64| requests.iter().filter(|(at, _)| (from..from + window).contains(at)).map(|(_, a)| a).sum::<u64>();
            let found = sliding(requests.iter().copied(), window);
            prop_assert_eq!(found.amount, (60..now + 2).map(within).max().unwrap());
            let wall = aligned(requests.iter().copied(), window);
            prop_assert_eq!(wall.amount, (0..now + 2).filter(|from| from % window == 0).map(within).max().unwrap());
            prop_assert!(wall.amount <= found.amount && found.amount <= 2 * wall.amount);
            if found.amount > 0 {
                prop_assert_eq!(within(found.from), found.amount);
                prop_assert_eq!(within(wall.from), wall.amount);
            }
        }
    }
}
