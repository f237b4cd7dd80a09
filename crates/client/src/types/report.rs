//! What administrators ask.

use super::java::from_java;
use super::located::DatanodeInfo;
use zerohop_proto::hdfs::{
    BlockStoragePolicyProto, DatanodeReportTypeProto, DatanodeStorageReportProto,
    FsServerDefaultsProto, GetFsStatsResponseProto, RollingUpgradeActionProto,
    RollingUpgradeInfoProto, SafeModeActionProto, StorageReportProto, StorageTypesProto,
};
use zerohop_wire::StorageType;
use zerohop_wire::checksum_type::{ChecksumType, DataChecksum};

/// Which DataNodes a report is about.
pub type DatanodeReportType = DatanodeReportTypeProto;
/// What to do about safe mode.
pub type SafeModeAction = SafeModeActionProto;
/// What to do about a rolling upgrade.
pub type RollingUpgradeAction = RollingUpgradeActionProto;

/// Sizes of the whole file system in bytes, and blocks that need care.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FsStats {
    /// All of it.
    pub capacity: u64,
    /// Block data.
    pub used: u64,
    /// Free for block data.
    pub remaining: u64,
    /// Blocks with too few replicas.
    pub under_replicated: u64,
    /// Blocks with corrupt replicas.
    pub corrupt_blocks: u64,
    /// Blocks without a good replica.
    pub missing_blocks: u64,
    /// Of those, the ones with a replication of one.
    pub missing_replication_one_blocks: u64,
    /// Bytes in blocks of generation stamps to come.
    pub bytes_in_future: u64,
    /// Blocks still to be deleted.
    pub pending_deletion_blocks: u64,
}

impl From<GetFsStatsResponseProto> for FsStats {
    fn from(proto: GetFsStatsResponseProto) -> Self {
        Self {
            capacity: from_java(proto.capacity),
            used: from_java(proto.used),
            remaining: from_java(proto.remaining),
            under_replicated: from_java(proto.under_replicated),
            corrupt_blocks: from_java(proto.corrupt_blocks),
            missing_blocks: from_java(proto.missing_blocks),
            missing_replication_one_blocks: from_java(proto.missing_repl_one_blocks.unwrap_or(0)),
            bytes_in_future: from_java(proto.blocks_in_future.unwrap_or(0)),
            pending_deletion_blocks: from_java(proto.pending_deletion_blocks.unwrap_or(0)),
        }
    }
}

/// The NameNode's defaults for clients.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerDefaults {
    /// Size at which a block is full.
    pub block_size: u64,
    /// How block data is summed.
    pub checksum: DataChecksum,
    /// Bytes of a writer's packet.
    pub write_packet_size: u32,
    /// Replicas of a block.
    pub replication: u16,
    /// Bytes of a stream's buffer.
    pub file_buffer_size: u32,
    /// Whether block data is encrypted on the wire.
    pub encrypt_data_transfer: bool,
    /// Minutes that a trash checkpoint is kept; 0 means no trash.
    pub trash_interval_min: u64,
    /// Id of the storage policy of files that have none; 0 where the NameNode does not say.
    pub storage_policy: u8,
}

impl From<FsServerDefaultsProto> for ServerDefaults {
    fn from(proto: FsServerDefaultsProto) -> Self {
        let kind = ChecksumType::from(proto.checksum_type());
        Self {
            block_size: proto.block_size,
            checksum: DataChecksum::new(kind, proto.bytes_per_checksum).unwrap_or_default(),
            write_packet_size: proto.write_packet_size,
            replication: proto.replication as u16,
            file_buffer_size: proto.file_buffer_size,
            encrypt_data_transfer: proto.encrypt_data_transfer(),
            trash_interval_min: from_java(proto.trash_interval()),
            storage_policy: proto.policy_id() as u8,
        }
    }
}

/// On which types of storage the replicas of a file belong.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoragePolicy {
    /// Its id.
    pub id: u8,
    /// Its name, as `HOT`.
    pub name: String,
    /// The types for new blocks, one a replica, the last one for all others.
    pub creation: Vec<StorageType>,
    /// What else new blocks may be put on.
    pub creation_fallback: Vec<StorageType>,
    /// What else further replicas may be put on.
    pub replication_fallback: Vec<StorageType>,
}

