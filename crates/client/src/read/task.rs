//! One read as a task makes it: bytes in memory are read at once, other block data on a thread for
//! blocking calls, and the NameNode is asked from the task.

use super::buffers::Buffer;
use super::call::range;
use super::failover::{Asks, Attempt, Cursor, Need, Step};
use super::memory::TaskFile;
use super::ranges::scatter;
use super::vectored::borrowed;
use crate::error::Result;
use bytes::Bytes;
use std::sync::Arc;

/// What a sequential read ended with: the bytes in front of a failure count.
pub(crate) struct Fetched {
    pub(crate) cursor: Cursor,
    pub(crate) bytes: Bytes,
    pub(crate) result: Result<()>,
}

/// What an attempt ended with.
struct Finished {
    cursor: Cursor,
    buffer: Buffer,
    filled: usize,
    result: Result<()>,
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
            self.read_range(offset, self.file().client.buffers.take(len), true).await?;
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
        let (buffer, read) = self.read_range(offset, buffer, waits).await?;
        if read == len {
            return Ok(buffer);
        }
        Err(self.file().ends_early(&(offset..offset.saturating_add(len as u64))))
    }

    /// Reads at `offset`, as far as the file goes. `waits`: where no replica can be read, the NameNode is
    /// asked again after a while.
    async fn read_range(
        &self,
        offset: u64,
        buffer: Buffer,
        waits: bool,
    ) -> Result<(Buffer, usize)> {
        let mut read = self.finish(Cursor::at(offset), offset, range(waits), buffer).await?;
        self.file().keep_connection(read.cursor.open.take());
        read.result.map(|()| (read.buffer, read.filled))
    }

    /// Reads to the end of an attempt, from `pos`.
    async fn finish(
        &self,
        cursor: Cursor,
        pos: u64,
        attempt: Attempt,
        buffer: Buffer,
    ) -> Result<Finished> {
        let mut state = (cursor, attempt, buffer);
        // OpenReplica before the first step: a thread would only come back to say so.
        let is_unknown = pos < self.file().len() && self.file().located_at(pos).is_none();
        let mut need = is_unknown.then_some(Need::Locations(pos));
        let mut start = Some(pos);
        let result = loop {
            if let Some(need) = need.take()
                && let Err(error) = self.file().meet(need, &mut state.1).await
            {
                break Err(error);
            }
            let (file, (mut cursor, mut attempt, mut buffer)) = (Arc::clone(self.file()), state);
            let start = start.take();
            let work = move || {
                if let Some(pos) = start {
                    file.seek(&mut cursor, pos);
                }
                let step = file.advance(&mut cursor, &mut attempt, buffer.as_mut());
                Ok((step, (cursor, attempt, buffer)))
            };
            let (step, back) = self.file().client.on_thread(work).await?;
            state = back;
            match step {
                Step::Done(result) => break result,
                Step::Needs(found) => need = Some(found),
            }
        };
        let (cursor, mut attempt, buffer) = state;
        let corrupt = attempt.tried.take_corrupt();
        if !corrupt.is_empty() {
            self.file().report(corrupt).await;
        }
        Ok(Finished { cursor, buffer, filled: attempt.filled, result })
    }
}
