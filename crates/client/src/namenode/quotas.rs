//! Calls about quotas and what counts against them.

use super::proxy::NameNode;
use super::wire_path::wire_path;
use crate::error::Result;
use crate::types::{ContentSummary, QuotaUsage, StorageType};
use zerohop_proto::hdfs::*;

/// What a quota call takes for "no limit" (`HdfsConstants.QUOTA_RESET`).
const QUOTA_RESET: i64 = -1;
/// What a quota call takes for "as it is" (`HdfsConstants.QUOTA_DONT_SET`).
const QUOTA_KEEP: i64 = i64::MAX;

/// Quotas of directories, and what counts against them.
pub(crate) struct Quotas(pub(super) NameNode);

impl Quotas {
    pub(crate) async fn content_summary(&self, path: &str) -> Result<ContentSummary> {
        let request = GetContentSummaryRequestProto { path: wire_path(path)? };
        let response: GetContentSummaryResponseProto =
            self.0.call("getContentSummary", &request).await?;
        Ok(response.summary.into())
    }

    pub(crate) async fn quota_usage(&self, path: &str) -> Result<QuotaUsage> {
        let request = GetQuotaUsageRequestProto { path: wire_path(path)? };
        let response: GetQuotaUsageResponseProto = self.0.call("getQuotaUsage", &request).await?;
        Ok(response.usage.into())
    }

    /// `None` leaves a quota as it is, `Some(None)` removes it.
    pub(crate) async fn set(
        &self,
        path: &str,
        names: Option<Option<u64>>,
        space: Option<Option<u64>>,
    ) -> Result<()> {
        let value = |quota: Option<Option<u64>>| match quota {
            None => QUOTA_KEEP,
            Some(None) => QUOTA_RESET,
            Some(Some(limit)) => limit as i64,
        };
        self.send(path, value(names), value(space), None).await
    }

    /// `None` removes the quota.
    pub(crate) async fn set_of_type(
        &self,
        path: &str,
        storage_type: StorageType,
        space: Option<u64>,
    ) -> Result<()> {
        let space = space.map_or(QUOTA_RESET, |limit| limit as i64);
        self.send(path, QUOTA_KEEP, space, Some(storage_type)).await
    }

    async fn send(
        &self,
        path: &str,
        names: i64,
        space: i64,
        storage_type: Option<StorageType>,
    ) -> Result<()> {
        let request = SetQuotaRequestProto {
            path: wire_path(path)?,
            namespace_quota: names as u64,
            storagespace_quota: space as u64,
            storage_type: storage_type.map(StorageType::number),
        };
        let _: SetQuotaResponseProto = self.0.call("setQuota", &request).await?;
        Ok(())
    }
}
