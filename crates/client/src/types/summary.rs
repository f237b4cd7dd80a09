//! Sums below a path, and quotas.

use super::java::from_java;
use zerohop_proto::hdfs::{ContentSummaryProto, QuotaUsageProto, StorageTypeQuotaInfosProto};
use zerohop_wire::StorageType;

/// Usage against the quota of one storage type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TypeUsage {
    /// The type.
    pub storage_type: StorageType,
    /// Bytes allowed; -1 means no limit.
    pub quota: i64,
    /// Bytes used.
    pub consumed: i64,
}

/// Sums below a path, and its quotas.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentSummary {
    /// Bytes of all files, each counted once.
    pub len: u64,
    /// Files.
    pub files: u64,
    /// Directories, the path itself included.
    pub directories: u64,
    /// Names allowed; -1 means no quota.
    pub quota: i64,
    /// Bytes of all replicas.
    pub space_consumed: u64,
    /// Bytes of replicas allowed; -1 means no quota.
    pub space_quota: i64,
    /// By storage type, where such quotas are set.
    pub types: Vec<TypeUsage>,
    /// Of `len`, what only snapshots hold.
    pub snapshot_len: u64,
    /// Of `files`, those only snapshots hold.
    pub snapshot_files: u64,
    /// Of `directories`, those only snapshots hold.
    pub snapshot_directories: u64,
    /// Of `space_consumed`, what only snapshots hold.
    pub snapshot_space_consumed: u64,
    /// Name of the erasure coding policy; empty for none.
    pub erasure_policy: String,
}

/// Quotas of a path and what counts against them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct QuotaUsage {
    /// Names below and with the path.
    pub files_and_directories: u64,
    /// Names allowed; -1 means no quota.
    pub quota: i64,
    /// Bytes of all replicas.
    pub space_consumed: u64,
    /// Bytes of replicas allowed; -1 means no quota.
    pub space_quota: i64,
    /// By storage type, where such quotas are set.
    pub types: Vec<TypeUsage>,
}

fn types(proto: Option<StorageTypeQuotaInfosProto>) -> Vec<TypeUsage> {
    let infos = proto.map(|p| p.type_quota_info).unwrap_or_default();
    let usage = infos.into_iter().map(|info| TypeUsage {
        storage_type: info.r#type().into(),
        quota: info.quota as i64,
        consumed: info.consumed as i64,
    });
    usage.collect()
}

impl From<ContentSummaryProto> for ContentSummary {
    fn from(proto: ContentSummaryProto) -> Self {
        Self {
            snapshot_len: from_java(proto.snapshot_length()),
            snapshot_files: from_java(proto.snapshot_file_count()),
            snapshot_directories: from_java(proto.snapshot_directory_count()),
            snapshot_space_consumed: from_java(proto.snapshot_space_consumed()),
            len: from_java(proto.length),
            files: from_java(proto.file_count),
            directories: from_java(proto.directory_count),
            quota: proto.quota as i64,
            space_consumed: from_java(proto.space_consumed),
            space_quota: proto.space_quota as i64,
            types: types(proto.type_quota_infos),
            erasure_policy: proto.erasure_coding_policy.unwrap_or_default(),
        }
    }
}

impl From<QuotaUsageProto> for QuotaUsage {
    fn from(proto: QuotaUsageProto) -> Self {
        Self {
            files_and_directories: from_java(proto.file_and_directory_count),
            quota: proto.quota as i64,
            space_consumed: from_java(proto.space_consumed),
            space_quota: proto.space_quota as i64,
            types: types(proto.type_quota_infos),
        }
    }
}
