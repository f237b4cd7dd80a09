//! `/`: the volumes, and the NameNodes that this DataNode serves.

use crate::namenodes::Progress;
use crate::node::Node;
use zerohop_pages::{
    Body, Cell, Content, Level, Notice, Section, Table, Tile, age, bytes, percent,
};
use zerohop_system::clock;

const ACTIONS: &str = "<p class=\"actions\"><a class=\"button\" href=\"/profile?seconds=10\">CPU profile, 10 s</a> \
    <a class=\"button\" href=\"/heatmap\">I/O heat map</a> <a class=\"button\" href=\"/slow\">Slow volumes</a></p>";

pub(super) fn content(node: &Node) -> Content {
    let mut volumes = Table::new(
        &["Volume", "Type", "State", "Used", "Free", "Kept free", "Blocks"],
        "No volume is in use.",
    );
    let (mut used, mut capacity, mut blocks) = (0, 0, 0);
    for volume in node.store.volumes().all().iter() {
        let kind = volume.storage().storage_type().as_str_name();
        let state = match volume.has_failed() {
            true => Cell::state("Failed", Level::Bad),
            false => Cell::state("In use", Level::Good),
        };
        used += volume.used();
        capacity += volume.capacity();
        blocks += volume.blocks();
        let text =
            format!("{} ({})", bytes(volume.used()), percent(volume.used(), volume.capacity()));
        volumes.row(vec![
            Cell::code(volume.root().display().to_string()),
            kind.into(),
            state,
            Cell::share(volume.used(), volume.capacity()).with_text(text),
            Cell::bytes(volume.available()),
            Cell::bytes(volume.left_free()),
            Cell::count(volume.blocks()),
        ]);
    }
    let reports = node.store.storage_reports(None);
    let failed = reports.failed_volumes;
    let mut notices = Vec::new();
    if failed > 0 {
        let failures = reports.failure_summary.unwrap_or_default();
        let text = format!(
            "{failed} volumes have failed: {}",
            failures.failed_storage_locations.join(", ")
        );
        notices.push(Notice::new(Level::Bad, text));
    }
    if let Some(problem) = &*node.domain_socket.problem.read() {
        notices.push(Notice::new(Level::Warn, format!("Local readers cannot connect: {problem}")));
    }
    let tiles = vec![
        Tile::new(
            "Space used",
            Cell::share(used, capacity).with_text(percent(used, capacity)),
            format!("{} of {}", bytes(used), bytes(capacity)),
        ),
        Tile::new(
            "Blocks",
            Cell::count(blocks),
            format!("{} volumes", node.store.volumes().all().len()),
        ),
        Tile::new("Transfers", Cell::count(node.threads.busy() as u64), "connections at work"),
        Tile::new("Local readers", Cell::count(node.store.slots().counts().0 as u64), "segments"),
        Tile::new(
            "Cache",
            Cell::share(node.store.cache().used(), node.store.cache().capacity())
                .with_text(bytes(node.store.cache().used())),
            format!("of {}", bytes(node.store.cache().capacity())),
        ),
        Tile::new("Up for", age(clock::since(node.started).as_millis() as u64), "since its start"),
    ];
    Content::new()
        .with(Section::new("notices", Body::Notices(notices)))
        .with(Section::new("figures", Body::Tiles(tiles)))
        .with(Section::new("actions", Body::Html(ACTIONS.to_owned())).still())
        .with(Section::new("volumes", Body::Table(volumes)).titled("Volumes"))
        .with(Section::new("namenodes", Body::Table(namenodes(node))).titled("NameNodes"))
        .with(Section::new("facts", Body::Facts(facts(node))).titled("DataNode"))
}

fn namenodes(node: &Node) -> Table {
    let mut table = Table::new(&["NameNode", "Block pool", "State"], "No NameNode is configured.");
    for service in node.services() {
        for link in service.links() {
            let state = match &*link.progress().borrow() {
                Progress::Connecting => Cell::state("Connecting", Level::Warn),
                Progress::Registered | Progress::Reported => Cell::state("Running", Level::Good),
                Progress::Refused(_) => Cell::state("Refused", Level::Bad),
            };
            let pool = service.pool_id();
            table.row(vec![
                Cell::code(link.addr.to_string()),
                pool.as_deref().map_or_else(Cell::default, Cell::code),
                state,
            ]);
        }
    }
    table
}

fn facts(node: &Node) -> Vec<(&'static str, Cell)> {
    let mut facts = vec![
        ("Host", Cell::text(node.settings.host_name.clone())),
        ("Version", concat!("zerohop ", env!("CARGO_PKG_VERSION")).into()),
    ];
    if let Some(known) = node.addresses.get() {
        facts.push(("Block data", Cell::code(known.transfer.to_string())));
        facts.push(("RPC", Cell::code(known.ipc.to_string())));
        facts.push(("HTTP", Cell::code(known.http.to_string())));
    }
    if let Some(path) = &*node.domain_socket.path.read() {
        facts.push(("Domain socket", Cell::code(path.display().to_string())));
    }
    let cluster = node.services().iter().find_map(|service| service.identity());
    if let Some(identity) = cluster {
        facts.push(("Cluster ID", Cell::code(identity.cluster_id)));
    }
    facts
}