impl From<BlockStoragePolicyProto> for StoragePolicy {
    fn from(proto: BlockStoragePolicyProto) -> Self {
        let types = |list: StorageTypesProto| list.storage_types().map(Into::into).collect();
        let optional = |list: Option<StorageTypesProto>| list.map(types).unwrap_or_default();
        Self {
            id: proto.policy_id as u8,
            name: proto.name,
            creation: types(proto.creation_policy),
            creation_fallback: optional(proto.creation_fallback_policy),
            replication_fallback: optional(proto.replication_fallback_policy),
        }
    }
}

/// A page of files with corrupt blocks, and where the next page begins.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CorruptFiles {
    /// The paths.
    pub paths: Vec<String>,
    /// To be given to get the next page.
    pub cookie: String,
}

/// A DataNode with its volumes.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DatanodeStorage {
    /// The DataNode.
    pub node: DatanodeInfo,
    /// Its volumes.
    pub volumes: Vec<Volume>,
}

/// A volume of a DataNode; bytes each.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Volume {
    /// Its id.
    pub storage_id: String,
    /// What it is made of.
    pub storage_type: StorageType,
    /// It can no longer be used.
    pub is_failed: bool,
    /// All of it.
    pub capacity: u64,
    /// Block data.
    pub used: u64,
    /// Free for block data.
    pub remaining: u64,
    /// Used by something else.
    pub non_dfs_used: u64,
    /// Block data of this cluster alone, where the DataNode serves several.
    pub block_pool_used: u64,
}

impl From<StorageReportProto> for Volume {
    fn from(proto: StorageReportProto) -> Self {
        Self {
            storage_type: proto
                .storage
                .as_ref()
                .map_or(StorageType::Disk, |storage| storage.storage_type().into()),
            is_failed: proto.failed(),
            capacity: from_java(proto.capacity()),
            used: from_java(proto.dfs_used()),
            remaining: from_java(proto.remaining()),
            non_dfs_used: from_java(proto.non_dfs_used()),
            block_pool_used: from_java(proto.block_pool_used()),
            storage_id: proto.storage_uuid,
        }
    }
}

impl From<DatanodeStorageReportProto> for DatanodeStorage {
    fn from(proto: DatanodeStorageReportProto) -> Self {
        Self {
            node: proto.datanode_info.into(),
            volumes: proto.storage_reports.into_iter().map(Into::into).collect(),
        }
    }
}

/// A file being written.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OpenFile {
    /// The inode's id.
    pub id: u64,
    /// The path.
    pub path: String,
    /// The client that writes it.
    pub client_name: String,
    /// The machine of that client.
    pub client_machine: String,
}

/// How far a rolling upgrade is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RollingUpgrade {
    /// The block pool.
    pub block_pool: String,
    /// Milliseconds since 1970.
    pub started_ms: u64,
    /// Milliseconds since 1970; 0 until it is finalized.
    pub finalized_ms: u64,
    /// Whether the image to go back to was made.
    pub has_rollback_image: bool,
}

impl From<RollingUpgradeInfoProto> for RollingUpgrade {
    fn from(proto: RollingUpgradeInfoProto) -> Self {
        Self {
            block_pool: proto.status.block_pool_id,
            started_ms: proto.start_time,
            finalized_ms: proto.finalize_time,
            has_rollback_image: proto.created_rollback_images,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counters of Apache's NameNode can be negative. A negative trash interval disables the trash.
    #[test]
    fn java_s_negative_numbers_are_not_near_2_to_the_64() {
        let stats = FsStats::from(GetFsStatsResponseProto {
            missing_blocks: -1_i64 as u64,
            missing_repl_one_blocks: Some(-2_i64 as u64),
            capacity: 7,
            ..GetFsStatsResponseProto::default()
        });
        let counts = (stats.missing_blocks, stats.missing_replication_one_blocks, stats.capacity);
        assert_eq!(counts, (0, 0, 7));
        let defaults = ServerDefaults::from(FsServerDefaultsProto {
            trash_interval: Some(-1_i64 as u64),
            ..FsServerDefaultsProto::default()
        });
        assert_eq!(defaults.trash_interval_min, 0);
    }
}
