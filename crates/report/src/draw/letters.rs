//! How wide text is in the bundled font.

use std::sync::OnceLock;

use skrifa::instance::{LocationRef, Size};
use skrifa::{FontRef, MetadataProvider};

/// Size and weight of text; the size is in the picture's units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Font {
    pub size: f64,
    pub bold: bool,
}

impl Font {
    /// The name of a figure.
    pub const TITLE: Self = Self { size: 17.0, bold: true };
    /// The question it answers.
    pub const LEAD: Self = Self { size: 13.0, bold: false };
    /// The name of a panel.
    pub const HEAD: Self = Self { size: 12.0, bold: true };
    /// Everything else.
    pub const BODY: Self = Self { size: 12.0, bold: false };
}

/// The height of a line of text against its size.
pub const LEADING: f64 = 1.3;

/// Width of `text` in the picture's units. A letter the font lacks counts as wide as an "m".
pub fn width(text: &str, font: Font) -> f64 {
    static REGULAR: OnceLock<FontRef<'static>> = OnceLock::new();
    static BOLD: OnceLock<FontRef<'static>> = OnceLock::new();
    let bundled = "the bundled font is a font";
    let face = if font.bold {
        BOLD.get_or_init(|| FontRef::new(dejavu::sans::bold()).expect(bundled))
    } else {
        REGULAR.get_or_init(|| FontRef::new(dejavu::sans::regular()).expect(bundled))
    };
    let metrics = face.glyph_metrics(Size::new(font.size as f32), LocationRef::default());
    let glyphs = face.charmap();
    let advance = |letter: char| glyphs.map(letter).and_then(|glyph| metrics.advance_width(glyph));
    text.chars().map(|letter| advance(letter).or_else(|| advance('m')).map_or(0.0, f64::from)).sum()
}

/// `text`, shortened with "…" until it is at most `room` wide.
pub fn fit(text: &str, font: Font, room: f64) -> String {
    if width(text, font) <= room {
        return text.to_owned();
    }
    let mut short: String = text.to_owned();
    while short.pop().is_some() {
        let candidate = format!("{}…", short.trim_end());
        if width(&candidate, font) <= room {
            return candidate;
        }
    }
    String::new()
}

/// `text` broken between words into lines at most `room` wide.
pub fn wrap(text: &str, font: Font, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(&format!("{line} {word}"), font) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines.iter().map(|line| fit(line, font, room)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_measured_shortened_and_broken() {
        assert!(width("mm", Font::BODY) > 2.0 * width("ii", Font::BODY));
        assert!(width("token", Font::HEAD) > width("token", Font { bold: false, ..Font::HEAD }));
        let short = fit("sliding-window-segments", Font::BODY, 80.0);
        assert!(short.ends_with('…') && width(&short, Font::BODY) <= 80.0, "{short}");
        assert_eq!(wrap("one two three", Font::BODY, width("one two", Font::BODY)), ["one two", "three"]);
        assert_eq!(fit("anything", Font::BODY, 0.0), "");
    }
}
