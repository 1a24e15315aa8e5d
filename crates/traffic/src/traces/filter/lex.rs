//! The words of a filter with their places.

use super::WhereError;
use std::ops::Range;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A field's name or one of the words `and`, `or`, `not`, `column`.
    Word(String),
    /// A text as it stands between its quotes.
    Text(String),
    /// A number as it is written, without a dollar sign.
    Number { text: String, dollars: bool },
    /// `=`, `!=`, `<`, `<=`, `>`, `>=`, `~`, `!~`, `(`, `)`.
    Sign(&'static str),
}

/// Signs, those first that others begin with.
const SIGNS: [&str; 10] = ["!=", "!~", "<=", ">=", "=", "<", ">", "~", "(", ")"];

/// What people write who know other languages, and what it is here.
const ELSEWHERE: [(&str, &str); 7] =
    [("==", "="), ("=~", "~"), ("<>", "!="), ("&&", "and"), ("||", "or"), ("!", "not"), ("&", "and")];

/// Every word of `text`, with the bytes it stands on.
pub(super) fn lex(text: &str) -> Result<Vec<(Token, Range<usize>)>, WhereError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let span = |length: usize| at..at + length;
        let (token, length) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if let Some((wrong, right)) = ELSEWHERE
            .iter()
            .find(|(wrong, _)| rest.starts_with(wrong))
            .filter(|_| !rest.starts_with("!=") && !rest.starts_with("!~"))
        {
            return Err(WhereError::new(span(wrong.len()), format!("unknown operator `{wrong}`; write `{right}`")));
        } else if first == '"' {
            let length =
                quoted(rest).ok_or_else(|| WhereError::new(at..text.len(), "the text is not closed by a \""))?;
            (Token::Text(rest[1..length - 1].to_owned()), length)
        } else if first == '\'' {
            return Err(WhereError::new(span(1), "texts stand in double quotes: \"/api\""));
        } else if let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            (Token::Sign(sign), sign.len())
        } else if first.is_ascii_digit() || ".$+-".contains(first) {
            let length = number(rest);
            let written = &rest[..length];
            let plain = written.strip_prefix('$');
            (Token::Number { text: plain.unwrap_or(written).to_owned(), dollars: plain.is_some() }, length)
        } else if first.is_ascii_alphabetic() {
            let length = rest.find(|c: char| !(c.is_ascii_alphanumeric() || "_-.".contains(c))).unwrap_or(rest.len());
            (Token::Word(rest[..length].to_owned()), length)
        } else {
            return Err(WhereError::new(span(first.len_utf8()), format!("{first:?} is no part of an expression")));
        };
        tokens.push((token, span(length)));
        at += length;
    }
    Ok(tokens)
}

/// Bytes of a text from its first quote to its last; a backslash takes what follows it along.
fn quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return Some(at + 1),
            b'\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    None
}

/// Bytes of a number: its sign, digits, points, and an exponent with its sign.
fn number(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while let Some(byte) = bytes.get(at) {
        let exponent = matches!(bytes[at - 1], b'e' | b'E') && matches!(byte, b'+' | b'-');
        if !(byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b',') || exponent) {
            break;
        }
        at += 1;
    }
    at
}
