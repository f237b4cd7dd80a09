//! `/`: the cluster at a glance.

use super::date::java_date;
use super::page::{escaped, text};
use crate::core::Core;
use crate::identity::build_version;
use axum::extract::State;
use axum::response::Response;
use std::fmt::Write;
use std::sync::Arc;
use zerohop_namespace::blocks::{NodeFilter, NodeReport};

const STYLE: &str = "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:60rem;padding:0 1rem;color:#1b1f24}\
h1{font-size:1.4rem}h2{font-size:1.1rem;margin-top:2rem}table{border-collapse:collapse;width:100%}\
td,th{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #d8dee4;font-variant-numeric:tabular-nums}\
.warn{background:#fff3cd;padding:.5rem 1rem;border-radius:.3rem}";

pub(super) async fn page(State(core): State<Arc<Core>>) -> Response {
    let (stats, names, nodes, tip, upgrade) = core.read(|namespace| {
        let safe_mode = namespace.blocks().safe_mode();
        (
            namespace.blocks().stats(),
            namespace.stats(),
            namespace.blocks().node_reports(NodeFilter::All),
            safe_mode.is_on().then(|| safe_mode.tip()),
            namespace.rolling_upgrade(),
        )
    });
    let mut page = format!(
        "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>\
         <title>NameNode {0}</title><style>{STYLE}</style><h1>NameNode {0} (active)</h1>",
        escaped(&core.settings.rpc_bind)
    );
    if let Some(tip) = tip {
        _ = write!(page, "<p class=warn>Safe mode is ON. {}</p>", escaped(&tip));
    }
    if upgrade.is_under_way() {
        _ = write!(
            page,
            "<p class=warn>A rolling upgrade is in progress since {}. DataNodes keep what is deleted until it is finalized.</p>",
            upgrade.started_ms().map_or_else(String::new, java_date)
        );
    }
    if stats.unknown.replicas > 0 {
        _ = write!(
            page,
            "<p class=warn>DataNodes have {} replicas ({}) of blocks that no file has, {} of them newer than the metadata. \
             They are <a href=/pendingDeletions>kept until the next full block report</a> of their storages, and deleted \
             then.</p>",
            stats.unknown.replicas,
            bytes(stats.unknown.bytes),
            stats.unknown.newer
        );
    }
    page.push_str("<table>");
    let rows = [
        ("Started", java_date(core.started_ms)),
        ("Version", build_version()),
        ("Cluster ID", escaped(&core.identity.cluster_id)),
        ("Block pool ID", escaped(&core.identity.pool)),
        ("Files and folders", names.inodes.to_string()),
        ("Blocks", stats.blocks.to_string()),
        ("Configured capacity", bytes(stats.capacity)),
        ("DFS used", bytes(stats.dfs_used)),
        ("DFS remaining", bytes(stats.remaining)),
        ("Live DataNodes", stats.live_nodes.to_string()),
        ("Dead DataNodes", stats.dead_nodes.to_string()),
        ("Blocks with too few replicas", stats.under_replicated.to_string()),
        ("Missing blocks", stats.missing.to_string()),
        ("Replicas to be deleted", stats.pending_deletion.to_string()),
        ("Replicas of no file, kept for now", stats.unknown.replicas.to_string()),
        ("Last transaction", core.log.last_txid().to_string()),
    ];
    for (name, value) in rows {
        _ = write!(page, "<tr><th>{name}<td>{value}");
    }
    page.push_str("</table><h2>DataNodes</h2><table><tr><th>Node<th>State<th>Capacity<th>Used<th>Blocks<th>Version");
    nodes.iter().for_each(|node| row(&mut page, node));
    page.push_str("</table><p><a href=/jmx>jmx</a> <a href=/conf>conf</a> <a href='/fsck?path=/'>fsck</a></p>");
    text("text/html; charset=utf-8", page)
}

fn row(page: &mut String, node: &NodeReport) {
    let (id, stats) = (&node.info.id, &node.info.stats);
    _ = write!(
        page,
        "<tr><td><a href='http://{}:{}/'>{}:{}</a> ({})<td>{}<td>{}<td>{}<td>{}<td>{}",
        escaped(&id.ip),
        id.info_port,
        escaped(&id.host),
        id.xfer_port,
        escaped(&id.xfer_addr()),
        if node.alive { stats.admin.name() } else { "Dead" },
        bytes(stats.capacity),
        bytes(stats.dfs_used),
        stats.blocks,
        escaped(&node.software_version)
    );
}

/// A size for people.
fn bytes(size: u64) -> String {
    let units = ["B", "KB", "MB", "GB", "TB", "PB"];
    let power = (size.max(1).ilog2() / 10).min(5);
    let unit = units.get(power as usize).copied().unwrap_or_default();
    format!("{:.2} {unit}", size as f64 / f64::from(power).mul_add(10.0, 0.0).exp2())
}
