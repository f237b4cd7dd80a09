//! NameNodeStatus, NameNodeActivity and what stands in for Java's own beans.

use crate::core::Core;
use crate::identity::LAYOUT_VERSION;
use serde_json::{Value, json};
use zerohop_daemon::http::bean;

pub(super) fn status(core: &Core) -> Value {
    bean(
        "Hadoop:service=NameNode,name=NameNodeStatus",
        "org.apache.hadoop.hdfs.server.namenode.NameNode",
        json!({
            "State": core.ha.state().name(),
            "NNRole": "NameNode",
            "HostAndPort": core.settings.rpc_bind,
            "SecurityEnabled": false,
            "LastHATransitionTime": core.ha.changed_ms(),
            "SlowPeersReport": slow_peers(core),
            "SlowDisksReport": slow_disks(core),
            "BytesWithFutureGenerationStamps": core.read(|namespace| {
                namespace.blocks().safe_mode().bytes_in_future()
            }),
        }),
    )
}

/// JSON within a string, as Apache gives it; null where slow DataNodes are not looked for.
fn slow_peers(core: &Core) -> Option<String> {
    let settings = core.adjustable().slow_reports;
    let slow = core.read(|namespace| namespace.blocks().datanodes().slow_peers(settings.peers_max));
    let slow = slow.iter().map(|slow| {
        let by = slow.reports.iter().map(|(reporter, latency)| {
            json!({
                "ReportingNode": reporter,
                "ReportedLatency": latency.mean_ms,
                "MedianLatency": latency.median_ms,
                "MadLatency": latency.mad_ms,
                "UpperLimitLatency": latency.limit_ms,
            })
        });
        json!({ "SlowNode": slow.node, "SlowPeerLatencyWithReportingNodes": by.collect::<Vec<_>>() })
    });
    settings.peers.then(|| Value::Array(slow.collect()).to_string())
}

/// The same for disks; null where there are none.
fn slow_disks(core: &Core) -> Option<String> {
    let max = core.adjustable().slow_reports.disks_max;
    let slow = core.read(|namespace| namespace.blocks().datanodes().slow_disks(max));
    let slow = slow.iter().map(|slow| {
        let latency = slow.latency;
        let named = [
            ("METADATA", latency.metadata_ms),
            ("READ", latency.read_ms),
            ("WRITE", latency.write_ms),
        ];
        let known =
            named.into_iter().filter_map(|(name, mean)| Some((name.to_owned(), json!(mean?))));
        json!({ "SlowDiskID": slow.disk, "Latencies": Value::Object(known.collect()) })
    });
    let slow: Vec<Value> = slow.collect();
    (!slow.is_empty()).then(|| Value::Array(slow).to_string())
}

pub(super) fn activity(core: &Core) -> Value {
    let log = core.log().stats();
    bean(
        "Hadoop:service=NameNode,name=NameNodeActivity",
        "NameNodeActivity",
        json!({
            "tag.Context": "dfs",
            "TransactionsNumOps": log.transactions,
            "SyncsNumOps": log.syncs,
            "SyncsAvgTime": if log.syncs == 0 { 0.0 } else { log.sync_us as f64 / 1000.0 / log.syncs as f64 },
            "LayoutVersion": LAYOUT_VERSION,
        }),
    )
}

pub(super) fn runtime(core: &Core) -> Value {
    let now = core.clock.now();
    bean(
        "java.lang:type=Runtime",
        "sun.management.RuntimeImpl",
        json!({
            "StartTime": core.started_ms,
            "Uptime": now.mono_ms,
            "VmName": "zerohop (no Java virtual machine)",
            "SpecVersion": "",
        }),
    )
}
