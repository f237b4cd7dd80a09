//! HDFS behind a handle.

use crate::failure::{Failure, Result};
use crate::store::{BlockHosts, Creation, Info, Input, Output, Store};
use zerohop::blocking::{FileReader, FileSystem, FileWriter};
use zerohop::{
    AppendOptions, CreateOptions, FileStatus, HedgedReads, ReadStatistics, RenameOptions,
    ZeroCopyRead,
};
use zerohop_conf::{Conf, keys};

pub(crate) struct HdfsStore {
    fs: FileSystem,
    conf: Conf,
}

impl HdfsStore {
    pub(crate) fn new(fs: FileSystem, conf: Conf) -> Self {
        Self { fs, conf }
    }

    fn info_of(&self, status: &FileStatus) -> Info {
        Info {
            is_directory: status.is_dir(),
            name: format!("{}{}", self.fs.uri(), status.path),
            modified_s: status.modified_ms / 1000,
            accessed_s: status.accessed_ms / 1000,
            len: status.len,
            replication: status.replication,
            block_size: status.block_size,
            owner: status.owner.to_string(),
            group: status.group.to_string(),
            permission: status.permission,
            is_encrypted: status.is_encrypted,
            // Inodes of other clusters have the same ids, but were not changed in the same millisecond.
            identity: (status.file_id.0, status.modified_ms),
        }
    }
}

impl Store for HdfsStore {
    fn uri(&self) -> &str {
        self.fs.uri()
    }

    fn path_of(&self, text: &str) -> Result<String> {
        Ok(self.fs.path_of(text)?.into_owned())
    }

    fn home(&self) -> String {
        self.fs.home()
    }

    fn open(&self, path: &str) -> Result<Box<dyn Input>> {
        Ok(Box::new(self.fs.open(path)?))
    }

    fn create(&self, path: &str, creation: Creation) -> Result<Box<dyn Output>> {
        let options = CreateOptions::default()
            .overwrite(!creation.is_exclusive)
            .replication(creation.replication)
            .block_size(creation.block_size);
        Ok(Box::new(self.fs.create(path, options)?))
    }

    fn append(&self, path: &str) -> Result<Box<dyn Output>> {
        Ok(Box::new(self.fs.append(path, AppendOptions::default())?))
    }

    fn truncate(&self, path: &str, len: u64) -> Result<bool> {
        Ok(self.fs.truncate(path, len)?)
    }

    fn info(&self, path: &str) -> Result<Info> {
        Ok(self.info_of(&self.fs.status(path)?))
    }

    fn list(&self, path: &str) -> Result<Vec<Info>> {
        Ok(self.fs.list(path)?.iter().map(|status| self.info_of(status)).collect())
    }

    fn mkdirs(&self, path: &str) -> Result<bool> {
        Ok(self.fs.mkdirs(path)?)
    }

    fn delete(&self, path: &str, recursive: bool) -> Result<bool> {
        Ok(self.fs.delete(path, recursive)?)
    }

    fn rename(&self, from: &str, to: &str) -> Result<bool> {
        Ok(self.fs.rename(from, to)?)
    }

    fn replace(&self, from: &str, to: &str) -> Result<()> {
        Ok(self.fs.rename2(from, to, RenameOptions::default().overwrite(true))?)
    }

    fn set_replication(&self, path: &str, replication: u16) -> Result<bool> {
        Ok(self.fs.set_replication(path, replication)?)
    }

    fn set_owner(&self, path: &str, owner: Option<&str>, group: Option<&str>) -> Result<()> {
        Ok(self.fs.set_owner(path, owner, group)?)
    }

    fn set_permission(&self, path: &str, mode: u16) -> Result<()> {
        Ok(self.fs.set_permission(path, mode)?)
    }

    fn set_times(&self, path: &str, modified: Option<u64>, accessed: Option<u64>) -> Result<()> {
        Ok(self.fs.set_times(path, modified, accessed)?)
    }

    fn block_hosts(&self, path: &str, offset: u64, len: u64) -> Result<Vec<BlockHosts>> {
        let located = self.fs.block_locations(path, offset, len)?;
        let one = |block: &zerohop::LocatedBlock| BlockHosts {
            offset: block.offset,
            len: block.end() - block.offset,
            is_corrupt: block.is_corrupt,
            hosts: block.nodes().map(|node| node.host().to_owned()).collect(),
            names: block.nodes().map(|node| node.transfer_addr(false)).collect(),
            topology: block.nodes().map(topology).collect(),
        };
        Ok(located.blocks.iter().map(one).collect())
    }

    fn default_block_size(&self, _path: &str) -> Result<u64> {
        Ok(self.conf.get(&keys::DFS_BLOCKSIZE)?)
    }

    fn capacity(&self) -> Result<(u64, u64)> {
        let stats = self.fs.fs_stats()?;
        Ok((stats.capacity, stats.used))
    }

    fn hedged_reads(&self) -> HedgedReads {
        self.fs.hedged_reads()
    }
}

/// Rack and address, as `BlockLocation.getTopologyPaths()`.
fn topology(node: &zerohop::DatanodeInfo) -> String {
    let rack = node.proto().location();
    let rack = if rack.is_empty() { "/default-rack" } else { rack };
    format!("{rack}/{}", node.transfer_addr(false))
}

impl Input for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        Ok(self.read_some(buffer)?)
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        Ok(FileReader::read_at(self, offset, buffer)?)
    }

    fn seek(&mut self, offset: u64) -> Result<()> {
        Ok(self.seek_to(offset)?)
    }

    fn pos(&mut self) -> Result<u64> {
        Ok(FileReader::pos(self))
    }

    fn len(&self) -> Result<u64> {
        Ok(FileReader::len(self))
    }

    fn unbuffer(&mut self) -> Result<()> {
        FileReader::unbuffer(self);
        Ok(())
    }

    fn statistics(&self) -> Result<ReadStatistics> {
        Ok(FileReader::statistics(self))
    }

    fn read_zero_copy(&mut self, len: usize) -> Result<ZeroCopyRead> {
        Ok(FileReader::read_zero_copy(self, len)?)
    }
}

impl Output for FileWriter {
    fn write(&mut self, data: &[u8]) -> Result<()> {
        Ok(self.write_data(data)?)
    }

    fn pos(&mut self) -> Result<u64> {
        Ok(FileWriter::pos(self))
    }

    fn hflush(&mut self) -> Result<()> {
        Ok(FileWriter::hflush(self)?)
    }

    fn hsync(&mut self) -> Result<()> {
        Ok(FileWriter::hsync(self)?)
    }

    fn close(&mut self) -> Result<()> {
        FileWriter::close(self).map_err(Failure::from)
    }
}
