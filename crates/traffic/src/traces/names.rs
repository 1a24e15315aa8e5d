//! Byte strings numbered in the order they first come: one arena for all of them, and a table of eight bytes an entry.

use foldhash::fast::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::hint::black_box;
use std::ops::Range;

/// Numbers names from 0. Three looks into memory find a known one: its place in the table, where it lies, and its bytes.
/// [`Names::number_all`] makes each look for many names at once, so that a processor waits for them together.
#[derive(Debug)]
pub(super) struct Names {
    /// All names, one behind the other.
    bytes: Vec<u8>,
    /// Where each name begins, and the end of the last.
    starts: Vec<usize>,
    /// Open addressing by the hash's highest bits; a power of two of places, at most two thirds of them taken.
    places: Vec<Place>,
    /// What a hash is shifted by to be a place.
    shift: u32,
    state: RandomState,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    hash: u32,
    number: u32,
}

/// What was found of some names, in memory that is used again.
#[derive(Debug, Default)]
pub(super) struct Looks {
    hashes: Vec<u32>,
    /// Where the bytes of the name lie that each may be.
    spans: Vec<Range<usize>>,
}

/// Names that are looked for at once: few enough for all they touch to stay in a processor's nearer caches.
const AT_ONCE: usize = 512;
/// The number of a place that is free; no name has it.
const FREE: u32 = u32::MAX;
/// Places of the first table, as a power of two.
const FIRST: u32 = 10;

impl Default for Names {
    fn default() -> Names {
        let places = vec![Place { hash: 0, number: FREE }; 1 << FIRST];
        Names { bytes: Vec::new(), starts: vec![0], places, shift: 32 - FIRST, state: RandomState::default() }
    }
}

impl Names {
    /// How many names there are.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The name of a number; empty for a number that none has.
    pub fn name(&self, number: usize) -> &[u8] {
        match self.starts.get(number..number.saturating_add(2)) {
            Some(&[start, end]) => &self.bytes[start..end],
            _ => b"",
        }
    }

    /// The number of `name`, the next one when it is new; `None` when there are no more numbers.
    pub fn number(&mut self, name: &[u8]) -> Option<u32> {
        let hash = self.hash(name);
        self.number_hashed(name, hash)
    }

