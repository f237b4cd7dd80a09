//! Calls about names: status, listing, directories, renames, attributes of paths.

use super::proxy::NameNode;
use crate::error::Result;
use crate::types::{FileStatus, LocatedBlocks, RenameOptions};
use bytes::Bytes;
use zerohop_proto::hdfs::*;

/// A page of a listing.
pub(crate) struct Listing {
    pub(crate) entries: Vec<FileStatus>,
    /// The next page begins after this name; `None` where there is none.
    pub(crate) next: Option<Bytes>,
}

impl NameNode {
    pub(crate) async fn status(&self, src: &str) -> Result<Option<FileStatus>> {
        let request = GetFileInfoRequestProto { src: src.to_owned() };
        let response: GetFileInfoResponseProto = self.call("getFileInfo", &request).await?;
        Ok(response.fs.map(|fs| FileStatus::from_proto(fs, src)))
    }

    pub(crate) async fn link_status(&self, src: &str) -> Result<Option<FileStatus>> {
        let request = GetFileLinkInfoRequestProto { src: src.to_owned() };
        let response: GetFileLinkInfoResponseProto = self.call("getFileLinkInfo", &request).await?;
        Ok(response.fs.map(|fs| FileStatus::from_proto(fs, src)))
    }

    pub(crate) async fn located_status(&self, src: &str) -> Result<Option<FileStatus>> {
        let request = GetLocatedFileInfoRequestProto {
            src: Some(src.to_owned()),
            need_block_token: Some(false),
        };
        let response: GetLocatedFileInfoResponseProto =
            self.call("getLocatedFileInfo", &request).await?;
        Ok(response.fs.map(|fs| FileStatus::from_proto(fs, src)))
    }

    /// A page of at most `dfs.ls.limit` names; `None` where the path does not exist.
    pub(crate) async fn listing(
        &self,
        src: &str,
        start_after: Bytes,
        need_location: bool,
    ) -> Result<Option<Listing>> {
        let request = GetListingRequestProto { src: src.to_owned(), start_after, need_location };
        let response: GetListingResponseProto = self.call("getListing", &request).await?;
        Ok(response.dir_list.map(|list| {
            let last = list.partial_listing.last().map(|entry| entry.path.clone());
            let entries = list.partial_listing.into_iter();
            Listing {
                entries: entries.map(|entry| FileStatus::from_proto(entry, src)).collect(),
                next: last.filter(|_| list.remaining_entries > 0),
            }
        }))
    }

    pub(crate) async fn mkdirs(
        &self,
        src: &str,
        permission: u16,
        umask: u16,
        create_parent: bool,
    ) -> Result<bool> {
        let request = MkdirsRequestProto {
            src: src.to_owned(),
            masked: FsPermissionProto { perm: u32::from(permission & !umask) },
            create_parent,
            unmasked: Some(FsPermissionProto { perm: u32::from(permission) }),
        };
        let response: MkdirsResponseProto = self.call("mkdirs", &request).await?;
        Ok(response.result)
    }

    pub(crate) async fn delete(&self, src: &str, recursive: bool) -> Result<bool> {
        let request = DeleteRequestProto { src: src.to_owned(), recursive };
        let response: DeleteResponseProto = self.call("delete", &request).await?;
        Ok(response.result)
    }

    pub(crate) async fn rename(&self, src: &str, dst: &str) -> Result<bool> {
        let request = RenameRequestProto { src: src.to_owned(), dst: dst.to_owned() };
        let response: RenameResponseProto = self.call("rename", &request).await?;
        Ok(response.result)
    }

    pub(crate) async fn rename2(&self, src: &str, dst: &str, how: RenameOptions) -> Result<()> {
        let request = Rename2RequestProto {
            src: src.to_owned(),
            dst: dst.to_owned(),
            overwrite_dest: how.overwrite,
            move_to_trash: Some(how.to_trash),
        };
        let _: Rename2ResponseProto = self.call("rename2", &request).await?;
        Ok(())
    }

    pub(crate) async fn set_permission(&self, src: &str, permission: u16) -> Result<()> {
        let request = SetPermissionRequestProto {
            src: src.to_owned(),
            permission: FsPermissionProto { perm: u32::from(permission) },
        };
        let _: SetPermissionResponseProto = self.call("setPermission", &request).await?;
        Ok(())
    }

