//! Amounts: how many permits, tokens or micro-dollars each request has.

use crate::TrafficError;
use crate::draw::Stream;
use crate::spec::Amount;
use rand::distr::Uniform;
use rand_distr::{Distribution, Exp1, LogNormal, Pareto};

/// The 90th percentile of the standard normal distribution.
const Z90: f64 = 1.281_551_565_544_600_4;

/// One column of amounts with its own stream.
pub(crate) struct AmountDraw {
    law: Law,
    /// Draws below and above count as these.
    least: u64,
    most: u64,
    rng: Stream,
}

enum Law {
    Constant(u64),
    Uniform(Uniform<u64>),
    Lognormal(LogNormal<f64>),
    Exponential(f64),
    Pareto(Pareto<f64>),
}

impl AmountDraw {
    /// `name` is what the amount is called in errors; `least` is 1 where a request cannot have nothing, else 0.
    pub fn new(amount: &Amount, name: &str, least: u64, rng: Stream) -> Result<AmountDraw, TrafficError> {
        let above_zero = |field: &str, value: f64| {
            if value > 0.0 && value.is_finite() {
                return Ok(value);
            }
            Err(TrafficError::new(format!("`{field}` of `{name}` is {value}; it must be finite and above 0")))
        };
        let invalid =
            |_| TrafficError::new(format!("`{name}` is not a distribution that can be drawn from: {amount:?}"));
        let (law, most) = match *amount {
            Amount::Constant(value) => (Law::Constant(value), None),
            Amount::Uniform { min, max } => {
                let law = Uniform::new_inclusive(min, max)
                    .map_err(|_| TrafficError::new(format!("`min` of `{name}` is {min}, above its `max` ({max})")))?;
                (Law::Uniform(law), None)
            }
            Amount::Lognormal { median, p90, max } => {
                let (median, p90) = (above_zero("median", median)?, above_zero("p90", p90)?);
                if p90 < median {
                    return Err(TrafficError::new(format!(
                        "`p90` of `{name}` is {p90}, below its `median` ({median})"
                    )));
                }
                let law = LogNormal::new(median.ln(), (p90 / median).ln() / Z90).map_err(|_| invalid(()))?;
                (Law::Lognormal(law), max)
            }
            Amount::Exponential { mean, max } => (Law::Exponential(above_zero("mean", mean)?), max),
            Amount::Pareto { min, shape, max } => {
                let law = Pareto::new(above_zero("min", min)?, above_zero("shape", shape)?).map_err(|_| invalid(()))?;
                (Law::Pareto(law), max)
            }
        };
        let most = most.unwrap_or(u64::MAX);
        if most < least {
            return Err(TrafficError::new(format!("`max` of `{name}` is {most}; it must be at least {least}")));
        }
        Ok(AmountDraw { law, least, most, rng })
    }

    /// Appends `n` amounts.
    pub fn fill(&mut self, column: &mut Vec<u64>, n: usize) {
        let (least, most, rng) = (self.least, self.most, &mut self.rng);
        // Halves go up; conversion to an integer saturates, and the clamp follows it.
        let whole = |real: f64| ((real + 0.5) as u64).clamp(least, most);
        let draws = 0..n;
        match &self.law {
            Law::Constant(value) => column.resize(column.len() + n, *value),
            Law::Uniform(law) => column.extend(draws.map(|_| law.sample(rng))),
            Law::Lognormal(law) => column.extend(draws.map(|_| whole(law.sample(rng)))),
            Law::Exponential(mean) => column.extend(draws.map(|_| {
                let unit: f64 = Exp1.sample(rng);
                whole(unit * mean)
            })),
            Law::Pareto(law) => column.extend(draws.map(|_| whole(law.sample(rng)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::stream;

    const N: usize = 400_000;

    fn draw(amount: Amount) -> Vec<u64> {
        let mut column = Vec::new();
        AmountDraw::new(&amount, "cost", 1, stream(9, "test", 0, "cost")).unwrap().fill(&mut column, N);
        column.sort_unstable();
        column
    }

    /// The share of amounts up to `value` is `right`, within five standard deviations.
    fn share(column: &[u64], value: u64, right: f64) {
        let share = column.partition_point(|amount| *amount <= value) as f64 / N as f64;
        assert!(
            (share - right).abs() < 5.0 * (right * (1.0 - right) / N as f64).sqrt(),
            "{share} ≤ {value}, not {right}"
        );
    }

    #[test]
    fn laws_are_what_they_are_called() {
        assert_eq!(draw(Amount::Constant(7)), vec![7; N]);
        let uniform = draw(Amount::Uniform { min: 10, max: 19 });
        assert_eq!((uniform[0], uniform[N - 1]), (10, 19));
        share(&uniform, 12, 0.3);
        let lognormal = draw(Amount::Lognormal { median: 1000.0, p90: 8000.0, max: None });
        share(&lognormal, 1000, 0.5);
        share(&lognormal, 8000, 0.9);
        let exponential = draw(Amount::Exponential { mean: 2000.0, max: None });
        share(&exponential, 2000, 1.0 - (-1.00025f64).exp()); // up to 2000.5
        let pareto = draw(Amount::Pareto { min: 100.0, shape: 1.5, max: None });
        assert_eq!(pareto[0], 100);
        share(&pareto, 1000, 1.0 - 10.005f64.powf(-1.5));
    }

    #[test]
    fn caps_and_the_least() {
        let capped = draw(Amount::Pareto { min: 1.0, shape: 0.1, max: Some(50) });
        assert_eq!(capped[N - 1], 50);
        let small = draw(Amount::Exponential { mean: 0.01, max: None });
        assert_eq!(small[0], 1);
    }

    #[test]
    fn impossible_laws_name_the_field() {
        let cases = [
            (Amount::Uniform { min: 2, max: 1 }, "`min`"),
            (Amount::Lognormal { median: 0.0, p90: 1.0, max: None }, "`median`"),
            (Amount::Lognormal { median: 2.0, p90: 1.0, max: None }, "`p90`"),
            (Amount::Exponential { mean: f64::NAN, max: None }, "`mean`"),
            (Amount::Exponential { mean: 1.0, max: Some(0) }, "`max`"),
            (Amount::Pareto { min: 1.0, shape: f64::INFINITY, max: None }, "`shape`"),
        ];
        for (amount, field) in cases {
            let error = AmountDraw::new(&amount, "cost", 1, stream(0, "", 0, "")).err().unwrap();
            assert!(error.to_string().contains(field) && error.to_string().contains("`cost`"), "{error}");
        }
    }
}
