//! Decimal numbers read from bytes, exactly.

use super::fault::Fault;
use std::cmp::Ordering;

/// mantissa · 10^exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Decimal {
    pub mantissa: u64,
    pub exponent: i32,
    pub negative: bool,
    /// Whether digits behind the point were dropped because they did not fit.
    pub cut: bool,
}

/// Digits alone, the common case; `None` for anything else or above 64 bits.
#[inline]
pub(super) fn digits(bytes: &[u8]) -> Option<u64> {
    if bytes.is_empty() || bytes.len() > 19 {
        return None; // 20 digits may fit, and are read by `decimal`
    }
    let mut value = 0u64;
    let mut rest = bytes;
    while let Some((eight, more)) = rest.split_first_chunk() {
        value = value * 100_000_000 + eight_digits(*eight)?;
        rest = more;
    }
    for byte in rest {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    Some(value)
}

/// Eight digits at once: pairs of them, then pairs of pairs, in the lanes of one word.
#[inline]
fn eight_digits(bytes: [u8; 8]) -> Option<u64> {
    const ONES: u64 = 0x0101_0101_0101_0101;
    let lanes = u64::from_le_bytes(bytes) ^ (0x30 * ONES);
    // A lane above 9 has a bit in its upper half, or gets one by adding 6.
    if (lanes | lanes.wrapping_add(6 * ONES)) & (0xf0 * ONES) != 0 {
        return None;
    }
    let pairs = (lanes * 10 + (lanes >> 8)) & 0x00ff_00ff_00ff_00ff;
    let fours = (pairs * 100 + (pairs >> 16)) & 0x0000_ffff_0000_ffff;
    Some((fours * 10_000 + (fours >> 32)) & 0xffff_ffff)
}

/// A number with an optional sign, point and exponent; `None` when it is not one or needs more than 64 bits.
pub(super) fn decimal(bytes: &[u8]) -> Option<Decimal> {
    let (negative, mut rest) = match bytes {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let mut out = Decimal { mantissa: 0, exponent: 0, negative, cut: false };
    let (mut any, mut point, mut full) = (false, false, false);
    while let [byte, tail @ ..] = rest {
        match byte {
            b'0'..=b'9' => {
                any = true;
                let digit = u64::from(byte - b'0');
                match out.mantissa.checked_mul(10).and_then(|m| m.checked_add(digit)) {
                    Some(mantissa) if !full => {
                        out.mantissa = mantissa;
                        out.exponent -= i32::from(point);
                    }
                    _ if point => {
                        full = true;
                        out.cut |= digit != 0;
                    }
                    _ => return None,
                }
            }
            b'.' if !point => point = true,
            b'e' | b'E' if any => {
                let exponent: i32 = std::str::from_utf8(tail).ok()?.parse().ok().filter(|e: &i32| e.abs() < 1_000)?;
                out.exponent += exponent;
                return Some(out);
            }
            _ => return None,
        }
        rest = tail;
    }
    any.then_some(out)
}

impl Decimal {
    /// The number times 10^`power`, rounded down; and whether that is exact. `None` above 64 bits.
    pub fn scaled(self, power: i32) -> Option<(u64, bool)> {
        let exponent = self.exponent + power;
        if self.mantissa == 0 {
            return Some((0, !self.cut));
        }
        let ten = 10u64.checked_pow(exponent.unsigned_abs());
        if exponent >= 0 {
            return Some((self.mantissa.checked_mul(ten?)?, !self.cut));
        }
        Some(ten.map_or((0, false), |ten| (self.mantissa / ten, !self.cut && self.mantissa.is_multiple_of(ten))))
    }

    /// Which of two numbers is the larger; digits that were dropped do not count.
    pub fn compare(self, other: Decimal) -> Ordering {
        let sign = |number: Decimal| match (number.mantissa, number.negative) {
            (0, _) => 0,
            (_, true) => -1,
            (_, false) => 1,
        };
        let by_sign = sign(self).cmp(&sign(other));
        if by_sign.is_ne() || self.mantissa == 0 {
            return by_sign;
        }
        let first = |number: Decimal| number.exponent + number.mantissa.ilog10() as i32;
        let by_size = first(self).cmp(&first(other)).then_with(|| {
            // Their first digits weigh the same and each has at most 20, so that the shifts fit into 128 bits.
            let low = self.exponent.min(other.exponent);
            let whole =
                |number: Decimal| u128::from(number.mantissa) * 10u128.pow((number.exponent - low).unsigned_abs());
            whole(self).cmp(&whole(other))
        });
        if self.negative { by_size.reverse() } else { by_size }
    }
}

/// A whole amount, 0 or more: `12`, `63.0`, `1e3`, `1,234`. `what` names it in errors.
#[inline]
pub(super) fn amount(bytes: &[u8], what: &'static str) -> Result<u64, Box<Fault>> {
    match digits(bytes) {
        Some(value) => Ok(value),
        None => slow_amount(bytes.trim_ascii(), what, 0),
    }
}

/// Money in dollars as micro-dollars, rounded to the nearest one; and a leading `$` is allowed.
pub(super) fn dollars(bytes: &[u8]) -> Result<u64, Box<Fault>> {
    let bytes = bytes.trim_ascii();
    // One digit more than is kept decides the rounding.
    slow_amount(bytes.strip_prefix(b"$").unwrap_or(bytes), "price", 7).map(|tenths| tenths.saturating_add(5) / 10)
}

#[cold]
fn slow_amount(bytes: &[u8], what: &'static str, power: i32) -> Result<u64, Box<Fault>> {
    if bytes.is_empty() {
        return Err(Fault::row("missing amount", format!("the {what} is missing")));
    }
    let plain;
    let text = match without_groups(bytes) {
        Some(text) => {
            plain = text;
            plain.as_slice()
        }
        None => bytes,
    };
    let bad = |reason, message: String| Err(Fault::row(reason, message).value(bytes));
    let Some(number) = decimal(text) else {
        let bits = if bytes.iter().all(u8::is_ascii_digit) { " of at most 64 bits" } else { "" };
        return bad("amount not a number", format!("the {what} is not a number{bits}"));
    };
    if number.negative && number.mantissa != 0 {
        return bad("negative amount", format!("the {what} is negative"));
    }
    match number.scaled(power) {
        None => bad("amount too large", format!("the {what} does not fit into 64 bits")),
        Some((_, false)) if power == 0 => bad("amount not whole", format!("the {what} is not a whole number")),
        Some((value, _)) => Ok(value),
    }
}

/// `1,234,567.0` without its commas; `None` when there are none or they do not part groups of three digits.
fn without_groups(bytes: &[u8]) -> Option<Vec<u8>> {
    let whole = bytes.split(|byte| *byte == b'.').next().unwrap_or(bytes);
    let mut groups = whole.split(|byte| *byte == b',');
    let first = groups.next()?;
    let sound = (1..=3).contains(&first.len()) && whole.len() > first.len() && groups.all(|group| group.len() == 3);
    sound.then(|| bytes.iter().copied().filter(|byte| *byte != b',').collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn digits_are_read_as_the_standard_library_does(text in "[0-9]{1,19}", at in 0..19usize, byte: u8) {
            proptest::prop_assert_eq!(digits(text.as_bytes()), text.parse().ok());
            let mut other = text.into_bytes();
            let at = at % other.len();
            other[at] = byte;
            let expected = if byte.is_ascii_digit() { std::str::from_utf8(&other).unwrap().parse().ok() } else { None };
            proptest::prop_assert_eq!(digits(&other), expected);
        }
    }

    #[test]
    fn amounts_of_every_spelling() {
        for (text, value) in [
            ("0", 0),
            ("12", 12),
            ("63.0", 63),
            ("1e3", 1000),
            ("1.5E2", 150),
            ("1,234", 1234),
            ("1,234,567.000", 1_234_567),
            (" 7 ", 7),
            ("+7", 7),
            ("-0", 0),
            ("18446744073709551615", u64::MAX),
            ("5000e-3", 5),
        ] {
            assert_eq!(amount(text.as_bytes(), "cost").unwrap(), value, "{text}");
        }
        for (text, reason) in [
            ("", "missing amount"),
            ("  ", "missing amount"),
            ("-5", "negative amount"),
            ("1.5", "amount not whole"),
            ("1,23", "amount not a number"),
            ("1e400000000000", "amount not a number"),
            ("1e30", "amount too large"),
            ("18446744073709551616", "amount not a number"),
            ("NaN", "amount not a number"),
            ("e3", "amount not a number"),
            (".", "amount not a number"),
        ] {
            assert_eq!(amount(text.as_bytes(), "cost").unwrap_err().reason, reason, "{text}");
        }
    }

    #[test]
    fn decimals_compare_by_value() {
        let sorted = [
            "-1e30",
            "-2",
            "-1.5",
            "0",
            "1e-300",
            "0.5",
            "1",
            "1.0000000000000000001",
            "1.5",
            "9",
            "10",
            "1e18",
            "1e30",
        ];
        for (n, a) in sorted.iter().enumerate() {
            for (m, b) in sorted.iter().enumerate() {
                let read = |text: &str| decimal(text.as_bytes()).unwrap();
                assert_eq!(read(a).compare(read(b)), n.cmp(&m), "{a} {b}");
            }
        }
        let equal = |a: &[u8], b: &[u8]| decimal(a).unwrap().compare(decimal(b).unwrap()).is_eq();
        assert!(equal(b"100", b"1e2") && equal(b"0", b"-0.0") && equal(b"1.50", b"1.5"));
    }

    #[test]
    fn dollars_are_rounded_to_the_nearest_microdollar() {
        for (text, value) in [
            ("0.12", 120_000),
            ("$1,000.5", 1_000_500_000),
            ("0.0000045", 5),
            ("0.00000449", 4),
            ("4.785e-3", 4785),
            ("0", 0),
        ] {
            assert_eq!(dollars(text.as_bytes()).unwrap(), value, "{text}");
        }
        assert_eq!(dollars(b"-1").unwrap_err().reason, "negative amount");
    }
}
