//! Calls about names: status, directories, renames, links, and how files end.

use super::proxy::NameNode;
use super::wire_path::wire_path;
use crate::error::{Error, ErrorKind, Result};
use crate::types::{FileStatus, LocatedBlocks, RenameOptions};
use zerohop_proto::hdfs::*;

/// Files, directories and links by their names.
pub(crate) struct Paths {
    pub(super) namenode: NameNode,
    /// Taken off the permission bits of new directories.
    pub(super) umask: u16,
    /// The name under which leases are held.
    pub(super) client_name: String,
}

impl Paths {
    pub(crate) async fn status(&self, path: &str) -> Result<FileStatus> {
        let src = wire_path(path)?;
        self.namenode.status(&src).await?.ok_or_else(|| not_found(path))
    }

    pub(crate) async fn exists(&self, path: &str) -> Result<bool> {
        Ok(self.namenode.status(&wire_path(path)?).await?.is_some())
    }

    pub(crate) async fn link_status(&self, path: &str) -> Result<FileStatus> {
        let src = wire_path(path)?;
        let request = GetFileLinkInfoRequestProto { src: src.clone() };
        let response: GetFileLinkInfoResponseProto =
            self.namenode.call("getFileLinkInfo", &request).await?;
        let status = response.fs.map(|fs| FileStatus::from_proto(fs, &src));
        status.ok_or_else(|| not_found(path))
    }

    pub(crate) async fn located_status(&self, path: &str) -> Result<FileStatus> {
        let src = wire_path(path)?;
        let request = GetLocatedFileInfoRequestProto {
            src: Some(src.clone()),
            need_block_token: Some(false),
        };
        let response: GetLocatedFileInfoResponseProto =
            self.namenode.call("getLocatedFileInfo", &request).await?;
        let status = response.fs.map(|fs| FileStatus::from_proto(fs, &src));
        status.ok_or_else(|| not_found(path))
    }

    pub(crate) async fn block_locations(
        &self,
        path: &str,
        offset: u64,
        length: u64,
    ) -> Result<LocatedBlocks> {
        let src = wire_path(path)?;
        // A larger one is negative in Java.
        let length = length.min(i64::MAX as u64);
        let located = self.namenode.block_locations(&src, offset, length).await?;
        located.ok_or_else(|| not_found(path))
    }

    /// `permission` is before the umask; `create_parent` false wants the directory above to exist.
    pub(crate) async fn mkdirs(
        &self,
        path: &str,
        permission: u16,
        create_parent: bool,
    ) -> Result<bool> {
        self.mkdirs_masked(path, permission & !self.umask, permission, create_parent).await
    }

    /// `unmasked` are the bits to which the default ACL of the directory above applies.
    pub(crate) async fn mkdirs_masked(
        &self,
        path: &str,
        masked: u16,
        unmasked: u16,
        create_parent: bool,
    ) -> Result<bool> {
        let request = MkdirsRequestProto {
            src: wire_path(path)?,
            masked: FsPermissionProto { perm: u32::from(masked) },
            create_parent,
            unmasked: Some(FsPermissionProto { perm: u32::from(unmasked) }),
        };
        let response: MkdirsResponseProto = self.namenode.call("mkdirs", &request).await?;
        Ok(response.result)
    }

    pub(crate) async fn delete(&self, path: &str, recursive: bool) -> Result<bool> {
        let request = DeleteRequestProto { src: wire_path(path)?, recursive };
        let response: DeleteResponseProto = self.namenode.call("delete", &request).await?;
        Ok(response.result)
    }

    /// By the old rules: into `to` where that is a directory.
    pub(crate) async fn rename(&self, from: &str, to: &str) -> Result<bool> {
        let request = RenameRequestProto { src: wire_path(from)?, dst: wire_path(to)? };
        let response: RenameResponseProto = self.namenode.call("rename", &request).await?;
        Ok(response.result)
    }

    /// To exactly `to`.
    pub(crate) async fn rename2(&self, from: &str, to: &str, options: RenameOptions) -> Result<()> {
        let request = Rename2RequestProto {
            src: wire_path(from)?,
            dst: wire_path(to)?,
            overwrite_dest: options.overwrite,
            move_to_trash: Some(options.to_trash),
        };
        let _: Rename2ResponseProto = self.namenode.call("rename2", &request).await?;
        Ok(())
    }

    pub(crate) async fn concat(&self, target: &str, sources: &[impl AsRef<str>]) -> Result<()> {
        let sources = sources.iter().map(|source| wire_path(source.as_ref()));
        let request =
            ConcatRequestProto { trg: wire_path(target)?, srcs: sources.collect::<Result<_>>()? };
        let _: ConcatResponseProto = self.namenode.call("concat", &request).await?;
        Ok(())
    }

    /// False means that the last block is being cut and the file is not closed yet.
    pub(crate) async fn truncate(&self, path: &str, len: u64) -> Result<bool> {
        let request = TruncateRequestProto {
            src: wire_path(path)?,
            new_length: len,
            client_name: self.client_name.clone(),
        };
        let response: TruncateResponseProto = self.namenode.call("truncate", &request).await?;
        Ok(response.result)
    }

    pub(crate) async fn recover_lease(&self, path: &str) -> Result<bool> {
        self.namenode.recover_lease(&wire_path(path)?, &self.client_name).await
    }

    pub(crate) async fn is_file_closed(&self, path: &str) -> Result<bool> {
        let request = IsFileClosedRequestProto { src: wire_path(path)? };
        let response: IsFileClosedResponseProto =
            self.namenode.call("isFileClosed", &request).await?;
        Ok(response.result)
    }

    pub(crate) async fn create_symlink(
        &self,
        target: &str,
        link: &str,
        create_parent: bool,
    ) -> Result<()> {
        let request = CreateSymlinkRequestProto {
            target: target.to_owned(),
            link: wire_path(link)?,
            dir_perm: FsPermissionProto { perm: 0o755 },
            create_parent,
        };
        let _: CreateSymlinkResponseProto = self.namenode.call("createSymlink", &request).await?;
        Ok(())
    }

    pub(crate) async fn link_target(&self, path: &str) -> Result<Option<String>> {
        let request = GetLinkTargetRequestProto { path: wire_path(path)? };
        let response: GetLinkTargetResponseProto =
            self.namenode.call("getLinkTarget", &request).await?;
        Ok(response.target_path)
    }
}

fn not_found(path: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("File does not exist: {path}"))
}
