//! What HTTP logs have in common.

use memchr::{memchr, memmem};

/// Method and path of `METHOD PATH PROTOCOL`; both empty for `-` and for whatever a scanner sent instead.
pub(super) fn request_line(text: &[u8]) -> (&[u8], &[u8]) {
    let (method, rest) = word(text);
    if method.is_empty() || !method.iter().all(u8::is_ascii_uppercase) {
        return (b"", b"");
    }
    let protocol = memmem::rfind(rest, b" HTTP/");
    (method, &rest[..protocol.unwrap_or(rest.len())])
}

/// The next word and what follows the space behind it.
pub(super) fn word(text: &[u8]) -> (&[u8], &[u8]) {
    let text = text.trim_ascii_start();
    match memchr(b' ', text) {
        Some(space) => (&text[..space], &text[space + 1..]),
        None => (text, b""),
    }
}

/// The first quote that no backslash escapes.
pub(super) fn closing_quote(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let quote = from + memchr(b'"', &text[from..])?;
        let slashes = text[..quote].iter().rev().take_while(|byte| **byte == b'\\').count();
        if slashes % 2 == 0 {
            return Some(quote);
        }
        from = quote + 1;
    }
}

/// The next field of a line in which fields with spaces stand in quotes, and what follows it; `None` at the end and where
/// a quote is not closed.
pub(super) fn field(text: &[u8]) -> Option<(&[u8], &[u8])> {
    match text.trim_ascii_start() {
        [] => None,
        [b'"', inside @ ..] => closing_quote(inside).map(|close| (&inside[..close], &inside[close + 1..])),
        text => Some(word(text)),
    }
}
