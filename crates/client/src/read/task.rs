//! One read as a task makes it: bytes in memory are read at once, other block data on a thread for
//! blocking calls, and the NameNode is asked from the task.

use super::buffers::Buffer;
use super::failover::{Asks, Attempt, Cursor};
use super::hedged::HedgedRead;
use super::memory::TaskFile;
use super::ranges::scatter;
use super::steps::range;
use super::vectored::borrowed;
use crate::error::Result;
use bytes::Bytes;

/// What a sequential read ended with: the bytes in front of a failure count.
pub(crate) struct Fetched {
    pub(crate) cursor: Cursor,
    pub(crate) bytes: Bytes,
    pub(crate) result: Result<()>,
}

impl TaskFile {
    /// Moves the cursor to `pos` and reads `len` bytes on, fewer where the file ends or a read fails.
    pub(crate) async fn read_on(self, cursor: Cursor, pos: u64, len: usize) -> Result<Fetched> {
        if let Some(bytes) = self.mapped_on_thread(pos, len).await? {
            return Ok(Fetched { cursor, bytes, result: Ok(()) });
        }
        let buffer = self.file().client.buffers.take(len);
        let read = self.finish(cursor, pos, Attempt::new(Asks::RestOfBlock), buffer).await?;
        let bytes = read.buffer.into_bytes(read.filled);
        Ok(Fetched { cursor: read.cursor, bytes, result: read.result })
    }

    /// Reads `len` bytes at `offset`, fewer where the file ends.
    pub(crate) async fn read_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        // A task whose reads never wait lets others run now and then.
        tokio::task::coop::consume_budget().await;
        if let Some(bytes) = self.bytes_in_memory(offset, len) {
            return Ok(bytes);
        }
        if let Some(bytes) = self.mapped_on_thread(offset, len).await? {
            return Ok(bytes);
        }
        let (buffer, filled) =
            self.read_or_hedge(offset, self.file().client.buffers.take(len), true).await?;
        Ok(buffer.into_bytes(filled))
    }

    /// Reads ranges that [`parts`](super::vectored::parts) put together, each exactly: as one, or each alone
    /// where that fails.
    pub(crate) async fn read_part(
        self,
        mut part: Vec<(u64, Buffer)>,
    ) -> Result<Vec<(u64, Buffer)>> {
        let end = |range: &(u64, Buffer)| range.0.saturating_add(range.1.as_ref().len() as u64);
        let start = part.iter().map(|range| range.0).min().unwrap_or(0);
        let all = start..part.iter().map(end).max().unwrap_or(0);
        let is_single = part.len() <= 1;
        if !is_single {
            let bytes = self.file().client.buffers.take((all.end - all.start) as usize);
            match self.fill(start, bytes, true).await {
                Ok(bytes) => {
                    let every: Vec<usize> = (0..part.len()).collect();
                    scatter(bytes.as_ref(), start, &mut borrowed(&mut part), &every);
                    return Ok(part);
                }
                Err(error) => tracing::info!("{error}; reading {} ranges alone", part.len()),
            }
        }
        for (offset, buffer) in &mut part {
            let empty = std::mem::take(buffer);
            *buffer = self.fill(*offset, empty, is_single).await?;
        }
        Ok(part)
    }

    /// Reads exactly the buffer at `offset`.
    async fn fill(&self, offset: u64, buffer: Buffer, waits: bool) -> Result<Buffer> {
        let len = buffer.as_ref().len();
        let (buffer, read) = self.read_or_hedge(offset, buffer, waits).await?;
        if read == len {
            return Ok(buffer);
        }
        Err(self.file().ends_early(&(offset..offset.saturating_add(len as u64))))
    }

    /// Reads at `offset`, as far as the file goes, hedged where that is configured. `waits`: where no replica can be
    /// read, the NameNode is asked again after a while.
    async fn read_or_hedge(
        &self,
        offset: u64,
        mut buffer: Buffer,
        waits: bool,
    ) -> Result<(Buffer, usize)> {
        match HedgedRead::begin(self.file(), waits) {
            Some(hedged) => {
                let filled = hedged.read_at(offset, buffer.as_mut()).await?;
                Ok((buffer, filled))
            }
            None => self.read_range(offset, range(waits), buffer).await,
        }
    }
}
