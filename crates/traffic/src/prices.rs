//! The price list: one dated file, read into exact pico-dollars.
//!
//! Clients pay by it and recorded calls without a price of their own are priced by it. Both are traffic, so it lies beside them in
//! this crate and not above: what a request costs is known before anything limits it.

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
    /// A token written to a cache that is kept for an hour.
    pub cache_write_hour: u64,
    /// Where it is published.
    pub source: String,
    /// The models that it is the price of, as logs name them, without a date.
    pub models: Vec<String>,
    /// Above so many tokens sent, cached ones included, another price holds.
    pub up_to: Option<u64>,
}

/// Tokens of one call, by what they cost; none is counted twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tokens {
    /// Sent, and neither read from a cache nor written to one.
    pub input: u64,
    /// Received.
    pub output: u64,
    /// Read from a cache.
    pub cache_read: u64,
    /// Written to a cache that is kept for minutes.
    pub cache_write: u64,
    /// Written to a cache that is kept for an hour.
    pub cache_write_hour: u64,
}

/// Pico-dollars in a micro-dollar.
const PICO: u128 = 1_000_000;

impl Price {
    /// Micro-dollars of a call with these tokens: exact in pico-dollars, and rounded once, to the nearest, halves up.
    pub fn microusd(&self, tokens: &Tokens) -> u64 {
        let each = [
            (tokens.input, self.input),
            (tokens.output, self.output),
            (tokens.cache_read, self.cache_read),
            (tokens.cache_write, self.cache_write),
            (tokens.cache_write_hour, self.cache_write_hour),
        ];
        let pico = each.iter().map(|(tokens, price)| u128::from(*tokens) * u128::from(*price)).sum::<u128>();
        ((pico + u128::from(self.call) + PICO / 2) / PICO).try_into().unwrap_or(u64::MAX)
    }

    /// A price as a person gives it: the name of a listed one, or dollars for a million tokens sent and received, `5/25`, or
    /// sent, received, read from a cache and written to one, `5/25/0.50/6.25`. Of two, cached tokens cost what sent ones do.
    ///
    /// # Errors
    /// What is wrong, and what would be right.
    pub fn given(text: &str) -> Result<Price, String> {
        let text = text.trim();
        if let Some(listed) = price(text).filter(|listed| listed.input > 0) {
            return Ok(listed.clone());
        }
        let amounts: Vec<&str> = text.split('/').map(|amount| amount.trim().trim_start_matches('$')).collect();
        let pico: Option<Vec<u64>> =
            amounts.iter().map(|amount| picodollars(amount, 1_000_000).filter(|_| !amount.is_empty())).collect();
        let [input, output, cache_read, cache_write] = match pico.as_deref() {
            Some(&[input, output]) => [input, output, input, input],
            Some(&[input, output, read, write]) => [input, output, read, write],
            _ => {
                let names: Vec<&str> =
                    prices().iter().filter(|price| price.input > 0).map(|price| price.name.as_str()).collect();
                return Err(format!(
                    "{text:?} is no price: write dollars for a million tokens sent/received such as 5/25, or \
                     sent/received/cache read/cache written such as 5/25/0.50/6.25, or a listed name: {}",
                    names.join(", ")
                ));
            }
        };
        let (name, what) = (text.to_owned(), "given".to_owned());
        Ok(Price {
            name,
            what,
            input,
            output,
            cache_read,
            cache_write,
            cache_write_hour: cache_write,
            ..Price::default()
        })
    }
}

/// The listed price of a model by the name that a log has for it: without the provider before it (`anthropic/`,
/// `us.anthropic.`) and the date or version behind it (`-20250514`, `-2024-08-06`, `@20250514`, `-v1:0`, `-latest`).
pub fn price_of(model: &str) -> Option<&'static Price> {
    let name = bare(model);
    prices().iter().find(|price| price.models.contains(&name))
}

