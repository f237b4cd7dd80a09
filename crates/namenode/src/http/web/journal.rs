//! `/journal`: where the edit log and the images are.

use crate::core::Core;
use zerohop_pages::{Body, Cell, Content, Level, Section, Table, Tile, age, count, date};
use zerohop_quorum::NodeStatus;

pub(super) fn content(core: &Core) -> Content {
    let log = core.log().stats();
    let now_ms = core.clock.now().wall_ms;
    let mean_us = log.sync_us.checked_div(log.syncs).unwrap_or(0);
    let checkpoint_ms = core.checkpoints.last_written_ms();
    let tiles = vec![
        Tile::new(
            "Last transaction",
            Cell::count(core.last_txid().0.max(0) as u64),
            "written or applied",
        ),
        Tile::new(
            "Since the last image",
            Cell::count((core.last_txid().0 - core.checkpoints.last_txid()).max(0) as u64),
            format!("transactions; image {} ago", age(now_ms.saturating_sub(checkpoint_ms))),
        ),
        Tile::new(
            "Syncs",
            Cell::count(log.syncs),
            format!("{} transactions in them", count(log.transactions)),
        ),
        Tile::new(
            "A sync takes",
            Cell::text(format!("{:.2} ms", mean_us as f64 / 1000.0)),
            "on average",
        ),
    ];
    let facts = vec![
        ("Segment begins at", Cell::code(log.segment_first_txid.to_string())),
        ("Newest image is of", Cell::code(core.checkpoints.last_txid().to_string())),
        ("It was written", date(checkpoint_ms).into()),
        ("State", core.ha.state().name().into()),
        (
            "Writes the edit log",
            if core.ha.is_active() { "this NameNode" } else { "another NameNode" }.into(),
        ),
    ];
    let mut table = Table::new(&["Directory", "Holds", "State"], "No directory.");
    for dir in core.storage.dirs() {
        let state = match dir.has_failed() {
            true => Cell::state("Failed", Level::Bad),
            false => Cell::state("In use", Level::Good),
        };
        let holds = if dir.holds_edits() { "images and edits" } else { "images" };
        table.row(vec![Cell::code(dir.root().display().to_string()), holds.into(), state]);
    }
    if let Some(shared) = core.conf.get_raw("dfs.namenode.shared.edits.dir") {
        let state = if core.ha.is_active() { "written here" } else { "read from here" };
        table.row(vec![Cell::code(shared), "shared edits".into(), state.into()]);
    }
    let mut content = Content::new()
        .with(Section::new("figures", Body::Tiles(tiles)))
        .with(Section::new("directories", Body::Table(table)).titled("Where they are"));
    let nodes = core.storage.journal_nodes();
    if !nodes.is_empty() && core.ha.is_active() {
        let section = Section::new("journalnodes", Body::Table(journal_nodes(&nodes)));
        content.add(section.titled("JournalNodes").noted(
            "A JournalNode that has missed edits is left out until the next segment of the log.",
        ));
    }
    content.with(Section::new("log", Body::Facts(facts)).titled("Edit log"))
}

/// How this NameNode, the one that writes, stands with each of them.
fn journal_nodes(nodes: &[NodeStatus]) -> Table {
    let mut table = Table::new(
        &[
            "JournalNode",
            "State",
            "Has",
            "Behind by",
            "Waiting",
            "Last answer took",
            "Last failure",
        ],
        "No JournalNode.",
    );
    for node in nodes {
        let state = match (node.is_written, node.lag) {
            (true, 0) => Cell::state("In step", Level::Good),
            (true, _) => Cell::state("Behind", Level::Warn),
            (false, _) => Cell::state("Left out", Level::Bad),
        };
        let has =
            node.acknowledged.map_or_else(|| Cell::text("-"), |txid| Cell::code(txid.to_string()));
        let took = node.took.map_or_else(
            || "-".to_owned(),
            |took| format!("{:.2} ms", took.as_secs_f64() * 1000.0),
        );
        let failure = node.failure.as_ref().map_or_else(
            || "none".to_owned(),
            |(reason, ago)| format!("{reason} ({} ago)", age(ago.as_millis() as u64)),
        );
        table.row(vec![
            Cell::code(node.name.clone()),
            state,
            has,
            Cell::count(node.lag),
            Cell::bytes(node.queued_bytes as u64),
            Cell::text(took),
            Cell::text(failure),
        ]);
    }
    table
}
