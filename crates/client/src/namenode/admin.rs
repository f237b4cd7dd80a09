//! Calls about the file system as a whole, quotas and storage policies.

use super::proxy::NameNode;
use crate::error::Result;
use crate::types::*;
use zerohop_proto::common::HaServiceStateProto;
use zerohop_proto::hdfs::*;

impl NameNode {
    pub(crate) async fn content_summary(&self, path: &str) -> Result<ContentSummary> {
        let request = GetContentSummaryRequestProto { path: path.to_owned() };
        let response: GetContentSummaryResponseProto =
            self.call("getContentSummary", &request).await?;
        Ok(response.summary.into())
    }

    pub(crate) async fn quota_usage(&self, path: &str) -> Result<QuotaUsage> {
        let request = GetQuotaUsageRequestProto { path: path.to_owned() };
        let response: GetQuotaUsageResponseProto = self.call("getQuotaUsage", &request).await?;
        Ok(response.usage.into())
    }

    pub(crate) async fn set_quota(
        &self,
        path: &str,
        names: i64,
        space: i64,
        storage_type: Option<StorageType>,
    ) -> Result<()> {
        let request = SetQuotaRequestProto {
            path: path.to_owned(),
            namespace_quota: names as u64,
            storagespace_quota: space as u64,
            storage_type: storage_type.map(StorageType::number),
        };
        let _: SetQuotaResponseProto = self.call("setQuota", &request).await?;
        Ok(())
    }

    pub(crate) async fn fs_stats(&self) -> Result<FsStats> {
        let response: GetFsStatsResponseProto =
            self.call("getFsStats", &GetFsStatusRequestProto {}).await?;
        Ok(response.into())
    }

    pub(crate) async fn is_active(&self) -> Result<bool> {
        let response: HaServiceStateResponseProto =
            self.call("getHAServiceState", &HaServiceStateRequestProto {}).await?;
        Ok(response.state() == HaServiceStateProto::Active)
    }

    pub(crate) async fn server_defaults(&self) -> Result<ServerDefaults> {
        let response: GetServerDefaultsResponseProto =
            self.call("getServerDefaults", &GetServerDefaultsRequestProto {}).await?;
        Ok(response.server_defaults.into())
    }

