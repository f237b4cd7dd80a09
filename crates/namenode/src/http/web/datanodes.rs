//! `/datanodes`: the DataNodes with their volumes, a page of them at a time.

use crate::core::Core;
use zerohop_daemon::http::QueryValues;
use zerohop_namespace::blocks::{AdminState, NodeFilter, NodeReport};
use zerohop_pages::{
    Body, Cell, Content, Level, Paging, Section, Table, Tile, age, bytes, count, percent, url_value,
};

const NODES_MAX: usize = 100;
const COLUMNS: [&str; 11] = [
    "DataNode",
    "State",
    "Last contact",
    "Used",
    "Capacity",
    "Remaining",
    "Blocks",
    "Load",
    "Volumes",
    "Rack",
    "Version",
];
const VOLUME_COLUMNS: [&str; 7] =
    ["DataNode", "Storage", "Type", "State", "Used", "Remaining", "Mounted at"];
const STATES: [(&str, &str); 7] = [
    ("all", "All"),
    ("live", "Live"),
    ("dead", "Dead"),
    ("decommissioning", "Decommissioning"),
    ("decommissioned", "Decommissioned"),
    ("maintenance", "Maintenance"),
    ("failed", "With failed volumes"),
];

pub(super) fn content(core: &Core, query: &QueryValues) -> Content {
    let state = query.get("state").unwrap_or("all");
    let state = STATES.iter().map(|(name, _)| *name).find(|name| *name == state).unwrap_or("all");
    let text = query.get("q").unwrap_or_default();
    let (all, stale_ms) = core.read(|namespace| {
        let all = namespace.blocks().datanodes().reports(NodeFilter::All);
        (all, namespace.blocks().params().stale_interval_ms)
    });
    let mut found: Vec<&NodeReport> = all.iter().filter(|node| has_state(node, state)).collect();
    found.retain(|node| name(node).contains(text) || node.info.rack.contains(text));
    found.sort_by_key(|node| (node.alive, name(node)));
    let page = query.get("page").and_then(|page| page.parse().ok()).unwrap_or(1);
    let address = |page| format!("/datanodes?state={state}&q={}&page={page}", url_value(text));
    let (rows, paging) = Paging::numbered(page, found.len(), NODES_MAX, address);
    let shown = found.get(rows).unwrap_or_default();
    let now_ms = core.clock.now().mono_ms;
    let mut nodes = Table::new(&COLUMNS, "No DataNode.");
    let mut volumes = Table::new(&VOLUME_COLUMNS, "No volume.");
    for report in shown {
        nodes.row(node_row(report, now_ms, stale_ms));
        volume_rows(report, &mut volumes);
    }
    if let Some(paging) = paging {
        nodes = nodes.paged(paging);
    }
    Content::new()
        .with(Section::new("figures", Body::Tiles(tiles(&all))))
        .with(Section::new("filter", Body::Html(filter(state))).still())
        .with(Section::new("nodes", Body::Table(nodes)).titled("DataNodes"))
        .with(Section::new("volumes", Body::Table(volumes)).titled("Volumes"))
}

fn tiles(all: &[NodeReport]) -> Vec<Tile> {
    let number =
        |wanted: fn(&NodeReport) -> bool| all.iter().filter(|node| wanted(node)).count() as u64;
    let dead = number(|node| !node.alive);
    let failed = number(|node| node.failed_volumes > 0);
    let leaving =
        number(|node| node.alive && node.info.stats.admin == AdminState::DecommissionInProgress);
    let away = number(|node| node.info.stats.admin.is_maintenance());
    let gone = number(|node| node.info.stats.admin == AdminState::Decommissioned);
    let tile = |label, number: u64, level, note: &str| {
        Tile::new(label, Cell::count(number).level(level), note)
    };
    vec![
        tile("Live", number(|node| node.alive), Level::Plain, "send heartbeats"),
        tile("Dead", dead, Level::bad_if(dead > 0), "silent for too long"),
        tile("Decommissioning", leaving, Level::Plain, "replicas are copied away"),
        tile("Decommissioned", gone, Level::Plain, "may be stopped"),
        tile("Maintenance", away, Level::Plain, "away for a while"),
        tile("Failed volumes", failed, Level::warn_if(failed > 0), "DataNodes with some"),
    ]
}

