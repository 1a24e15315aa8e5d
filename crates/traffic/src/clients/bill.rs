//! What a call comes to: micro-dollars and tokens of one call, from its cost model and the number of its turn.

use crate::clients::spec::Cost;
use crate::clients::{Law, Price};
use crate::draw::Numbered;
use crate::prices::Tokens;

/// What one call comes to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paid {
    /// Micro-dollars, rounded to the nearest once a call, halves up.
    pub microusd: u64,
    /// Tokens sent.
    pub input: u64,
    /// Tokens received.
    pub output: u64,
    /// Tokens read from a cache; not part of `input`.
    pub cache_read: u64,
    /// Tokens written to a cache; not part of `input`.
    pub cache_write: u64,
}

impl std::ops::Add for Paid {
    type Output = Paid;

    fn add(self, other: Paid) -> Paid {
        Paid {
            microusd: self.microusd.saturating_add(other.microusd),
            input: self.input.saturating_add(other.input),
            output: self.output.saturating_add(other.output),
            cache_read: self.cache_read.saturating_add(other.cache_read),
            cache_write: self.cache_write.saturating_add(other.cache_write),
        }
    }
}

/// A cost model ready to charge. A growing context is the caller's to keep: one number for each agent, 0 at its start.
#[derive(Clone, Debug)]
pub enum Bill {
    /// Micro-dollars by a law.
    Money(Law),
    /// Tokens by laws, at a price.
    Tokens {
        /// Tokens sent, received, and read from a cache.
        laws: [Law; 3],
        /// Their price.
        price: Price,
    },
    /// See [`Cost::Context`].
    Context {
        /// Tokens at the start, new each turn, received each turn, at which it is compacted, and to which.
        tokens: [u64; 5],
        /// The price of a token.
        price: Price,
    },
}

impl Bill {
    /// The bill of a cost model.
    pub fn new(cost: &Cost) -> Bill {
        match cost {
            Cost::Free => Bill::Money(Law::Constant(0)),
            Cost::Money(amount) => Bill::Money(Law::new(amount)),
            Cost::Tokens { input, output, cache_read, price } => {
                Bill::Tokens { laws: [input, output, cache_read].map(Law::new), price: price.clone() }
            }
            Cost::Context { base, grows, output, compact_at, compact_to, price } => {
                Bill::Context { tokens: [*base, *grows, *output, *compact_at, *compact_to], price: price.clone() }
            }
        }
    }

    /// What the call of turn `n` comes to. `context` is the agent's context before it, and grows.
    pub fn of(&self, draws: Numbered, n: u64, context: &mut u64) -> Paid {
        match self {
            Bill::Money(Law::Constant(microusd)) => Paid { microusd: *microusd, ..Paid::default() },
            Bill::Money(law) => Paid { microusd: law.at(draws.bits(n)), ..Paid::default() },
            Bill::Tokens { laws, price } => {
                let bits = |kind: u64| draws.bits(n.wrapping_mul(4).wrapping_add(kind));
                let [input, output, cache_read] = [0, 1, 2].map(|kind| laws[kind as usize].at(bits(kind)));
                priced(Paid { input, output, cache_read, ..Paid::default() }, price)
            }
            Bill::Context { tokens: [base, grows, output, compact_at, compact_to], price } => {
                *context = if *context == 0 { *base } else { context.saturating_add(*grows) };
                if *context > *compact_at {
                    *context = *compact_to;
                }
                let new = (*grows).min(*context);
                let paid = Paid { output: *output, cache_read: *context - new, cache_write: new, ..Paid::default() };
                priced(paid, price)
            }
        }
    }

    /// The most that a call can come to, in micro-dollars; `None` where nothing bounds it.
    pub fn most(&self) -> Option<u64> {
        match self {
            Bill::Money(law) => law.most(),
            Bill::Tokens { laws: [input, output, cache_read], price } => {
                let (input, output, cache_read) = (input.most()?, output.most()?, cache_read.most()?);
                Some(priced(Paid { input, output, cache_read, ..Paid::default() }, price).microusd)
            }
            Bill::Context { tokens: [base, grows, output, compact_at, compact_to], price } => {
                let longest = *(compact_at.max(base).max(compact_to));
                let new = (*grows).min(longest);
                let paid = Paid { output: *output, cache_read: longest, cache_write: new, ..Paid::default() };
                Some(priced(paid, price).microusd)
            }
        }
    }
}

fn priced(paid: Paid, price: &Price) -> Paid {
    let Paid { input, output, cache_read, cache_write, .. } = paid;
    let microusd = price.microusd(&Tokens { input, output, cache_read, cache_write, cache_write_hour: 0 });
    Paid { microusd, ..paid }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clients::price;
    use crate::spec::Amount;

    fn draws() -> Numbered {
        Numbered::new(0, "test", 0, "cost")
    }

    #[test]
    fn three_calls_with_a_cached_prefix() {
        // 150 tokens sent, 50 received, 11,950 from the cache at 3, 15 and 0.30 dollars a million: $0.004785.
        let cost = Cost::Tokens {
            input: Amount::Constant(150),
            output: Amount::Constant(50),
            cache_read: Amount::Constant(11_950),
            price: price("claude-sonnet").unwrap().clone(),
        };
        let paid = Bill::new(&cost).of(draws(), 0, &mut 0);
        assert_eq!((paid.microusd, paid.microusd * 3), (4_785, 14_355));
    }

    #[test]
    fn a_context_grows_and_is_compacted() {
        let (base, grows, output, compact_at, compact_to) = (20_000, 1_750, 252, 200_000, 25_000);
        let price = price("claude-sonnet").unwrap().clone();
        let bill = Bill::new(&Cost::Context { base, grows, output, compact_at, compact_to, price });
        let mut context = 0;
        let first = bill.of(draws(), 0, &mut context);
        // 18,250 read at 0.30, 1,750 written at 3.75, 252 received at 15: $0.005475 + $0.0065625 + $0.00378.
        assert_eq!((context, first.microusd), (20_000, 15_818));
        let all: Vec<u64> = (1..400).map(|n| bill.of(draws(), n, &mut context).microusd).collect();
        assert!(all.iter().all(|&paid| paid <= bill.most().unwrap()) && context <= 200_000);
        // 20,000 + 102 · 1,750 is the last context below the mark; the next turn starts again from 25,000.
        assert!(all[100] < all[101] && all[102] < all[101] / 3, "compacted");
        // From there 100 turns more are exactly at the mark, which is not above it.
        assert_eq!(all.iter().max(), Some(&all[202]));
    }

    #[test]
    fn money_is_drawn_by_the_number_of_the_turn() {
        let bill = Bill::new(&Cost::Money(Amount::Lognormal { median: 70_000.0, p90: 200_000.0, max: None }));
        assert_eq!(bill.of(draws(), 7, &mut 0), bill.of(draws(), 7, &mut 0));
        assert_ne!(bill.of(draws(), 7, &mut 0), bill.of(draws(), 8, &mut 0));
        assert_eq!(bill.most(), None);
    }
}
