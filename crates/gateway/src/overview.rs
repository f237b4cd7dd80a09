//! `/` of the gateway: what was asked of it, by whom, and how many bytes went through it.

use crate::activity::{RestActivity, is_bytes};
use crate::requests_by_user::RequestsByUser;
use std::time::Duration;
use zerohop_daemon::process;
use zerohop_pages::{Body, Cell, Content, Section, Table, Tile, age};

const ACTIONS: &str = "<p class=\"actions\"><a class=\"button\" href=\"/profile?seconds=10\">CPU profile, 10 s</a> \
    <a class=\"button\" href=\"/explorer\">Browse files</a></p>";
const USERS_MAX: usize = 50;

/// What the page shows.
pub(crate) struct Overview<'a> {
    pub(crate) activity: &'a RestActivity,
    pub(crate) users: &'a RequestsByUser,
    /// The user of this process, which acts for the others.
    pub(crate) login: &'a str,
    pub(crate) cluster: &'a str,
    pub(crate) up: Duration,
}

impl Overview<'_> {
    pub(crate) fn content(&self) -> Content {
        Content::new()
            .with(Section::new("figures", Body::Tiles(self.tiles())))
            .with(Section::new("actions", Body::Html(ACTIONS.to_owned())).still())
            .with(Section::new("operations", Body::Table(self.operations())).titled("Operations"))
            .with(Section::new("users", Body::Table(self.users())).titled("Users"))
            .with(Section::new("gateway", Body::Facts(self.facts())).titled("Gateway"))
    }

    fn tiles(&self) -> Vec<Tile> {
        vec![
            Tile::new("Operations", Cell::count(self.operations_total()), "since the start"),
            Tile::new("Read", Cell::bytes(self.activity.bytes_read.get()), "sent to clients"),
            Tile::new(
                "Written",
                Cell::bytes(self.activity.bytes_written.get()),
                "received from clients",
            ),
            Tile::new("Users", Cell::count(self.users.len() as u64), "since the start"),
            Tile::new("Up for", age(self.up.as_millis() as u64), "since its start"),
        ]
    }

    fn operations_total(&self) -> u64 {
        let operations = self.activity.counters().into_iter().filter(|(name, ..)| !is_bytes(name));
        operations.map(|(_, _, counter)| counter.get()).sum()
    }

    fn operations(&self) -> Table {
        let mut table = Table::new(&["Operation", "Count"], "No operation yet.");
        let counters = self.activity.counters().into_iter().filter(|(name, ..)| !is_bytes(name));
        for (_, help, counter) in counters {
            table.row(vec![help.into(), Cell::count(counter.get())]);
        }
        table
    }

    fn users(&self) -> Table {
        let mut table = Table::new(&["User", "Requests"], "No request yet.");
        for (user, requests) in self.users.busiest(USERS_MAX) {
            table.row(vec![user.into(), Cell::count(requests)]);
        }
        table
    }

    fn facts(&self) -> Vec<(&'static str, Cell)> {
        vec![
            ("Cluster", Cell::code(self.cluster)),
            ("Acts for its users as", self.login.into()),
            ("Version", concat!("zerohop ", env!("CARGO_PKG_VERSION")).into()),
            ("Process", format!("{}, {} threads", process::name(), process::threads()).into()),
        ]
    }
}
