//! A file being read, for tokio.

use crate::client::Client;
use crate::error::{Error, Result};
use crate::read::{
    Buffer, Cursor, Fetched, File, INLINE_MAX, ReadStatistics, TaskFile, ZeroCopyRead, borrowed,
    parts,
};
use crate::types::OpenOptions;
use bytes::{Buf, Bytes};
use futures_core::Stream;
use parking_lot::Mutex;
use std::future::{Future, poll_fn};
use std::io::{self, SeekFrom};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncSeek, ReadBuf};
use tokio::runtime::Handle;
use tokio::task::coop;
use zerohop_wire::Block;

/// Bytes that are read at once for callers who take fewer at a time.
const PIECE_LEN: usize = INLINE_MAX;

/// A file being read.
///
/// Bytes that are in this machine's memory, in an open replica, are read on the task that asks.
/// Otherwise a thread for blocking calls reads a block's data, and the NameNode is asked from the task.
/// Reads that return [`Bytes`] copy them once, from the page cache or from the socket, into memory that is
/// used again and need not be zeroed; with [`OpenOptions::with_mapped_bytes`] those of this machine's
/// replicas are not copied at all.
///
/// A task whose reads never wait lets others run now and then, as with tokio's own types.
///
/// A sequential read that is given up moves no position and loses no bytes. Besides the methods there
/// are [`AsyncRead`] and [`AsyncSeek`], and [`into_stream`](Self::into_stream).
///
/// ```no_run
/// # async fn example(fs: zerohop_client::FileSystem) -> Result<(), Box<dyn std::error::Error>> {
/// use tokio::io::{AsyncReadExt, AsyncSeekExt};
/// let mut file = fs.open("/greeting").await?;
/// let head = file.read_bytes(5).await?;
/// file.seek(std::io::SeekFrom::Start(0)).await?;
/// let mut text = String::new();
/// file.read_to_string(&mut text).await?;
/// assert!(text.as_bytes().starts_with(&head));
/// # Ok(()) }
/// ```
pub struct FileReader {
    client: Arc<Client>,
    file: TaskFile,
    /// Offset of the next sequential read: a read that was given up does not move it.
    pos: u64,
    /// The connection that reads on; lost with a read that is given up.
    cursor: Cursor,
    /// What was read from `pos` on and not yet taken.
    ahead: Bytes,
    /// Never locked, but for the compiler: a future may not be shared.
    pending: Mutex<Option<Pending>>,
}

/// A read from `pos` on that is under way.
struct Pending {
    len: usize,
    read: Pin<Box<dyn Future<Output = Result<Fetched>> + Send>>,
}

impl FileReader {
    pub(super) async fn open(
        client: &Arc<Client>,
        src: String,
        options: OpenOptions,
    ) -> Result<Self> {
        Ok(Self {
            client: Arc::clone(client),
            file: TaskFile::new(File::open(client, src, options).await?),
            pos: 0,
            cursor: Cursor::default(),
            ahead: Bytes::new(),
            pending: Mutex::default(),
        })
    }

    /// Another reader of the open file, at its beginning. The NameNode is not asked, and the open replicas are the same; so are
    /// [`statistics`](Self::statistics) and what [`refresh`](Self::refresh) finds.
    pub fn duplicate(&self) -> Self {
        Self {
            client: Arc::clone(&self.client),
            file: self.file.clone(),
            pos: 0,
            cursor: Cursor::default(),
            ahead: Bytes::new(),
            pending: Mutex::default(),
        }
    }

    /// The file's path.
    pub fn path(&self) -> &str {
        self.file.file().path()
    }

