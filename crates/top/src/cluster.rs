//! The cluster and its DataNodes, as the NameNode has them.

use crate::beans::Beans;
use serde::Serialize;
use serde_json::Value;

/// What the NameNode says of the whole; a member that its beans lack is absent.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// Bytes, as all sizes here.
    pub capacity: Option<u64>,
    /// Taken by blocks.
    pub used: Option<u64>,
    /// Taken by others on the same disks.
    pub non_dfs_used: Option<u64>,
    /// Free for blocks.
    pub remaining: Option<u64>,
    /// Files, directories and links.
    pub files: Option<u64>,
    /// Blocks of all files.
    pub blocks: Option<u64>,
    /// Blocks without a good replica.
    pub missing_blocks: Option<u64>,
    /// Of these, those of files that want one replica only.
    pub missing_replication_one_blocks: Option<u64>,
    /// Blocks with fewer replicas than wanted.
    pub under_replicated_blocks: Option<u64>,
    /// Blocks with a corrupt replica.
    pub corrupt_blocks: Option<u64>,
    /// Replicas that are to be deleted.
    pub pending_deletion_blocks: Option<u64>,
    /// DataNodes with recent heartbeats.
    pub live_data_nodes: Option<u64>,
    /// DataNodes without.
    pub dead_data_nodes: Option<u64>,
    /// Why it is in safe mode; none outside of it.
    pub safe_mode: Option<String>,
    /// Its version.
    pub version: Option<String>,
    /// When it was started, in ms since 1970.
    pub started_ms: Option<u64>,
    /// Connections by which DataNodes move block data.
    pub xceivers: Option<u64>,
    /// Volumes of live DataNodes that failed.
    pub volume_failures: Option<u64>,
}

impl Cluster {
    pub(crate) fn of(beans: &Beans) -> Self {
        let bean = |name: &str| beans.find("NameNode", name);
        let count = |name: &str, attribute: &str| bean(name)?.count(attribute);
        let text = |name: &str, attribute: &str| Some(bean(name)?.text(attribute)?.to_owned());
        let first = |places: &[(&str, &str)]| {
            places.iter().find_map(|(name, attribute)| count(name, attribute))
        };
        Self {
            capacity: first(&[("NameNodeInfo", "Total"), ("FSNamesystemState", "CapacityTotal")]),
            used: first(&[("NameNodeInfo", "Used"), ("FSNamesystemState", "CapacityUsed")]),
            non_dfs_used: count("NameNodeInfo", "NonDfsUsedSpace"),
            remaining: first(&[
                ("NameNodeInfo", "Free"),
                ("FSNamesystemState", "CapacityRemaining"),
            ]),
            files: count("FSNamesystemState", "FilesTotal"),
            blocks: count("FSNamesystemState", "BlocksTotal"),
            missing_blocks: count("NameNodeInfo", "NumberOfMissingBlocks"),
            missing_replication_one_blocks: count(
                "NameNodeInfo",
                "NumberOfMissingBlocksWithReplicationFactorOne",
            ),
            // Hadoop 2 knows the older name only.
            under_replicated_blocks: first(&[
                ("FSNamesystemState", "LowRedundancyBlocks"),
                ("FSNamesystemState", "UnderReplicatedBlocks"),
            ]),
            corrupt_blocks: first(&[
                ("ReplicatedBlocksState", "CorruptReplicatedBlocks"),
                ("FSNamesystem", "CorruptBlocks"),
            ]),
            pending_deletion_blocks: count("FSNamesystemState", "PendingDeletionBlocks"),
            live_data_nodes: count("FSNamesystemState", "NumLiveDataNodes"),
            dead_data_nodes: count("FSNamesystemState", "NumDeadDataNodes"),
            safe_mode: text("NameNodeInfo", "Safemode").filter(|text| !text.is_empty()),
            version: text("NameNodeInfo", "SoftwareVersion"),
            started_ms: count("NameNodeInfo", "NNStartedTimeInMillis"),
            xceivers: count("FSNamesystemState", "TotalLoad"),
            volume_failures: count("FSNamesystemState", "VolumeFailuresTotal"),
        }
    }
}

/// A DataNode in the NameNode's list.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ListedNode {
    pub(crate) name: String,
    /// Of its transfer address.
    pub(crate) ip: String,
    pub(crate) is_live: bool,
    /// `In Service`, `Decommission In Progress`, ...
    pub(crate) state: String,
    pub(crate) rack: String,
    pub(crate) capacity: u64,
    pub(crate) used: u64,
    pub(crate) remaining: u64,
    pub(crate) blocks: u64,
    pub(crate) last_contact_s: u64,
    pub(crate) failed_volumes: u64,
    pub(crate) version: String,
}

/// The DataNodes, live and dead, by name.
pub(crate) fn listed_nodes(beans: &Beans) -> Vec<ListedNode> {
    let info = beans.find("NameNode", "NameNodeInfo");
    let mut found = Vec::new();
    for (attribute, is_live) in [("LiveNodes", true), ("DeadNodes", false)] {
        let Some(Value::Object(nodes)) = info.and_then(|info| info.json(attribute)) else {
            continue;
        };
        for (name, node) in nodes {
            let count = |member: &str| node.get(member).and_then(Value::as_u64).unwrap_or(0);
            let text = |member: &str| {
                node.get(member).and_then(Value::as_str).unwrap_or_default().to_owned()
            };
            let state = text("adminState");
            let address = text("xferaddr");
            found.push(ListedNode {
                ip: address.rsplit_once(':').map_or("", |(ip, _)| ip).to_owned(),
                is_live,
                state: match is_live {
                    true => state,
                    false if state == "In Service" || state.is_empty() => "Dead".to_owned(),
                    false => format!("Dead, {state}"),
                },
                rack: text("location"),
                capacity: count("capacity"),
                used: count("usedSpace"),
                remaining: count("remaining"),
                blocks: count("numBlocks"),
                last_contact_s: count("lastContact"),
                failed_volumes: count("volfails"),
                version: text("version"),
                name,
            });
        }
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    found
}

/// What the NameNode was told of slow disks (`SlowDisksReport`: `IP:RPC_PORT:VOLUME`) or slow peers (`SlowPeersReport`).
pub(crate) fn slow(beans: &Beans, attribute: &str, member: &str) -> Vec<String> {
    let status = beans.find("NameNode", "NameNodeStatus");
    let Some(Value::Array(reports)) = status.and_then(|status| status.json(attribute)) else {
        return Vec::new();
    };
    let named = |report: &Value| Some(report.get(member)?.as_str()?.to_owned());
    reports.iter().filter_map(named).collect()
}
