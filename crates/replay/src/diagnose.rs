//! What is wrong in a file a person wrote: where, why, and what would be right.

use std::fmt;
use std::ops::Range;
use unicode_width::UnicodeWidthChar;

/// One problem. [`fmt::Display`] renders it with the line, a caret and notes, as plain text without a last newline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// The file, as it was named on the command line.
    pub path: String,
    /// Where in it; `None` when the file as a whole is at fault.
    pub place: Option<Place>,
    /// What is wrong, in one line.
    pub message: String,
    /// Valid values, the nearest one, a way out: one line each.
    pub notes: Vec<String>,
}

/// A stretch of one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// 1-based.
    pub line: usize,
    /// 1-based, in characters; a tab is one.
    pub column: usize,
    /// Characters at fault, at least 1.
    pub length: usize,
    /// The whole line.
    pub text: String,
}

impl Place {
    /// The place of the bytes `span` of `text`. A span that leaves its line is cut at the line's end, and one that does not
    /// lie on character boundaries is widened.
    pub fn of(text: &str, span: Range<usize>) -> Place {
        let start = floor_boundary(text, span.start);
        let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line = text[..line_start].matches('\n').count() + 1;
        let line_text = text[line_start..].lines().next().unwrap_or("");
        let line_end = line_start + line_text.len();
        let end = floor_boundary(text, span.end.clamp(start, line_end.max(start)));
        Place {
            line,
            column: text[line_start..start].chars().count() + 1,
            length: text[start..end].chars().count().max(1),
            text: line_text.to_string(),
        }
    }
}

fn floor_boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}

/// Characters of a line shown at most; a longer one is cut around the caret.
const SHOWN: usize = 140;

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.path)?;
        let Some(place) = &self.place else {
            write!(f, " {}", self.message)?;
            return self.notes.iter().try_for_each(|note| write!(f, "\n  = {}", wrapped(note, 4)));
        };
        let gutter = place.line.to_string().len();
        writeln!(f, "{}:{}: {}", place.line, place.column, self.message)?;
        writeln!(f, "{:gutter$} |", "")?;
        let (shown, indent, carets) = excerpt(place);
        writeln!(f, "{} | {shown}", place.line)?;
        write!(f, "{:gutter$} | {:indent$}{}", "", "", "^".repeat(carets))?;
        self.notes.iter().try_for_each(|note| write!(f, "\n{:gutter$} = {}", "", wrapped(note, gutter + 3)))
    }
}

/// Columns that a note takes at most, unless a word is longer.
const NOTE_WIDTH: usize = 110;

/// A note over several lines, those after the first indented.
fn wrapped(note: &str, indent: usize) -> String {
    let mut text = String::new();
    let mut at = indent;
    for word in note.split(' ') {
        if at > indent && at + 1 + word.chars().count() > NOTE_WIDTH {
            text.push_str(&format!("\n{:indent$}", ""));
            at = indent;
        } else if at > indent {
            text.push(' ');
            at += 1;
        }
        text.push_str(word);
        at += word.chars().count();
    }
    text
}

/// The line as a terminal can show it, the cells before the caret, and how many carets.
fn excerpt(place: &Place) -> (String, usize, usize) {
    let characters: Vec<char> = place.text.chars().collect();
    let from = (place.column - 1).min(characters.len());
    let cut = if characters.len() > SHOWN { from.saturating_sub(SHOWN / 3) } else { 0 };
    let end = characters.len().min(cut + SHOWN);
    let to = (from + place.length).min(end);
    let mut shown = String::new();
    let mut cells = 0;
    let (mut indent, mut until) = (None, None);
    if cut > 0 {
        shown.push('…');
        cells += 1;
    }
    for (index, &character) in characters.iter().enumerate().take(end).skip(cut) {
        indent = indent.or((index == from).then_some(cells));
        until = until.or((index == to).then_some(cells));
        match character {
            '\t' => {
                shown.push_str("    ");
                cells += 4;
            }
            control if control.is_control() => {
                shown.push('\u{fffd}');
                cells += 1;
            }
            other => {
                shown.push(other);
                cells += other.width().unwrap_or(1);
            }
        }
    }
    let indent = indent.unwrap_or(cells);
    let carets = until.unwrap_or(cells).saturating_sub(indent).max(1);
    if end < characters.len() {
        shown.push('…');
    }
    (shown, indent, carets)
}

/// The candidate that `word` was probably meant to be. Case and `_` for `-` do not count as mistakes.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let plain = |text: &str| text.to_lowercase().replace(['_', ' '], "-");
    let word = plain(word);
    let allowed = (word.chars().count().max(3) / 3).min(4);
    candidates
        .into_iter()
        .map(|candidate| (strsim::osa_distance(&word, &plain(candidate)), candidate))
        .filter(|(distance, _)| *distance <= allowed)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Notes for a word that is none of `valid`: the nearest one, then all of them.
pub fn valid_values(word: &str, what: &str, valid: &[&str]) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some(near) = nearest(word, valid.iter().copied()) {
        notes.push(format!("did you mean `{near}`?"));
    }
    notes.push(format!("{what}: {}", valid.join(", ")));
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, span: Range<usize>) -> String {
        let place = Some(Place::of(text, span));
        Diagnostic { path: "a.toml".into(), place, message: "wrong".into(), notes: vec!["right".into()] }.to_string()
    }

    #[test]
    fn the_caret_stands_under_the_mistake() {
        assert_eq!(shown("a = 1\nbad = 2", 6..9), "a.toml:2:1: wrong\n  |\n2 | bad = 2\n  | ^^^\n  = right");
        // A tab is shown as four cells, a wide character takes two.
        assert_eq!(shown("\tbad = 2\r\n", 1..4), "a.toml:1:2: wrong\n  |\n1 |     bad = 2\n  |     ^^^\n  = right");
        assert_eq!(
            shown("k = \"漢字\" x", 13..14),
            "a.toml:1:10: wrong\n  |\n1 | k = \"漢字\" x\n  |            ^\n  = right"
        );
    }

    #[test]
    fn spans_outside_a_line_are_cut() {
        assert_eq!(Place::of("ab\ncd", 1..5), Place { line: 1, column: 2, length: 1, text: "ab".into() });
        assert_eq!(Place::of("ab", 2..9), Place { line: 1, column: 3, length: 1, text: "ab".into() });
        assert_eq!(Place::of("", 0..0), Place { line: 1, column: 1, length: 1, text: String::new() });
        let long = "x".repeat(1000);
        let text = shown(&long, 500..503);
        assert!(text.lines().all(|line| line.chars().count() < 200), "{text}");
        assert!(text.contains("…") && text.contains("^^^"));
    }

    #[test]
    fn typos_are_guessed_and_other_words_are_not() {
        let valid = ["limit", "window", "burst", "peak-window"];
        assert_eq!(nearest("burts", valid), Some("burst"));
        assert_eq!(nearest("Peak_Window", valid), Some("peak-window"));
        assert_eq!(nearest("elephant", valid), None);
    }
}
