//! The view in a terminal: which pane is shown, in which order, from which row on. It knows no terminal; it draws to a frame.

use crate::figures::Figures;
use crate::pane::{Fact, Pane, SortBy, Tone, fitting};
use crate::panes::{header, panes};
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span, Text};
use ratatui::widgets::{Cell, Clear, Paragraph, Row, Table, TableState, Tabs};

/// What a terminal must have.
const COLUMNS_MIN: u16 = 60;
const ROWS_MIN: u16 = 14;
const KEYS: &str = "q quit  tab/arrows pane, rows  s/S sort column  r reverse  space pause";

/// A key, as far as it means something here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// q, escape, Ctrl-C
    Quit,
    /// The next pane: tab, right
    Next,
    /// The pane before: shift-tab, left
    Previous,
    /// A pane by its number, from 1 on
    Pane(usize),
    /// Rows further down, or up if negative
    Rows(i32),
    /// Pages of rows
    Pages(i32),
    /// To the first row
    First,
    /// To the last row
    Last,
    /// Sorts by the next column
    SortNext,
    /// Sorts by the column before
    SortPrevious,
    /// The other direction
    Reverse,
    /// Stops taking new figures, or takes them again
    Pause,
}

/// What is to be done after a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Draw it.
    Draw,
    /// End.
    Quit,
}

/// The state of the view.
#[derive(Debug, Default)]
pub struct View {
    figures: Option<Figures>,
    /// Figures that came while the view was paused.
    newer: Option<Figures>,
    is_paused: bool,
    pane: usize,
    /// For each pane.
    sorted: Vec<Option<SortBy>>,
    first_row: Vec<usize>,
    /// Rows that the table had room for when it was drawn last.
    page: usize,
}

impl View {
    /// Takes figures, which are drawn next.
    pub fn take(&mut self, figures: Figures) {
        match self.is_paused {
            true => self.newer = Some(figures),
            false => self.figures = Some(figures),
        }
    }

    /// Does what a key says.
    pub fn press(&mut self, key: Key) -> Action {
        let count = panes(&Figures::default()).len();
        match key {
            Key::Quit => return Action::Quit,
            Key::Next => self.pane = (self.pane + 1) % count,
            Key::Previous => self.pane = (self.pane + count - 1) % count,
            Key::Pane(number) if (1..=count).contains(&number) => self.pane = number - 1,
            Key::Pane(_) => {}
            Key::Rows(rows) => self.scroll(rows as isize),
            Key::Pages(pages) => self.scroll(pages as isize * self.page.max(1) as isize),
            Key::First => self.scroll(isize::MIN),
            Key::Last => self.scroll(isize::MAX),
            Key::SortNext => self.sort(1),
            Key::SortPrevious => self.sort(-1),
            Key::Reverse => {
                let by = self.sorted_by();
                let reversed = by.map_or(SortBy { column: 0, is_descending: true }, |by| SortBy {
                    is_descending: !by.is_descending,
                    ..by
                });
                *slot(&mut self.sorted, self.pane) = Some(reversed);
            }
            Key::Pause => {
                self.is_paused = !self.is_paused;
                if let Some(newer) = self.newer.take() {
                    self.figures = Some(newer);
                }
            }
        }
        Action::Draw
    }

    fn sorted_by(&self) -> Option<SortBy> {
        self.sorted.get(self.pane).copied().flatten()
    }

    /// The first press sorts by the first column, or the last one.
    fn sort(&mut self, step: isize) {
        let columns = self.shown().map_or(1, |pane| pane.columns.len().max(1)) as isize;
        let column = match self.sorted_by() {
            Some(by) => (by.column as isize + step).rem_euclid(columns),
            None if step > 0 => 0,
            None => columns - 1,
        } as usize;
        let is_number = self.shown().and_then(|pane| Some(pane.columns.get(column)?.is_number));
        let by = SortBy { column, is_descending: is_number.unwrap_or(false) };
        *slot(&mut self.sorted, self.pane) = Some(by);
    }

    fn scroll(&mut self, rows: isize) {
        let last = self.shown().map_or(0, |pane| pane.rows.len().saturating_sub(1));
        let first = slot(&mut self.first_row, self.pane);
        *first = first.saturating_add_signed(rows).min(last);
    }

    /// The pane that is shown, in order.
    fn shown(&self) -> Option<Pane> {
        let mut pane = panes(self.figures.as_ref()?).into_iter().nth(self.pane)?;
        if let Some(by) = self.sorted_by() {
            pane.sort(by);
        }
        Some(pane)
    }

