//! NameNodeStatus, NameNodeActivity and what stands in for Java's own beans.

use super::figures::bean;
use crate::core::Core;
use crate::identity::LAYOUT_VERSION;
use serde_json::{Value, json};

pub(super) fn status(core: &Core) -> Value {
    bean(
        "Hadoop:service=NameNode,name=NameNodeStatus",
        "org.apache.hadoop.hdfs.server.namenode.NameNode",
        json!({
            "State": "active",
            "NNRole": "NameNode",
            "HostAndPort": core.settings.rpc_bind,
            "SecurityEnabled": false,
            "LastHATransitionTime": 0,
            // Statistics of slow peers and disks are not collected, as by default at Apache.
            "SlowPeersReport": null, "SlowDisksReport": null,
            "BytesWithFutureGenerationStamps": core.read(|namespace| {
                namespace.blocks.safe_mode().bytes_in_future()
            }),
        }),
    )
}

pub(super) fn activity(core: &Core) -> Value {
    let log = core.log.stats();
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
