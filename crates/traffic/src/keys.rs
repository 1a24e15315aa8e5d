//! Keys: their names, the dense numbers that stand for them, and how a pattern draws them.

use crate::TrafficError;
use crate::alias::Alias;
use crate::draw::Stream;
use crate::spec::{Keys, Pattern, Shape};
use rand::distr::Uniform;
use rand_distr::{Distribution, Zipf};
use std::collections::HashMap;

/// The names of all keys of a run. Equal names have one number, whichever source they come from.
///
/// Families `PREFIX-1` … `PREFIX-count` have the first numbers and cost no memory; other names follow as they appear.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeySpace {
    families: Vec<Family>,
    /// How many keys the families have together.
    in_families: u64,
    names: Vec<String>,
    numbers: HashMap<String, u64>,
}

#[derive(Clone, Debug)]
struct Family {
    prefix: String,
    count: u64,
    first: u64,
}

impl KeySpace {
    /// The families of all patterns; of equal prefixes the longest.
    pub fn new(patterns: &[Pattern]) -> Result<KeySpace, TrafficError> {
        let mut space = KeySpace::default();
        for pattern in patterns.iter().filter(|pattern| !matches!(pattern.shape, Shape::Trace(_))) {
            if let Keys::Many { prefix, count, .. } = &pattern.keys {
                match space.families.iter_mut().find(|family| family.prefix == *prefix) {
                    Some(family) => family.count = family.count.max(*count),
                    None => space.families.push(Family { prefix: prefix.clone(), count: *count, first: 0 }),
                }
            }
        }
        for family in &mut space.families {
            family.first = space.in_families;
            space.in_families = space
                .in_families
                .checked_add(family.count)
                .ok_or_else(|| TrafficError::new("`keys` of all patterns together are more than 2^64"))?;
        }
        Ok(space)
    }

    /// How many keys have a number.
    pub fn len(&self) -> u64 {
        self.in_families + self.names.len() as u64
    }

    /// The number of `name`, a new one if need be.
    pub fn number(&mut self, name: &str) -> u64 {
        if let Some(number) = self.in_family(name).or_else(|| self.numbers.get(name).copied()) {
            return number;
        }
        let number = self.len();
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    fn in_family(&self, name: &str) -> Option<u64> {
        let (prefix, digits) = name.rsplit_once('-')?;
        // `a-07` and `a-+7` parse as 7 but are other names.
        if digits.starts_with(['0', '+']) {
            return None;
        }
        let k: u64 = digits.parse().ok()?;
        let family = self.families.iter().find(|family| family.prefix == prefix)?;
        (k <= family.count).then(|| family.first + k - 1)
    }

    /// The name of a number; empty for one that was never handed out.
    pub fn name(&self, number: u64) -> String {
        match number.checked_sub(self.in_families) {
            Some(index) => self.names.get(index as usize).cloned().unwrap_or_default(),
            None => {
                let after = self.families.partition_point(|family| family.first <= number);
                // Families are never empty here: a count of 0 has been refused, and `number` is in one of them.
                self.families[..after]
                    .last()
                    .map_or_else(String::new, |family| format!("{}-{}", family.prefix, number - family.first + 1))
            }
        }
    }
}

/// Families up to this size are drawn from a table of 8 bytes a key; larger ones by rejection.
const TABLE: u64 = 1 << 22;

/// How a pattern draws its keys.
pub(crate) enum KeyDraw {
    /// Always this one.
    One(u64),
    /// Each as often as any other.
    Even { first: u64, within: Uniform<u64> },
    /// Key k with a share proportional to k^-zipf, in O(1) whatever the size.
    Table { first: u64, within: Alias },
    /// The same by rejection, for families whose table would not fit in memory.
    Reject { first: u64, count: u64, within: Zipf<f64> },
}

impl KeyDraw {
    pub fn new(keys: &Keys, space: &mut KeySpace) -> Result<KeyDraw, TrafficError> {
        let (prefix, count, zipf) = match keys {
            Keys::One(name) => return Ok(KeyDraw::One(space.number(name))),
            Keys::Many { prefix, count, zipf } => (prefix, *count, *zipf),
        };
        let wrong = || TrafficError::new(format!("`zipf` is {zipf}; it must be a finite number of at least 0"));
        if count == 0 {
            return Err(TrafficError::new("`keys` is 0; there must be at least 1"));
        }
        if !(zipf >= 0.0 && zipf.is_finite()) {
            return Err(wrong());
        }
        let first = space.number(&format!("{prefix}-1"));
        if zipf == 0.0 {
            return Ok(KeyDraw::Even { first, within: Uniform::new(0, count).map_err(|_| wrong())? });
        }
        if count <= TABLE {
            let weights = (1..=count).map(|k| (k as f64).powf(-zipf)).collect();
            return Ok(KeyDraw::Table { first, within: Alias::new(weights) });
        }
        Ok(KeyDraw::Reject { first, count, within: Zipf::new(count as f64, zipf).map_err(|_| wrong())? })
    }