    pub(crate) async fn datanode_report(
        &self,
        kind: DatanodeReportType,
    ) -> Result<Vec<DatanodeInfo>> {
        let request = GetDatanodeReportRequestProto { r#type: kind.into() };
        let response: GetDatanodeReportResponseProto =
            self.call("getDatanodeReport", &request).await?;
        Ok(response.di.into_iter().map(Into::into).collect())
    }

    pub(crate) async fn slow_datanodes(&self) -> Result<Vec<DatanodeInfo>> {
        let response: GetSlowDatanodeReportResponseProto =
            self.call("getSlowDatanodeReport", &GetSlowDatanodeReportRequestProto {}).await?;
        Ok(response.datanode_info_proto.into_iter().map(Into::into).collect())
    }

    pub(crate) async fn datanode_storage_report(
        &self,
        kind: DatanodeReportType,
    ) -> Result<Vec<DatanodeStorage>> {
        let request = GetDatanodeStorageReportRequestProto { r#type: kind.into() };
        let response: GetDatanodeStorageReportResponseProto =
            self.call("getDatanodeStorageReport", &request).await?;
        Ok(response.datanode_storage_reports.into_iter().map(Into::into).collect())
    }

    pub(crate) async fn safe_mode(&self, action: SafeModeAction, checked: bool) -> Result<bool> {
        let request = SetSafeModeRequestProto { action: action.into(), checked: Some(checked) };
        let response: SetSafeModeResponseProto = self.call("setSafeMode", &request).await?;
        Ok(response.result)
    }

    pub(crate) async fn save_namespace(&self, time_window: u64, tx_gap: u64) -> Result<bool> {
        let request =
            SaveNamespaceRequestProto { time_window: Some(time_window), tx_gap: Some(tx_gap) };
        let response: SaveNamespaceResponseProto = self.call("saveNamespace", &request).await?;
        Ok(response.saved())
    }

    pub(crate) async fn roll_edits(&self) -> Result<u64> {
        let response: RollEditsResponseProto =
            self.call("rollEdits", &RollEditsRequestProto {}).await?;
        Ok(response.new_segment_tx_id)
    }

    pub(crate) async fn refresh_nodes(&self) -> Result<()> {
        let _: RefreshNodesResponseProto =
            self.call("refreshNodes", &RefreshNodesRequestProto {}).await?;
        Ok(())
    }

    pub(crate) async fn set_balancer_bandwidth(&self, bytes_per_second: u64) -> Result<()> {
        let request = SetBalancerBandwidthRequestProto { bandwidth: bytes_per_second as i64 };
        let _: SetBalancerBandwidthResponseProto =
            self.call("setBalancerBandwidth", &request).await?;
        Ok(())
    }

    pub(crate) async fn restore_failed_storage(&self, arg: &str) -> Result<bool> {
        let request = RestoreFailedStorageRequestProto { arg: arg.to_owned() };
        let response: RestoreFailedStorageResponseProto =
            self.call("restoreFailedStorage", &request).await?;
        Ok(response.result)
    }

    pub(crate) async fn finalize_upgrade(&self) -> Result<()> {
        let _: FinalizeUpgradeResponseProto =
            self.call("finalizeUpgrade", &FinalizeUpgradeRequestProto {}).await?;
        Ok(())
    }

    pub(crate) async fn rolling_upgrade(
        &self,
        action: RollingUpgradeAction,
    ) -> Result<Option<RollingUpgrade>> {
        let request = RollingUpgradeRequestProto { action: action.into() };
        let response: RollingUpgradeResponseProto = self.call("rollingUpgrade", &request).await?;
        Ok(response.rolling_upgrade_info.map(Into::into))
    }

    pub(crate) async fn metasave(&self, filename: &str) -> Result<()> {
        let request = MetaSaveRequestProto { filename: filename.to_owned() };
        let _: MetaSaveResponseProto = self.call("metaSave", &request).await?;
        Ok(())
    }

    pub(crate) async fn corrupt_files(&self, path: &str, cookie: &str) -> Result<CorruptFiles> {
        let request = ListCorruptFileBlocksRequestProto {
            path: path.to_owned(),
            cookie: Some(cookie.to_owned()).filter(|cookie| !cookie.is_empty()),
        };
        let response: ListCorruptFileBlocksResponseProto =
            self.call("listCorruptFileBlocks", &request).await?;
        Ok(CorruptFiles { paths: response.corrupt.files, cookie: response.corrupt.cookie })
    }

    /// A page of files being written, after the one with id `after`; whether there are more.
    pub(crate) async fn open_files(&self, after: u64, path: &str) -> Result<(Vec<OpenFile>, bool)> {
        let request = ListOpenFilesRequestProto {
            id: after as i64,
            types: vec![OpenFilesTypeProto::AllOpenFiles.into()],
            path: Some(path.to_owned()),
        };
        let response: ListOpenFilesResponseProto = self.call("listOpenFiles", &request).await?;
        let files = response.entries.into_iter().map(|entry| OpenFile {
            id: entry.id as u64,
            path: entry.path,
            client_name: entry.client_name,
            client_machine: entry.client_machine,
        });
        Ok((files.collect(), response.has_more))
    }

    pub(crate) async fn set_storage_policy(&self, src: &str, policy: &str) -> Result<()> {
        let request =
            SetStoragePolicyRequestProto { src: src.to_owned(), policy_name: policy.to_owned() };
        let _: SetStoragePolicyResponseProto = self.call("setStoragePolicy", &request).await?;
        Ok(())
    }

    pub(crate) async fn unset_storage_policy(&self, src: &str) -> Result<()> {
        let request = UnsetStoragePolicyRequestProto { src: src.to_owned() };
        let _: UnsetStoragePolicyResponseProto = self.call("unsetStoragePolicy", &request).await?;
        Ok(())
    }

    pub(crate) async fn satisfy_storage_policy(&self, src: &str) -> Result<()> {
        let request = SatisfyStoragePolicyRequestProto { src: src.to_owned() };
        let _: SatisfyStoragePolicyResponseProto =
            self.call("satisfyStoragePolicy", &request).await?;
        Ok(())
    }

    pub(crate) async fn storage_policy(&self, path: &str) -> Result<StoragePolicy> {
        let request = GetStoragePolicyRequestProto { path: path.to_owned() };
        let response: GetStoragePolicyResponseProto =
            self.call("getStoragePolicy", &request).await?;
        Ok(response.storage_policy.into())
    }

    pub(crate) async fn storage_policies(&self) -> Result<Vec<StoragePolicy>> {
        let response: GetStoragePoliciesResponseProto =
            self.call("getStoragePolicies", &GetStoragePoliciesRequestProto {}).await?;
        Ok(response.policies.into_iter().map(Into::into).collect())
    }
}
