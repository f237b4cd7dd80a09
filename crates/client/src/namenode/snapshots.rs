//! Calls about snapshots.

use super::proxy::NameNode;
use super::wire_path::wire_path;
use crate::error::Result;
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
}
