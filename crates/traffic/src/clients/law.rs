//! A distribution whose draws are asked for by number: one uniform draw in, one whole amount out.

use crate::spec::Amount;

/// The 90th percentile of the standard normal distribution.
const Z90: f64 = 1.281_551_565_544_600_4;

/// A distribution ready to draw from. Amounts are what [`Amount`] says; a draw that no `u64` holds becomes the largest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Always this.
    Constant(u64),
    /// Evenly from the first to the sum of both.
    Uniform(u64, u64),
    /// exp(μ + σ·Z), at most the last.
    Lognormal(f64, f64, u64),
    /// Exponential with this mean, at most the last.
    Exponential(f64, u64),
    /// Pareto with this smallest value and 1/exponent, at most the last.
    Pareto(f64, f64, u64),
}

impl Law {
    /// The law of `amount`.
    pub fn new(amount: &Amount) -> Law {
        let most = |max: Option<u64>| max.unwrap_or(u64::MAX);
        match *amount {
            Amount::Constant(value) => Law::Constant(value),
            Amount::Uniform { min, max } => Law::Uniform(min, max.saturating_sub(min)),
            Amount::Lognormal { median, p90, max } => Law::Lognormal(median.ln(), (p90 / median).ln() / Z90, most(max)),
            Amount::Exponential { mean, max } => Law::Exponential(mean, most(max)),
            Amount::Pareto { min, shape, max } => Law::Pareto(min, 1.0 / shape, most(max)),
        }
    }

    /// The amount that belongs to 64 random bits.
    #[inline]
    pub fn at(&self, bits: u64) -> u64 {
        match *self {
            Law::Constant(value) => value,
            Law::Uniform(min, spread) => min + share(bits, spread),
            Law::Lognormal(mu, sigma, most) => whole((mu + sigma * normal(unit(bits))).exp(), most),
            Law::Exponential(mean, most) => whole(-unit(bits).ln() * mean, most),
            Law::Pareto(min, power, most) => whole(min * unit(bits).powf(-power), most),
        }
    }

    /// The largest amount there can be; `None` where there is none.
    pub fn most(&self) -> Option<u64> {
        match *self {
            Law::Constant(value) => Some(value),
            Law::Uniform(min, spread) => Some(min + spread),
            Law::Lognormal(.., most) | Law::Exponential(_, most) | Law::Pareto(.., most) => {
                (most != u64::MAX).then_some(most)
            }
        }
    }
}

/// A whole number from 0 to `most`, both included, evenly from 64 random bits (Lemire's multiplication, "Fast random integer
/// generation in an interval", 2019, without its rejection: the bias is below most/2^64).
#[inline]
pub fn share(bits: u64, most: u64) -> u64 {
    ((u128::from(bits) * (u128::from(most) + 1)) >> 64) as u64
}

/// A number above 0 and below 1: the middle of one of 2^52 equal steps, all of which a float can hold.
#[inline]
fn unit(bits: u64) -> f64 {
    ((bits >> 12) as f64 + 0.5) * (1.0 / (1u64 << 52) as f64)
}

fn whole(real: f64, most: u64) -> u64 {
    // Halves go up; conversion to an integer saturates.
    ((real + 0.5) as u64).min(most)
}

/// The quantile of the standard normal distribution by Wichura's rational functions (Algorithm AS 241, PPND16, Applied
/// Statistics 37, 1988): about 16 digits, and one draw for each value, which rejection methods cannot promise.
fn normal(p: f64) -> f64 {
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        let r = 0.180625 - q * q;
        return q * ratio(r, &CENTRE_ABOVE, &CENTRE_BELOW);
    }
    let r = (-(if q < 0.0 { p } else { 1.0 - p }).ln()).sqrt();
    let value =
        if r <= 5.0 { ratio(r - 1.6, &MIDDLE_ABOVE, &MIDDLE_BELOW) } else { ratio(r - 5.0, &TAIL_ABOVE, &TAIL_BELOW) };
    if q < 0.0 { -value } else { value }
}

#[inline]
fn ratio(r: f64, above: &[f64; 8], below: &[f64; 8]) -> f64 {
    let horner = |series: &[f64; 8]| series.iter().rev().fold(0.0, |sum, term| sum * r + term);
    horner(above) / horner(below)
}

