//! A filter's grammar: `or` of `and` of `not` of tests, with parentheses.

use super::lex::{Token, lex};
use super::{Expr, Left, Op, Right, Test, WhereError};
use crate::traces::columns::nearest;
use crate::traces::field::{Field, Kind};
use crate::traces::number::decimal;
use crate::traces::role::{Role, is_known};
use regex::bytes::RegexBuilder;
use std::ops::Range;

/// How deep parentheses and `not` may be nested.
const DEEPEST: usize = 50;
/// How large a compiled pattern may be, in bytes.
const LARGEST: usize = 1 << 20;

const OPERATORS: &str = "operators are = != < <= > >= ~ !~";

/// The expression, and the columns of the file that it names.
pub(super) fn parse(text: &str) -> Result<(Expr, Vec<String>), WhereError> {
    let tokens = lex(text)?;
    let mut parser = Parser { end: text.len(), tokens: tokens.into_iter().peekable(), columns: Vec::new() };
    let expr = parser.any(0)?;
    match parser.tokens.next() {
        None => Ok((expr, parser.columns)),
        Some((Token::Word(word), span)) if ["AND", "OR", "NOT"].contains(&word.as_str()) => {
            Err(WhereError::new(span, format!("write `{}` in small letters", word.to_lowercase())))
        }
        Some((_, span)) => Err(WhereError::new(span, "the expression is over here; `and` or `or` may go on with it")),
    }
}

struct Parser {
    end: usize,
    tokens: std::iter::Peekable<std::vec::IntoIter<(Token, Range<usize>)>>,
    columns: Vec<String>,
}

impl Parser {
    fn any(&mut self, depth: usize) -> Result<Expr, WhereError> {
        let mut parts = vec![self.all(depth)?];
        while self.word("or") {
            parts.push(self.all(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::Any(parts) })
    }

    fn all(&mut self, depth: usize) -> Result<Expr, WhereError> {
        let mut parts = vec![self.one(depth)?];
        while self.word("and") {
            parts.push(self.one(depth)?);
        }
        Ok(if parts.len() == 1 { parts.remove(0) } else { Expr::All(parts) })
    }

    fn one(&mut self, depth: usize) -> Result<Expr, WhereError> {
        if depth > DEEPEST {
            let message = format!("more than {DEEPEST} parentheses or `not` within each other");
            return Err(WhereError::new(self.here(), message));
        }
        if self.word("not") {
            return Ok(Expr::Not(Box::new(self.one(depth + 1)?)));
        }
        if self.sign("(") {
            let inside = self.any(depth + 1)?;
            if !self.sign(")") {
                return Err(WhereError::new(self.here(), "a `)` is missing"));
            }
            return Ok(inside);
        }
        self.test().map(Expr::Test)
    }

    fn test(&mut self) -> Result<Test, WhereError> {
        let (left, place) = self.left()?;
        let (op, at) = match self.tokens.next() {
            Some((Token::Sign(sign), span)) => match Op::of(sign) {
                Some(op) => (op, span),
                None => return Err(WhereError::new(span, "an operator is missing").note(OPERATORS)),
            },
            Some((_, span)) => return Err(WhereError::new(span, "an operator is missing").note(OPERATORS)),
            None => return Err(WhereError::new(self.here(), "an operator is missing").note(OPERATORS)),
        };
        let right = self.right(&left, op, at)?;
        Ok(Test { left, op, right, place })
    }

    fn left(&mut self) -> Result<(Left, Range<usize>), WhereError> {
        let fields = || format!("fields are {}; column(\"NAME\") is a column of the file", names());
        match self.tokens.next() {
            Some((Token::Word(name), span)) if name == "column" => self.column(span),
            Some((Token::Word(name), span)) => match Field::named(&name.replace('_', "-")) {
                Some(field) => Ok((Left::Field(field), span)),
                None if ["and", "or"].contains(&name.as_str()) => {
                    Err(WhereError::new(span, format!("`{name}` stands where a field should")).note(fields()))
                }
                None if is_known(Role::Time, &name) => {
                    let message =
                        format!("`{name}`: the time of a request is no field, so rows cannot be chosen by it");
                    let instead = "column(\"NAME\") compares a column's text, and times as ISO 8601 sort as texts do: \
                                   column(\"TIMESTAMP\") >= \"2023-11-16T18\"; a log without columns is cut before it is read";
                    Err(WhereError::new(span, message).note(instead).note(fields()))
                }
                None if name == "NOT" => Err(WhereError::new(span, "write `not` in small letters")),
                None => {
                    let near = nearest(&name, Field::ALL.into_iter().map(Field::name));
                    let near = near.map_or(String::new(), |near| format!(" (did you mean {near}?)"));
                    Err(WhereError::new(span, format!("unknown field `{name}`{near}")).note(fields()))
                }
            },
            Some((_, span)) => Err(WhereError::new(span, "a field should stand here").note(fields())),
            None => Err(WhereError::new(self.here(), "a field should stand here").note(fields())),
        }
    }

    fn column(&mut self, word: Range<usize>) -> Result<(Left, Range<usize>), WhereError> {
        let wrong = |span| WhereError::new(span, "a column is written column(\"NAME\")");
        if !self.sign("(") {
            return Err(wrong(word));
        }
        let (Token::Text(written), span) = self.tokens.next().ok_or_else(|| wrong(word.clone()))? else {
            return Err(wrong(word));
        };
        let name = unescape(&written, &span)?;
        if !self.sign(")") {
            return Err(wrong(word));
        }
        let at = self.columns.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.columns.push(name);
            self.columns.len() - 1
        });
        Ok((Left::Column(at), word.start..span.end + 1))
    }

    fn right(&mut self, left: &Left, op: Op, at: Range<usize>) -> Result<Right, WhereError> {
        let what = left.what(&self.columns);
        let Some((token, span)) = self.tokens.next() else {
            return Err(WhereError::new(self.here(), "a value is missing: a number, or a text in double quotes"));
        };
        let is_number = matches!(left, Left::Field(field) if field.kind() != Kind::Text);
        match token {
            Token::Text(pattern) if op.is_match() => {
                if is_number && *left != Left::Field(Field::Status) {
                    let message = format!("{what} is a number, which has no pattern; use = != < <= > >=");
                    return Err(WhereError::new(at, message));
                }
                let pattern = pattern.replace("\\\"", "\"");
                let built = RegexBuilder::new(&pattern).size_limit(LARGEST).build();
                built.map(Right::Pattern).map_err(|error| {
                    let said = error.to_string();
                    let last = said.lines().last().unwrap_or("").trim_start_matches("error: ").to_owned();
                    WhereError::new(span, format!("the pattern cannot be used: {last}"))
                })
            }
            Token::Text(written) if is_number => {
                let number = written.trim_start_matches('$').parse::<f64>().is_ok();
                let how = if number { ": write it without quotes" } else { "" };
                Err(WhereError::new(span, format!("{what} is a number, not a text{how}")))
            }
            Token::Text(written) => Ok(Right::Text(unescape(&written, &span)?.into_bytes())),
            Token::Number { .. } if op.is_match() => Err(WhereError::new(span, "a pattern is a text in double quotes")),
            Token::Number { text, dollars } => number(left, &what, &text, dollars, span),
            Token::Word(word) => {
                let message = format!("`{word}` is neither a number nor a text; texts stand in double quotes");
                Err(WhereError::new(span, message))
            }
            Token::Sign(_) => Err(WhereError::new(span, "a value should stand here: a number, or a text in quotes")),
        }
    }

    fn word(&mut self, wanted: &str) -> bool {
        self.tokens.next_if(|(token, _)| matches!(token, Token::Word(word) if word == wanted)).is_some()
    }

    fn sign(&mut self, wanted: &str) -> bool {
        self.tokens.next_if(|(token, _)| matches!(token, Token::Sign(sign) if *sign == wanted)).is_some()
    }

    /// The place of the next word, or the end.
    fn here(&mut self) -> Range<usize> {
        self.tokens.peek().map_or(self.end..self.end, |(_, span)| span.clone())
    }
}

