//! `/`: the cluster at a glance.

use crate::core::Core;
use crate::http::date::java_date;
use crate::identity::build_version;
use zerohop_daemon::process;
use zerohop_namespace::NamespaceStats;
use zerohop_namespace::blocks::{BlockStats, NodeFilter};
use zerohop_pages::{
    Body, Cell, Content, Level, Notice, Section, Tile, bytes, count, percent, url_value,
};

/// Returns the address of a check of all files. The superuser may see them all; the user of pages, `dr.who`, fails at the first
/// directory that is closed to others.
fn check_of_all(core: &Core) -> String {
    let superuser = url_value(&core.settings.namespace_params.superuser);
    format!("/fsck?path=/&ugi={superuser}")
}

/// Returns the buttons of the page. Their paths are fixed, and the name of the superuser is encoded, so that nothing in them is HTML.
fn actions(core: &Core) -> String {
    let check = check_of_all(core).replace('&', "&amp;");
    // DataNodes in the same process are in one picture; others have heat maps on their own ports.
    let heat_map = if core.heatmap.is_mounted() { "/heatmap" } else { "/slow-nodes#maps" };
    format!(
        "<p class=\"actions\"><a class=\"button\" href=\"/profile?seconds=10\">CPU profile, 10 s</a> \
         <a class=\"button\" href=\"{heat_map}\">I/O heat map</a> \
         <a class=\"button\" href=\"{check}\">Check all files</a> \
         <a class=\"button\" href=\"/explorer\">Browse files</a></p>"
    )
}

pub(super) fn content(core: &Core) -> Content {
    let (stats, names, failed_volumes) = core.read(|namespace| {
        let live = namespace.blocks().datanodes().reports(NodeFilter::Live);
        let failed: u32 = live.iter().map(|node| node.failed_volumes).sum();
        (namespace.blocks().stats(), namespace.stats(), failed)
    });
    Content::new()
        .with(Section::new("notices", Body::Notices(notices(core, &stats, failed_volumes))))
        .with(Section::new("figures", Body::Tiles(tiles(core, &stats, &names))))
        .with(Section::new("actions", Body::Html(actions(core))).still())
        .with(Section::new("blocks", Body::Facts(blocks(&stats))).titled("Blocks"))
        .with(Section::new("space", Body::Facts(space(&stats))).titled("Space"))
        .with(Section::new("namenode", Body::Facts(namenode(core, &names))).titled("NameNode"))
}

fn notices(core: &Core, stats: &BlockStats, failed_volumes: u32) -> Vec<Notice> {
    let mut notices = Vec::new();
    let (tip, upgrade) = core.read(|namespace| {
        let safe_mode = namespace.blocks().safe_mode();
        (safe_mode.is_on().then(|| safe_mode.tip()), namespace.rolling_upgrade())
    });
    if let Some(tip) = tip {
        let notice = Notice::new(Level::Warn, format!("Safe mode is ON. {tip}"));
        notices.push(notice.to("/startup", "Progress"));
    }
    if let Some(gap) = core.following.gap() {
        let text = format!(
            "This NameNode can no longer catch up with the active one: {gap}. If no JournalNode that is down has these edits, stop \
             it, run namenode -bootstrapStandby and start it again."
        );
        notices.push(Notice::new(Level::Bad, text));
    }
    if stats.missing > 0 {
        let text = format!("{} blocks have no replica that can be read.", count(stats.missing));
        let address = format!("{}&listcorruptfileblocks=1", check_of_all(core));
        notices.push(Notice::new(Level::Bad, text).to(address, "Which files"));
    }
    if stats.dead_nodes > 0 {
        let text = format!("{} DataNodes do not send heartbeats.", stats.dead_nodes);
        notices.push(Notice::new(Level::Warn, text).to("/datanodes?state=dead", "Which"));
    }
    if failed_volumes > 0 {
        let text = format!("{failed_volumes} volumes of live DataNodes have failed.");
        notices.push(Notice::new(Level::Warn, text).to("/datanodes?state=failed", "Where"));
    }
    if let Some(problem) = core.hosts.problem() {
        let text = format!("The host files cannot be read: {problem}.");
        notices.push(Notice::new(Level::Warn, text));
    }
    if let Some(since) = upgrade.started_ms().filter(|_| upgrade.is_under_way()) {
        let text = format!(
            "A rolling upgrade is in progress since {}. DataNodes keep what is deleted until it is finalized.",
            java_date(since)
        );
        notices.push(Notice::new(Level::Warn, text));
    }
    if stats.unknown.replicas > 0 {
        let text = format!(
            "DataNodes have {} replicas ({}) of blocks that no file has, {} of them newer than the metadata. They are kept \
             until the next full block report of their storages, and deleted then.",
            count(stats.unknown.replicas),
            bytes(stats.unknown.bytes),
            count(stats.unknown.newer)
        );
        notices.push(Notice::new(Level::Warn, text).to("/pendingDeletions", "Which"));
    }
    if !core.ha.is_active() {
        let text = "This NameNode follows another one: it refuses changes, and its figures may be some seconds old.";
        notices.push(Notice::new(Level::Plain, text));
    }
    notices
}

