//! A length of time in words, in the units scenarios use.

use crate::Nanos;
use std::fmt;

/// Prints nanoseconds in the largest unit that divides them: `1min`, `1500ms`, `7ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Nanos);

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [(&str, u64); 6] = [
            ("d", 86_400_000_000_000),
            ("h", 3_600_000_000_000),
            ("min", 60_000_000_000),
            ("s", 1_000_000_000),
            ("ms", 1_000_000),
            ("us", 1_000),
        ];
        if self.0 == 0 {
            return f.write_str("0s");
        }
        let (name, unit) = UNITS.into_iter().find(|(_, unit)| self.0.is_multiple_of(*unit)).unwrap_or(("ns", 1));
        write!(f, "{}{name}", self.0 / unit)
    }
}

#[cfg(test)]
mod tests {
    use super::Span;

    #[test]
    fn largest_whole_unit() {
        let printed: Vec<String> =
            [60_000_000_000, 1_500_000_000, 86_400_000_000_000, 1].map(|nanos| Span(nanos).to_string()).into();
        assert_eq!(printed, ["1min", "1500ms", "1d", "1ns"]);
    }
}
