//! Several seeds: `seeds.csv` with every seed's row, and median and spread for people.

use replay::rows::SummaryRow;
use report::number::amount;
use std::fmt::Write;
use std::path::Path;

/// The rows of all seeds.
pub struct Seeds<'a> {
    rows: Vec<&'a SummaryRow>,
    seeds: usize,
}

impl<'a> Seeds<'a> {
    /// `first` and the rows of each further seed; `None` when there is only one.
    pub fn new(first: &'a [SummaryRow], others: &'a [Vec<SummaryRow>]) -> Option<Seeds<'a>> {
        if others.is_empty() {
            return None;
        }
        let rows = first.iter().chain(others.iter().flatten()).collect();
        Some(Seeds { rows, seeds: others.len() + 1 })
    }

    /// Writes `seeds.csv`: the columns of `summary.csv`, one row per seed and limiter.
    pub fn write(&self, folder: &Path) -> std::io::Result<()> {
        let mut out = csv::Writer::from_path(folder.join("seeds.csv"))?;
        for row in &self.rows {
            out.serialize(row)?;
        }
        out.flush()
    }

    /// Median and spread of what people compare.
    pub fn table(&self) -> String {
        let mut text = format!("\nover {} seeds: median (least to most)\n", self.seeds);
        let mut entries: Vec<(&str, &str)> = Vec::new();
        for row in &self.rows {
            let entry = (row.comparison.as_str(), row.limiter.as_str());
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        let _ =
            writeln!(text, "  {:<16} {:<26} {:<34} {:<30}", "comparison", "limiter", "admitted %", "peak in a window");
        for (comparison, limiter) in entries {
            let of = |value: &dyn Fn(&SummaryRow) -> f64| {
                let rows = self.rows.iter().filter(|row| row.comparison == comparison && row.limiter == limiter);
                spread(rows.map(|row| value(row)).collect())
            };
            let (low, middle, high) = of(&|row| row.admitted_ratio.unwrap_or(0.0) * 100.0);
            let admitted = format!("{middle:.2} ({low:.2} to {high:.2})");
            let (low, middle, high) = of(&|row| row.peak_window as f64);
            let meter = self.rows.iter().find(|row| row.limiter == limiter).map_or("", |row| row.meter.as_str());
            let [low, middle, high] = [low, middle, high].map(|peak| amount(peak as u64, meter));
            let _ = writeln!(text, "  {comparison:<16} {limiter:<26} {admitted:<34} {middle} ({low} to {high})");
        }
        text.push_str(&self.money());
        text
    }

    /// The same for money, where there are clients.
    fn money(&self) -> String {
        let mut limiters: Vec<&str> = Vec::new();
        for row in self.rows.iter().filter(|row| row.cost_spent_microusd.is_some()) {
            if !limiters.contains(&row.limiter.as_str()) {
                limiters.push(&row.limiter);
            }
        }
        if limiters.is_empty() {
            return String::new();
        }
        let mut text = format!("\n  {:<34} {:<32} {:<34} {}\n", "limiter", "spent $", "saved $", "useful lost %");
        for limiter in limiters {
            let of = |value: &dyn Fn(&SummaryRow) -> Option<f64>| {
                let rows = self.rows.iter().filter(|row| row.limiter == limiter);
                let (low, middle, high) = spread(rows.filter_map(|row| value(row)).collect());
                format!("{middle:.2} ({low:.2} to {high:.2})")
            };
            let spent = of(&|row| Some(row.cost_spent_microusd? as f64 / 1e6));
            let saved = of(&|row| Some(row.cost_saved_microusd? as f64 / 1e6));
            let lost = of(&|row| Some(row.useful_lost_ratio? * 100.0));
            let _ = writeln!(text, "  {limiter:<34} {spent:<32} {saved:<34} {lost}");
        }
        text
    }
}

/// Least, median (the lower of two) and most.
fn spread(mut values: Vec<f64>) -> (f64, f64, f64) {
    values.sort_unstable_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied().unwrap_or(0.0);
    (at(0), at(values.len().saturating_sub(1) / 2), at(values.len().saturating_sub(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_one_of_the_values() {
        assert_eq!(spread(vec![3.0, 1.0, 2.0]), (1.0, 2.0, 3.0));
        assert_eq!(spread(vec![4.0, 1.0]), (1.0, 1.0, 4.0));
    }
}
