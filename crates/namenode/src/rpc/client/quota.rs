//! Content summaries and quotas.

use crate::convert;
use crate::rpc::answer::Call;
use crate::rpc::service::Method;
use zerohop_namespace::blocks::StorageType;
use zerohop_proto::hdfs::{
    GetContentSummaryRequestProto, GetContentSummaryResponseProto, GetQuotaUsageRequestProto,
    GetQuotaUsageResponseProto, SetQuotaRequestProto, SetQuotaResponseProto,
};
use zerohop_transport::rpc::server::Reply;

pub(super) const METHODS: &[Method] = &[
    ("getContentSummary", content_summary),
    ("getQuotaUsage", quota_usage),
    ("setQuota", set_quota),
];

fn content_summary(call: Call<'_>) -> Reply {
    call.serve(|service, q: GetContentSummaryRequestProto| {
        service.quotas().content_summary(&q.path).map(|summary| GetContentSummaryResponseProto {
            summary: convert::content_summary(summary),
        })
    })
}

fn quota_usage(call: Call<'_>) -> Reply {
    call.serve(|service, q: GetQuotaUsageRequestProto| {
        service
            .quotas()
            .quota_usage(&q.path)
            .map(|usage| GetQuotaUsageResponseProto { usage: convert::quota_usage(usage) })
    })
}

fn set_quota(call: Call<'_>) -> Reply {
    call.serve(|service, q: SetQuotaRequestProto| {
        let kind = q.storage_type.and_then(StorageType::from_number);
        service
            .quotas()
            .set_quota(&q.path, q.namespace_quota as i64, q.storagespace_quota as i64, kind)
            .map(|()| SetQuotaResponseProto {})
    })
}
