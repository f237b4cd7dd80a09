//! `/jmx`: the beans that people's scripts read, under Hadoop's names. What this DataNode does not count
//! (failures to cache) is left out.

use crate::namenodes::Progress;
use crate::node::Node;
use crate::records::storage_info;
use serde_json::{Map, Value, json};
use std::time::UNIX_EPOCH;
use zerohop_system::clock;

/// All beans.
pub(crate) fn beans(node: &Node) -> Vec<Value> {
    vec![dataset(node), info(node), scanners(node), short_circuit(node)]
}

/// Members of FSDatasetState that are no numbers; its metrics are added to them.
fn dataset(node: &Node) -> Value {
    let failures = node.store.storage_reports(None).failure_summary.unwrap_or_default();
    json!({
        "name": "Hadoop:service=DataNode,name=FSDatasetState",
        "modelerType": "org.apache.hadoop.hdfs.server.datanode.fsdataset.impl.FsDatasetImpl",
        "StorageInfo": storage_info(node),
        "FailedStorageLocations": failures.failed_storage_locations,
    })
}

fn info(node: &Node) -> Value {
    let services = node.services();
    let cluster = services.iter().find_map(|service| service.identity());
    // The NameNode's own, as this DataNode registers with it.
    let version = cluster
        .as_ref()
        .map_or_else(|| "unknown".to_owned(), |identity| identity.software_version.clone());
    let port = |port: Option<u16>| port.map_or_else(String::new, |port| port.to_string());
    let addresses = node.addresses.get();
    json!({
        "name": "Hadoop:service=DataNode,name=DataNodeInfo",
        "modelerType": "org.apache.hadoop.hdfs.server.datanode.DataNode",
        "Version": format!("{version}, rzerohop-{}", env!("CARGO_PKG_VERSION")),
        "SoftwareVersion": version,
        "RpcPort": port(addresses.map(|known| known.ipc.port())),
        "HttpPort": port(addresses.map(|known| known.http.port())),
        "DataPort": port(addresses.map(|known| known.transfer.port())),
        "DatanodeHostname": node.settings.host_name,
        "NamenodeAddresses": namenodes(node).to_string(),
        "BPServiceActorInfo": links(node).to_string(),
        "VolumeInfo": volumes(node).to_string(),
        "ClusterId": cluster.map(|identity| identity.cluster_id),
        "XceiverCount": node.threads.busy(),
        "ActiveTransferThreadCount": node.threads.busy(),
        "XmitsInProgress": node.transfers_under_way(),
        "SlowDisks": slow_disks(node).to_string(),
        "SecurityEnabled": false,
        "DNStartedTimeInMillis": started_ms(node),
    })
}

/// How far replicas are verified, and what the last directory scan found.
fn scanners(node: &Node) -> Value {
    let verified = node.block_scanner.statistics().into_iter().map(|(volume, statistics)| {
        json!({
            "directory": volume.to_string(), "blocksVerified": statistics.verified(),
            "blockVerificationFailures": statistics.failures(),
        })
    });
    let compared = node.directory_scanner.counts().into_iter().map(|(pool, counts)| {
        json!({
            "blockPoolId": &*pool, "totalBlocks": counts.total,
            "missingMetaFiles": counts.missing_meta, "missingBlockFiles": counts.missing_data,
            "missingInMemory": counts.missing_in_memory, "mismatchedBlocks": counts.mismatched,
            "duplicateBlocks": counts.duplicates,
        })
    });
    json!({
        "name": "Hadoop:service=DataNode,name=Scanners",
        "modelerType": "Scanners",
        "BlockScannerEnabled": node.block_scanner.is_enabled(),
        "Volumes": verified.collect::<Vec<_>>(),
        "DirectoryScans": compared.collect::<Vec<_>>(),
    })
}

/// Ours: what `zerohop top` shows of short-circuit reads.
fn short_circuit(node: &Node) -> Value {
    let descriptors = &node.domain_socket.descriptors;
    json!({
        "name": "Hadoop:service=DataNode,name=ShortCircuit",
        "modelerType": "ShortCircuit",
        "Granted": descriptors.granted(),
        "Refused": descriptors.refused(),
    })
}

/// The directories of the volumes on slow disks.
fn slow_disks(node: &Node) -> Value {
    node.slow_disks().into_iter().filter_map(|report| report.base_path).collect()
}

fn started_ms(node: &Node) -> u64 {
    let started = clock::wall().checked_sub(clock::since(node.started));
    let since = started.and_then(|started| started.duration_since(UNIX_EPOCH).ok());
    since.map_or(0, |since| since.as_millis() as u64)
}

/// Block pools by host of their NameNodes.
fn namenodes(node: &Node) -> Value {
    let mut found = Map::new();
    for service in node.services() {
        for link in service.links() {
            let host = link.addr.rsplit_once(':').map_or(&*link.addr, |(host, _)| host);
            found.insert(host.to_owned(), json!(service.pool_id().as_deref()));
        }
    }
    Value::Object(found)
}

fn links(node: &Node) -> Value {
    let mut found = Vec::new();
    for service in node.services() {
        for link in service.links() {
            let state = match &*link.progress().borrow() {
                Progress::Connecting => "CONNECTING",
                Progress::Registered | Progress::Reported => "RUNNING",
                Progress::Refused(_) => "FAILED",
            };
            found.push(json!({
                "NamenodeAddress": link.addr, "BlockPoolID": service.pool_id().as_deref(),
                "ActorState": state,
            }));
        }
    }
    Value::Array(found)
}

/// Figures of the volumes in use, by directory of the data.
fn volumes(node: &Node) -> Value {
    let in_use = node.store.volumes().in_use();
    let one = |volume: &std::sync::Arc<crate::store::volume::DataVolume>| {
        let report = volume.report(None);
        let kind = report.storage.as_ref().map(|storage| storage.storage_type().as_str_name());
        let value = json!({
            "usedSpace": volume.used(), "freeSpace": volume.available(),
            "reservedSpace": volume.left_free(), "reservedSpaceForReplicas": volume.promised(),
            "numBlocks": volume.blocks(), "storageType": kind,
        });
        (volume.root().join("current").display().to_string(), value)
    };
    in_use.iter().map(one).collect()
}
