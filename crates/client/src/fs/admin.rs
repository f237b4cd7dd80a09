//! Calls about the file system as a whole, quotas and storage policies.

use super::FileSystem;
use crate::error::Result;
use crate::namenode::wire_path;
use crate::types::*;

/// What a quota call takes for "no limit" (`HdfsConstants.QUOTA_RESET`).
const QUOTA_RESET: i64 = -1;
/// What a quota call takes for "as it is" (`HdfsConstants.QUOTA_DONT_SET`).
const QUOTA_KEEP: i64 = i64::MAX;

impl FileSystem {
    /// Sums below a path, and its quotas.
    pub async fn content_summary(&self, path: &str) -> Result<ContentSummary> {
        self.client.namenode.content_summary(&wire_path(path)?).await
    }

    /// Quotas of a path and what counts against them.
    pub async fn quota_usage(&self, path: &str) -> Result<QuotaUsage> {
        self.client.namenode.quota_usage(&wire_path(path)?).await
    }

    /// Sets the quotas of names and of bytes: `None` leaves one as it is, `Some(None)` removes it.
    pub async fn set_quota(
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
        self.client.namenode.set_quota(&wire_path(path)?, value(names), value(space), None).await
    }

    /// Sets or removes the quota of bytes on one storage type.
    pub async fn set_type_quota(
        &self,
        path: &str,
        storage_type: StorageType,
        space: Option<u64>,
    ) -> Result<()> {
        let space = space.map_or(QUOTA_RESET, |limit| limit as i64);
        let namenode = &self.client.namenode;
        namenode.set_quota(&wire_path(path)?, QUOTA_KEEP, space, Some(storage_type)).await
    }

    /// Sizes of the whole file system.
    pub async fn fs_stats(&self) -> Result<FsStats> {
        self.client.namenode.fs_stats().await
    }

    /// Whether the NameNode is the active one; of several, the first that answers is asked.
    pub async fn is_active(&self) -> Result<bool> {
        self.client.namenode.is_active().await
    }

    /// The NameNode's defaults for clients.
    pub async fn server_defaults(&self) -> Result<ServerDefaults> {
        self.client.namenode.server_defaults().await
    }

    /// The DataNodes of a kind.
    pub async fn datanode_report(&self, kind: DatanodeReportType) -> Result<Vec<DatanodeInfo>> {
        self.client.namenode.datanode_report(kind).await
    }

    /// The DataNodes that others report as slow.
    pub async fn slow_datanodes(&self) -> Result<Vec<DatanodeInfo>> {
        self.client.namenode.slow_datanodes().await
    }

    /// The DataNodes of a kind with their volumes.
    pub async fn datanode_storage_report(
        &self,
        kind: DatanodeReportType,
    ) -> Result<Vec<DatanodeStorage>> {
        self.client.namenode.datanode_storage_report(kind).await
    }

    /// Asks for, enters or leaves safe mode; whether it is on afterwards.
    pub async fn safe_mode(&self, action: SafeModeAction) -> Result<bool> {
        self.client.namenode.safe_mode(action, false).await
    }

    /// Saves the namespace as an image; the NameNode must be in safe mode.
    pub async fn save_namespace(&self) -> Result<bool> {
        self.client.namenode.save_namespace(0, 0).await
    }

    /// The same, unless an image was saved in the last `time_window_s` seconds and `tx_gap`
    /// transactions.
    pub async fn save_namespace_if_older(&self, time_window_s: u64, tx_gap: u64) -> Result<bool> {
        self.client.namenode.save_namespace(time_window_s, tx_gap).await
    }

    /// Begins a new segment of the edit log and tells its first transaction.
    pub async fn roll_edits(&self) -> Result<u64> {
        self.client.namenode.roll_edits().await
    }

    /// The NameNode reads its host files again.
    pub async fn refresh_nodes(&self) -> Result<()> {
        self.client.namenode.refresh_nodes().await
    }

    /// What balancing may take of every DataNode's network until its restart.
    pub async fn set_balancer_bandwidth(&self, bytes_per_second: u64) -> Result<()> {
        self.client.namenode.set_balancer_bandwidth(bytes_per_second).await
    }

    /// Whether a failed directory of the NameNode is tried again: `true` and `false` set it, `check`
    /// asks.
    pub async fn restore_failed_storage(&self, arg: &str) -> Result<bool> {
        self.client.namenode.restore_failed_storage(arg).await
    }

    /// Gives up the way back to the version before an upgrade.
    pub async fn finalize_upgrade(&self) -> Result<()> {
        self.client.namenode.finalize_upgrade().await
    }

    /// Asks about, starts or finalizes a rolling upgrade.
    pub async fn rolling_upgrade(
        &self,
        action: RollingUpgradeAction,
    ) -> Result<Option<RollingUpgrade>> {
        self.client.namenode.rolling_upgrade(action).await
    }

    /// The NameNode writes its state to a file in its log directory.
    pub async fn metasave(&self, filename: &str) -> Result<()> {
        self.client.namenode.metasave(filename).await
    }

    /// A page of files with corrupt blocks below a path; an empty cookie begins.
    pub async fn corrupt_files(&self, path: &str, cookie: &str) -> Result<CorruptFiles> {
        self.client.namenode.corrupt_files(&wire_path(path)?, cookie).await
    }

    /// A page of files being written below a path, after the inode `after`; whether there are more.
    pub async fn open_files(&self, path: &str, after: u64) -> Result<(Vec<OpenFile>, bool)> {
        self.client.namenode.open_files(after, &wire_path(path)?).await
    }

    /// Sets the storage policy of a path by its name.
    pub async fn set_storage_policy(&self, path: &str, policy: &str) -> Result<()> {
        self.client.namenode.set_storage_policy(&wire_path(path)?, policy).await
    }

    /// Removes the storage policy of a path: that of the directory above counts.
    pub async fn unset_storage_policy(&self, path: &str) -> Result<()> {
        self.client.namenode.unset_storage_policy(&wire_path(path)?).await
    }

    /// Moves replicas to where the storage policy wants them.
    pub async fn satisfy_storage_policy(&self, path: &str) -> Result<()> {
        self.client.namenode.satisfy_storage_policy(&wire_path(path)?).await
    }

    /// The storage policy that counts for a path.
    pub async fn storage_policy(&self, path: &str) -> Result<StoragePolicy> {
        self.client.namenode.storage_policy(&wire_path(path)?).await
    }

    /// All storage policies.
    pub async fn storage_policies(&self) -> Result<Vec<StoragePolicy>> {
        self.client.namenode.storage_policies().await
    }
}
