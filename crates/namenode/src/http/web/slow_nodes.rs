//! `/slow-nodes`: DataNodes and disks that others find slow.

use crate::core::Core;
use zerohop_daemon::http::QueryValues;
use zerohop_namespace::blocks::NodeFilter;
use zerohop_pages::{Body, Cell, Content, Level, Notice, Paging, Section, Table};

const MAPS_MAX: usize = 100;

pub(super) fn content(core: &Core, query: &QueryValues) -> Content {
    let settings = core.adjustable().slow_reports;
    let (peers, disks) = core.read(|namespace| {
        let datanodes = namespace.blocks().datanodes();
        (datanodes.slow_peers(settings.peers_max), datanodes.slow_disks(settings.disks_max))
    });
    let ms = |value: f64| Cell::number(format!("{value:.2} ms"));
    let mut peer_table = Table::new(
        &["DataNode", "Found slow by", "Latency", "Median of others", "Limit"],
        "No DataNode is slower than the others.",
    );
    for slow in &peers {
        for (reporter, latency) in &slow.reports {
            peer_table.row(vec![
                Cell::text(slow.node.to_string()).level(Level::Warn),
                reporter.to_string().into(),
                ms(latency.mean_ms),
                ms(latency.median_ms),
                ms(latency.limit_ms),
            ]);
        }
    }
    let mut disk_table =
        Table::new(&["Disk", "Metadata", "Read", "Write"], "No disk is slower than the others.");
    for slow in &disks {
        let latency = slow.latency;
        let cell = |value: Option<f64>| value.map_or_else(Cell::default, ms);
        disk_table.row(vec![
            Cell::text(slow.disk.to_string()).level(Level::Warn),
            cell(latency.metadata_ms),
            cell(latency.read_ms),
            cell(latency.write_ms),
        ]);
    }
    let mut notices = Vec::new();
    if !settings.peers {
        notices.push(Notice::new(
            Level::Plain,
            "Slow DataNodes are not looked for: dfs.datanode.peer.stats.enabled is false.",
        ));
    }
    Content::new()
        .with(Section::new("notices", Body::Notices(notices)))
        .with(Section::new("peers", Body::Table(peer_table)).titled("DataNodes").noted(
            "Each DataNode of a pipeline measures the next one. A DataNode is slow when its latency is far above the median.",
        ))
        .with(Section::new("disks", Body::Table(disk_table)).titled("Disks"))
        .with(Section::new("maps", Body::Table(maps(core, query))).titled("Disks of each DataNode").noted(
            "Every DataNode measures its own disks: the heat map shows the last minutes, the list names the volumes that stand out.",
        ))
}

/// Links to what each live DataNode says of its own disks.
fn maps(core: &Core, query: &QueryValues) -> Table {
    let mut live = core.read(|namespace| namespace.blocks().datanodes().reports(NodeFilter::Live));
    live.sort_by_key(|node| (node.info.id.host.clone(), node.info.id.xfer_port));
    let page = query.get("page").and_then(|page| page.parse().ok()).unwrap_or(1);
    let address = |page| format!("/slow-nodes?page={page}#maps");
    let (rows, paging) = Paging::numbered(page, live.len(), MAPS_MAX, address);
    let mut table = Table::new(&["DataNode", "Latencies", "Volumes"], "No live DataNode.");
    for report in live.get(rows).unwrap_or_default() {
        let id = &report.info.id;
        let port = format!("http://{}", id.web_address());
        table.row(vec![
            id.name().into(),
            Cell::text("Heat map").to(format!("{port}/heatmap")),
            Cell::text("Slow volumes").to(format!("{port}/slow")),
        ]);
    }
    match paging {
        Some(paging) => table.paged(paging),
        None => table,
    }
}