    pub(crate) async fn set_owner(
        &self,
        src: &str,
        owner: Option<&str>,
        group: Option<&str>,
    ) -> Result<()> {
        let request = SetOwnerRequestProto {
            src: src.to_owned(),
            username: owner.map(str::to_owned),
            groupname: group.map(str::to_owned),
        };
        let _: SetOwnerResponseProto = self.call("setOwner", &request).await?;
        Ok(())
    }

    pub(crate) async fn set_times(
        &self,
        src: &str,
        modified_ms: Option<u64>,
        accessed_ms: Option<u64>,
    ) -> Result<()> {
        // -1 leaves a time as it is.
        let request = SetTimesRequestProto {
            src: src.to_owned(),
            mtime: modified_ms.unwrap_or(u64::MAX),
            atime: accessed_ms.unwrap_or(u64::MAX),
        };
        let _: SetTimesResponseProto = self.call("setTimes", &request).await?;
        Ok(())
    }

    pub(crate) async fn set_replication(&self, src: &str, replication: u16) -> Result<bool> {
        let request =
            SetReplicationRequestProto { src: src.to_owned(), replication: u32::from(replication) };
        let response: SetReplicationResponseProto = self.call("setReplication", &request).await?;
        Ok(response.result)
    }

    pub(crate) async fn block_locations(
        &self,
        src: &str,
        offset: u64,
        length: u64,
    ) -> Result<Option<LocatedBlocks>> {
        let request = GetBlockLocationsRequestProto { src: src.to_owned(), offset, length };
        let response: GetBlockLocationsResponseProto =
            self.call("getBlockLocations", &request).await?;
        Ok(response.locations.map(Into::into))
    }

    pub(crate) async fn concat(&self, target: &str, sources: Vec<String>) -> Result<()> {
        let request = ConcatRequestProto { trg: target.to_owned(), srcs: sources };
        let _: ConcatResponseProto = self.call("concat", &request).await?;
        Ok(())
    }

    pub(crate) async fn create_symlink(
        &self,
        target: &str,
        link: &str,
        create_parent: bool,
    ) -> Result<()> {
        let request = CreateSymlinkRequestProto {
            target: target.to_owned(),
            link: link.to_owned(),
            dir_perm: FsPermissionProto { perm: 0o755 },
            create_parent,
        };
        let _: CreateSymlinkResponseProto = self.call("createSymlink", &request).await?;
        Ok(())
    }

    pub(crate) async fn link_target(&self, path: &str) -> Result<Option<String>> {
        let request = GetLinkTargetRequestProto { path: path.to_owned() };
        let response: GetLinkTargetResponseProto = self.call("getLinkTarget", &request).await?;
        Ok(response.target_path)
    }

    pub(crate) async fn create_snapshot(&self, root: &str, name: Option<&str>) -> Result<String> {
        let request = CreateSnapshotRequestProto {
            snapshot_root: root.to_owned(),
            snapshot_name: name.map(str::to_owned),
        };
        let response: CreateSnapshotResponseProto = self.call("createSnapshot", &request).await?;
        Ok(response.snapshot_path)
    }

    pub(crate) async fn delete_snapshot(&self, root: &str, name: &str) -> Result<()> {
        let request = DeleteSnapshotRequestProto {
            snapshot_root: root.to_owned(),
            snapshot_name: name.to_owned(),
        };
        let _: DeleteSnapshotResponseProto = self.call("deleteSnapshot", &request).await?;
        Ok(())
    }

    pub(crate) async fn rename_snapshot(&self, root: &str, old: &str, new: &str) -> Result<()> {
        let request = RenameSnapshotRequestProto {
            snapshot_root: root.to_owned(),
            snapshot_old_name: old.to_owned(),
            snapshot_new_name: new.to_owned(),
        };
        let _: RenameSnapshotResponseProto = self.call("renameSnapshot", &request).await?;
        Ok(())
    }

    pub(crate) async fn allow_snapshot(&self, root: &str, allow: bool) -> Result<()> {
        let snapshot_root = root.to_owned();
        if allow {
            let request = AllowSnapshotRequestProto { snapshot_root };
            let _: AllowSnapshotResponseProto = self.call("allowSnapshot", &request).await?;
        } else {
            let request = DisallowSnapshotRequestProto { snapshot_root };
            let _: DisallowSnapshotResponseProto = self.call("disallowSnapshot", &request).await?;
        }
        Ok(())
    }
}
