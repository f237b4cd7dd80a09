//! A table as data: it is printed, drawn and sorted the same way.

use std::cmp::Ordering;

/// How a row or a value is meant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Tone {
    #[default]
    Plain,
    /// Worth a look.
    Warning,
    /// Wrong.
    Bad,
}

/// A labelled value of the header.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fact {
    pub(crate) label: &'static str,
    pub(crate) value: String,
    pub(crate) tone: Tone,
}

/// A column's title; numbers stand at its right edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) title: &'static str,
    pub(crate) is_number: bool,
}

pub(crate) const fn text(title: &'static str) -> Column {
    Column { title, is_number: false }
}

pub(crate) const fn number(title: &'static str) -> Column {
    Column { title, is_number: true }
}

/// What a cell shows, and what it is sorted by: numbers by their value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cell {
    pub(crate) text: String,
    value: Option<f64>,
}

impl Cell {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: crate::units::printable(&text.into()), value: None }
    }

    pub(crate) fn number(value: f64, text: String) -> Self {
        Self { text, value: Some(value) }
    }

    pub(crate) fn count(count: u64) -> Self {
        Self::number(count as f64, count.to_string())
    }

    /// A number that may be unknown.
    pub(crate) fn known<N: Copy + IntoF64>(value: Option<N>, shown: impl Fn(N) -> String) -> Self {
        match value {
            Some(value) => Self::number(value.into_f64(), shown(value)),
            None => Self { text: "-".to_owned(), value: None },
        }
    }

    fn compare(&self, other: &Self) -> Ordering {
        match (self.value, other.value) {
            (Some(one), Some(other)) => one.total_cmp(&other),
            // What is unknown counts as less than any number.
            (Some(_), None) => Ordering::Greater,
            (None, Some(_)) => Ordering::Less,
            (None, None) => self.text.cmp(&other.text),
        }
    }
}

/// A number that cells are sorted by.
pub(crate) trait IntoF64 {
    fn into_f64(self) -> f64;
}

impl IntoF64 for f64 {
    fn into_f64(self) -> f64 {
        self
    }
}

impl IntoF64 for u64 {
    fn into_f64(self) -> f64 {
        self as f64
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) cells: Vec<Cell>,
    pub(crate) tone: Tone,
}

/// A table with its title; a note says what it lacks.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pane {
    pub(crate) title: &'static str,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Row>,
    pub(crate) note: Option<String>,
}

/// By which column rows stand in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SortBy {
    pub(crate) column: usize,
    pub(crate) is_descending: bool,
}

impl Pane {
    pub(crate) fn sort(&mut self, by: SortBy) {
        self.rows.sort_by(|one, other| {
            let cells = one.cells.get(by.column).zip(other.cells.get(by.column));
            let order = cells.map_or(Ordering::Equal, |(one, other)| one.compare(other));
            if by.is_descending { order.reverse() } else { order }
        });
    }

    /// Characters that each column takes.
    pub(crate) fn widths(&self) -> Vec<usize> {
        let column = |(at, column): (usize, &Column)| {
            let cells = self.rows.iter().filter_map(|row| row.cells.get(at));
            let widest = cells.map(|cell| cell.text.chars().count()).max().unwrap_or(0);
            widest.max(column.title.chars().count())
        };
        self.columns.iter().enumerate().map(column).collect()
    }
}

/// Returns the columns that fit into `room` characters, each with one character for its mark and one between it and the
/// next: from the first one on, so that names stay whole, and always the one that rows are sorted by.
pub(crate) fn fitting(widths: &[usize], room: usize, sorted: Option<usize>) -> Vec<usize> {
    let taken = |columns: &[usize]| -> usize {
        let widths = columns.iter().filter_map(|at| widths.get(*at));
        widths.map(|width| width + 2).sum::<usize>().saturating_sub(1)
    };
    let mut shown: Vec<usize> = (0..widths.len()).collect();
    while shown.len() > 1 && taken(&shown) > room {
        // The last one goes, unless rows are sorted by it.
        let last = shown.len() - 1;
        let at = if shown.get(last).copied() == sorted && last > 1 { last - 1 } else { last };
        shown.remove(at);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `top` at 60 columns shrank all columns alike, and a DataNode's name was "127.0".
    #[test]
    fn a_narrow_terminal_hides_columns_and_cuts_no_name() {
        let widths = [14, 10, 8, 8, 8];
        assert_eq!(fitting(&widths, 60, None), [0, 1, 2, 3, 4]);
        assert_eq!(fitting(&widths, 56, None), [0, 1, 2, 3]);
        assert_eq!(fitting(&widths, 56, Some(4)), [0, 1, 2, 4]);
        assert_eq!(fitting(&widths, 30, Some(4)), [0, 4]);
        assert_eq!(fitting(&widths, 3, None), [0]);
        assert!(fitting(&[], 60, None).is_empty());
    }

    #[test]
    fn numbers_are_sorted_by_value_and_unknown_ones_are_last() {
        let row = |cell: Cell| Row { cells: vec![cell], tone: Tone::Plain };
        let cells = [Some(9.0), None, Some(10.0)];
        let mut pane = Pane {
            columns: vec![number("n")],
            rows: cells.into_iter().map(|v| row(Cell::known(v, |v: f64| v.to_string()))).collect(),
            ..Pane::default()
        };
        pane.sort(SortBy { column: 0, is_descending: true });
        let shown: Vec<&str> = pane.rows.iter().map(|row| row.cells[0].text.as_str()).collect();
        assert_eq!(shown, ["10", "9", "-"]);
        assert_eq!(pane.widths(), [2]);
        pane.sort(SortBy { column: 7, is_descending: true });
    }
}
