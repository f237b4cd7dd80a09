//! Calls about the NameNode, its DataNodes and the file system as a whole.

use super::proxy::NameNode;
use super::wire_path::wire_path;
use crate::error::Result;
use crate::types::*;
use zerohop_proto::common::HaServiceStateProto;
use zerohop_proto::hdfs::*;

/// What administrators ask of the NameNode.
pub(crate) struct Administration(pub(super) NameNode);

impl Administration {
    pub(crate) async fn fs_stats(&self) -> Result<FsStats> {
        let response: GetFsStatsResponseProto =
            self.0.call("getFsStats", &GetFsStatusRequestProto {}).await?;
        Ok(response.into())
    }

    pub(crate) async fn is_active(&self) -> Result<bool> {
        let response: HaServiceStateResponseProto =
            self.0.call("getHAServiceState", &HaServiceStateRequestProto {}).await?;
        Ok(response.state() == HaServiceStateProto::Active)
    }

    pub(crate) async fn server_defaults(&self) -> Result<ServerDefaults> {
        let response: GetServerDefaultsResponseProto =
            self.0.call("getServerDefaults", &GetServerDefaultsRequestProto {}).await?;
        Ok(response.server_defaults.into())
    }

    pub(crate) async fn datanode_report(
        &self,
        kind: DatanodeReportType,
    ) -> Result<Vec<DatanodeInfo>> {
        let request = GetDatanodeReportRequestProto { r#type: kind.into() };
        let response: GetDatanodeReportResponseProto =
            self.0.call("getDatanodeReport", &request).await?;
        Ok(response.di.into_iter().map(Into::into).collect())
    }

    pub(crate) async fn slow_datanodes(&self) -> Result<Vec<DatanodeInfo>> {
        let response: GetSlowDatanodeReportResponseProto =
            self.0.call("getSlowDatanodeReport", &GetSlowDatanodeReportRequestProto {}).await?;
        Ok(response.datanode_info_proto.into_iter().map(Into::into).collect())
    }

    pub(crate) async fn datanode_storage_report(
        &self,
        kind: DatanodeReportType,
    ) -> Result<Vec<DatanodeStorage>> {
        let request = GetDatanodeStorageReportRequestProto { r#type: kind.into() };
        let response: GetDatanodeStorageReportResponseProto =
            self.0.call("getDatanodeStorageReport", &request).await?;
        Ok(response.datanode_storage_reports.into_iter().map(Into::into).collect())
    }

    pub(crate) async fn safe_mode(&self, action: SafeModeAction) -> Result<bool> {
        let request = SetSafeModeRequestProto { action: action.into(), checked: Some(false) };
        let response: SetSafeModeResponseProto = self.0.call("setSafeMode", &request).await?;
        Ok(response.result)
    }

    pub(crate) async fn save_namespace(&self, time_window: u64, tx_gap: u64) -> Result<bool> {
        let request =
            SaveNamespaceRequestProto { time_window: Some(time_window), tx_gap: Some(tx_gap) };
        let response: SaveNamespaceResponseProto = self.0.call("saveNamespace", &request).await?;
        Ok(response.saved())
    }

    pub(crate) async fn roll_edits(&self) -> Result<u64> {
        let response: RollEditsResponseProto =
            self.0.call("rollEdits", &RollEditsRequestProto {}).await?;
        Ok(response.new_segment_tx_id)
    }

    pub(crate) async fn refresh_nodes(&self) -> Result<()> {
        let _: RefreshNodesResponseProto =
            self.0.call("refreshNodes", &RefreshNodesRequestProto {}).await?;
        Ok(())
    }

    pub(crate) async fn set_balancer_bandwidth(&self, bytes_per_second: u64) -> Result<()> {
        let request = SetBalancerBandwidthRequestProto { bandwidth: bytes_per_second as i64 };
        let _: SetBalancerBandwidthResponseProto =
            self.0.call("setBalancerBandwidth", &request).await?;
        Ok(())
    }

    pub(crate) async fn restore_failed_storage(&self, arg: &str) -> Result<bool> {
        let request = RestoreFailedStorageRequestProto { arg: arg.to_owned() };
        let response: RestoreFailedStorageResponseProto =
            self.0.call("restoreFailedStorage", &request).await?;
        Ok(response.result)
    }

    pub(crate) async fn finalize_upgrade(&self) -> Result<()> {
        let _: FinalizeUpgradeResponseProto =
            self.0.call("finalizeUpgrade", &FinalizeUpgradeRequestProto {}).await?;
        Ok(())
    }

    pub(crate) async fn rolling_upgrade(
        &self,
        action: RollingUpgradeAction,
    ) -> Result<Option<RollingUpgrade>> {
        let request = RollingUpgradeRequestProto { action: action.into() };
        let response: RollingUpgradeResponseProto = self.0.call("rollingUpgrade", &request).await?;
        Ok(response.rolling_upgrade_info.map(Into::into))
    }

    pub(crate) async fn metasave(&self, filename: &str) -> Result<()> {
        let request = MetaSaveRequestProto { filename: filename.to_owned() };
        let _: MetaSaveResponseProto = self.0.call("metaSave", &request).await?;
        Ok(())
    }

    pub(crate) async fn corrupt_files(&self, path: &str, cookie: &str) -> Result<CorruptFiles> {
        let request = ListCorruptFileBlocksRequestProto {
            path: wire_path(path)?,
            cookie: Some(cookie.to_owned()).filter(|cookie| !cookie.is_empty()),
        };
        let response: ListCorruptFileBlocksResponseProto =
            self.0.call("listCorruptFileBlocks", &request).await?;
        Ok(CorruptFiles { paths: response.corrupt.files, cookie: response.corrupt.cookie })
    }

    /// A page of files being written, after the one with id `after`; whether there are more.
    pub(crate) async fn open_files(&self, path: &str, after: u64) -> Result<(Vec<OpenFile>, bool)> {
        let request = ListOpenFilesRequestProto {
            id: after as i64,
            types: vec![OpenFilesTypeProto::AllOpenFiles.into()],
            path: Some(wire_path(path)?),
        };
        let response: ListOpenFilesResponseProto = self.0.call("listOpenFiles", &request).await?;
        let files = response.entries.into_iter().map(|entry| OpenFile {
            id: entry.id as u64,
            path: entry.path,
            client_name: entry.client_name,
            client_machine: entry.client_machine,
        });
        Ok((files.collect(), response.has_more))
    }
}
