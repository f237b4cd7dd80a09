//! Calls about snapshots.

use super::proxy::NameNode;
use super::wire_path::wire_path;
use crate::error::Result;
use crate::types::{
    Snapshot, SnapshotDiff, SnapshotDiffCursor, SnapshotDiffPage, SnapshottableDirectory,
};
use zerohop_proto::hdfs::*;

/// Snapshots of directories.
pub(crate) struct Snapshots(pub(super) NameNode);

impl Snapshots {
    pub(crate) async fn create(&self, path: &str, name: Option<&str>) -> Result<String> {
        let request = CreateSnapshotRequestProto {
            snapshot_root: wire_path(path)?,
            snapshot_name: name.map(str::to_owned),
        };
        let response: CreateSnapshotResponseProto = self.0.call("createSnapshot", &request).await?;
        Ok(response.snapshot_path)
    }

    pub(crate) async fn delete(&self, path: &str, name: &str) -> Result<()> {
        let request = DeleteSnapshotRequestProto {
            snapshot_root: wire_path(path)?,
            snapshot_name: name.to_owned(),
        };
        let _: DeleteSnapshotResponseProto = self.0.call("deleteSnapshot", &request).await?;
        Ok(())
    }

    pub(crate) async fn rename(&self, path: &str, old: &str, new: &str) -> Result<()> {
        let request = RenameSnapshotRequestProto {
            snapshot_root: wire_path(path)?,
            snapshot_old_name: old.to_owned(),
            snapshot_new_name: new.to_owned(),
        };
        let _: RenameSnapshotResponseProto = self.0.call("renameSnapshot", &request).await?;
        Ok(())
    }

    pub(crate) async fn allow(&self, path: &str, allow: bool) -> Result<()> {
        let snapshot_root = wire_path(path)?;
        if allow {
            let request = AllowSnapshotRequestProto { snapshot_root };
            let _: AllowSnapshotResponseProto = self.0.call("allowSnapshot", &request).await?;
        } else {
            let request = DisallowSnapshotRequestProto { snapshot_root };
            let _: DisallowSnapshotResponseProto =
                self.0.call("disallowSnapshot", &request).await?;
        }
        Ok(())
    }

    /// None where there is no such directory.
    pub(crate) async fn directories(&self) -> Result<Option<Vec<SnapshottableDirectory>>> {
        let request = GetSnapshottableDirListingRequestProto {};
        let response: GetSnapshottableDirListingResponseProto =
            self.0.call("getSnapshottableDirListing", &request).await?;
        let list = response.snapshottable_dir_list.map(|list| list.snapshottable_dir_listing);
        Ok(list.map(|all| all.into_iter().map(Into::into).collect()))
    }

    /// None where there is no snapshot.
    pub(crate) async fn list(&self, path: &str) -> Result<Option<Vec<Snapshot>>> {
        let request = GetSnapshotListingRequestProto { snapshot_root: wire_path(path)? };
        let response: GetSnapshotListingResponseProto =
            self.0.call("getSnapshotListing", &request).await?;
        let list = response.snapshot_list.map(|list| list.snapshot_listing);
        Ok(list.map(|all| all.into_iter().map(Into::into).collect()))
    }

    pub(crate) async fn diff(&self, path: &str, from: &str, to: &str) -> Result<SnapshotDiff> {
        let request = GetSnapshotDiffReportRequestProto {
            snapshot_root: wire_path(path)?,
            from_snapshot: from.to_owned(),
            to_snapshot: to.to_owned(),
        };
        let response: GetSnapshotDiffReportResponseProto =
            self.0.call("getSnapshotDiffReport", &request).await?;
        Ok(response.diff_report.into())
    }

    pub(crate) async fn diff_page(
        &self,
        path: &str,
        from: &str,
        to: &str,
        start: SnapshotDiffCursor,
    ) -> Result<SnapshotDiffPage> {
        let request = GetSnapshotDiffReportListingRequestProto {
            snapshot_root: wire_path(path)?,
            from_snapshot: from.to_owned(),
            to_snapshot: to.to_owned(),
            cursor: Some(SnapshotDiffReportCursorProto {
                start_path: start.path.into(),
                index: start.index,
            }),
        };
        let response: GetSnapshotDiffReportListingResponseProto =
            self.0.call("getSnapshotDiffReportListing", &request).await?;
        Ok(response.diff_report.into())
    }
}
