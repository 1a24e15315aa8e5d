//! Values as a scenario file writes them.

use limiters::{Meter, Span};

/// Permits as a number, micro-dollars as money.
pub fn permits(value: u64, meter: Meter) -> String {
    match meter {
        Meter::Spend => {
            let dollars = format!("{}.{:06}", value / 1_000_000, value % 1_000_000);
            format!("\"${}\"", dollars.trim_end_matches('0').trim_end_matches('.'))
        }
        _ => value.to_string(),
    }
}

/// A length of time.
pub fn span(length: u64) -> String {
    format!("\"{}\"", Span(length))
}

/// Any text, quoted.
pub fn text(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(letter))),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_as_toml_has_them() {
        assert_eq!(permits(1_500, Meter::Requests), "1500");
        let money = [20_000_000, 8_000, 1].map(|value| permits(value, Meter::Spend));
        assert_eq!(money, ["\"$20\"", "\"$0.008\"", "\"$0.000001\""]);
        assert_eq!(span(90_000_000_000), "\"90s\"");
        assert_eq!(text("a\"b\\\n"), "\"a\\\"b\\\\\\u000A\"");
    }
}
