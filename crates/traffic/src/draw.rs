//! Random streams: one for every purpose of every source, so that no draw shifts another.
//!
//! A stream is named by words and a number: [`stream`]`(seed, "poisson", 0, "gaps")`. Its generator is xoshiro256++ (Blackman
//! and Vigna, "Scrambled linear pseudorandom number generators", 2021), seeded with a 64-bit hash of the name. The hash absorbs
//! the seed, each word in chunks of 8 little-endian bytes followed by its length, and the number, by `h = mix(h ^ chunk)`, where
//! `mix` is one step of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014). The same
//! name gives the same stream on every platform; what is made from it with logarithms and powers is the same on one target.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

/// A generator of one stream.
pub type Stream = Xoshiro256PlusPlus;

/// The stream of the `index`-th source of a kind, for one purpose.
pub fn stream(seed: u64, kind: &str, index: u64, purpose: &str) -> Stream {
    Stream::seed_from_u64(name(seed, kind, index, purpose))
}

/// The hash of a stream's name.
fn name(seed: u64, kind: &str, index: u64, purpose: &str) -> u64 {
    let mut hash = mix(seed);
    hash = absorb(hash, kind);
    hash = mix(hash ^ index);
    absorb(hash, purpose)
}

/// Draws that are asked for by number instead of in order, so that what happens in between shifts none of them: the `n`-th
/// draw is the `n`-th output of SplitMix64 from the hash of the name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbered(u64);

impl Numbered {
    /// The draws of the `index`-th source of a kind, for one purpose.
    pub fn new(seed: u64, kind: &str, index: u64, purpose: &str) -> Numbered {
        Numbered(name(seed, kind, index, purpose))
    }

    /// Draws of their own for the `index`-th part of this source.
    #[must_use]
    pub fn part(self, index: u64) -> Numbered {
        Numbered(mix(mix(self.0) ^ index))
    }

    /// The `n`-th draw: 64 bits, all equally likely.
    #[inline]
    pub fn bits(self, n: u64) -> u64 {
        mix(self.0.wrapping_add(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)))
    }
}

fn absorb(mut hash: u64, word: &str) -> u64 {
    for chunk in word.as_bytes().chunks(8) {
        let mut bytes = [0; 8];
        bytes[..chunk.len()].copy_from_slice(chunk);
        hash = mix(hash ^ u64::from_le_bytes(bytes));
    }
    mix(hash ^ word.len() as u64)
}

fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Names the streams of one source.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Streams {
    pub seed: u64,
    pub kind: &'static str,
    pub index: u64,
}

impl Streams {
    pub fn of(self, purpose: &str) -> Stream {
        stream(self.seed, self.kind, self.index, purpose)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::rand_core::Rng;
    use std::collections::HashSet;

    #[test]
    fn every_name_is_its_own_stream() {
        let mut seen = HashSet::new();
        for seed in [0, 1, u64::MAX] {
            for kind in ["poisson", "pareto", "poisson\0", ""] {
                for index in 0..4 {
                    for purpose in ["gaps", "keys", "cost"] {
                        assert!(seen.insert(stream(seed, kind, index, purpose).next_u64()));
                    }
                }
            }
        }
    }

    #[test]
    fn splitmix_as_published() {
        // The first three outputs of SplitMix64 from state 1234567, as in the reference implementation.
        let state = 1_234_567u64;
        let step = 0x9e37_79b9_7f4a_7c15u64;
        let outputs = [0, 1, 2].map(|i: u64| mix(state.wrapping_add(step.wrapping_mul(i))));
        assert_eq!(outputs, [6457827717110365317, 3203168211198807973, 9817491932198370423]);
    }
}
