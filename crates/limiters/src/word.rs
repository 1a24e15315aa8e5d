//! The integer a scaled limiter counts in: `i64` where it fits, `i128` elsewhere.

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

    /// `value`, or the nearest representable one.
    fn clamped(value: i128) -> Self;

    /// `time * rate`, stopping at the largest value.
    fn product(time: u64, rate: u64) -> Self;

    /// The same value in the widest word.
    fn wide(self) -> i128;
}

impl Word for i64 {
    const ZERO: i64 = 0;
    const MAX_CAPACITY: i128 = 1 << 50;

    #[inline]
    fn clamped(value: i128) -> i64 {
        value.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }

    #[inline]
    fn product(time: u64, rate: u64) -> i64 {
        (u128::from(time) * u128::from(rate)).min(i64::MAX as u128) as i64
    }

    #[inline]
    fn wide(self) -> i128 {
        self.into()
    }
}

impl Word for i128 {
    const ZERO: i128 = 0;
    const MAX_CAPACITY: i128 = 1 << 112;

    #[inline]
    fn clamped(value: i128) -> i128 {
        value
    }

    #[inline]
    fn product(time: u64, rate: u64) -> i128 {
        (u128::from(time) * u128::from(rate)).min(i128::MAX as u128) as i128
    }

    #[inline]
    fn wide(self) -> i128 {
        self
    }
}
