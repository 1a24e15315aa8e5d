//! Draws from a fixed list of weights in O(1): the alias method (Walker, 1977; tables as Vose builds them, 1991).
//!
//! Every one of n slots has a share of 1/n, split at a threshold between the slot's own index and one other, its alias. One 64-bit
//! draw picks the slot with its high part and the side with its low part, so a draw is one multiplication and one load of 8
//! bytes, and no branch that cannot be predicted. The tables of `rand_distr` are the same thing in two arrays, two draws and
//! a branch, which took three times as long here. Shares are exact to 2⁻³² of 1/n.

use rand_xoshiro::rand_core::Rng;

pub(crate) struct Alias {
    slots: Vec<Slot>,
}

#[derive(Clone, Copy)]
struct Slot {
    /// The slot's own index is drawn below this, in units of 2⁻³².
    own: u32,
    other: u32,
}

impl Alias {
    /// `weights` are finite, at least 0 and not all 0; there are from 1 to 2³² − 1 of them. Takes O(n).
    pub fn new(weights: Vec<f64>) -> Alias {
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        let mut share: Vec<f64> = weights.into_iter().map(|weight| weight / mean).collect();
        // A slot that stays as it is here is wholly its own, whatever the draw.
        let mut slots: Vec<Slot> = (0..share.len() as u32).map(|index| Slot { own: 0, other: index }).collect();
        let (mut poor, mut rich): (Vec<u32>, Vec<u32>) =
            (0..share.len() as u32).partition(|i| share[*i as usize] < 1.0);
        while let (Some(&small), Some(&large)) = (poor.last(), rich.last()) {
            poor.pop();
            slots[small as usize] = Slot { own: (share[small as usize] * 4_294_967_296.0) as u32, other: large };
            share[large as usize] -= 1.0 - share[small as usize];
            if share[large as usize] < 1.0 {
                rich.pop();
                poor.push(large);
            }
        }
        Alias { slots }
    }

    /// An index, with a probability proportional to its weight.
    #[inline]
    pub fn draw(&self, rng: &mut impl Rng) -> u64 {
        let wide = u128::from(rng.next_u64()) * self.slots.len() as u128;
        let (index, side) = ((wide >> 64) as u64, (wide >> 32) as u32);
        let slot = self.slots[index as usize];
        if side < slot.own { index } else { u64::from(slot.other) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::stream;

    /// The share of each index that the slots add up to.
    fn shares(alias: &Alias) -> Vec<f64> {
        let mut shares = vec![0.0; alias.slots.len()];
        for (index, slot) in alias.slots.iter().enumerate() {
            let own = f64::from(slot.own) / 4_294_967_296.0;
            shares[index] += own / alias.slots.len() as f64;
            shares[slot.other as usize] += (1.0 - own) / alias.slots.len() as f64;
        }
        shares
    }

    #[test]
    fn slots_add_up_to_the_weights() {
        let zipf = |n: u32, s: f64| (1..=n).map(|k| f64::from(k).powf(-s)).collect::<Vec<_>>();
        for weights in [vec![3.0], vec![1.0, 0.0, 5.0], vec![1.0; 7], zipf(1000, 0.99), zipf(100_000, 2.5)] {
            let sum: f64 = weights.iter().sum();
            for (index, share) in shares(&Alias::new(weights.clone())).into_iter().enumerate() {
                assert!((share - weights[index] / sum).abs() < 1e-9, "{index} of {}", weights.len());
            }
        }
    }

    #[test]
    fn what_weighs_nothing_is_never_drawn() {
        let alias = Alias::new(vec![0.0, 1.0, 0.0, 3.0]);
        let mut rng = stream(1, "test", 0, "alias");
        let mut seen = [0; 4];
        (0..100_000).for_each(|_| seen[alias.draw(&mut rng) as usize] += 1);
        assert_eq!((seen[0], seen[2]), (0, 0));
        assert!((f64::from(seen[1]) - 25_000.0).abs() < 5.0 * (100_000.0f64 * 0.1875).sqrt());
    }
}