fn tiles(core: &Core, stats: &BlockStats, names: &NamespaceStats) -> Vec<Tile> {
    let used = Cell::share(stats.dfs_used, stats.capacity);
    let used = used.with_text(percent(stats.dfs_used, stats.capacity));
    let is_full = stats.capacity > 0 && stats.remaining < stats.capacity / 10;
    let running: usize = core.rpc_activity().iter().map(|(_, one)| one.running().len()).sum();
    vec![
        Tile::new(
            "Space used",
            used.level(Level::warn_if(is_full)),
            format!("{} of {}", bytes(stats.dfs_used), bytes(stats.capacity)),
        ),
        Tile::new(
            "Files and directories",
            Cell::count(names.inodes),
            format!("{} open for writing", count(names.open_files)),
        ),
        Tile::new(
            "Blocks",
            Cell::count(stats.blocks),
            format!("{} incomplete", count(stats.under_construction)),
        ),
        Tile::new(
            "Live DataNodes",
            Cell::count(stats.live_nodes).level(Level::bad_if(stats.live_nodes == 0)),
            format!("{} dead, {} stale", stats.dead_nodes, stats.stale_nodes),
        ),
        Tile::new(
            "Too few replicas",
            Cell::count(stats.under_replicated).level(Level::warn_if(stats.under_replicated > 0)),
            format!("{} being copied", count(stats.pending_replication)),
        ),
        Tile::new(
            "Missing blocks",
            Cell::count(stats.missing).level(Level::bad_if(stats.missing > 0)),
            format!("{} corrupt", count(stats.corrupt)),
        ),
        Tile::new("Calls under way", Cell::count(running as u64), "without an answer yet"),
    ]
}

fn blocks(stats: &BlockStats) -> Vec<(&'static str, Cell)> {
    vec![
        ("Blocks with too few replicas", Cell::count(stats.under_replicated)),
        ("Of these with highest priority", Cell::count(stats.low_redundancy_with_highest_priority)),
        ("Blocks being copied", Cell::count(stats.pending_replication)),
        ("Missing blocks", Cell::count(stats.missing).level(Level::bad_if(stats.missing > 0))),
        ("Missing with replication 1", Cell::count(stats.missing_replication_one)),
        ("Corrupt blocks", Cell::count(stats.corrupt).level(Level::bad_if(stats.corrupt > 0))),
        ("Replicas to be deleted", Cell::count(stats.pending_deletion)),
        ("Excess replicas", Cell::count(stats.excess)),
        ("Replicas of no file", Cell::count(stats.unknown.replicas)),
        ("Storages without a report yet", Cell::count(stats.stale_storages)),
    ]
}

fn space(stats: &BlockStats) -> Vec<(&'static str, Cell)> {
    vec![
        ("Configured capacity", bytes(stats.capacity).into()),
        ("DFS used", Cell::share(stats.dfs_used, stats.capacity)),
        ("DFS remaining", Cell::share(stats.remaining, stats.capacity)),
        ("Used by others", Cell::share(stats.non_dfs_used, stats.capacity)),
        ("Block pool used", Cell::share(stats.block_pool_used, stats.capacity)),
        ("Cache used", Cell::share(stats.cache_used, stats.cache_capacity)),
    ]
}

fn namenode(core: &Core, names: &NamespaceStats) -> Vec<(&'static str, Cell)> {
    vec![
        ("State", core.ha.state().name().into()),
        ("Started", java_date(core.started_ms).into()),
        ("Version", build_version().into()),
        ("Cluster ID", Cell::code(core.identity.cluster_id.clone())),
        ("Block pool ID", Cell::code(core.identity.pool.to_string())),
        ("Last transaction", Cell::code(core.last_txid().to_string())),
        ("Writers with a lease", Cell::count(names.lease_holders)),
        ("Process", format!("{}, {} threads", process::name(), process::threads()).into()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FormatOptions, NameNode};
    use std::sync::Arc;
    use zerohop_conf::Conf;

    /// The NameNode did not start without the file.
    #[tokio::test(flavor = "multi_thread")]
    async fn a_missing_host_file_is_on_the_page_and_in_health() {
        let directory = tempfile::tempdir().unwrap();
        let (names, exclude) = (directory.path().join("name"), directory.path().join("exclude"));
        let mut conf = Conf::new();
        conf.set("dfs.namenode.name.dir", names.to_str().unwrap());
        conf.set("fs.defaultFS", "hdfs://127.0.0.1:0");
        conf.set("dfs.namenode.http-address", "127.0.0.1:0");
        conf.set("dfs.hosts.exclude", exclude.to_str().unwrap());
        NameNode::format(&conf, FormatOptions::default()).unwrap();
        let node = NameNode::start(Arc::new(conf)).await.unwrap();
        let shown = || {
            let stats = node.core().read(|namespace| namespace.blocks().stats());
            let page = format!("{:?}", notices(node.core(), &stats, 0));
            let health = crate::http::health::health(node.core()).page("NameNode");
            (page.contains("The host files cannot be read: dfs.hosts.exclude: "), health)
        };
        let (on_page, health) = shown();
        assert!(on_page && health.body.contains("hostFiles"), "{}", health.body);
        assert_eq!(health.status.as_u16(), 200, "it serves: {}", health.body);
        std::fs::write(exclude, "10.0.0.1\n").unwrap();
        node.core().hosts.refresh().unwrap();
        let (on_page, health) = shown();
        assert!(!on_page && health.body.contains("\"hostFiles\": null"), "{}", health.body);
        node.stop().await;
    }
}
