//! Calls about the file system as a whole, quotas and storage policies.

use super::FileSystem;
use crate::error::Result;
use crate::types::*;

impl FileSystem {
    /// Sums below a path, and its quotas.
    pub async fn content_summary(&self, path: &str) -> Result<ContentSummary> {
        self.client.calls.quotas.content_summary(path).await
    }

    /// Quotas of a path and what counts against them.
    pub async fn quota_usage(&self, path: &str) -> Result<QuotaUsage> {
        self.client.calls.quotas.quota_usage(path).await
    }

    /// Sets the quotas of names and of bytes: `None` leaves one as it is, `Some(None)` removes it.
    pub async fn set_quota(
        &self,
        path: &str,
        names: Option<Option<u64>>,
        space: Option<Option<u64>>,
    ) -> Result<()> {
        self.client.calls.quotas.set(path, names, space).await
    }

    /// Sets or removes the quota of bytes on one storage type.
    pub async fn set_type_quota(
        &self,
        path: &str,
        storage_type: StorageType,
        space: Option<u64>,
    ) -> Result<()> {
        self.client.calls.quotas.set_of_type(path, storage_type, space).await
    }

    /// Sizes of the whole file system.
    pub async fn fs_stats(&self) -> Result<FsStats> {
        self.client.calls.admin.fs_stats().await
    }

    /// Whether the NameNode is the active one; of several, the first that answers is asked.
    pub async fn is_active(&self) -> Result<bool> {
        self.client.calls.admin.is_active().await
    }

    /// The NameNode's defaults for clients.
    pub async fn server_defaults(&self) -> Result<ServerDefaults> {
        self.client.calls.admin.server_defaults().await
    }

    /// The DataNodes of a kind.
    pub async fn datanode_report(&self, kind: DatanodeReportType) -> Result<Vec<DatanodeInfo>> {
        self.client.calls.admin.datanode_report(kind).await
    }

    /// The DataNodes that others report as slow.
    pub async fn slow_datanodes(&self) -> Result<Vec<DatanodeInfo>> {
        self.client.calls.admin.slow_datanodes().await
    }

    /// The DataNodes of a kind with their volumes.
    pub async fn datanode_storage_report(
        &self,
        kind: DatanodeReportType,
    ) -> Result<Vec<DatanodeStorage>> {
        self.client.calls.admin.datanode_storage_report(kind).await
    }

    /// Asks for, enters or leaves safe mode; whether it is on afterwards.
    pub async fn safe_mode(&self, action: SafeModeAction) -> Result<bool> {
        self.client.calls.admin.safe_mode(action).await
    }

    /// Saves the namespace as an image; the NameNode must be in safe mode.
    pub async fn save_namespace(&self) -> Result<bool> {
        self.client.calls.admin.save_namespace(0, 0).await
    }

    /// The same, unless an image was saved in the last `time_window_s` seconds and `tx_gap`
    /// transactions.
    pub async fn save_namespace_if_older(&self, time_window_s: u64, tx_gap: u64) -> Result<bool> {
        self.client.calls.admin.save_namespace(time_window_s, tx_gap).await
    }

    /// Begins a new segment of the edit log and returns the id of its first transaction.
    pub async fn roll_edits(&self) -> Result<u64> {
        self.client.calls.admin.roll_edits().await
    }

    /// The NameNode reads its host files again.
    pub async fn refresh_nodes(&self) -> Result<()> {
        self.client.calls.admin.refresh_nodes().await
    }

    /// What balancing may take of every DataNode's network until its restart.
    pub async fn set_balancer_bandwidth(&self, bytes_per_second: u64) -> Result<()> {
        self.client.calls.admin.set_balancer_bandwidth(bytes_per_second).await
    }

    /// Whether a failed directory of the NameNode is tried again: `true` and `false` set it, `check`
    /// asks.
    pub async fn restore_failed_storage(&self, arg: &str) -> Result<bool> {
        self.client.calls.admin.restore_failed_storage(arg).await
    }

    /// Gives up the way back to the version before an upgrade.
    pub async fn finalize_upgrade(&self) -> Result<()> {
        self.client.calls.admin.finalize_upgrade().await
    }

    /// Asks about, starts or finalizes a rolling upgrade.
    pub async fn rolling_upgrade(
        &self,
        action: RollingUpgradeAction,
    ) -> Result<Option<RollingUpgrade>> {
        self.client.calls.admin.rolling_upgrade(action).await
    }

    /// The NameNode writes its state to a file in its log directory.
    pub async fn metasave(&self, filename: &str) -> Result<()> {
        self.client.calls.admin.metasave(filename).await
    }

    /// A page of files with corrupt blocks below a path; an empty cookie begins.
    pub async fn corrupt_files(&self, path: &str, cookie: &str) -> Result<CorruptFiles> {
        self.client.calls.admin.corrupt_files(path, cookie).await
    }

    /// A page of files being written below a path, after the inode `after`; whether there are more.
    pub async fn open_files(&self, path: &str, after: u64) -> Result<(Vec<OpenFile>, bool)> {
        self.client.calls.admin.open_files(path, after).await
    }

    /// Sets the storage policy of a path by its name.
    pub async fn set_storage_policy(&self, path: &str, policy: &str) -> Result<()> {
        self.client.calls.storage_policies.set(path, policy).await
    }

    /// Removes the storage policy of a path: that of the directory above counts.
    pub async fn unset_storage_policy(&self, path: &str) -> Result<()> {
        self.client.calls.storage_policies.unset(path).await
    }

    /// Moves replicas to where the storage policy wants them.
    pub async fn satisfy_storage_policy(&self, path: &str) -> Result<()> {
        self.client.calls.storage_policies.satisfy(path).await
    }

    /// The storage policy that counts for a path.
    pub async fn storage_policy(&self, path: &str) -> Result<StoragePolicy> {
        self.client.calls.storage_policies.get(path).await
    }

    /// All storage policies.
    pub async fn storage_policies(&self) -> Result<Vec<StoragePolicy>> {
        self.client.calls.storage_policies.all().await
    }
}
