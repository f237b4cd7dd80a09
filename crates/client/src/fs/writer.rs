//! A file being written, for tokio.

use super::FileSystem;
use super::reader::spawn;
use crate::client::Client;
use crate::error::Result;
use crate::types::{AppendOptions, CreateOptions, SyncOptions};
use crate::write::Writer;
use bytes::Bytes;
use std::sync::Arc;

/// A file being written. It must be closed: dropped without, it stays open until its lease runs out,
/// and its last bytes may be missing.
///
/// A call that is given up before it is done is done nevertheless: the bytes of a write are written
/// once, in their order, and [`pos`](Self::pos) may go on for a while. Writing them again doubles them.
pub struct FileWriter {
    client: Arc<Client>,
    inner: Arc<Writer>,
}

impl FileWriter {
    pub(super) async fn create(
        fs: &FileSystem,
        src: String,
        options: CreateOptions,
    ) -> Result<Self> {
        let client = Arc::clone(&fs.client);
        let inner = fs.blocking(move || Writer::create(&client, src, &options)).await?;
        Ok(Self { client: Arc::clone(&fs.client), inner })
    }

    pub(super) async fn append(
        fs: &FileSystem,
        src: String,
        options: AppendOptions,
    ) -> Result<Self> {
        let client = Arc::clone(&fs.client);
        let inner = fs.blocking(move || Writer::append(&client, src, &options)).await?;
        Ok(Self { client: Arc::clone(&fs.client), inner })
    }

    /// The file's path.
    pub fn path(&self) -> &str {
        self.inner.path()
    }

    /// Bytes of the file with those written so far.
    pub fn pos(&self) -> u64 {
        self.inner.pos()
    }

    /// Writes all of `data`; copies it once more than [`write_bytes`](Self::write_bytes).
    pub async fn write(&mut self, data: &[u8]) -> Result<()> {
        self.write_bytes(Bytes::copy_from_slice(data)).await
    }

    /// Writes all of `data`.
    pub async fn write_bytes(&mut self, data: Bytes) -> Result<()> {
        self.run(move |writer| writer.write(&data)).await
    }

    /// Makes everything written visible to new readers.
    pub async fn hflush(&mut self) -> Result<()> {
        self.run(Writer::flush).await
    }

    /// The same, and it is on disk.
    pub async fn hsync(&mut self) -> Result<()> {
        self.hsync_with(SyncOptions::default()).await
    }

    /// The same with options.
    pub async fn hsync_with(&mut self, options: SyncOptions) -> Result<()> {
        self.run(move |writer| writer.sync(options)).await
    }

    /// Sends the rest and completes the file. A second call does nothing.
    pub async fn close(&mut self) -> Result<()> {
        self.run(Writer::close).await
    }

    async fn run(&self, work: impl FnOnce(&Writer) -> Result<()> + Send + 'static) -> Result<()> {
        let inner = Arc::clone(&self.inner);
        spawn(&self.client, move || work(&inner)).await
    }
}

impl Drop for FileWriter {
    fn drop(&mut self) {
        // Another thread may be sending for a call that was given up; it must not be waited for.
        let inner = Arc::clone(&self.inner);
        self.client.runtime.spawn_blocking(move || inner.abandon());
    }
}