    /// Appends the numbers of all `names` to `numbers`, as [`number`](Names::number) would one after another.
    pub fn number_all<'a>(
        &mut self,
        names: impl Iterator<Item = &'a [u8]> + Clone,
        numbers: &mut Vec<u32>,
        looks: &mut Looks,
    ) -> Option<()> {
        let mut rest = names;
        loop {
            let some = rest.clone().take(AT_ONCE);
            let from = numbers.len();
            self.look(some.clone(), numbers, looks);
            let found = numbers[from..].iter_mut().zip(&looks.hashes).zip(&looks.spans);
            for (name, ((number, hash), span)) in some.zip(found) {
                // The place is of a name with the same hash, and nearly always of this one.
                if *number == FREE || &self.bytes[span.clone()] != name {
                    *number = self.number_hashed(name, *hash)?;
                }
            }
            if numbers.len() - from < AT_ONCE {
                return Some(());
            }
            rest.nth(AT_ONCE - 1);
        }
    }

    /// Appends the number of each name that is known, if no other has its hash. Nothing here waits for memory before the
    /// next name may ask for its own: each step asks for what the next one needs, of all names.
    fn look<'a>(&self, names: impl Iterator<Item = &'a [u8]>, numbers: &mut Vec<u32>, looks: &mut Looks) {
        let Looks { hashes, spans } = looks;
        hashes.clear();
        hashes.extend(names.map(|name| self.hash(name)));
        // What is read of them is of no use; that it was read is.
        black_box(hashes.iter().fold(0, |all, hash| all ^ self.places[(hash >> self.shift) as usize].hash));
        let from = numbers.len();
        numbers.extend(hashes.iter().map(|hash| self.places[self.find(*hash, |_| true)].number));
        spans.clear();
        spans.extend(numbers[from..].iter().map(|number| match self.starts.get(*number as usize..) {
            Some(&[start, end, ..]) => start..end,
            _ => 0..0,
        }));
        black_box(spans.iter().fold(0, |all, span| all ^ self.bytes.get(span.start).copied().unwrap_or(0)));
    }

    #[inline]
    fn hash(&self, name: &[u8]) -> u32 {
        let mut hasher = self.state.build_hasher();
        hasher.write(name);
        (hasher.finish() >> 32) as u32
    }

    /// The first place with this hash whose number `is` the one looked for, else the free place behind them.
    #[inline]
    fn find(&self, hash: u32, is: impl Fn(u32) -> bool) -> usize {
        let mut at = (hash >> self.shift) as usize;
        loop {
            let place = self.places[at];
            if place.number == FREE || place.hash == hash && is(place.number) {
                return at;
            }
            at = (at + 1) & (self.places.len() - 1);
        }
    }

    fn number_hashed(&mut self, name: &[u8], hash: u32) -> Option<u32> {
        let mut at = self.find(hash, |number| self.name(number as usize) == name);
        if self.places[at].number != FREE {
            return Some(self.places[at].number);
        }
        let number = u32::try_from(self.len()).ok().filter(|number| *number != FREE)?;
        if self.len() * 3 >= self.places.len() * 2 && self.shift > 0 {
            self.grow();
            at = self.find(hash, |_| false);
        }
        self.places[at] = Place { hash, number };
        self.bytes.extend_from_slice(name);
        self.starts.push(self.bytes.len());
        Some(number)
    }

    /// Doubles the table. Names stay in the order of their hashes, so both tables are walked from one end to the other.
    fn grow(&mut self) {
        self.shift -= 1;
        let places = vec![Place { hash: 0, number: FREE }; self.places.len() * 2];
        let old = std::mem::replace(&mut self.places, places);
        for place in old.into_iter().filter(|place| place.number != FREE) {
            let at = self.find(place.hash, |_| false);
            self.places[at] = place;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    #[test]
    fn many_names_survive_growth() {
        let mut names = Names::default();
        let all: Vec<String> = (0..50_000).map(|n| format!("user-{}", n * 7919 % 40_000)).collect();
        let (mut numbers, mut looks) = (Vec::new(), Looks::default());
        for some in all.chunks(1000) {
            names.number_all(some.iter().map(String::as_bytes), &mut numbers, &mut looks).unwrap();
        }
        assert_eq!(names.len(), 40_000);
        assert!(all.iter().zip(&numbers).all(|(name, number)| names.name(*number as usize) == name.as_bytes()));
        assert!(numbers[..40_000].iter().enumerate().all(|(index, number)| index == *number as usize));
        assert_eq!((names.name(40_000), names.name(usize::MAX)), (&b""[..], &b""[..]));
    }

    #[test]
    fn names_of_one_hash_are_told_apart() {
        let mut names = Names::default();
        let numbers: Vec<_> =
            ["a", "b", "a", "c", "b"].map(|name| names.number_hashed(name.as_bytes(), 7).unwrap()).into();
        assert_eq!(numbers, [0, 1, 0, 2, 1]);
        names.grow();
        assert_eq!(names.number_hashed(b"c", 7), Some(2));
    }

    proptest! {
        #[test]
        fn numbers_are_those_of_a_map(all in prop::collection::vec("[a-c]{0,4}", 0..200), cut in 0usize..200) {
            let mut map = HashMap::new();
            let expected: Vec<u32> = all.iter().map(|name| {
                let new = map.len() as u32;
                *map.entry(name.as_bytes()).or_insert(new)
            }).collect();
            let mut names = Names::default();
            let (mut numbers, mut looks) = (Vec::new(), Looks::default());
            let cut = cut.min(all.len());
            for part in [&all[..cut], &all[cut..]] {
                names.number_all(part.iter().map(String::as_bytes), &mut numbers, &mut looks).unwrap();
            }
            prop_assert_eq!(&numbers, &expected);
            prop_assert_eq!(names.len(), map.len());
            for (name, number) in all.iter().zip(expected) {
                prop_assert_eq!(names.number(name.as_bytes()), Some(number));
                prop_assert_eq!(names.name(number as usize), name.as_bytes());
            }
        }
    }
}
