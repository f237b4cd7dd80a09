//! A DataNode's own beans: block data moved, short-circuit reads, volumes.

use crate::beans::Beans;
use crate::rate::{Counters, Meter};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Counters of `DataNodeActivity` that rates are taken of; heartbeats, since the others stand still in an idle DataNode.
const COUNTED: [&str; 9] = [
    "HeartbeatsNumOps",
    "BytesRead",
    "BytesWritten",
    "RemoteBytesRead",
    "RemoteBytesWritten",
    "ReadsFromLocalClient",
    "ReadsFromRemoteClient",
    "WritesFromLocalClient",
    "WritesFromRemoteClient",
];

/// Block data that moves through a DataNode, a second.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Traffic {
    /// The DataNode.
    pub name: String,
    /// Bytes a second to clients of its own machine through the DataNode; none until two readings differ.
    pub local_read: Option<f64>,
    /// To other machines.
    pub remote_read: Option<f64>,
    /// From clients of its own machine.
    pub local_write: Option<f64>,
    /// From other machines.
    pub remote_write: Option<f64>,
    /// Reads of clients of its own machine that went through the DataNode, a second.
    pub local_reads: Option<f64>,
    /// Reads of other machines.
    pub remote_reads: Option<f64>,
    /// Short-circuit reads; none where the DataNode has no such bean.
    pub short_circuit: Option<ShortCircuit>,
}

/// Replicas that clients of the same machine read from their files.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ShortCircuit {
    /// Requests for descriptors that were granted since the start.
    pub granted: u64,
    /// Granted, a second.
    pub granted_per_second: Option<f64>,
    /// Requests that were refused since the start, by reason.
    pub refused: BTreeMap<String, u64>,
}

/// A volume of a DataNode.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Disk {
    /// The DataNode.
    pub data_node: String,
    /// Its directory there.
    pub volume: String,
    /// `DISK`, `SSD`, ...
    pub storage_type: Option<String>,
    /// Taken by blocks, in bytes.
    pub used: Option<u64>,
    /// In bytes.
    pub free: Option<u64>,
    /// Replicas on it.
    pub blocks: Option<u64>,
    /// How long a call took in the last interval, in ms; zero or none where the DataNode does not measure it
    /// (`dfs.datanode.fileio.profiling.sampling.percentage`).
    pub read_ms: Option<f64>,
    /// Likewise.
    pub write_ms: Option<f64>,
    /// Likewise, of forcing data to the disk.
    pub sync_ms: Option<f64>,
    /// Likewise, of opening, renaming and the like.
    pub metadata_ms: Option<f64>,
    /// Failed calls since the start.
    pub errors: Option<u64>,
    /// The DataNode or the NameNode calls it slow.
    pub is_slow: bool,
}

/// A DataNode's counters over time.
#[derive(Debug, Default)]
pub(crate) struct DataNodeMeters {
    activity: Meter,
    short_circuit: Meter,
}

impl DataNodeMeters {
    pub(crate) fn read(&mut self, at_ms: u64, beans: &Beans) {
        if let Some((_, bean)) = beans.starting("DataNode", "DataNodeActivity").next() {
            let counts =
                COUNTED.into_iter().filter_map(|name| Some((name.to_owned(), bean.count(name)?)));
            self.activity.read(at_ms, counts.collect());
        }
        if let Some((granted, _)) = descriptors(beans) {
            self.short_circuit.read(at_ms, Counters::from([("granted".to_owned(), granted)]));
        }
    }

    pub(crate) fn is_settled(&self) -> bool {
        self.activity.is_settled()
    }

    pub(crate) fn traffic(&self, name: &str, beans: &Beans) -> Traffic {
        let rate = |name: &str| self.activity.per_second(name);
        let local = |all: &str, remote: &str| Some((rate(all)? - rate(remote)?).max(0.0));
        Traffic {
            name: name.to_owned(),
            local_read: local("BytesRead", "RemoteBytesRead"),
            remote_read: rate("RemoteBytesRead"),
            local_write: local("BytesWritten", "RemoteBytesWritten"),
            remote_write: rate("RemoteBytesWritten"),
            local_reads: rate("ReadsFromLocalClient"),
            remote_reads: rate("ReadsFromRemoteClient"),
            short_circuit: descriptors(beans).map(|(granted, refused)| ShortCircuit {
                granted,
                granted_per_second: self.short_circuit.per_second("granted"),
                refused,
            }),
        }
    }
}