    /// Draws all of it.
    pub fn draw(&mut self, frame: &mut Frame<'_>) {
        let area = frame.area();
        if area.width < COLUMNS_MIN || area.height < ROWS_MIN {
            let text = format!(
                "The terminal has {} columns and {} rows; zerohop top takes {COLUMNS_MIN} and {ROWS_MIN}. \
                 Enlarge it, or use --once. q quits.",
                area.width, area.height
            );
            let text = Paragraph::new(text).wrap(ratatui::widgets::Wrap { trim: true });
            frame.render_widget(Clear, area);
            return frame.render_widget(text, area);
        }
        let Some(figures) = &self.figures else {
            return frame.render_widget(Paragraph::new("Asking the NameNode ..."), area);
        };
        let lines: Vec<Line<'_>> =
            header(figures).into_iter().flat_map(|facts| fact_lines(facts, area.width)).collect();
        let [head, tabs, note, body, keys] = Layout::vertical([
            Constraint::Length(u16::try_from(lines.len()).unwrap_or(u16::MAX)),
            Constraint::Length(1),
            Constraint::Length(1),
            Constraint::Min(1),
            Constraint::Length(1),
        ])
        .areas(area);
        frame.render_widget(Paragraph::new(lines), head);
        let titles = panes(figures).into_iter().enumerate();
        let titles: Vec<String> =
            titles.map(|(at, pane)| format!("{} {}", at + 1, pane.title)).collect();
        let marked = Style::new().add_modifier(Modifier::REVERSED);
        frame.render_widget(Tabs::new(titles).select(self.pane).highlight_style(marked), tabs);
        let paused = if self.is_paused { "  PAUSED" } else { "" };
        let dim = Style::new().add_modifier(Modifier::DIM);
        frame.render_widget(Paragraph::new(format!("{KEYS}{paused}")).style(dim), keys);
        if figures.shown.is_none() {
            let problem = Paragraph::new("No NameNode answers.").style(style(Tone::Bad));
            return frame.render_widget(problem, body);
        }
        if let Some(pane) = self.shown() {
            let columns = self.columns(&pane, body.width);
            let mut text = pane.note.clone().unwrap_or_default();
            if columns.len() < pane.columns.len() {
                let hidden = pane.columns.len() - columns.len();
                let gap = if text.is_empty() { "" } else { " " };
                text.push_str(&format!("{gap}{hidden} more columns need a wider terminal."));
            }
            frame.render_widget(Paragraph::new(text).style(dim), note);
            self.draw_table(&pane, &columns, frame, body);
        }
    }

    /// Returns the columns of a pane that fit into `room`.
    fn columns(&self, pane: &Pane, room: u16) -> Vec<usize> {
        fitting(&pane.widths(), usize::from(room), self.sorted_by().map(|by| by.column))
    }

    fn draw_table(&mut self, pane: &Pane, shown: &[usize], frame: &mut Frame<'_>, area: Rect) {
        self.page = usize::from(area.height.saturating_sub(1));
        let sorted = self.sorted_by();
        let title = |(at, column): (usize, &crate::pane::Column)| {
            let mark = match sorted {
                Some(by) if by.column == at && by.is_descending => "↓",
                Some(by) if by.column == at => "↑",
                _ => "",
            };
            cell(format!("{}{mark}", column.title), column.is_number)
        };
        let columns = || shown.iter().filter_map(|at| Some((*at, pane.columns.get(*at)?)));
        let titles =
            Row::new(columns().map(title)).style(Style::new().add_modifier(Modifier::BOLD));
        let rows = pane.rows.iter().map(|row| {
            let cells = columns().filter_map(|(at, column)| Some((row.cells.get(at)?, column)));
            let cells = cells.map(|(shown, column)| cell(shown.text.clone(), column.is_number));
            Row::new(cells).style(style(row.tone))
        });
        // Room for the mark of the sorted column.
        let widths = pane.widths();
        let widths = shown.iter().filter_map(|at| widths.get(*at));
        let widths =
            widths.map(|width| Constraint::Length(u16::try_from(width + 1).unwrap_or(u16::MAX)));
        let first = self.first_row.get(self.pane).copied().unwrap_or(0);
        let first = first.min(pane.rows.len().saturating_sub(1));
        let mut state = TableState::new().with_offset(first);
        let table = Table::new(rows, widths).header(titles).column_spacing(1);
        frame.render_stateful_widget(table, area, &mut state);
    }
}

/// The place of a pane in a list that grows as panes are looked at.
fn slot<T: Default + Clone>(list: &mut Vec<T>, at: usize) -> &mut T {
    if list.len() <= at {
        list.resize(at + 1, T::default());
    }
    &mut list[at]
}

fn cell(text: String, is_number: bool) -> Cell<'static> {
    let alignment = if is_number { Alignment::Right } else { Alignment::Left };
    Cell::new(Text::from(text).alignment(alignment))
}

/// Returns the facts as lines of at most `width` columns.
fn fact_lines(facts: Vec<Fact>, width: u16) -> Vec<Line<'static>> {
    let dim = Style::new().add_modifier(Modifier::DIM);
    let mut lines = vec![Line::default()];
    for fact in facts {
        let len = fact.label.chars().count() + 1 + fact.value.chars().count();
        let begins = lines
            .last()
            .is_none_or(|line| line.width() > 0 && line.width() + len > usize::from(width));
        if begins {
            lines.push(Line::default());
        }
        if let Some(line) = lines.last_mut() {
            line.push_span(Span::styled(format!("{} ", fact.label), dim));
            line.push_span(Span::styled(format!("{}   ", fact.value), style(fact.tone)));
        }
    }
    lines
}

fn style(tone: Tone) -> Style {
    match tone {
        Tone::Plain => Style::new(),
        Tone::Warning => Style::new().fg(Color::Yellow),
        Tone::Bad => Style::new().fg(Color::Red),
    }
}
