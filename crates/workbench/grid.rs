//! A table of text: aligned for a terminal, or Markdown.

/// Columns with their heads; the first is left-aligned, the others right.
pub struct Grid {
    heads: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Grid {
    /// A table without rows.
    pub fn new(heads: &[&str]) -> Grid {
        Grid { heads: heads.iter().map(ToString::to_string).collect(), rows: Vec::new() }
    }

    /// Adds a row; what it lacks is empty.
    pub fn row(&mut self, mut cells: Vec<String>) {
        cells.resize(self.heads.len(), String::new());
        self.rows.push(cells);
    }

    /// Whether it has no rows.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table as text.
    pub fn text(&self, markdown: bool) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().map(|row| &row[column]).chain([&self.heads[column]]);
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.heads.len()).map(width).collect();
        let line = |cells: &[String]| {
            let padded = cells.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| match column {
                0 => format!("{cell:<width$}"),
                _ => format!("{cell:>width$}"),
            });
            let padded: Vec<String> = padded.collect();
            match markdown {
                true => format!("| {} |\n", padded.join(" | ")),
                false => format!("  {}\n", padded.join("  ").trim_end()),
            }
        };
        let mut text = line(&self.heads);
        if markdown {
            let rule = |(column, width): (usize, &usize)| match column {
                0 => format!("|{}", "-".repeat(width + 2)),
                _ => format!("|{}:", "-".repeat(width + 1)),
            };
            text.push_str(&format!("{}|\n", widths.iter().enumerate().map(rule).collect::<String>()));
        }
        for row in &self.rows {
            text.push_str(&line(row));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms() {
        let mut grid = Grid::new(&["limiter", "ns"]);
        grid.row(vec!["gcra".into(), "3.0".into()]);
        assert_eq!(grid.text(false), "  limiter   ns\n  gcra     3.0\n");
        assert_eq!(grid.text(true), "| limiter |  ns |\n|---------|----:|\n| gcra    | 3.0 |\n");
    }
}