    /// Appends `n` keys.
    pub fn fill(&self, rng: &mut Stream, key: &mut Vec<u64>, n: usize) {
        let draws = 0..n;
        match self {
            KeyDraw::One(number) => key.resize(key.len() + n, *number),
            KeyDraw::Even { first, within } => key.extend(draws.map(|_| first + within.sample(rng))),
            KeyDraw::Table { first, within } => key.extend(draws.map(|_| first + within.draw(rng))),
            KeyDraw::Reject { first, count, within } => {
                key.extend(draws.map(|_| first + (within.sample(rng) as u64).clamp(1, *count) - 1));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::stream;
    use crate::spec::Amount;

    fn many(prefix: &str, count: u64, zipf: f64) -> Keys {
        Keys::Many { prefix: prefix.into(), count, zipf }
    }

    fn space(keys: &[Keys]) -> KeySpace {
        let pattern = |keys: &Keys| Pattern {
            shape: Shape::Burst { at: 0, requests: 1, spread: 0, every: None },
            keys: keys.clone(),
            cost: Amount::Constant(1),
            input_tokens: None,
            output_tokens: None,
            price: None,
        };
        KeySpace::new(&keys.iter().map(pattern).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn equal_names_are_one_key() {
        let mut space = space(&[many("user", 3, 0.0), many("a-1", 2, 0.0), many("user", 5, 1.0)]);
        assert_eq!(space.len(), 7);
        let names: Vec<String> = (0..7).map(|number| space.name(number)).collect();
        assert_eq!(names, ["user-1", "user-2", "user-3", "user-4", "user-5", "a-1-1", "a-1-2"]);
        for (number, name) in names.iter().enumerate() {
            assert_eq!(space.number(name), number as u64);
        }
        for (number, name) in ["user-6", "user-0", "user-03", "user-+3", "user", "", "a-1"].iter().enumerate() {
            assert_eq!(space.number(name), 7 + number as u64);
            assert_eq!(space.number(name), 7 + number as u64);
            assert_eq!(space.name(7 + number as u64), *name);
        }
    }

    /// Frequencies of the first keys against k^-zipf / Σ, within five standard deviations.
    fn frequencies(draw: &KeyDraw, count: u64, zipf: f64) {
        const N: usize = 1_000_000;
        let mut drawn = Vec::new();
        draw.fill(&mut stream(5, "test", 0, "keys"), &mut drawn, N);
        assert!(drawn.iter().all(|key| *key < count));
        let sum: f64 = (1..=count).map(|k| (k as f64).powf(-zipf)).sum();
        for k in [1, 2, 3, 10, 100].into_iter().filter(|k| *k <= count) {
            let share = (k as f64).powf(-zipf) / sum;
            let seen = drawn.iter().filter(|key| **key == k - 1).count() as f64;
            let deviation = (N as f64 * share * (1.0 - share)).sqrt();
            assert!(
                (seen - N as f64 * share).abs() < 5.0 * deviation + 1e-9,
                "key {k} of {count}: {seen}, not {share}"
            );
        }
    }

    #[test]
    fn shares_follow_zipf() {
        for (count, zipf) in [(1, 0.0), (1, 0.99), (10, 0.0), (1000, 0.99), (100_000, 1.0), (1000, 2.5)] {
            let keys = many("k", count, zipf);
            frequencies(&KeyDraw::new(&keys, &mut space(std::slice::from_ref(&keys))).unwrap(), count, zipf);
        }
        let large = many("k", TABLE + 1, 1.2);
        let draw = KeyDraw::new(&large, &mut space(std::slice::from_ref(&large))).unwrap();
        assert!(matches!(draw, KeyDraw::Reject { .. }));
        frequencies(&draw, TABLE + 1, 1.2);
    }

    #[test]
    fn no_keys_and_no_exponent_are_refused() {
        for keys in [many("k", 0, 0.0), many("k", 5, -1.0), many("k", 5, f64::NAN), many("k", 5, f64::INFINITY)] {
            assert!(KeyDraw::new(&keys, &mut space(std::slice::from_ref(&keys))).is_err());
        }
    }
}