    /// Readable bytes, as of the last time the NameNode was asked.
    pub fn len(&self) -> u64 {
        self.file.file().len()
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The file's last block, none of an empty file; with the length it changes whenever the file's bytes do.
    pub fn last_block(&self) -> Option<Block> {
        self.file.file().last_block()
    }

    /// Whether another client was writing the file when the NameNode was asked.
    pub fn is_under_construction(&self) -> bool {
        self.file.file().is_under_construction()
    }

    /// Asks how long the file is now: another client may be writing it.
    pub async fn refresh(&mut self) -> Result<u64> {
        self.file.file().refresh().await
    }

    /// Offset of the next sequential read.
    pub fn pos(&self) -> u64 {
        self.pos
    }

    /// Sets the offset of the next sequential read; beyond the end is an error.
    pub fn seek_to(&mut self, pos: u64) -> Result<()> {
        if pos > self.len() {
            return Err(Error::invalid("Cannot seek after EOF"));
        }
        let skipped = pos.checked_sub(self.pos).and_then(|skipped| usize::try_from(skipped).ok());
        match skipped.filter(|skipped| *skipped <= self.ahead.len()) {
            Some(skipped) => self.ahead.advance(skipped),
            None => self.ahead.clear(),
        }
        if pos != self.pos {
            *self.pending.get_mut() = None;
        }
        self.pos = pos;
        Ok(())
    }

    /// Reads on; 0 at the end. Fills `buffer` unless the file ends, or what follows cannot be read:
    /// the next call then says why.
    pub async fn read(&mut self, buffer: &mut [u8]) -> Result<usize> {
        Ok(copy(&self.read_bytes(buffer.len()).await?, buffer))
    }

    /// Reads on, `len` bytes unless the file ends, or what follows cannot be read: the next call then
    /// says why. Empty at the end.
    pub async fn read_bytes(&mut self, len: usize) -> Result<Bytes> {
        poll_fn(|cx| self.poll_bytes(cx, len)).await
    }

    /// Reads on, all of `len` bytes, where they lie in the map of a replica of this machine, verified there. `None`, and the
    /// position stays, where no open replica has all of them in memory, or the file ends before:
    /// [`read_bytes`](Self::read_bytes) then reads on, and opens the replica.
    pub async fn read_zero_copy(&mut self, len: usize) -> Option<ZeroCopyRead> {
        if !self.ahead.is_empty() || len == 0 || self.clip(self.pos, len) != len {
            return None;
        }
        let read = self.file.zero_copy_at(self.pos, len).await?;
        self.pos += len as u64;
        *self.pending.get_mut() = None;
        Some(read)
    }

    /// Reads at `offset`, independent of the sequential position; short only at the end.
    pub async fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<usize> {
        Ok(copy(&self.read_bytes_at(offset, buffer.len()).await?, buffer))
    }

    /// Reads `len` bytes at `offset`, independent of the sequential position; short only at the end.
    pub async fn read_bytes_at(&self, offset: u64, len: usize) -> Result<Bytes> {
        match self.clip(offset, len) {
            0 => Ok(Bytes::new()),
            len => self.file.read_at(offset, len).await,
        }
    }

    /// Reads several ranges (offset and length), in any order, each short only at the end; they may
    /// overlap. Neighbours are read together, ranges of DataNodes that are apart at the same time.
    pub async fn read_ranges(&self, ranges: &[(u64, usize)]) -> Result<Vec<Bytes>> {
        let clip = |(offset, len): &(u64, usize)| (*offset, self.clip(*offset, *len));
        let ranges: Vec<(u64, usize)> = ranges.iter().map(clip).collect();
        let take = |(offset, len): &(u64, usize)| (*offset, self.client.buffers.take(*len));
        let mut out: Vec<(u64, Buffer)> = ranges.iter().map(take).collect();
        let file = Arc::clone(self.file.file());
        let known = move || {
            let left = file.read_known_ranges(&mut borrowed(&mut out));
            Ok((out, left))
        };
        let (mut out, left) = match self.file.are_in_memory(&ranges) {
            true => known()?,
            false => self.client.on_thread(known).await?,
        };
        // Side by side on the runtime that waits, which may have more threads than the client's.
        let runtime = Handle::try_current().unwrap_or_else(|_| self.client.runtime.clone());
        let mut reads = Vec::new();
        for part in parts(&ranges, &left) {
            let take = |at: &usize| out.get_mut(*at).map(std::mem::take).unwrap_or_default();
            let some: Vec<(u64, Buffer)> = part.iter().map(take).collect();
            reads.push((part, runtime.spawn(self.file.clone().read_part(some))));
        }
        for (part, read) in reads {
            let some = read.await.map_err(Error::of_thread)??;
            for (at, read) in part.into_iter().zip(some) {
                if let Some(place) = out.get_mut(at) {
                    *place = read;
                }
            }
        }
        Ok(out.into_iter().map(|(_, buffer)| buffer.into_bytes(usize::MAX)).collect())
    }

    /// The bytes from the sequential position to the end, as a stream of pieces of at most 256 KiB. It
    /// ends after an error.
    ///
    /// ```no_run
    /// # async fn example(fs: zerohop_client::FileSystem) -> zerohop_client::Result<()> {
    /// use futures_util::TryStreamExt;
    /// let mut pieces = fs.open("/large").await?.into_stream();
    /// while let Some(piece) = pieces.try_next().await? {
    ///     println!("{} bytes, {:?}", piece.len(), pieces.reader().statistics().last);
    /// }
    /// # Ok(()) }
    /// ```
    pub fn into_stream(self) -> ByteStream {
        ByteStream { end: u64::MAX, reader: self, has_failed: false }
    }

    /// The same for at most `len` bytes.
    pub fn into_stream_of(self, len: u64) -> ByteStream {
        ByteStream { end: self.pos.saturating_add(len), reader: self, has_failed: false }
    }

    /// Closes the connection to the DataNode, and lets replicas of this machine go, until the next
    /// read; idle readers should.
    pub fn unbuffer(&mut self) {
        self.cursor = Cursor::at(self.pos);
        self.file.file().let_go();
    }

    /// What was read, and which way it went.
    pub fn statistics(&self) -> ReadStatistics {
        self.file.file().statistics()
    }

    /// As much of `len` as the file has from `offset` on.
    fn clip(&self, offset: u64, len: usize) -> usize {
        let rest = self.len().saturating_sub(offset);
        len.min(usize::try_from(rest).unwrap_or(usize::MAX))
    }

    fn poll_bytes(&mut self, cx: &mut Context<'_>, len: usize) -> Poll<Result<Bytes>> {
        let len = self.clip(self.pos, len);
        if self.ahead.len() < len {
            // Read again with what follows; the position has not moved.
            self.ahead.clear();
            ready!(self.poll_ahead(cx, len))?;
        }
        Poll::Ready(Ok(self.take_ahead(len)))
    }

    fn take_ahead(&mut self, len: usize) -> Bytes {
        let bytes = self.ahead.split_to(len.min(self.ahead.len()));
        self.pos += bytes.len() as u64;
        bytes
    }

    /// Reads `len` bytes ahead, where there are none yet; a read of another length that is under way is
    /// given up.
    fn poll_ahead(&mut self, cx: &mut Context<'_>, len: usize) -> Poll<Result<()>> {
        let pending = self.pending.get_mut();
        if pending.as_ref().is_none_or(|pending| pending.len != len) {
            *pending = None;
            let budget = ready!(coop::poll_proceed(cx));
            if let Some(bytes) = self.file.bytes_in_memory(self.pos, len) {
                budget.made_progress();
                self.ahead = bytes;
                return Poll::Ready(Ok(()));
            }
            let cursor = std::mem::take(&mut self.cursor);
            let read = Box::pin(self.file.clone().read_on(cursor, self.pos, len));
            *pending = Some(Pending { len, read });
        }
        let Some(Pending { read, .. }) = pending else { return Poll::Ready(Ok(())) };
        let finished = ready!(read.as_mut().poll(cx));
        *pending = None;
        let Fetched { cursor, bytes, result } = finished?;
        self.cursor = cursor;
        self.ahead = bytes;
        Poll::Ready(if self.ahead.is_empty() { result } else { Ok(()) })
    }
}

fn copy(bytes: &[u8], buffer: &mut [u8]) -> usize {
    if let Some(target) = buffer.get_mut(..bytes.len()) {
        target.copy_from_slice(bytes);
    }
    bytes.len()
}

/// Reads on, some bytes at least; an error moves no position.
impl AsyncRead for FileReader {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let reader = self.get_mut();
        let wanted = reader.clip(reader.pos, buffer.remaining());
        if wanted == 0 {
            return Poll::Ready(Ok(()));
        }
        if reader.ahead.is_empty() {
            let pending = reader.pending.get_mut().as_ref().map(|pending| pending.len);
            if pending.is_none() {
                let budget = ready!(coop::poll_proceed(cx));
                let room = buffer.initialize_unfilled_to(wanted.min(INLINE_MAX));
                if let Some(read) = reader.file.read_some_in_memory(reader.pos, room) {
                    budget.made_progress();
                    buffer.advance(read);
                    reader.pos += read as u64;
                    return Poll::Ready(Ok(()));
                }
            }
            let piece = pending.unwrap_or_else(|| reader.clip(reader.pos, wanted.max(PIECE_LEN)));
            ready!(reader.poll_ahead(cx, piece))?;
        }
        buffer.put_slice(&reader.take_ahead(wanted));
        Poll::Ready(Ok(()))
    }
}

