//! `-report`

use jiff::tz::TimeZone;
use serde_json::{Value, json};
use zerohop_client::blocking::FileSystem;
use zerohop_client::{DatanodeInfo, DatanodeReportType, FsStats, SafeModeAction};
use zerohop_conf::Conf;
use zerohop_proto::hdfs::datanode_info_proto::AdminState;

use crate::failure::Outcome;
use crate::fs::{client_failure, connect_client, pop_flag};
use crate::units::{human, percent, time};

/// Option, kind of report, headline.
const SECTIONS: [(&str, DatanodeReportType, &str); 5] = [
    ("-live", DatanodeReportType::Live, "Live"),
    ("-dead", DatanodeReportType::Dead, "Dead"),
    ("-decommissioning", DatanodeReportType::Decommissioning, "Decommissioning"),
    ("-enteringmaintenance", DatanodeReportType::EnteringMaintenance, "Entering maintenance"),
    ("-inmaintenance", DatanodeReportType::InMaintenance, "In maintenance"),
];

pub fn run(conf: &Conf, mut words: Vec<String>) -> Outcome<i32> {
    let as_json = pop_flag("--json", &mut words);
    let fs = connect_client(conf)?;
    let stats = fs.fs_stats().map_err(client_failure)?;
    let safe = fs.safe_mode(SafeModeAction::SafemodeGet).map_err(client_failure)?;
    if as_json {
        return print_json(&fs, &stats, safe);
    }
    print_sums(&stats, safe);
    let slow_only = words.iter().any(|word| word == "-slownodes");
    let wanted = |option: &str| words.iter().any(|word| word == option);
    let all = !slow_only && !SECTIONS.iter().any(|(option, ..)| wanted(option));
    for (option, kind, title) in SECTIONS {
        if !all && !wanted(option) {
            continue;
        }
        let nodes = fs.datanode_report(kind).map_err(client_failure)?;
        print_nodes(title, &nodes, wanted(option));
    }
    if all || slow_only {
        let slow = fs.slow_datanodes().map_err(client_failure)?;
        print_nodes("Slow", &slow, slow_only);
    }
    Ok(0)
}

fn print_nodes(title: &str, nodes: &[DatanodeInfo], even_if_none: bool) {
    if !nodes.is_empty() || even_if_none {
        sayln!("{title} datanodes ({}):\n", nodes.len());
    }
    for node in nodes {
        sayln!("{}\n", describe(node));
    }
}

/// Bytes, exact and for people.
fn bytes(count: u64) -> String {
    format!("{count} ({})", human(i64::try_from(count).unwrap_or(i64::MAX), "B", 2))
}

fn print_sums(stats: &FsStats, safe: bool) {
    if safe {
        sayln!("Safe mode is ON");
        if stats.bytes_in_future > 0 {
            sayln!("\nWARNING: ");
            sayln!("Blocks with generation stamps in the future were reported.");
            sayln!("Leaving safe mode by force deletes {} byte(s).", stats.bytes_in_future);
        }
    }
    let present = stats.used + stats.remaining;
    sayln!("Configured Capacity: {}", bytes(stats.capacity));
    sayln!("Present Capacity: {}", bytes(present));
    sayln!("DFS Remaining: {}", bytes(stats.remaining));
    sayln!("DFS Used: {}", bytes(stats.used));
    let share = if present == 0 {
        "0.00%".to_owned()
    } else {
        percent(stats.used as f64, present as f64, 2)
    };
    sayln!("DFS Used%: {share}");
    sayln!("Replicated Blocks:");
    sayln!("\tUnder replicated blocks: {}", stats.under_replicated);
    sayln!("\tBlocks with corrupt replicas: {}", stats.corrupt_blocks);
    sayln!("\tMissing blocks: {}", stats.missing_blocks);
    sayln!(
        "\tMissing blocks (with replication factor 1): {}",
        stats.missing_replication_one_blocks
    );
    sayln!("\tPending deletion blocks: {}", stats.pending_deletion_blocks);
    sayln!("Erasure Coded Block Groups: ");
    sayln!("\tLow redundancy block groups: 0");
    sayln!("\tBlock groups with corrupt internal blocks: 0");
    sayln!("\tMissing block groups: 0");
    sayln!("\tPending deletion blocks: 0");
    sayln!("\n-------------------------------------------------");
}

