//! Exact quantiles of numbers that can be gone through again: counted in parts of the range first, then the part that holds
//! the wanted one is counted in smaller parts, until a part is one number. Memory does not depend on how many there are.

/// Leading bits after the first one that the first count tells apart.
const LEADING: u32 = 10;
/// Further bits that each later count tells apart.
const FURTHER: u32 = 16;

/// How many numbers lie in which part of the range: of those below 2¹⁰ each is a part, of larger ones those that share their
/// first eleven bits.
pub struct Counts {
    parts: Vec<u64>,
}

/// A part of the range: from `low`, of length 2^`bits`; the wanted number is the one of `rank` in it, from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    low: u64,
    bits: u32,
    rank: u64,
}

impl Counts {
    pub fn new() -> Counts {
        Counts { parts: vec![0; part_of(u64::MAX) + 1] }
    }

    #[inline]
    pub fn add(&mut self, number: u64) {
        self.parts[part_of(number)] += 1;
    }

    /// The part with the number of `rank`, from 0; the last one where there are fewer.
    fn find(&self, rank: u64) -> Part {
        let (index, rank) = nth(&self.parts, rank);
        let (doublings, within) = (index >> LEADING, index as u64 & ((1 << LEADING) - 1));
        match doublings.checked_sub(1) {
            None => Part { low: within, bits: 0, rank },
            Some(bits) => Part { low: ((1 << LEADING) + within) << bits, bits: bits as u32, rank },
        }
    }
}

#[inline]
fn part_of(number: u64) -> usize {
    let bits = (u64::BITS - LEADING - 1).saturating_sub(number.leading_zeros());
    // The first bit of (number >> bits) is the one above LEADING, which adds one doubling, where number has it.
    ((u64::from(bits) << LEADING) + (number >> bits)) as usize
}

/// The part with the number of `rank`, and its rank there.
fn nth(parts: &[u64], mut rank: u64) -> (usize, u64) {
    for (index, &count) in parts.iter().enumerate() {
        if rank < count {
            return (index, rank);
        }
        rank -= count;
    }
    (parts.len() - 1, 0)
}

/// The numbers of these ranks, from 0, of all that were counted. `again` shows all numbers once more, for each further
/// sixteen bits that have to be told apart: at most four times, and mostly once.
///
/// # Errors
/// What `again` says.
pub fn quantiles<E>(
    counts: &Counts,
    ranks: &[u64],
    mut again: impl FnMut(&mut dyn FnMut(&[u64])) -> Result<(), E>,
) -> Result<Vec<u64>, E> {
    let mut parts: Vec<Part> = ranks.iter().map(|&rank| counts.find(rank)).collect();
    while parts.iter().any(|part| part.bits > 0) {
        let mut closer: Vec<(Part, Vec<u64>)> =
            parts.iter().map(|part| (*part, vec![0; 1 << part.bits.min(FURTHER)])).collect();
        again(&mut |numbers| {
            for (part, counts) in closer.iter_mut().filter(|(part, _)| part.bits > 0) {
                let shift = part.bits - part.bits.min(FURTHER);
                for number in numbers {
                    let place = number.wrapping_sub(part.low) >> shift;
                    if let Some(count) = usize::try_from(place).ok().and_then(|place| counts.get_mut(place)) {
                        *count += 1;
                    }
                }
            }
        })?;
        for (part, (_, counts)) in parts.iter_mut().zip(&closer) {
            if part.bits > 0 {
                let (place, rank) = nth(counts, part.rank);
                let bits = part.bits - part.bits.min(FURTHER);
                *part = Part { low: part.low + ((place as u64) << bits), bits, rank };
            }
        }
    }
    Ok(parts.into_iter().map(|part| part.low).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::convert::Infallible;

    fn number() -> impl Strategy<Value = u64> {
        let edge = (0..64u32, -2i64..3).prop_map(|(power, step)| (1u64 << power).wrapping_add_signed(step));
        let near = (0..1_000_000u64).prop_map(|step| 5_000_000_000 + step);
        prop_oneof![0..3000u64, edge, near, any::<u64>(), Just(u64::MAX)]
    }

    #[test]
    fn parts_follow_one_another_without_gaps() {
        for (index, number) in
            [(0, 0), (1023, 1023), (1024, 1024), (2047, 2047), (2048, 2048), (2048, 2049), (2049, 2050)]
        {
            assert_eq!(part_of(number), index, "{number}");
        }
    }

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_sorted_numbers(numbers in prop::collection::vec(number(), 1..80), picks in prop::collection::vec(0..1000usize, 1..6)) {
            let mut counts = Counts::new();
            numbers.iter().for_each(|number| counts.add(*number));
            let mut sorted = numbers.clone();
            sorted.sort_unstable();
            let ranks: Vec<u64> = picks.iter().map(|pick| (pick % sorted.len()) as u64).collect();
            let mut passes = 0;
            let found = quantiles(&counts, &ranks, |see| {
                passes += 1;
                numbers.chunks(7).for_each(see);
                Ok::<(), Infallible>(())
            });
            let expected: Vec<u64> = ranks.iter().map(|rank| sorted[*rank as usize]).collect();
            prop_assert_eq!(found.unwrap(), expected);
            prop_assert!(passes <= 4);
        }
    }
}