/// Requests for descriptors: granted, and refused by reason.
fn descriptors(beans: &Beans) -> Option<(u64, BTreeMap<String, u64>)> {
    let bean = beans.find("DataNode", "ShortCircuit")?;
    let refused = bean.value("Refused").and_then(Value::as_object);
    let refused = refused.into_iter().flatten();
    let refused = refused.filter_map(|(reason, count)| Some((reason.clone(), count.as_u64()?)));
    Some((bean.count("Granted")?, refused.collect()))
}

/// Threads that move block data, as the DataNode counts them.
pub(crate) fn xceivers(beans: &Beans) -> Option<u64> {
    beans.find("DataNode", "DataNodeInfo")?.count("XceiverCount")
}

/// The volumes of a DataNode at `ip`; `slow` are those that the NameNode calls slow, as `IP:RPC_PORT:VOLUME`.
pub(crate) fn disks((name, ip): (&str, &str), beans: &Beans, slow: &[String]) -> Vec<Disk> {
    let info = beans.find("DataNode", "DataNodeInfo");
    let port = info.and_then(|info| info.text("RpcPort")).unwrap_or_default();
    let own_id = format!("{ip}:{port}:");
    let listed = info.and_then(|info| info.json("VolumeInfo"));
    let own = info.and_then(|info| info.json("SlowDisks"));
    // Apache's are a list of paths, or an object with them as names.
    let called_slow = |place: &str| match &own {
        Some(Value::Array(paths)) => {
            paths.iter().filter_map(Value::as_str).any(|path| same_volume(path, place))
        }
        Some(Value::Object(paths)) => paths.keys().any(|path| same_volume(path, place)),
        _ => false,
    };
    let mut found: BTreeMap<String, Disk> = BTreeMap::new();
    for (directory, volume) in listed.as_ref().and_then(Value::as_object).into_iter().flatten() {
        let place = root_of(directory);
        let count = |member: &str| volume.get(member).and_then(Value::as_u64);
        let kind = volume.get("storageType").and_then(Value::as_str);
        let disk = Disk {
            data_node: name.to_owned(),
            volume: place.to_owned(),
            storage_type: kind.map(str::to_owned),
            used: count("usedSpace"),
            free: count("freeSpace"),
            blocks: count("numBlocks"),
            ..Disk::default()
        };
        found.insert(place.to_owned(), disk);
    }
    for (directory, bean) in beans.starting("DataNode", "DataNodeVolume-") {
        let place = root_of(directory);
        let entry = found.entry(place.to_owned());
        let disk = entry.or_insert_with(|| Disk {
            data_node: name.to_owned(),
            volume: place.to_owned(),
            ..Disk::default()
        });
        let measured = |kind: &str| {
            bean.count(&format!("{kind}NumOps")).filter(|calls| *calls > 0)?;
            bean.number(&format!("{kind}AvgTime"))
        };
        disk.read_ms = measured("ReadIoRate");
        disk.write_ms = measured("WriteIoRate");
        disk.sync_ms = measured("SyncIoRate");
        disk.metadata_ms = measured("MetadataOperationRate");
        disk.errors = bean.count("TotalFileIoErrors");
    }
    for disk in found.values_mut() {
        disk.is_slow = called_slow(&disk.volume)
            || slow
                .iter()
                .filter_map(|id| id.strip_prefix(&own_id))
                .any(|path| same_volume(path, &disk.volume));
    }
    found.into_values().collect()
}

/// A volume's directory, without the `current` below it.
fn root_of(directory: &str) -> &str {
    let directory = directory.trim_end_matches('/');
    directory.strip_suffix("/current").unwrap_or(directory)
}

fn same_volume(one: &str, other: &str) -> bool {
    root_of(one.trim_start_matches("file:")) == root_of(other)
}
