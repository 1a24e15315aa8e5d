//! Plain text for people: aligned tables, and flags that take several values.

use crate::problem::Problem;
use unicode_width::UnicodeWidthStr;

/// A table whose first column, and those without a heading, stand left and whose others stand right.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table with these headings.
    pub fn new(heads: &[&str]) -> Table {
        Table { rows: vec![heads.iter().map(|head| (*head).to_owned()).collect()] }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        self.rows.push(cells.into_iter().collect());
    }

    /// The table, each line indented by two spaces.
    pub fn text(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width()).max();
        let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
        let mut text = String::new();
        for row in &self.rows {
            let mut line = String::from(" ");
            for (column, (cell, width)) in row.iter().zip(&widths).enumerate() {
                let space = " ".repeat(width - cell.width());
                let left = self.rows[0].get(column).is_none_or(String::is_empty);
                line.push_str(&match column {
                    0 => format!(" {cell}{space}"),
                    _ if left => format!("  {cell}{space}"),
                    _ => format!("  {space}{cell}"),
                });
            }
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }
}

/// `text` in lines of at most about a hundred columns, each indented; a line break stays one.
pub fn wrapped(text: &str, indent: &str) -> String {
    const WIDTH: usize = 100;
    let mut out = String::new();
    for paragraph in text.lines() {
        let mut line = indent.to_owned();
        for word in paragraph.split(' ') {
            if line.width() + 1 + word.width() > WIDTH && line.trim() != "" {
                out.push_str(&format!("{}\n", line.trim_end()));
                line = format!("{indent}  ");
            }
            line.push_str(word);
            line.push(' ');
        }
        out.push_str(&format!("{}\n", line.trim_end()));
    }
    out
}

/// Every value of a flag, read.
pub fn each<T>(flag: &str, values: &[String], read: impl Fn(&str) -> Result<T, String>) -> Result<Vec<T>, Problem> {
    values.iter().map(|value| one(flag, value, &read)).collect()
}

/// The value of a flag, read.
pub fn one<T>(flag: &str, value: &str, read: impl Fn(&str) -> Result<T, String>) -> Result<T, Problem> {
    read(value).map_err(|message| Problem::input(format!("error: {flag} {value}: {message}")))
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn digits_stand_under_digits() {
        let mut table = Table::new(&["key", "n"]);
        table.row(["ä".to_owned(), "1,000".to_owned()]);
        assert_eq!(table.text(), "  key      n\n  ä    1,000\n");
    }
}
