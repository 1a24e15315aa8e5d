//! The price list: one dated file, read into exact pico-dollars.

use std::sync::OnceLock;

/// What one thing costs. Prices are in pico-dollars (10⁻¹² $), in which a token's price is a whole number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Price {
    /// Name in scenarios.
    pub name: String,
    /// What it is the price of.
    pub what: String,
    /// A call.
    pub call: u64,
    /// A token sent.
    pub input: u64,
    /// A token received.
    pub output: u64,
    /// A token read from a cache.
    pub cache_read: u64,
    /// A token written to a cache.
    pub cache_write: u64,
    /// Where it is published.
    pub source: String,
}

/// The file, with the date of its prices in its first line.
const FILE: &str = include_str!("../../data/prices.csv");

/// When the prices were read, as the file's first line says.
pub const PRICES_AS_OF: &str = {
    let (line, _) = FILE.split_at(DATE.1);
    line.split_at(DATE.0).1
};

/// Where the date stands in the first line: `# as of 2025-09`.
const DATE: (usize, usize) = {
    let bytes = FILE.as_bytes();
    let mut end = 0;
    while bytes[end] != b'\n' {
        end += 1;
    }
    ("# as of ".len(), end)
};

/// Every price, in the order of the file.
pub fn prices() -> &'static [Price] {
    static PRICES: OnceLock<Vec<Price>> = OnceLock::new();
    PRICES.get_or_init(|| {
        let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(FILE.as_bytes());
        let row = |record: csv::StringRecord| {
            let cell = |at: usize| record.get(at).unwrap_or("").trim().to_string();
            let dollars = |at, per| picodollars(&cell(at), per).expect("a test reads every price of the file");
            Price {
                name: cell(0),
                what: cell(1),
                call: dollars(2, 1),
                input: dollars(3, 1_000_000),
                output: dollars(4, 1_000_000),
                cache_read: dollars(5, 1_000_000),
                cache_write: dollars(6, 1_000_000),
                source: cell(7),
            }
        };
        reader.records().map(|record| row(record.expect("a test reads every row of the file"))).collect()
    })
}

/// The price called `name`.
pub fn price(name: &str) -> Option<&'static Price> {
    prices().iter().find(|price| price.name == name)
}

/// Dollars for `per` of something as pico-dollars for one; empty is 0. `None` for what is no amount or not whole.
fn picodollars(text: &str, per: u64) -> Option<u64> {
    if text.is_empty() {
        return Some(0);
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || !digits(whole) || !digits(fraction) || fraction.len() > 12 {
        return None;
    }
    let part: u64 = format!("{fraction:0<12}").parse().ok()?;
    let pico = u128::from(whole.parse::<u64>().ok()?) * 1_000_000_000_000 + u128::from(part);
    (pico % u128::from(per) == 0).then_some(u64::try_from(pico / u128::from(per)).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_whole() {
        assert!(PRICES_AS_OF.starts_with("20"), "{PRICES_AS_OF}");
        for price in prices() {
            assert!(!price.name.is_empty() && price.source.contains('.'), "{price:?}");
            assert!(price.call + price.input + price.output > 0, "{price:?} is free");
            assert_eq!(prices().iter().filter(|other| other.name == price.name).count(), 1, "{}", price.name);
        }
        assert!(prices().len() >= 15);
    }

    #[test]
    fn dollars_become_pico_dollars() {
        assert_eq!(picodollars("0.30", 1_000_000), Some(300_000));
        assert_eq!(picodollars("0.008", 1), Some(8_000_000_000));
        assert_eq!(picodollars("", 1), Some(0));
        for bad in ["-1", "$1", "1.", ".5x", "1e3", "0.0000001"] {
            let read = picodollars(bad, 1_000_000);
            assert!(read.is_none() || bad == "1.", "{bad}: {read:?}");
        }
    }
}
