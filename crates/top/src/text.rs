//! All panes as plain text, for scripts and for where there is no terminal.

use crate::figures::Figures;
use crate::pane::{Pane, Row};
use crate::panes::{header, panes};
use std::fmt::Write;

/// The header and all tables, one after the other.
pub fn screen(figures: &Figures) -> String {
    let mut out = String::new();
    for line in header(figures) {
        let facts = line.iter().map(|fact| format!("{} {}", fact.label, fact.value));
        let _ = writeln!(out, "{}", facts.collect::<Vec<_>>().join("   "));
    }
    if figures.shown.is_none() {
        return out;
    }
    for pane in panes(figures) {
        let _ = write!(out, "\n{}", pane.title);
        if let Some(note) = &pane.note {
            let _ = write!(out, ": {note}");
        }
        out.push('\n');
        table(&pane, &mut out);
    }
    out
}

fn table(pane: &Pane, out: &mut String) {
    if pane.rows.is_empty() {
        return;
    }
    let widths = pane.widths();
    let titles = pane.columns.iter().map(|column| column.title);
    line(pane, &widths, titles, out);
    for Row { cells, .. } in &pane.rows {
        line(pane, &widths, cells.iter().map(|cell| cell.text.as_str()), out);
    }
}

fn line<'a>(pane: &Pane, widths: &[usize], texts: impl Iterator<Item = &'a str>, out: &mut String) {
    let mut written = String::new();
    for ((column, width), text) in pane.columns.iter().zip(widths).zip(texts) {
        let _ = match column.is_number {
            true => write!(written, "  {text:>width$}"),
            false => write!(written, "  {text:<width$}"),
        };
    }
    let _ = writeln!(out, "{}", written.trim_end());
}
