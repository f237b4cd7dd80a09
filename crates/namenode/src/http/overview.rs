//! `/`: the cluster at a glance.

use super::date::java_date;
use crate::core::Core;
use crate::identity::build_version;
use askama::Template;
use zerohop_daemon::http::Page;
use zerohop_namespace::blocks::{NodeFilter, NodeReport};

#[derive(Template)]
#[template(path = "overview.html")]
struct Overview {
    address: String,
    safe_mode_tip: Option<String>,
    /// When the rolling upgrade under way began.
    upgrade_since: Option<String>,
    unknown: Unknown,
    rows: Vec<(&'static str, String)>,
    nodes: Vec<Node>,
}

/// Replicas of blocks that no file has.
struct Unknown {
    replicas: u64,
    size: String,
    newer: u64,
}

struct Node {
    /// Where its own pages are.
    http: String,
    name: String,
    address: String,
    state: &'static str,
    capacity: String,
    used: String,
    blocks: u32,
    version: String,
}

pub(super) fn page(core: &Core) -> Page {
    match overview(core).render() {
        Ok(page) => Page::html(page),
        Err(error) => Page::failed(&error),
    }
}

fn overview(core: &Core) -> Overview {
    let (stats, names, nodes, safe_mode_tip, upgrade) = core.read(|namespace| {
        let safe_mode = namespace.blocks().safe_mode();
        (
            namespace.blocks().stats(),
            namespace.stats(),
            namespace.blocks().datanodes().reports(NodeFilter::All),
            safe_mode.is_on().then(|| safe_mode.tip()),
            namespace.rolling_upgrade(),
        )
    });
    let rows = vec![
        ("State", core.ha.state().name().to_owned()),
        ("Started", java_date(core.started_ms)),
        ("Version", build_version()),
        ("Cluster ID", core.identity.cluster_id.clone()),
        ("Block pool ID", core.identity.pool.to_string()),
        ("Files and directories", names.inodes.to_string()),
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
        ("Last transaction", core.last_txid().to_string()),
    ];
    let unknown = Unknown {
        replicas: stats.unknown.replicas,
        size: bytes(stats.unknown.bytes),
        newer: stats.unknown.newer,
    };
    let address = core.settings.rpc_bind.clone();
    let upgrade_since = upgrade.started_ms().filter(|_| upgrade.is_under_way()).map(java_date);
    let nodes = nodes.iter().map(node).collect();
    Overview { address, safe_mode_tip, upgrade_since, unknown, rows, nodes }
}

fn node(report: &NodeReport) -> Node {
    let (id, stats) = (&report.info.id, &report.info.stats);
    Node {
        http: format!("{}:{}", id.ip, id.info_port),
        name: format!("{}:{}", id.host, id.xfer_port),
        address: id.xfer_addr(),
        state: if report.alive { stats.admin.name() } else { "Dead" },
        capacity: bytes(stats.capacity),
        used: bytes(stats.dfs_used),
        blocks: stats.blocks,
        version: report.software_version.to_string(),
    }
}

/// A size for people.
fn bytes(size: u64) -> String {
    let units = ["B", "KB", "MB", "GB", "TB", "PB"];
    let power = (size.max(1).ilog2() / 10).min(5);
    let unit = units.get(power as usize).copied().unwrap_or_default();
    format!("{:.2} {unit}", size as f64 / f64::from(power).mul_add(10.0, 0.0).exp2())
}
