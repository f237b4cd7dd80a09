//! `/slow-nodes`: DataNodes and disks that others find slow.

use crate::core::Core;
use zerohop_pages::{Body, Cell, Content, Level, Notice, Section, Table};

pub(super) fn content(core: &Core) -> Content {
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
}