fn state(node: &DatanodeInfo) -> &'static str {
    match node.admin_state() {
        AdminState::Normal => "Normal",
        AdminState::DecommissionInprogress => "Decommission in progress",
        AdminState::Decommissioned => "Decommissioned",
        AdminState::EnteringMaintenance => "Entering maintenance",
        AdminState::InMaintenance => "In maintenance",
    }
}

/// Java's Date.toString: `Sat Nov 21 12:05:01 UTC 2026`.
pub(super) fn date(millis: u64) -> String {
    let millis = i64::try_from(millis).unwrap_or(i64::MAX);
    time(millis, "%a %b %d %H:%M:%S %Z %Y", &TimeZone::system())
}

fn describe(node: &DatanodeInfo) -> String {
    let info = node.proto();
    let (capacity, used, remaining) = (info.capacity(), info.dfs_used(), info.remaining());
    let non_dfs = info.non_dfs_used();
    let share = |part: u64, whole: u64, empty: f64| match whole {
        0 => format!("{empty:.2}%"),
        _ => percent(part as f64, whole as f64, 2),
    };
    let (cache, cache_used) = (info.cache_capacity(), info.cache_used());
    let cache_left = cache.saturating_sub(cache_used);
    let mut lines =
        vec![format!("Name: {node} ({})", node.host()), format!("Hostname: {}", node.host())];
    if node.location() != "/default-rack" {
        lines.push(format!("Rack: {}", node.location()));
    }
    lines.push(format!("Decommission Status : {}", state(node)));
    lines.push(format!("Configured Capacity: {}", bytes(capacity)));
    lines.push(format!("DFS Used: {}", bytes(used)));
    lines.push(format!("Non DFS Used: {}", bytes(non_dfs)));
    lines.push(format!("DFS Remaining: {}", bytes(remaining)));
    lines.push(format!("DFS Used%: {}", share(used, capacity, 100.0)));
    lines.push(format!("DFS Remaining%: {}", share(remaining, capacity, 0.0)));
    lines.push(format!("Configured Cache Capacity: {}", bytes(cache)));
    lines.push(format!("Cache Used: {}", bytes(cache_used)));
    lines.push(format!("Cache Remaining: {}", bytes(cache_left)));
    lines.push(format!("Cache Used%: {}", share(cache_used, cache, 100.0)));
    lines.push(format!("Cache Remaining%: {}", share(cache_left, cache, 0.0)));
    lines.push(format!("Xceivers: {}", info.xceiver_count()));
    lines.push(format!("Last contact: {}", date(info.last_update())));
    let report = info.last_block_report_time();
    lines.push(format!(
        "Last Block Report: {}",
        if report == 0 { "Never".to_owned() } else { date(report) }
    ));
    lines.push(format!("Num of Blocks: {}\n", info.num_blocks()));
    lines.join("\n")
}

fn print_json(fs: &FileSystem, stats: &FsStats, safe: bool) -> Outcome<i32> {
    let mut nodes = Vec::new();
    for (kind, word) in [(DatanodeReportType::Live, "live"), (DatanodeReportType::Dead, "dead")] {
        for node in fs.datanode_report(kind).map_err(client_failure)? {
            let info = node.proto();
            nodes.push(json!({
                "name": node.to_string(), "hostname": node.host(), "uuid": node.uuid(),
                "rack": node.location(), "state": word, "adminState": state(&node),
                "capacity": info.capacity(), "used": info.dfs_used(),
                "nonDfsUsed": info.non_dfs_used(), "remaining": info.remaining(),
                "xceivers": info.xceiver_count(), "lastContact": info.last_update(),
                "lastBlockReport": info.last_block_report_time(), "blocks": info.num_blocks(),
            }));
        }
    }
    let report = json!({
        "safeMode": safe, "capacity": stats.capacity, "used": stats.used,
        "remaining": stats.remaining, "underReplicatedBlocks": stats.under_replicated,
        "corruptBlocks": stats.corrupt_blocks, "missingBlocks": stats.missing_blocks,
        "missingReplicationOneBlocks": stats.missing_replication_one_blocks,
        "pendingDeletionBlocks": stats.pending_deletion_blocks, "datanodes": Value::Array(nodes),
    });
    sayln!("{report}");
    Ok(0)
}