const CENTRE_ABOVE: [f64; 8] = [
    3.387_132_872_796_366_5,
    1.331_416_678_917_843_8e2,
    1.971_590_950_306_551_3e3,
    1.373_169_376_550_946e4,
    4.592_195_393_154_987e4,
    6.726_577_092_700_87e4,
    3.343_057_558_358_813e4,
    2.509_080_928_730_122_7e3,
];
const CENTRE_BELOW: [f64; 8] = [
    1.0,
    4.231_333_070_160_091e1,
    6.871_870_074_920_579e2,
    5.394_196_021_424_751e3,
    2.121_379_430_158_659_7e4,
    3.930_789_580_009_271e4,
    2.872_908_573_572_194_3e4,
    5.226_495_278_852_545e3,
];
const MIDDLE_ABOVE: [f64; 8] = [
    1.423_437_110_749_683_5,
    4.630_337_846_156_546,
    5.769_497_221_460_691,
    3.647_848_324_763_204_5,
    1.270_458_252_452_368_4,
    2.417_807_251_774_506e-1,
    2.272_384_498_926_918_4e-2,
    7.745_450_142_783_414e-4,
];
const MIDDLE_BELOW: [f64; 8] = [
    1.0,
    2.053_191_626_637_759,
    1.676_384_830_183_803_8,
    6.897_673_349_851e-1,
    1.481_039_764_274_800_8e-1,
    1.519_866_656_361_645_7e-2,
    5.475_938_084_995_345e-4,
    1.050_750_071_644_416_9e-9,
];
const TAIL_ABOVE: [f64; 8] = [
    6.657_904_643_501_103,
    5.463_784_911_164_114,
    1.784_826_539_917_291_3,
    2.965_605_718_285_048_7e-1,
    2.653_218_952_657_612_4e-2,
    1.242_660_947_388_078_4e-3,
    2.711_555_568_743_487_6e-5,
    2.010_334_399_292_288_1e-7,
];
const TAIL_BELOW: [f64; 8] = [
    1.0,
    5.998_322_065_558_88e-1,
    1.369_298_809_227_358e-1,
    1.487_536_129_085_061_5e-2,
    7.868_691_311_456_133e-4,
    1.846_318_317_510_054_8e-5,
    1.421_511_758_316_446e-7,
    2.044_263_103_389_939_8e-15,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Numbered;

    #[test]
    fn quantiles_of_the_normal_distribution() {
        for (p, right) in [
            (0.5, 0.0),
            (0.9, Z90),
            (0.1, -Z90),
            (0.975, 1.959_963_984_540_054),
            (1e-6, -4.753_424_308_822_899),
            (1e-20, -9.262_340_089_798_408),
        ] {
            assert!((normal(p) - right).abs() < 1e-12, "{p}: {} is not {right}", normal(p));
        }
    }

    #[test]
    fn laws_are_what_they_are_called() {
        let draws = Numbered::new(7, "test", 0, "law");
        let n = 200_000;
        let share_up_to = |amount: Amount, value: u64| {
            let law = Law::new(&amount);
            (0..n).filter(|&i| law.at(draws.bits(i)) <= value).count() as f64 / n as f64
        };
        let close = |seen: f64, right: f64| {
            assert!((seen - right).abs() < 5.0 * (right * (1.0 - right) / n as f64).sqrt(), "{seen}, not {right}");
        };
        let spread = Amount::Lognormal { median: 1e6, p90: 8e6, max: None };
        close(share_up_to(spread.clone(), 1_000_000), 0.5);
        close(share_up_to(spread, 8_000_000), 0.9);
        close(share_up_to(Amount::Uniform { min: 10, max: 19 }, 12), 0.3);
        close(share_up_to(Amount::Exponential { mean: 1e6, max: None }, 1_000_000), 1.0 - (-1f64).exp());
        close(share_up_to(Amount::Pareto { min: 1e3, shape: 2.0, max: None }, 2_000), 0.75);
        assert_eq!(Law::new(&Amount::Lognormal { median: 5.0, p90: 9.0, max: Some(3) }).at(u64::MAX), 3);
    }

    #[test]
    fn whole_shares_reach_both_ends() {
        assert_eq!((share(0, 9), share(u64::MAX, 9), share(u64::MAX, u64::MAX)), (0, 9, u64::MAX));
    }
}
