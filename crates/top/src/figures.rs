//! The figures of one moment, as they are shown and as JSON.

use crate::calls::Calls;
use crate::cluster::Cluster;
use crate::datanode::{Disk, Traffic};
use crate::users::{Directories, Users};
use serde::Serialize;

/// What is known of a cluster at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// The NameNodes of the configuration, in its order.
    pub name_nodes: Vec<NameNode>,
    /// Address of the NameNode that the rest is from; none if no NameNode answers.
    pub shown: Option<String>,
    /// The whole.
    pub cluster: Cluster,
    /// By name, live and dead.
    pub data_nodes: Vec<DataNode>,
    /// RPC calls.
    pub calls: Calls,
    /// Who calls; none where the NameNode does not count users.
    pub users: Option<Users>,
    /// Directories that calls are about; none where the NameNode does not count them.
    pub directories: Option<Directories>,
    /// Block data that moves, by DataNode.
    pub traffic: Vec<Traffic>,
    /// Volumes of the DataNodes.
    pub disks: Vec<Disk>,
    /// DataNodes that others find slow, as the NameNode has them.
    pub slow_peers: Vec<String>,
}

/// A NameNode.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct NameNode {
    /// Its id in the configuration.
    pub id: String,
    /// Of its pages.
    pub address: String,
    /// `active`, `standby`, ...; none if it does not answer.
    pub state: Option<String>,
    /// Why it does not answer.
    pub problem: Option<String>,
}

/// A DataNode.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DataNode {
    /// `HOST:TRANSFER_PORT`
    pub name: String,
    /// Its rack.
    pub rack: String,
    /// `In Service`, `Decommission In Progress`, `Dead`, ...
    pub state: String,
    /// Bytes, as are the next.
    pub capacity: u64,
    /// Taken by blocks.
    pub used: u64,
    /// Free for blocks.
    pub remaining: u64,
    /// Replicas.
    pub blocks: u64,
    /// Seconds since its last heartbeat.
    pub last_contact_s: u64,
    /// Its volumes that failed.
    pub failed_volumes: u64,
    /// Threads that move block data; none if it was not asked or did not answer.
    pub xceivers: Option<u64>,
    /// Its version.
    pub version: String,
    /// Why it did not answer itself.
    pub problem: Option<String>,
}
