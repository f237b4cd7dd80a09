//! Calls about paths: status, directories, renames, files.

use super::{FileReader, FileSystem, FileWriter};
use crate::checksum::{FileChecksum, Summed};
use crate::error::Result;
use crate::namenode::wire_path;
use crate::types::*;
use std::borrow::Cow;
use std::sync::Arc;

impl FileSystem {
    /// Returns the path of a text that is a path, or a URI of this file system by any of its names: with the default
    /// port or without, with a user, and without host where fs.defaultFS is this file system. A relative path stays
    /// relative.
    ///
    /// Asks the system's resolver if the host is an address in one of both, and a name in the other.
    ///
    /// # Errors
    /// Fails for a URI of another file system, as Hadoop's `FileSystem.checkPath`.
    pub fn path_of<'a>(&self, text: &'a str) -> Result<Cow<'a, str>> {
        self.client.target.path_of(text)
    }

    /// What is known of a path.
    pub async fn status(&self, path: &str) -> Result<FileStatus> {
        self.client.calls.paths.status(path).await
    }

    /// The same with the locations of the file's blocks.
    pub async fn located_status(&self, path: &str) -> Result<FileStatus> {
        self.client.calls.paths.located_status(path).await
    }

    /// What is known of a path; of a symlink itself, where it is one.
    pub async fn link_status(&self, path: &str) -> Result<FileStatus> {
        self.client.calls.paths.link_status(path).await
    }

    /// Whether a path exists.
    pub async fn exists(&self, path: &str) -> Result<bool> {
        self.client.calls.paths.exists(path).await
    }

    /// Where the blocks of a range of a file are.
    pub async fn block_locations(
        &self,
        path: &str,
        offset: u64,
        length: u64,
    ) -> Result<LocatedBlocks> {
        self.client.calls.paths.block_locations(path, offset, length).await
    }

    /// Opens a file for reading.
    pub async fn open(&self, path: &str) -> Result<FileReader> {
        self.open_with(path, OpenOptions::default()).await
    }

    /// The same with options.
    pub async fn open_with(&self, path: &str, options: OpenOptions) -> Result<FileReader> {
        FileReader::open(&self.client, wire_path(path)?, options).await
    }

    /// Makes a file and opens it for writing.
    pub async fn create(&self, path: &str, options: CreateOptions) -> Result<FileWriter> {
        FileWriter::create(&self.client, wire_path(path)?, options).await
    }

    /// Opens a file for writing at its end.
    pub async fn append(&self, path: &str, options: AppendOptions) -> Result<FileWriter> {
        FileWriter::append(&self.client, wire_path(path)?, options).await
    }

    /// Makes a directory and the missing ones above it, readable by all but for the umask. True also
    /// where it is there already.
    pub async fn mkdirs(&self, path: &str) -> Result<bool> {
        self.client.calls.paths.mkdirs(path, 0o777, true).await
    }

    /// The same with permission bits (before the umask); `create_parent` false wants the directory
    /// above to exist.
    pub async fn mkdirs_with(
        &self,
        path: &str,
        permission: u16,
        create_parent: bool,
    ) -> Result<bool> {
        self.client.calls.paths.mkdirs(path, permission, create_parent).await
    }

    /// The same without the umask: `masked` are the directory's bits, `unmasked` those to which the default ACL of the
    /// directory above applies.
    pub async fn mkdirs_masked(
        &self,
        path: &str,
        masked: u16,
        unmasked: u16,
        create_parent: bool,
    ) -> Result<bool> {
        self.client.calls.paths.mkdirs_masked(path, masked, unmasked, create_parent).await
    }

    /// Deletes a path; false where it does not exist. A directory that is not empty needs `recursive`.
    pub async fn delete(&self, path: &str, recursive: bool) -> Result<bool> {
        self.client.calls.paths.delete(path, recursive).await
    }

    /// Renames by the old rules: into `to` where that is a directory; false where it cannot be done.
    pub async fn rename(&self, from: &str, to: &str) -> Result<bool> {
        self.client.calls.paths.rename(from, to).await
    }

    /// Renames to exactly `to`; an error says why it cannot be done.
    pub async fn rename2(&self, from: &str, to: &str, options: RenameOptions) -> Result<()> {
        self.client.calls.paths.rename2(from, to, options).await
    }

    /// Cuts a file. False means that its last block is being cut and the file is not closed yet.
    pub async fn truncate(&self, path: &str, len: u64) -> Result<bool> {
        self.client.calls.paths.truncate(path, len).await
    }

    /// Moves the blocks of `sources` to the end of `target`, and deletes the sources.
    pub async fn concat(&self, target: &str, sources: &[impl AsRef<str>]) -> Result<()> {
        self.client.calls.paths.concat(target, sources).await
    }

    /// Ends the lease of the client that writes a file; true when the file is closed.
    pub async fn recover_lease(&self, path: &str) -> Result<bool> {
        self.client.calls.paths.recover_lease(path).await
    }

    /// Whether no client has the file open for writing.
    pub async fn is_file_closed(&self, path: &str) -> Result<bool> {
        self.client.calls.paths.is_file_closed(path).await
    }

    /// A file's checksum by `dfs.checksum.combine.mode`; `None` where block data has none.
    pub async fn checksum(&self, path: &str) -> Result<Option<FileChecksum>> {
        self.checksum_of(path, u64::MAX).await
    }

    /// The checksum of a file's first `len` bytes.
    pub async fn checksum_of(&self, path: &str, len: u64) -> Result<Option<FileChecksum>> {
        let located = Summed::locate(&self.client, wire_path(path)?, len).await?;
        let client = Arc::clone(&self.client);
        self.client.on_thread(move || located.compute(&client)).await
    }

    /// Makes a symlink; servers refuse unless `fs.symlinks.enabled` is set.
    pub async fn create_symlink(
        &self,
        target: &str,
        link: &str,
        create_parent: bool,
    ) -> Result<()> {
        self.client.calls.paths.create_symlink(target, link, create_parent).await
    }

    /// Where a symlink leads.
    pub async fn link_target(&self, path: &str) -> Result<Option<String>> {
        self.client.calls.paths.link_target(path).await
    }
}
