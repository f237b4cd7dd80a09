//! How full storages are.

use crate::nodes::Group;
use zerohop_client::{DatanodeStorage, StorageType, Volume};

/// The types of storage whose replicas may be moved: not memory, whose use is not known well.
pub(crate) const MOVABLE: [StorageType; 5] = [
    StorageType::Disk,
    StorageType::Ssd,
    StorageType::Archive,
    StorageType::Provided,
    StorageType::Nvdimm,
];

/// When a cluster counts as balanced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BalancingPolicy {
    /// When the DataNodes are about equally full, with data of any block pool.
    #[default]
    Datanode,
    /// When the block pool takes about the same share of what each DataNode has for it.
    Blockpool,
}

impl BalancingPolicy {
    /// The policy with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "datanode" => Some(Self::Datanode),
            "blockpool" => Some(Self::Blockpool),
            _ => None,
        }
    }

    fn used(self, volume: &Volume) -> u64 {
        match self {
            Self::Datanode => volume.capacity.saturating_sub(volume.remaining),
            Self::Blockpool => volume.block_pool_used,
        }
    }

    fn total(self, volume: &Volume) -> u64 {
        match self {
            Self::Datanode => volume.capacity,
            Self::Blockpool => volume.remaining + volume.block_pool_used,
        }
    }
}

/// How full the storages of one type of a DataNode are.
#[derive(Clone, Debug, PartialEq)]
pub struct Usage {
    /// Which storages.
    pub group: Group,
    /// The DataNode's place in the topology.
    pub location: String,
    /// All bytes of the volumes.
    pub capacity: u64,
    /// Bytes that are free on volumes with room for a block.
    pub room: u64,
    /// Bytes used, as the policy counts.
    pub used: u64,
    /// Bytes that could be used, as the policy counts.
    pub total: u64,
    /// Whether replicas may be moved away.
    pub is_source: bool,
}

impl Usage {
    /// The storages of one type of DataNode `at`; `None` if it has none. Volumes with less than `block_size` free
    /// have no room.
    pub(crate) fn of(
        at: usize,
        report: &DatanodeStorage,
        kind: StorageType,
        policy: BalancingPolicy,
        block_size: u64,
    ) -> Option<Self> {
        let volumes = || report.volumes.iter().filter(|volume| volume.storage_type == kind);
        let sum = |of: &dyn Fn(&Volume) -> u64| volumes().map(of).sum::<u64>();
        let total = sum(&|volume| policy.total(volume));
        (total > 0).then(|| Self {
            group: Group { node: at, kind },
            location: report.node.location().to_owned(),
            capacity: sum(&|volume| volume.capacity),
            room: sum(&|volume| if volume.remaining < block_size { 0 } else { volume.remaining }),
            used: sum(&|volume| policy.used(volume)),
            total,
            is_source: true,
        })
    }

    /// Bytes used of a hundred.
    pub(crate) fn percent(&self) -> f64 {
        self.used as f64 * 100.0 / self.total as f64
    }
}
