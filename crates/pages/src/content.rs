//! What a page shows.

use crate::figures::{bytes, count, percent, share};

/// How good or bad something is; never by its colour alone: the text says it too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    /// Neither.
    #[default]
    Plain,
    /// As it should be.
    Good,
    /// To be looked at.
    Warn,
    /// Broken.
    Bad,
}

impl Level {
    /// Its class in the style.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }

    /// Bad or plain.
    pub fn bad_if(is_bad: bool) -> Self {
        if is_bad { Self::Bad } else { Self::Plain }
    }

    /// To be looked at or plain.
    pub fn warn_if(is_odd: bool) -> Self {
        if is_odd { Self::Warn } else { Self::Plain }
    }
}

/// One value.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    pub(crate) text: String,
    pub(crate) link: Option<String>,
    pub(crate) share: Option<f64>,
    pub(crate) level: Level,
    pub(crate) is_state: bool,
    pub(crate) is_number: bool,
    pub(crate) is_code: bool,
}

impl Cell {
    /// A text.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// A number.
    pub fn count(number: impl Into<u64>) -> Self {
        Self { is_number: true, ..Self::text(count(number.into())) }
    }

    /// A text that stands below others of its kind, as numbers do.
    pub fn number(text: impl Into<String>) -> Self {
        Self { is_number: true, ..Self::text(text) }
    }

    /// A size.
    pub fn bytes(size: u64) -> Self {
        Self { is_number: true, ..Self::text(bytes(size)) }
    }

    /// A part of a whole, with a bar.
    pub fn share(part: u64, whole: u64) -> Self {
        let text = format!("{} of {} ({})", bytes(part), bytes(whole), percent(part, whole));
        Self { share: Some(share(part, whole) * 100.0), ..Self::text(text) }
    }

    /// The same with another text.
    pub fn with_text(self, text: impl Into<String>) -> Self {
        Self { text: text.into(), ..self }
    }

    /// A state, such as `Active`.
    pub fn state(text: impl Into<String>, level: Level) -> Self {
        Self { level, is_state: true, ..Self::text(text) }
    }

    /// A name that is to be read letter by letter: a path, a key.
    pub fn code(text: impl Into<String>) -> Self {
        Self { is_code: true, ..Self::text(text) }
    }

    /// The same as a link.
    pub fn to(self, address: impl Into<String>) -> Self {
        Self { link: Some(address.into()), ..self }
    }

    /// The same with a level.
    pub fn level(self, level: Level) -> Self {
        Self { level, ..self }
    }

    /// The classes of its place in a table.
    pub(crate) fn class(&self) -> String {
        let number = if self.is_number { "num " } else { "" };
        format!("{number}{}", self.level.class())
    }

    pub(crate) fn bar(&self) -> Option<String> {
        self.share.map(|share| format!("{share:.1}"))
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::text(text)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Self {
        Self::count(number)
    }
}

/// A number that is seen from afar.
#[derive(Clone, Debug)]
pub struct Tile {
    pub(crate) label: &'static str,
    pub(crate) value: Cell,
    pub(crate) note: String,
}

impl Tile {
    /// With a note below it.
    pub fn new(label: &'static str, value: impl Into<Cell>, note: impl Into<String>) -> Self {
        Self { label, value: value.into(), note: note.into() }
    }
}

/// What people should know first.
#[derive(Clone, Debug)]
pub struct Notice {
    pub(crate) level: Level,
    pub(crate) text: String,
    pub(crate) link: Option<(String, &'static str)>,
}

impl Notice {
    /// With a level.
    pub fn new(level: Level, text: impl Into<String>) -> Self {
        Self { level, text: text.into(), link: None }
    }

