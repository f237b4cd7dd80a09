//! Tables as Apache's administration tools print them (`TableListing`), byte for byte: a cell is filled up by its
//! characters, where comfy-table goes by the columns that they take in a terminal, and ends of lines in a cell stay.

/// Lines of explanations are shorter.
const LINE_MAX: usize = 80;

/// On which side a column is filled up.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Left,
    Right,
}

/// Columns under their titles.
pub struct Table {
    sides: Vec<Side>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// `Right`: what stands in the column ends at the same place.
    pub fn new(columns: &[(&str, Side)]) -> Self {
        let titles = columns.iter().map(|(title, _)| (*title).to_owned()).collect();
        Self { sides: columns.iter().map(|(_, side)| *side).collect(), rows: vec![titles] }
    }

    /// One cell for each column.
    pub fn add(&mut self, row: Vec<String>) {
        self.rows.push(row);
    }

    /// Rows under the titles.
    pub fn len(&self) -> usize {
        self.rows.len() - 1
    }
}

impl std::fmt::Display for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            1 + cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..self.sides.len()).map(width).collect();
        for row in &self.rows {
            let cells = row.iter().zip(&self.sides).zip(&widths);
            let cells: Vec<String> = cells
                .map(|((cell, side), width)| match side {
                    Side::Left => format!("{cell:<width$}"),
                    Side::Right => format!("{cell:>width$}"),
                })
                .collect();
            writeln!(f, "{}", cells.join(" "))?;
        }
        Ok(())
    }
}

/// Arguments and what they mean, in lines of [`LINE_MAX`] at most.
pub fn explained(rows: &[(&str, &str)]) -> String {
    let first = 1 + rows.iter().map(|(word, _)| word.len()).max().unwrap_or(0);
    let longest = 1 + rows.iter().map(|(_, meaning)| meaning.len()).max().unwrap_or(0);
    let second = longest.min(LINE_MAX.saturating_sub(first + 2)).max(1);
    let mut text = String::new();
    for (word, meaning) in rows {
        for (number, line) in wrapped(meaning, second).into_iter().enumerate() {
            let word = if number == 0 { word } else { "" };
            text.push_str(&format!("{word:<first$} {line:<second$}\n"));
        }
    }
    text
}

/// Lines of `width` at most, broken at blanks.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.len() + 1 + word.len() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_longest_cell_and_a_blank() {
        let mut table = Table::new(&[("NAME", Side::Left), ("LIMIT", Side::Right)]);
        table.add(vec!["a".to_owned(), "unlimited".to_owned()]);
        assert_eq!(table.to_string(), "NAME       LIMIT\na      unlimited\n");
        assert_eq!(table.len(), 1);
    }

    #[test]
    fn explanations_are_broken_at_blanks() {
        let text = explained(&[("<a>", &"word ".repeat(20)), ("<long>", "short")]);
        assert!(text.lines().all(|line| line.len() == 79), "{text}");
        assert_eq!(text.lines().count(), 3);
        assert!(text.starts_with("<a>     word word"), "{text}");
    }
}
