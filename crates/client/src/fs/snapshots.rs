//! Calls about snapshots.

use super::FileSystem;
use crate::error::Result;
use crate::types::{
    Snapshot, SnapshotDiff, SnapshotDiffCursor, SnapshotDiffPage, SnapshottableDirectory,
};

impl FileSystem {
    /// Makes a snapshot of a directory and returns its path.
    pub async fn create_snapshot(&self, path: &str, name: Option<&str>) -> Result<String> {
        self.client.calls.snapshots.create(path, name).await
    }

    /// Deletes a snapshot.
    pub async fn delete_snapshot(&self, path: &str, name: &str) -> Result<()> {
        self.client.calls.snapshots.delete(path, name).await
    }

    /// Renames a snapshot.
    pub async fn rename_snapshot(&self, path: &str, from: &str, to: &str) -> Result<()> {
        self.client.calls.snapshots.rename(path, from, to).await
    }

    /// Allows or forbids snapshots of a directory.
    pub async fn allow_snapshot(&self, path: &str, allow: bool) -> Result<()> {
        self.client.calls.snapshots.allow(path, allow).await
    }

    /// The directories that may have snapshots, as far as the caller owns them; none where there are none.
    pub async fn snapshottable_directories(&self) -> Result<Option<Vec<SnapshottableDirectory>>> {
        self.client.calls.snapshots.directories().await
    }

    /// The snapshots of a directory; none where there are none.
    pub async fn snapshots(&self, path: &str) -> Result<Option<Vec<Snapshot>>> {
        self.client.calls.snapshots.list(path).await
    }

    /// What differs between two snapshots of a directory; an empty name is the directory as it is now.
    pub async fn snapshot_diff(&self, path: &str, from: &str, to: &str) -> Result<SnapshotDiff> {
        self.client.calls.snapshots.diff(path, from, to).await
    }

    /// A page of what differs between two snapshots: the first for the default cursor, then the one that begins where a page says.
    pub async fn snapshot_diff_page(
        &self,
        path: &str,
        from: &str,
        to: &str,
        start: SnapshotDiffCursor,
    ) -> Result<SnapshotDiffPage> {
        self.client.calls.snapshots.diff_page(path, from, to, start).await
    }
}