fn number(left: &Left, what: &str, text: &str, dollars: bool, span: Range<usize>) -> Result<Right, WhereError> {
    let wrong = |message: String| Err(WhereError::new(span.clone(), message));
    let Some(number) = decimal(text.as_bytes()) else {
        return wrong(format!("{text:?} is not a number of at most 64 bits"));
    };
    let Left::Field(field) = left else { return Ok(Right::Decimal(number)) };
    let (power, which) = match field.kind() {
        Kind::Text => return wrong(format!("{what} is a text: write \"{text}\" in double quotes")),
        Kind::Money => (6, "dollars with at most six decimals"),
        Kind::Number if dollars => return wrong(format!("{what} is a number, not money")),
        Kind::Number => (0, "a whole number"),
    };
    match number.scaled(power) {
        Some((value, true)) if !number.negative || value == 0 => Ok(Right::Number(value)),
        _ => wrong(format!("{what} is {which}, at least 0 and within 64 bits")),
    }
}

/// A text with its escapes read.
fn unescape(written: &str, span: &Range<usize>) -> Result<String, WhereError> {
    let mut text = String::with_capacity(written.len());
    let mut chars = written.char_indices();
    while let Some((at, char)) = chars.next() {
        text.push(match char {
            '\\' => match chars.next().map(|(_, escaped)| escaped) {
                Some('"') => '"',
                Some('\\') => '\\',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                other => {
                    let start = span.start + 1 + at;
                    let end = start + 1 + other.map_or(0, char::len_utf8);
                    let message = "unknown escape; a text knows \\\" \\\\ \\n \\r \\t";
                    return Err(WhereError::new(start..end, message));
                }
            },
            plain => plain,
        });
    }
    Ok(text)
}

fn names() -> String {
    Field::ALL.map(Field::name).join(", ")
}
