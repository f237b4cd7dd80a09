//! The web pages of all daemons: one layout, one style, one script.
//!
//! A daemon says what a page shows as a [`Content`]: notices, tiles, facts and tables. [`Site::page`] makes HTML of it. Pages
//! work without JavaScript; with it, sections that are marked as live are fetched again every few seconds. Nothing comes from
//! another host, and the Content-Security-Policy of every page allows only the style and the script of this crate.

mod assets;
mod configuration;
mod content;
mod events;
mod figures;
mod html;
mod layout;
mod log_level;
mod logs;
mod paging;
mod same_site;
mod shared;

pub use assets::assets;
pub use content::{Body, Cell, Content, Level, Notice, Section, Table, Tile};
pub use events::events;
pub use figures::{age, bytes, count, date, percent, url_path, url_value};
pub use html::HtmlPage;
pub use layout::{NavLink, Site};
pub use paging::Paging;
pub use same_site::{CrossSite, check_same_site};
pub use shared::{PageOwner, shared_pages};
