//! The repairs of corrupt replicas, with the names that a log line needs.

use super::nodes::Nodes;
use super::repairs::{Event, Found, Step};
use super::types::{CorruptReason, StorageIdx};
use std::sync::Arc;
use zerohop_wire::{Block, InodeId};

/// A DataNode's storage as the log names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorageName {
    /// `ip:port` of the DataNode.
    pub datanode: String,
    /// The storage's id.
    pub storage: Arc<str>,
    /// The mount point or directory of the volume, or `None` if the DataNode does not report it.
    pub mount: Option<String>,
}

impl std::fmt::Display for StorageName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (storage {}", self.datanode, self.storage)?;
        let mount = self.mount.as_deref().filter(|mount| !mount.is_empty());
        mount.map_or(Ok(()), |mount| write!(f, ", {mount}"))?;
        f.write_str(")")
    }
}

/// A step of the repair of a block with a corrupt replica, for the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairEvent {
    /// The block, as the namespace knows it.
    pub block: Block,
    /// The file that the block belongs to.
    pub file: InodeId,
    /// The step.
    pub step: RepairStep,
}

/// A step of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RepairStep {
    /// A replica was found to be corrupt.
    Found {
        /// The storage with the corrupt replica.
        at: StorageName,
        /// Reason that the replica counts as corrupt.
        reason: CorruptReason,
        /// Good replicas that are left.
        good: u32,
    },
    /// A copy of a good replica was ordered.
    CopyOrdered {
        /// `ip:port` of the DataNode that sends it.
        source: String,
        /// Targets of the copies.
        targets: Vec<StorageName>,
    },
    /// The block has as many good replicas as it should, and none is corrupt.
    Repaired {
        /// The storage that had the corrupt replica.
        at: StorageName,
        /// Good replicas.
        good: u32,
    },
}

impl std::fmt::Display for RepairStep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Found { at, reason, good } => {
                let reason = reason.name();
                write!(f, "the replica on {at} is corrupt ({reason}); good replicas left: {good}")
            }
            Self::CopyOrdered { source, targets } => {
                let targets: Vec<_> = targets.iter().map(StorageName::to_string).collect();
                write!(f, "{source} is to copy its good replica to {}", targets.join(", "))
            }
            Self::Repaired { at, good } => {
                write!(f, "repaired; good replicas: {good}; the one on {at} was corrupt")
            }
        }
    }
}

/// Adds the names of DataNodes and storages to an event.
pub(super) fn named(event: Event, nodes: &Nodes) -> RepairEvent {
    let step = match event.step {
        Step::Found(Found { storage, reason, .. }, good) => {
            RepairStep::Found { at: name(storage, nodes), reason, good }
        }
        Step::Copied(source, targets) => RepairStep::CopyOrdered {
            source: nodes.node(source).map_or_else(String::new, |node| node.id.xfer_addr()),
            targets: targets.iter().map(|storage| name(*storage, nodes)).collect(),
        },
        Step::Repaired(found, good) => {
            RepairStep::Repaired { at: name(found.storage, nodes), good }
        }
    };
    RepairEvent { block: event.block, file: event.file, step }
}

fn name(storage: StorageIdx, nodes: &Nodes) -> StorageName {
    let known = nodes.storage(storage);
    let node = nodes.node_of(storage).and_then(|node| nodes.node(node));
    StorageName {
        datanode: node.map_or_else(String::new, |node| node.id.xfer_addr()),
        storage: known.map_or_else(|| "".into(), |known| Arc::clone(&known.id)),
        mount: known.and_then(|known| known.mount.clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line of a DataNode that reports no mount point ended with `, )`.
    #[test]
    fn a_storage_without_a_mount_point_is_its_id() {
        let mut name =
            StorageName { datanode: "dn1:9866".into(), storage: "DS-1".into(), mount: None };
        for (mount, text) in [
            (None, "dn1:9866 (storage DS-1)"),
            (Some(""), "dn1:9866 (storage DS-1)"),
            (Some("/data/1"), "dn1:9866 (storage DS-1, /data/1)"),
        ] {
            name.mount = mount.map(str::to_owned);
            assert_eq!(name.to_string(), text);
        }
    }
}
