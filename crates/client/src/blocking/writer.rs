//! A file being written, for plain threads.

use crate::client::Client;
use crate::error::Result;
use crate::types::{AppendOptions, CreateOptions, SyncOptions};
use crate::write::{Work, Writer};
use std::io::{self, Write};
use std::sync::Arc;

/// A file being written. It must be closed: dropped without, it stays open until its lease runs out,
/// and its last bytes may be missing.
pub struct FileWriter {
    inner: Arc<Writer>,
}

impl FileWriter {
    pub(super) fn create(
        client: &Arc<Client>,
        src: String,
        options: CreateOptions,
    ) -> Result<Self> {
        Ok(Self { inner: client.wait(Writer::create(client, src, &options))? })
    }

    pub(super) fn append(
        client: &Arc<Client>,
        src: String,
        options: AppendOptions,
    ) -> Result<Self> {
        Ok(Self { inner: client.wait(Writer::append(client, src, &options))? })
    }

    /// The file's path.
    pub fn path(&self) -> &str {
        self.inner.path()
    }

    /// Bytes of the file with those written so far.
    pub fn pos(&self) -> u64 {
        self.inner.pos()
    }

    /// The inode's id.
    pub fn file_id(&self) -> u64 {
        self.inner.file_id()
    }

    /// DataNodes that are receiving the current block; 0 between two blocks.
    pub fn current_replication(&self) -> usize {
        self.inner.replicas()
    }

    /// Writes all of `data`.
    pub fn write_data(&mut self, data: &[u8]) -> Result<()> {
        self.inner.run(Work::write(data))
    }

    /// Lets `input` put the next bytes straight into a packet, which saves a copy: it is given room
    /// for at least one byte, and tells how many it filled in, 0 at its end. That is returned; after
    /// an error of `input` the file is as it was.
    ///
    /// ```no_run
    /// # fn copy(from: &mut std::fs::File, to: &mut zerohop_client::blocking::FileWriter) -> std::io::Result<()> {
    /// use std::io::Read;
    /// while to.write_with(|room| from.read(room))? > 0 {}
    /// # Ok(())
    /// # }
    /// ```
    pub fn write_with(
        &mut self,
        input: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        self.inner.write_with(input)?
    }

    /// Makes everything written visible to new readers: every DataNode of the pipeline has it in
    /// memory.
    pub fn hflush(&mut self) -> Result<()> {
        self.inner.run(Work::<&[u8]>::hflush())
    }

    /// The same, and it is on disk.
    pub fn hsync(&mut self) -> Result<()> {
        self.hsync_with(SyncOptions::default())
    }

    /// The same with options.
    pub fn hsync_with(&mut self, options: SyncOptions) -> Result<()> {
        self.inner.run(Work::<&[u8]>::hsync(options))
    }

    /// Sends the rest and completes the file. A second call does nothing, and fails as the first one did.
    pub fn close(&mut self) -> Result<()> {
        self.inner.close()
    }
}

impl Write for FileWriter {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        self.write_data(data)?;
        Ok(data.len())
    }

    /// Does nothing: see [`hflush`](Self::hflush).
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for FileWriter {
    fn drop(&mut self) {
        self.inner.abandon();
    }
}
