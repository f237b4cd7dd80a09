//! What is the same on every page of a daemon.

use crate::assets;
use crate::content::{Content, Level};
use crate::html::HtmlPage;
use askama::Template;

/// A link of the navigation.
#[derive(Clone, Debug)]
pub struct NavLink {
    /// The address.
    pub href: &'static str,
    /// Its name.
    pub label: &'static str,
}

/// A daemon as its pages name it.
#[derive(Clone, Debug)]
pub struct Site {
    /// `NameNode`, `DataNode`, ...
    pub kind: &'static str,
    /// Where it is reached.
    pub name: String,
    /// Its state, if it has several.
    pub state: Option<(String, Level)>,
    /// Its pages.
    pub nav: Vec<NavLink>,
}

#[derive(Template)]
#[template(path = "layout.html")]
struct Layout<'a> {
    site: &'a Site,
    title: &'a str,
    current: &'a str,
    content: &'a Content,
    style: String,
    script: String,
    version: &'static str,
}

impl Site {
    /// A page of the daemon; `current` is its address in the navigation.
    pub fn page(&self, title: &str, current: &str, content: &Content) -> HtmlPage {
        let (style, script) = (assets::style_address(), assets::script_address());
        let version = env!("CARGO_PKG_VERSION");
        let page = Layout { site: self, title, current, content, style, script, version };
        match page.render() {
            Ok(html) => HtmlPage::new(html),
            Err(error) => HtmlPage::failed(&error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Body, Cell, Notice, Section, Table, Tile};

    #[test]
    fn whatever_a_page_shows_is_text() {
        let evil = "<script>alert(1)</script>\"'&";
        let mut table = Table::new(&["Name"], "none");
        table.row(vec![Cell::text(evil).to(format!("/x?y={evil}"))]);
        let content = Content::new()
            .with(Section::new("a", Body::Notices(vec![Notice::new(Level::Bad, evil)])))
            .with(Section::new("b", Body::Tiles(vec![Tile::new("t", evil, evil)])))
            .with(Section::new("c", Body::Facts(vec![("f", evil.into())])).titled(evil).noted(evil))
            .with(Section::new("d", Body::Table(table)))
            .with(Section::new("e", Body::Lines(evil.to_owned())));
        let site = Site {
            kind: "NameNode",
            name: evil.to_owned(),
            state: Some((evil.to_owned(), Level::Good)),
            nav: vec![NavLink { href: "/", label: "Overview" }],
        };
        let page = site.page(evil, "/", &content);
        assert!(!page.text().contains("<script>alert"), "{}", page.text());
        assert!(page.text().contains("aria-current"));
        assert!(!page.text().contains("style="), "the policy forbids styles within the page");
    }
}
