//! Content summaries, quotas and storage policies.

use zerohop_namespace::blocks::StorageType;
use zerohop_namespace::blocks::policy::StoragePolicy;
use zerohop_namespace::{ContentSummary, QuotaUsage, TypeQuota};
use zerohop_proto::hdfs::{
    BlockStoragePolicyProto, ContentSummaryProto, QuotaUsageProto, StorageTypeQuotaInfoProto,
    StorageTypeQuotaInfosProto, StorageTypesProto,
};

pub(crate) fn content_summary(summary: ContentSummary) -> ContentSummaryProto {
    ContentSummaryProto {
        length: summary.length,
        file_count: summary.files,
        directory_count: summary.directories,
        quota: summary.quota as u64,
        space_consumed: summary.space_consumed,
        space_quota: summary.space_quota as u64,
        type_quota_infos: Some(type_quotas(&summary.types)),
        snapshot_length: Some(0),
        snapshot_file_count: Some(0),
        snapshot_directory_count: Some(0),
        snapshot_space_consumed: Some(0),
        erasure_coding_policy: Some(summary.erasure_coding_policy),
    }
}

pub(crate) fn quota_usage(usage: QuotaUsage) -> QuotaUsageProto {
    QuotaUsageProto {
        file_and_directory_count: usage.names as u64,
        quota: usage.quota as u64,
        space_consumed: usage.space_consumed as u64,
        space_quota: usage.space_quota as u64,
        type_quota_infos: Some(type_quotas(&usage.types)),
    }
}

fn type_quotas(types: &[TypeQuota]) -> StorageTypeQuotaInfosProto {
    let info = |quota: &TypeQuota| StorageTypeQuotaInfoProto {
        r#type: Some(quota.kind.number()),
        quota: quota.quota as u64,
        consumed: quota.consumed as u64,
    };
    StorageTypeQuotaInfosProto { type_quota_info: types.iter().map(info).collect() }
}

pub(crate) fn storage_policy(policy: &StoragePolicy) -> BlockStoragePolicyProto {
    let types = |types: &[StorageType]| StorageTypesProto {
        storage_types: types.iter().map(|kind| kind.number()).collect(),
    };
    let fallbacks = |kinds: &[StorageType]| (!kinds.is_empty()).then(|| types(kinds));
    BlockStoragePolicyProto {
        policy_id: policy.id.into(),
        name: policy.name.to_owned(),
        creation_policy: types(policy.types),
        creation_fallback_policy: fallbacks(policy.creation_fallbacks),
        replication_fallback_policy: fallbacks(policy.replication_fallbacks),
    }
}
