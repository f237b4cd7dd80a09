//! The pages that people look at: the journals, and those of every daemon.

use crate::shown::Shown;
use axum::Router;
use axum::extract::State;
use axum::response::{IntoResponse, Redirect};
use axum::routing::get;
use std::sync::Arc;
use std::time::UNIX_EPOCH;
use zerohop_conf::Conf;
use zerohop_daemon::http::HandlerThreads;
use zerohop_pages::{
    Body, Cell, Content, Level, NavLink, PageOwner, Section, Site, Table, Tile, age, date,
    shared_pages,
};
use zerohop_system::clock;

const NAV: [(&str, &str); 3] =
    [("/", "Journals"), ("/configuration", "Configuration"), ("/logs", "Log")];
const ACTIONS: &str = "<p class=\"actions\"><a class=\"button\" href=\"/profile?seconds=10\">CPU profile, 10 s</a></p>";

/// The routes; Apache's addresses lead to them.
pub(crate) fn routes(shown: Arc<Shown>, threads: &HandlerThreads) -> Router {
    Router::new()
        .route("/", get(journals))
        .route("/journalnode.html", get(journals))
        .route("/index.html", get(async || Redirect::temporary("/")))
        .with_state(Arc::clone(&shown))
        .merge(shared_pages(shown, threads))
}

impl PageOwner for Shown {
    fn site(&self) -> Site {
        let nav = NAV.into_iter().map(|(href, label)| NavLink { href, label }).collect();
        Site { kind: "JournalNode", name: self.rpc.to_string(), state: None, nav }
    }

    fn page_conf(&self) -> Arc<Conf> {
        Arc::clone(&self.conf)
    }
}

async fn journals(State(shown): State<Arc<Shown>>) -> impl IntoResponse {
    shown.site().page("Journals", "/", &content(&shown))
}

fn content(shown: &Shown) -> Content {
    let now = clock::wall().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64;
    let mut table = Table::new(
        &[
            "Journal",
            "State",
            "Last transaction",
            "Behind",
            "Promised epoch",
            "Writer's epoch",
            "Last batch",
            "Cluster",
        ],
        "No NameNode has formatted a journal here yet.",
    );
    let (mut transactions, mut bytes, mut lag) = (0, 0, 0);
    let journals = shown.journals.all();
    for journal in &journals {
        let figures = journal.figures();
        transactions += figures.transactions;
        bytes += figures.bytes;
        lag = lag.max(figures.lag());
        let state = match (figures.info.is_some(), figures.lag()) {
            (false, _) => Cell::state("Not formatted", Level::Warn),
            (true, 0) => Cell::state("Up to date", Level::Good),
            (true, _) => Cell::state("Behind", Level::Warn),
        };
        let last = match figures.last_batch_ms {
            0 => "none since the start".to_owned(),
            at => format!("{} ago", age(now.saturating_sub(at))),
        };
        table.row(vec![
            Cell::code(&*journal.id),
            state,
            Cell::count(figures.highest),
            Cell::count(figures.lag()).level(Level::warn_if(figures.lag() > 0)),
            Cell::count(figures.promised_epoch),
            Cell::count(figures.writer_epoch),
            last.into(),
            figures.info.map_or_else(Cell::default, |info| Cell::code(info.cluster_id)),
        ]);
    }
    let tiles = vec![
        Tile::new("Journals", Cell::count(journals.len() as u64), "of name services"),
        Tile::new("Transactions", Cell::count(transactions), "written since the start"),
        Tile::new("Written", Cell::bytes(bytes), "since the start"),
        Tile::new(
            "Behind",
            Cell::count(lag).level(Level::warn_if(lag > 0)),
            "transactions, of the worst journal",
        ),
        Tile::new(
            "Up for",
            age(now.saturating_sub(shown.started_ms)),
            format!("since {}", date(shown.started_ms)),
        ),
    ];
    Content::new()
        .with(Section::new("figures", Body::Tiles(tiles)))
        .with(Section::new("actions", Body::Html(ACTIONS.to_owned())).still())
        .with(Section::new("journals", Body::Table(table)).titled("Journals"))
}