fn bare(model: &str) -> String {
    let name = model.rsplit('/').next().unwrap_or(model).to_lowercase();
    let name = name.rsplit_once("anthropic.").map_or(name.as_str(), |(_, name)| name);
    let digits = |text: &str, length: usize| text.len() == length && text.bytes().all(|byte| byte.is_ascii_digit());
    let name = match name.rsplit_once("-v") {
        Some((before, version)) if version.split(':').all(|part| digits(part, part.len().max(1))) => before,
        _ => name,
    };
    let name = name.split('@').next().unwrap_or(name);
    let name = name.strip_suffix("-latest").unwrap_or(name);
    let day = |name: &str| {
        let (before, last) = name.rsplit_once('-')?;
        if digits(last, 8) {
            return Some(before.len());
        }
        let (before, month) = before.rsplit_once('-').filter(|_| digits(last, 2))?;
        let (before, year) = before.rsplit_once('-').filter(|_| digits(month, 2))?;
        digits(year, 4).then_some(before.len())
    };
    day(name).map_or(name, |end| &name[..end]).to_owned()
}

/// The file, with the date of its prices in its first line.
const FILE: &str = include_str!("../data/prices.csv");

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
                cache_write_hour: dollars(if cell(10).is_empty() { 6 } else { 10 }, 1_000_000),
                source: cell(7),
                models: cell(8).split_whitespace().map(str::to_owned).collect(),
                up_to: cell(9).parse().ok(),
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
            for model in &price.models {
                assert_eq!(price_of(model).map(|found| &found.name), Some(&price.name), "{model}");
                assert_eq!(bare(model), *model);
            }
        }
        assert!(prices().len() >= 15);
    }

    #[test]
    fn a_model_is_found_by_any_of_its_names() {
        let name = |model: &str| price_of(model).map(|price| price.name.as_str());
        for model in [
            "claude-sonnet-4-5-20250929",
            "anthropic/claude-sonnet-4-5",
            "us.anthropic.claude-sonnet-4-20250514-v1:0",
            "claude-sonnet-4@20250514",
            "Claude-Sonnet-4-0",
        ] {
            assert_eq!(name(model), Some("claude-sonnet"), "{model}");
        }
        assert_eq!((name("gpt-4o-2024-08-06"), name("gpt-4o-mini")), (Some("gpt-4o"), Some("gpt-4o-mini")));
        assert_eq!(name("claude-3-5-haiku-latest"), Some("claude-haiku-3.5"));
        // A newer model is not the one before it.
        for model in ["claude-sonnet-4-6", "gpt-5.2-codex", "gpt-5-mini", "model-x", "", "/", "-v", "-20250514"] {
            assert_eq!(name(model), None, "{model}");
        }
    }

    #[test]
    fn a_call_is_rounded_once() {
        let sonnet = price("claude-sonnet").unwrap();
        let tokens = Tokens { input: 6, output: 327, cache_read: 2_000, cache_write: 60, cache_write_hour: 40 };
        // 18 + 4,905 + 600 + 225 + 240 micro-dollars.
        assert_eq!(sonnet.microusd(&tokens), 5_988);
        // Half a micro-dollar, and less: $0.15 and $0.075 a million.
        let mini = price("gpt-4o-mini").unwrap();
        let of = |input, cache_read| mini.microusd(&Tokens { input, cache_read, ..Tokens::default() });
        assert_eq!((of(3, 0), of(2, 2), of(3, 1), of(0, 0)), (0, 0, 1, 0));
        let most = Tokens { input: u64::MAX, output: u64::MAX, ..Tokens::default() };
        assert_eq!(sonnet.microusd(&most), u64::MAX);
    }

    #[test]
    fn prices_are_given_by_name_or_by_the_million() {
        let four = Price::given("$5/25/0.50/6.25").unwrap();
        assert_eq!(
            (four.input, four.output, four.cache_read, four.cache_write),
            (5_000_000, 25_000_000, 500_000, 6_250_000)
        );
        assert_eq!(Price::given("5/25").unwrap().cache_read, 5_000_000);
        assert_eq!(Price::given("gpt-5").unwrap(), *price("gpt-5").unwrap());
        for bad in ["", "5", "5/", "5/25/1", "five/25", "-5/25", "sms-twilio-us", "gpt-6", "5/25/0.5/6.25/1"] {
            assert!(Price::given(bad).unwrap_err().contains("5/25/0.50/6.25"), "{bad}");
        }
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
