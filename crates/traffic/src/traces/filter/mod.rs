//! `where`: which rows of a recorded file count.
//!
//! `path ~ "^/api/" and not (method = "OPTIONS" or status = 304)`: tests of a field against a number or a text, joined by
//! `and`, `or`, `not` and parentheses; `and` binds closer than `or`. `~` asks whether a regular expression (the syntax of
//! the `regex` crate) is found in the bytes. Texts compare byte by byte, numbers exactly, prices in dollars. A field that a
//! row does not have is the empty text or 0. A `column("NAME")` beside a number is read as one; where it is none, `!=` holds
//! and the others do not.

mod lex;
mod parse;
#[cfg(test)]
mod tests;

use super::field::{Field, Kind};
use super::number::{Decimal, decimal};
use super::row::Row;
use regex::bytes::Regex;
use std::cmp::Ordering;
use std::ops::Range;

/// A filter that was read, for any file.
#[derive(Clone, Debug)]
pub struct Where {
    expr: Expr,
    columns: Vec<String>,
}

/// Why a filter cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WhereError {
    /// The bytes of the expression at fault.
    pub place: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub notes: Vec<String>,
}

impl WhereError {
    fn new(place: Range<usize>, message: impl Into<String>) -> WhereError {
        WhereError { place, message: message.into(), notes: Vec::new() }
    }

    fn note(mut self, note: impl Into<String>) -> WhereError {
        self.notes.push(note.into());
        self
    }

    /// `column 8: what is wrong; what would be right`, the column in characters of `text` from 1.
    pub fn within(&self, text: &str) -> String {
        let before = text.get(..self.place.start).unwrap_or(text);
        let notes: String = self.notes.iter().map(|note| format!("; {note}")).collect();
        format!("column {}: {}{notes}", before.chars().count() + 1, self.message)
    }
}

#[derive(Clone, Debug)]
enum Expr {
    All(Vec<Expr>),
    Any(Vec<Expr>),
    Not(Box<Expr>),
    Test(Test),
}

#[derive(Clone, Debug)]
struct Test {
    left: Left,
    op: Op,
    right: Right,
    /// Where `left` stands.
    place: Range<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Left {
    Field(Field),
    /// A column by its place among [`Where::columns`].
    Column(usize),
}

impl Left {
    fn what(&self, columns: &[String]) -> String {
        match self {
            Left::Field(field) => field.name().to_owned(),
            Left::Column(at) => format!("column(\"{}\")", columns[*at]),
        }
    }
}

#[derive(Clone, Debug)]
enum Right {
    Text(Vec<u8>),
    Pattern(Regex),
    /// A whole number, or micro-dollars.
    Number(u64),
    Decimal(Decimal),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Op {
    Equal,
    Unequal,
    Less,
    AtMost,
    More,
    AtLeast,
    Match,
    NoMatch,
}

impl Op {
    fn of(sign: &str) -> Option<Op> {
        Some(match sign {
            "=" => Op::Equal,
            "!=" => Op::Unequal,
            "<" => Op::Less,
            "<=" => Op::AtMost,
            ">" => Op::More,
            ">=" => Op::AtLeast,
            "~" => Op::Match,
            "!~" => Op::NoMatch,
            _ => return None,
        })
    }

    fn is_match(self) -> bool {
        matches!(self, Op::Match | Op::NoMatch)
    }

    /// Whether it holds of two values in this order.
    fn holds(self, order: Ordering) -> bool {
        match self {
            Op::Equal => order.is_eq(),
            Op::Unequal => order.is_ne(),
            Op::Less => order.is_lt(),
            Op::AtMost => order.is_le(),
            Op::More => order.is_gt(),
            Op::AtLeast => order.is_ge(),
            Op::Match | Op::NoMatch => false,
        }
    }
}

impl Where {
    /// Reads an expression; time and memory are linear in its length, patterns apart.
    ///
    /// # Errors
    /// With the place in `text` and what may stand there.
    pub fn parse(text: &str) -> Result<Where, WhereError> {
        let (expr, columns) = parse::parse(text)?;
        Ok(Where { expr, columns })
    }

    /// The columns of the file that it names.
    pub(super) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Each field that it tests, with its place in the text.
    pub(super) fn fields(&self) -> Vec<(Field, Range<usize>)> {
        let mut fields = Vec::new();
        self.expr.visit(&mut |test| {
            if let Left::Field(field) = test.left {
                fields.push((field, test.place.clone()));
            }
        });
        fields
    }

    /// Where the column `name` stands in the text.
    pub(super) fn place_of(&self, column: usize) -> Range<usize> {
        let mut place = 0..0;
        self.expr.visit(&mut |test| {
            if test.left == Left::Column(column) {
                place = test.place.clone();
            }
        });
        place
    }

    /// Tests the column `name` wherever it now tests the text `field`; the place among the columns.
    pub(super) fn put_column(&mut self, field: Field) {
        let at = self.columns.len();
        self.columns.push(field.name().to_owned());
        self.expr.visit_mut(&mut |test| {
            if test.left == Left::Field(field) {
                test.left = Left::Column(at);
            }
        });
    }

    /// Whether a row counts; `slots` says where each of [`columns`](Where::columns) lies in `row.own`.
    #[inline]
    pub(super) fn holds(&self, row: &Row, slots: &[usize]) -> bool {
        self.expr.holds(row, slots)
    }
}

impl Expr {
    fn visit(&self, take: &mut impl FnMut(&Test)) {
        match self {
            Expr::All(parts) | Expr::Any(parts) => parts.iter().for_each(|part| part.visit(take)),
            Expr::Not(part) => part.visit(take),
            Expr::Test(test) => take(test),
        }
    }

    fn visit_mut(&mut self, take: &mut impl FnMut(&mut Test)) {
        match self {
            Expr::All(parts) | Expr::Any(parts) => parts.iter_mut().for_each(|part| part.visit_mut(take)),
            Expr::Not(part) => part.visit_mut(take),
            Expr::Test(test) => take(test),
        }
    }

    fn holds(&self, row: &Row, slots: &[usize]) -> bool {
        match self {
            Expr::All(parts) => parts.iter().all(|part| part.holds(row, slots)),
            Expr::Any(parts) => parts.iter().any(|part| part.holds(row, slots)),
            Expr::Not(part) => !part.holds(row, slots),
            Expr::Test(test) => test.holds(row, slots),
        }
    }
}

impl Test {
    fn holds(&self, row: &Row, slots: &[usize]) -> bool {
        let digits;
        let text: &[u8] = match &self.left {
            Left::Column(at) => &row.own[slots[*at]],
            Left::Field(field) if field.kind() == Kind::Text => field.text(row),
            Left::Field(field) => match &self.right {
                Right::Number(number) => return self.op.holds(field.number(row).cmp(number)),
                // Only a status has a pattern, and only a row that has one is matched by it.
                _ => {
                    let number = field.number(row);
                    digits = if number == 0 { String::new() } else { number.to_string() };
                    digits.as_bytes()
                }
            },
        };
        match &self.right {
            Right::Text(wanted) => self.op.holds(text.cmp(wanted)),
            Right::Pattern(pattern) => pattern.is_match(text) == (self.op == Op::Match),
            Right::Decimal(number) => match decimal(text.trim_ascii()) {
                Some(value) => self.op.holds(value.compare(*number)),
                None => self.op == Op::Unequal,
            },
            Right::Number(_) => false,
        }
    }
}
