//! A hash table of small states: key and state side by side, four of them to a cache line, so that an answer waits for one.
//!
//! Open addressing by lines: an entry lives in the line its hash names or, when that is full, in the next one with a free place. A line's
//! four keys are compared without a branch, since where in it a key lies cannot be guessed. After it has grown a table is between 53 and
//! 80 % full, so an entry of 16 bytes costs 20 to 30. Free places hold the key `K::default()`; the entry of that key itself is kept
//! apart. Nothing is removed but by [`retain`](Table::retain), which lays the table out anew.
//!
//! The standard library's map reads a byte of another line first and doubles when it is 7/8 full. Where a million keys are asked in
//! no order, an answer costs the lines and pages it waits for and the branches that were guessed wrong, and little else.

use std::mem;

/// Keys with their states. The caller hashes.
#[derive(Clone, Debug)]
pub(crate) struct Table<K, S> {
    lines: Vec<Line<K, S>>,
    /// Entries in `lines`.
    filled: usize,
    /// The entry of `K::default()`.
    of_default: Option<S>,
}

/// Places that are looked at together: one cache line where key and state take 16 bytes.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Line<K, S>([(K, S); PLACES]);

const PLACES: usize = 4;

/// Lines of the smallest table.
const LEAST: usize = 2;

/// The highest bits of a spread hash, which pick a shard and no place in it.
pub(crate) const SHARD_BITS: u32 = 16;

/// Spreads a hash whose high bits may all be alike, as those of small integers that hash to themselves.
#[inline]
pub(crate) fn spread(hash: u64) -> u64 {
    // 2^64 over the golden ratio (Knuth, "The Art of Computer Programming" 3, section 6.4).
    hash.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl<K: Eq, S> Line<K, S> {
    /// The first place with this key; `PLACES` or more when there is none.
    #[inline]
    fn place(&self, key: &K) -> usize {
        let bits =
            self.0.iter().enumerate().fold(0u32, |bits, (place, (here, _))| bits | u32::from(here == key) << place);
        bits.trailing_zeros() as usize
    }
}

impl<K: Eq + Default, S: Default> Table<K, S> {
    pub fn new() -> Table<K, S> {
        Table { lines: empty(LEAST), filled: 0, of_default: None }
    }

    pub fn len(&self) -> usize {
        self.filled + usize::from(self.of_default.is_some())
    }

    /// Where the search for a key of this [spread] hash begins: its low bits scaled to the number of lines.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        ((u128::from(hash << SHARD_BITS) * self.lines.len() as u128) >> 64) as usize
    }

    /// The line and place of `key`, or else the free one that it would take. The key is not `K::default()`.
    #[inline]
    fn find(&self, hash: u64, key: &K) -> Result<(usize, usize), (usize, usize)> {
        let home = self.home(hash);
        match self.lines[home].place(key) {
            place @ 0..PLACES => Ok((home, place)),
            _ => self.find_on(home, key),
        }
    }

    /// The search from a line on that does not have the key. There is a free place somewhere.
    fn find_on(&self, mut line: usize, key: &K) -> Result<(usize, usize), (usize, usize)> {
        loop {
            let free = self.lines[line].place(&K::default());
            if free < PLACES {
                return Err((line, free));
            }
            line = if line + 1 == self.lines.len() { 0 } else { line + 1 };
            let place = self.lines[line].place(key);
            if place < PLACES {
                return Ok((line, place));
            }
        }
    }

    #[inline]
    pub fn get(&self, hash: u64, key: &K) -> Option<&S> {
        if *key == K::default() {
            return self.of_default.as_ref();
        }
        self.find(hash, key).ok().map(|(line, place)| &self.lines[line].0[place].1)
    }

    #[inline]
    pub fn get_mut(&mut self, hash: u64, key: &K) -> Option<&mut S> {
        if *key == K::default() {
            return self.of_default.as_mut();
        }
        self.find(hash, key).ok().map(|(line, place)| &mut self.lines[line].0[place].1)
    }

    /// Adds a key that is not there. Amortised O(1); `hash_of` is asked when the table grows.
    pub fn insert(&mut self, hash: u64, key: K, state: S, hash_of: impl Fn(&K) -> u64) {
        if key == K::default() {
            self.of_default = Some(state);
            return;
        }
        if self.filled >= self.lines.len() * PLACES * 4 / 5 {
            self.lay_out(self.lines.len() + self.lines.len() / 2, |_| true, hash_of);
        }
        self.put(hash, key, state);
    }

    fn put(&mut self, hash: u64, key: K, state: S) {
        if let Err((line, place)) = self.find(hash, &key) {
            self.lines[line].0[place] = (key, state);
            self.filled += 1;
        }
    }

    /// All states, in no order.
    pub fn states(&self) -> impl Iterator<Item = &S> {
        let kept = self.lines.iter().flat_map(|line| &line.0).filter(|(key, _)| *key != K::default());
        self.of_default.iter().chain(kept.map(|(_, state)| state))
    }

    /// Removes the states for which `keep` does not hold, and the room they took beyond as much again as the others take.
    pub fn retain(&mut self, keep: impl Fn(&S) -> bool, hash_of: impl Fn(&K) -> u64) {
        self.of_default = self.of_default.take().filter(|state| keep(state));
        let left = self.states().filter(|state| keep(state)).count();
        let lines = (2 * left).div_ceil(PLACES).max(LEAST);
        self.lay_out(self.lines.len().min(lines), keep, hash_of);
    }

    /// Moves what `keep` holds for to a table of so many lines, which it fits.
    fn lay_out(&mut self, lines: usize, keep: impl Fn(&S) -> bool, hash_of: impl Fn(&K) -> u64) {
        let old = mem::replace(&mut self.lines, empty(lines));
        self.filled = 0;
        for (key, state) in old.into_iter().flat_map(|line| line.0) {
            if key != K::default() && keep(&state) {
                self.put(hash_of(&key), key, state);
            }
        }
    }
}