/// Links; the names are those of the list here.
fn filter(current: &str) -> String {
    let mut html = "<p class=\"actions\">".to_owned();
    for (name, label) in STATES {
        let is_current = if name == current { " aria-current=\"true\"" } else { "" };
        html.push_str(&format!(
            "<a class=\"button\"{is_current} href=\"/datanodes?state={name}\">{label}</a> "
        ));
    }
    html + "</p>"
}

fn has_state(node: &NodeReport, state: &str) -> bool {
    let admin = node.info.stats.admin;
    match state {
        "live" => node.alive,
        "dead" => !node.alive,
        "decommissioning" => admin == AdminState::DecommissionInProgress,
        "decommissioned" => admin == AdminState::Decommissioned,
        "maintenance" => admin.is_maintenance(),
        "failed" => node.failed_volumes > 0,
        _ => true,
    }
}

fn name(report: &NodeReport) -> String {
    report.info.id.name()
}

fn node_row(report: &NodeReport, now_ms: u64, stale_ms: u64) -> Vec<Cell> {
    let (id, stats) = (&report.info.id, &report.info.stats);
    let silence = now_ms.saturating_sub(stats.last_update.mono_ms);
    let state = match (report.alive, stats.admin) {
        (false, _) => Cell::state("Dead", Level::Bad),
        (true, AdminState::Normal) => Cell::state(stats.admin.name(), Level::Good),
        (true, _) => Cell::state(stats.admin.name(), Level::Warn),
    };
    let failed = report.failed_volumes;
    let volumes = match failed {
        0 => Cell::count(report.storages.len() as u64),
        _ => Cell::number(format!("{}, {failed} failed", report.storages.len())).level(Level::Warn),
    };
    vec![
        Cell::text(name(report)).to(format!("http://{}/", id.web_address())),
        state,
        Cell::number(age(silence)).level(Level::warn_if(silence > stale_ms)),
        Cell::share(stats.dfs_used, stats.capacity)
            .with_text(percent(stats.dfs_used, stats.capacity)),
        Cell::bytes(stats.capacity),
        Cell::bytes(stats.remaining),
        Cell::count(stats.blocks),
        Cell::count(stats.xceivers),
        volumes,
        Cell::code(&*report.info.rack),
        report.software_version.as_str().into(),
    ]
}

fn volume_rows(report: &NodeReport, table: &mut Table) {
    for storage in &report.storages {
        let state = match (storage.failed, storage.read_only) {
            (true, _) => Cell::state("Failed", Level::Bad),
            (_, true) => Cell::state("Read-only", Level::Warn),
            _ => Cell::state("In use", Level::Good),
        };
        let used = format!(
            "{} ({})",
            bytes(storage.dfs_used),
            percent(storage.dfs_used, storage.capacity)
        );
        table.row(vec![
            name(report).into(),
            Cell::code(&*storage.id),
            storage.kind.as_str_name().into(),
            state,
            Cell::share(storage.dfs_used, storage.capacity).with_text(used),
            Cell::bytes(storage.remaining),
            storage.mount.as_deref().map_or_else(Cell::default, Cell::code),
        ]);
    }
    for directory in &report.volume_failures.directories {
        let lost = bytes(report.volume_failures.capacity_lost);
        table.row(vec![
            name(report).into(),
            Cell::code(directory.as_str()),
            Cell::default(),
            Cell::state("Failed", Level::Bad),
            Cell::text(format!("{lost} lost on {} volumes", count(report.failed_volumes.into()))),
            Cell::default(),
            Cell::default(),
        ]);
    }
}
