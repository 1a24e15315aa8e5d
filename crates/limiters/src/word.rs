//! The integer a scaled limiter counts in: `i64` where it fits, `i128` elsewhere.

use crate::Nanos;
use std::fmt::Debug;
use std::ops::{Add, Sub};

/// A signed integer for amounts in units of `1/P` permits. Algorithms are generic over it, so that the usual rates run on
/// 64 bits and unusual ones (a day's window with a coprime limit, say) stay exact on 128.
pub trait Word: Copy + Ord + Debug + Default + Add<Output = Self> + Sub<Output = Self> + Send + Sync + 'static {
    /// Zero.
    const ZERO: Self;
    /// The largest scaled capacity this word takes. It leaves room for a debt of thousands of capacities before
    /// [`Word::clamped`] would have to stop it.
    const MAX_CAPACITY: i128;

    /// `value`, or the nearest one that leaves room to add or subtract a capacity: half the range.
    fn clamped(value: i128) -> Self;

    /// `time * rate`, stopping at the largest value.
    fn product(time: u64, rate: u64) -> Self;

    /// The same value in the widest word.
    fn wide(self) -> i128;

    /// `self / rate` rounded up, in nanoseconds: how long a rate takes for this amount. 0 for what is not above 0, and the
    /// end of [`Nanos`] for what takes longer.
    fn over(self, rate: u64) -> Nanos;

    /// This amount and `permits` of `per` units each, clamped.
    fn plus(self, permits: u64, per: u64) -> Self {
        Self::clamped(self.wide().saturating_add(i128::from(permits).saturating_mul(per.into())))
    }

    /// This amount less `permits` of `per` units each, clamped.
    fn minus(self, permits: u64, per: u64) -> Self {
        Self::clamped(self.wide().saturating_sub(i128::from(permits).saturating_mul(per.into())))
    }
}

impl Word for i64 {
    const ZERO: i64 = 0;
    const MAX_CAPACITY: i128 = 1 << 50;

    #[inline]
    fn clamped(value: i128) -> i64 {
        value.clamp((i64::MIN / 2).into(), (i64::MAX / 2).into()) as i64
    }

    #[inline]
    fn product(time: u64, rate: u64) -> i64 {
        (u128::from(time) * u128::from(rate)).min(i64::MAX as u128) as i64
    }

    #[inline]
    fn wide(self) -> i128 {
        self.into()
    }

    #[inline]
    fn over(self, rate: u64) -> Nanos {
        // A rate of 1 in 1/P permits is the common case (a whole number of nanoseconds a permit) and needs no division.
        let amount = self.max(0) as u64;
        if rate == 1 { amount } else { amount.div_ceil(rate) }
    }
}

impl Word for i128 {
    const ZERO: i128 = 0;
    const MAX_CAPACITY: i128 = 1 << 112;

    #[inline]
    fn clamped(value: i128) -> i128 {
        value.clamp(i128::MIN / 2, i128::MAX / 2)
    }

    #[inline]
    fn product(time: u64, rate: u64) -> i128 {
        (u128::from(time) * u128::from(rate)).min(i128::MAX as u128) as i128
    }

    #[inline]
    fn wide(self) -> i128 {
        self
    }

    #[inline]
    fn over(self, rate: u64) -> Nanos {
        (self.max(0) as u128).div_ceil(rate.into()).try_into().unwrap_or(Nanos::MAX)
    }
}