    /// The same with a link to where more is said.
    pub fn to(self, address: impl Into<String>, label: &'static str) -> Self {
        Self { link: Some((address.into(), label)), ..self }
    }
}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub(crate) columns: Vec<&'static str>,
    pub(crate) rows: Vec<Vec<Cell>>,
    pub(crate) empty: &'static str,
    /// Address and label of the pages before and after, and what this one shows.
    pub(crate) paging: Option<crate::paging::Paging>,
}

impl Table {
    /// Without rows; `empty` is shown where there are none.
    pub fn new(columns: &[&'static str], empty: &'static str) -> Self {
        Self { columns: columns.to_vec(), empty, ..Self::default() }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// The columns' names, and whether numbers are below them.
    pub(crate) fn heads(&self) -> impl Iterator<Item = (&'static str, bool)> + '_ {
        let first = self.rows.first();
        let is_number =
            move |at: usize| first.and_then(|row| row.get(at)).is_some_and(|cell| cell.is_number);
        self.columns.iter().enumerate().map(move |(at, column)| (*column, is_number(at)))
    }

    /// The same with links to its other pages.
    pub fn paged(self, paging: crate::paging::Paging) -> Self {
        Self { paging: Some(paging), ..self }
    }
}

/// What a section holds.
#[derive(Clone, Debug)]
pub enum Body {
    /// Notices.
    Notices(Vec<Notice>),
    /// Tiles.
    Tiles(Vec<Tile>),
    /// Names and values.
    Facts(Vec<(&'static str, Cell)>),
    /// A table.
    Table(Table),
    /// Lines as they are.
    Lines(String),
    /// HTML that is escaped already.
    Html(String),
}

/// A part of a page.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its name in the address, after `#`.
    pub(crate) id: &'static str,
    pub(crate) title: Option<String>,
    pub(crate) note: Option<String>,
    pub(crate) is_live: bool,
    pub(crate) body: Body,
}

impl Section {
    /// Without a title.
    pub fn new(id: &'static str, body: Body) -> Self {
        Self { id, title: None, note: None, is_live: true, body }
    }

    /// The same with a title.
    pub fn titled(self, title: impl Into<String>) -> Self {
        Self { title: Some(title.into()), ..self }
    }

    /// The same with a sentence below the title.
    pub fn noted(self, note: impl Into<String>) -> Self {
        Self { note: Some(note.into()), ..self }
    }

    /// The same, which stays as it is while the page is open: people type into it, or it takes long to make.
    pub fn still(self) -> Self {
        Self { is_live: false, ..self }
    }

    pub(crate) fn notices(&self) -> &[Notice] {
        if let Body::Notices(notices) = &self.body { notices } else { &[] }
    }

    pub(crate) fn tiles(&self) -> &[Tile] {
        if let Body::Tiles(tiles) = &self.body { tiles } else { &[] }
    }

    pub(crate) fn facts(&self) -> &[(&'static str, Cell)] {
        if let Body::Facts(facts) = &self.body { facts } else { &[] }
    }

    pub(crate) fn table(&self) -> Option<&Table> {
        if let Body::Table(table) = &self.body { Some(table) } else { None }
    }

    pub(crate) fn lines(&self) -> Option<&str> {
        if let Body::Lines(lines) = &self.body { Some(lines) } else { None }
    }

    pub(crate) fn html(&self) -> Option<&str> {
        if let Body::Html(html) = &self.body { Some(html) } else { None }
    }
}

/// The parts of a page, in their order.
#[derive(Clone, Debug, Default)]
pub struct Content {
    pub(crate) sections: Vec<Section>,
    /// Milliseconds after which live sections are fetched again.
    pub(crate) refresh_ms: u32,
}

impl Content {
    /// Live sections are fetched again after two seconds.
    pub fn new() -> Self {
        Self { sections: Vec::new(), refresh_ms: 2000 }
    }

    /// Adds a part.
    pub fn add(&mut self, section: Section) {
        self.sections.push(section);
    }

    /// The same with a part more.
    pub fn with(mut self, section: Section) -> Self {
        self.add(section);
        self
    }

    /// The same, fetched again after another time.
    pub fn every(self, refresh_ms: u32) -> Self {
        Self { refresh_ms, ..self }
    }
}