/// As [`seek_to`](FileReader::seek_to), which waits for nothing.
impl AsyncSeek for FileReader {
    fn start_seek(self: Pin<&mut Self>, to: SeekFrom) -> io::Result<()> {
        let reader = self.get_mut();
        let target = match to {
            SeekFrom::Start(pos) => Some(pos),
            SeekFrom::End(distance) => reader.len().checked_add_signed(distance),
            SeekFrom::Current(distance) => reader.pos.checked_add_signed(distance),
        };
        let invalid =
            || io::Error::new(io::ErrorKind::InvalidInput, "Cannot seek before the start");
        Ok(reader.seek_to(target.ok_or_else(invalid)?)?)
    }

    fn poll_complete(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<u64>> {
        Poll::Ready(Ok(self.pos))
    }
}

/// A file's bytes in pieces; see [`FileReader::into_stream`].
pub struct ByteStream {
    reader: FileReader,
    /// Offset at which the stream ends, if the file does not end before.
    end: u64,
    has_failed: bool,
}

impl ByteStream {
    /// The reader: its position is that of the next piece.
    pub fn reader(&self) -> &FileReader {
        &self.reader
    }

    /// Gives the reader back.
    pub fn into_reader(self) -> FileReader {
        self.reader
    }
}

impl Stream for ByteStream {
    type Item = Result<Bytes>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes>>> {
        let stream = self.get_mut();
        let left = stream.end.saturating_sub(stream.reader.pos);
        let len = PIECE_LEN.min(usize::try_from(left).unwrap_or(usize::MAX));
        if stream.has_failed || stream.reader.clip(stream.reader.pos, len) == 0 {
            return Poll::Ready(None);
        }
        let piece = ready!(stream.reader.poll_bytes(cx, len));
        stream.has_failed = piece.is_err();
        Poll::Ready(Some(piece))
    }
}

#[cfg(test)]
#[path = "reader_test.rs"]
mod tests;