fn empty<K: Default, S: Default>(lines: usize) -> Vec<Line<K, S>> {
    let mut empty = Vec::with_capacity(lines);
    empty.resize_with(lines, || Line(Default::default()));
    empty
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    /// A poor hash as much as a good one: what a table says is what a map says.
    #[test]
    fn as_a_map() {
        for hash_of in [|key: &u64| spread(crate::hash::mix(*key)), |key: &u64| spread(*key), |_: &u64| 7] {
            let (mut table, mut map) = (Table::<u64, u64>::new(), HashMap::new());
            for step in 0..4_000u64 {
                let key = crate::hash::mix(step) % 300;
                let hash = hash_of(&key);
                assert_eq!(table.get(hash, &key), map.get(&key));
                match table.get_mut(hash, &key) {
                    Some(state) => {
                        *state += 1;
                        *map.get_mut(&key).unwrap() += 1;
                    }
                    None => {
                        table.insert(hash, key, step, hash_of);
                        map.insert(key, step);
                    }
                }
                if step % 700 == 699 {
                    table.retain(|state| state % 3 != 0, hash_of);
                    map.retain(|_, state| *state % 3 != 0);
                }
                assert_eq!(table.len(), map.len());
            }
            let (mut states, mut right): (Vec<_>, Vec<_>) =
                (table.states().copied().collect(), map.values().copied().collect());
            states.sort_unstable();
            right.sort_unstable();
            assert_eq!(states, right);
            assert!((0..300).all(|key| table.get(hash_of(&key), &key) == map.get(&key)));
        }
    }

    #[test]
    fn an_entry_of_16_bytes_costs_at_most_36() {
        let hash_of = |key: &u64| spread(crate::hash::mix(*key));
        let mut table = Table::<u64, u64>::new();
        for key in 0..100_000 {
            table.insert(hash_of(&key), key, key, hash_of);
            let bytes = table.lines.capacity() * 64;
            assert!(key < 50 || bytes <= 36 * table.len(), "{bytes} bytes for {} keys", table.len());
        }
        table.retain(|state| *state < 1_000, hash_of);
        assert_eq!(table.len(), 1_000);
        assert!(table.lines.capacity() * 64 <= 36 * table.len());
    }
}
