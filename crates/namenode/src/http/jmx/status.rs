//! NameNodeStatus.

use crate::core::Core;
use serde_json::{Value, json};
use zerohop_daemon::http::bean;

pub(super) fn bean_of(core: &Core) -> Value {
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
