//! Content summaries and quotas.

use crate::audit::Line;
use crate::convert;
use crate::rpc::answer::Call;
use zerohop_namespace::blocks::StorageType;
use zerohop_namespace::quota_command;
use zerohop_proto::hdfs::{
    GetContentSummaryRequestProto, GetContentSummaryResponseProto, GetQuotaUsageRequestProto,
    GetQuotaUsageResponseProto, SetQuotaRequestProto, SetQuotaResponseProto,
};
use zerohop_transport::rpc::server::Reply;

pub(super) fn content_summary(call: Call<'_>) -> Reply {
    call.walk(
        |q: &GetContentSummaryRequestProto| Line::path("contentSummary", &q.path),
        |namespace, op, q| namespace.begin_summary_walk(op, &q.path),
        |namespace, walk| {
            let summary = namespace.content_summary_of(walk)?;
            Ok(GetContentSummaryResponseProto { summary: convert::content_summary(summary) })
        },
    )
}

pub(super) fn quota_usage(call: Call<'_>) -> Reply {
    call.walk(
        |q: &GetQuotaUsageRequestProto| Line::path("quotaUsage", &q.path),
        |namespace, op, q| namespace.begin_quota_walk(op, &q.path),
        |namespace, walk| {
            let usage = namespace.quota_usage_of(walk)?;
            Ok(GetQuotaUsageResponseProto { usage: convert::quota_usage(usage) })
        },
    )
}

pub(super) fn set_quota(call: Call<'_>) -> Reply {
    call.write(
        |q: &SetQuotaRequestProto| {
            let (names, space) = (q.namespace_quota as i64, q.storagespace_quota as i64);
            Line::path(quota_command(names, space), &q.path)
        },
        |namespace, op, q| {
            let kind = q.storage_type.and_then(|kind| StorageType::try_from(kind).ok());
            namespace.set_quota(
                op,
                &q.path,
                q.namespace_quota as i64,
                q.storagespace_quota as i64,
                kind,
            )?;
            Ok(SetQuotaResponseProto {})
        },
    )
}
