//! A file being written, for tokio.

use crate::client::Client;
use crate::error::{Error, Result};
use crate::turns::Turn;
use crate::types::{AppendOptions, CreateOptions, SyncOptions};
use crate::write::{Work, Writer};
use bytes::Bytes;
use parking_lot::Mutex;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tokio::task::coop;
use tracing::Instrument;

/// [`AsyncWrite`] takes up to this many bytes at a time.
const PIECE_LEN: usize = 256 << 10;

/// A file being written. It must be [closed](Self::close), or shut down as an [`AsyncWrite`]: dropped
/// without, it stays open until its lease runs out, and its last bytes may be missing.
///
/// Every byte that [`pos`](Self::pos) counts is written once, in its place, whether the call that brought
/// it was given up or not; a byte that it does not count is not written. A call that is given up is
/// finished before the next one begins, and what it failed with is the next one's error.
///
/// ```no_run
/// # async fn example(fs: zerohop_client::FileSystem) -> Result<(), Box<dyn std::error::Error>> {
/// use tokio::io::AsyncWriteExt;
/// let mut file = fs.create("/greeting", Default::default()).await?;
/// file.write_all(b"hello").await?;
/// file.hflush().await?; // New readers see it.
/// file.shutdown().await?;
/// # Ok(()) }
/// ```
pub struct FileWriter {
    client: Arc<Client>,
    inner: Arc<Writer>,
    /// Bytes of the file with those that were taken from the caller.
    pos: u64,
    /// What is being done, one thing after another. Never locked, but for the compiler: a future may not
    /// be shared.
    pending: Mutex<Option<Pending>>,
    is_closing: bool,
    /// Result of the first close.
    closed: Option<Result<()>>,
}

type Pending = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

impl FileWriter {
    pub(super) async fn create(
        client: &Arc<Client>,
        src: String,
        options: CreateOptions,
    ) -> Result<Self> {
        let creating = Arc::clone(client);
        let path = src.clone();
        let create = async move { Writer::create(&creating, src, &options).await };
        Ok(Self::of(client, opened(client, path, create).await?))
    }

    pub(super) async fn append(
        client: &Arc<Client>,
        src: String,
        options: AppendOptions,
    ) -> Result<Self> {
        let appending = Arc::clone(client);
        let path = src.clone();
        let append = async move { Writer::append(&appending, src, &options).await };
        Ok(Self::of(client, opened(client, path, append).await?))
    }

    fn of(client: &Arc<Client>, inner: Arc<Writer>) -> Self {
        let pos = inner.pos();
        Self {
            client: Arc::clone(client),
            inner,
            pos,
            pending: Mutex::default(),
            is_closing: false,
            closed: None,
        }
    }

    /// The file's path.
    pub fn path(&self) -> &str {
        self.inner.path()
    }

    /// The file's inode.
    pub fn file_id(&self) -> u64 {
        self.inner.file_id()
    }

    /// Bytes of the file with those written so far.
    pub fn pos(&self) -> u64 {
        self.pos
    }

    /// Returns the error of every further call, if this writer is known to have failed. An idle writer may lose its DataNodes;
    /// flushed bytes can be read after the lease is recovered.
    pub fn failure(&self) -> Option<Error> {
        self.inner.failure()
    }

    /// Writes all of `data`; where that has to wait, copies it once more than
    /// [`write_bytes`](Self::write_bytes).
    pub async fn write(&mut self, data: &[u8]) -> Result<()> {
        self.idle().await?;
        if self.try_write(data)? {
            return Ok(());
        }
        self.begin_write(Bytes::copy_from_slice(data));
        self.idle().await
    }

    /// Writes all of `data`.
    pub async fn write_bytes(&mut self, data: Bytes) -> Result<()> {
        self.idle().await?;
        if self.try_write(&data)? {
            return Ok(());
        }
        self.begin_write(data);
        self.idle().await
    }

    /// Makes everything written visible to new readers.
    pub async fn hflush(&mut self) -> Result<()> {
        self.run(Work::hflush()).await
    }

    /// The same, and it is on disk.
    pub async fn hsync(&mut self) -> Result<()> {
        self.hsync_with(SyncOptions::default()).await
    }

    /// The same with options.
    pub async fn hsync_with(&mut self, options: SyncOptions) -> Result<()> {
        self.run(Work::hsync(options)).await
    }

    /// Sends the rest and completes the file. A second call does nothing, and fails as the first one did. The file is
    /// completed even if the call is given up once it has begun to wait.
    pub async fn close(&mut self) -> Result<()> {
        poll_fn(|cx| self.poll_close(cx)).await
    }

    async fn run(&mut self, work: Work<Bytes>) -> Result<()> {
        self.idle().await?;
        self.begin(work);
        self.idle().await
    }

    /// Waits until what was begun is done. A task whose writes never wait lets others run now and then.
    async fn idle(&mut self) -> Result<()> {
        coop::consume_budget().await;
        poll_fn(|cx| self.poll_idle(cx)).await
    }

    /// Writes a short piece at once if that waits for nothing; false, and nothing is written, if not.
    fn try_write(&mut self, data: &[u8]) -> Result<bool> {
        let is_written = data.len() <= PIECE_LEN && self.inner.try_write(data)?;
        if is_written {
            self.pos += data.len() as u64;
        }
        Ok(is_written)
    }

    fn poll_idle(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        let pending = self.pending.get_mut();
        let Some(work) = pending else { return Poll::Ready(Ok(())) };
        let result = ready!(work.as_mut().poll(cx));
        *pending = None;
        Poll::Ready(result)
    }

    /// Starts work; it is done even if the caller does not wait for it.
    fn begin(&mut self, work: Work<Bytes>) {
        let work = self.client.runtime.spawn(Arc::clone(&self.inner).run_on_task(work));
        *self.pending.get_mut() = Some(outcome(work));
    }

    /// Takes `data`, which will be written.
    fn begin_write(&mut self, data: Bytes) {
        self.pos += data.len() as u64;
        self.begin(Work::write(data));
    }

    fn poll_close(&mut self, cx: &mut Context<'_>) -> Poll<Result<()>> {
        if let Some(closed) = &self.closed {
            return Poll::Ready(closed.clone());
        }
        if !self.is_closing {
            // What failed before has broken the writer: closing fails with it, and ends the lease.
            if let Err(error) = ready!(self.poll_idle(cx)) {
                tracing::debug!("{} is closed after {error}", self.path());
            }
            self.is_closing = true;
            let work = self.client.runtime.spawn(Arc::clone(&self.inner).close_on_task());
            *self.pending.get_mut() = Some(outcome(work));
        }
        let closed = ready!(self.poll_idle(cx));
        Poll::Ready(self.closed.insert(closed).clone())
    }
}

/// Opens a file on a task that continues if the caller is dropped, because a request cannot be withdrawn from the NameNode.
/// Closes a writer that the caller does not take, so that no lease is left; the next call that opens the file waits for that.
async fn opened(
    client: &Arc<Client>,
    path: String,
    opening: impl Future<Output = Result<Arc<Writer>>> + Send + 'static,
) -> Result<Arc<Writer>> {
    let (mut giving, taking) = oneshot::channel::<Result<Opened>>();
    let opener = Arc::clone(client);
    let open = async move {
        let turn = tokio::select! {
            biased;
            () = giving.closed() => return,
            turn = opener.turns.take(&path) => turn,
        };
        let writer = opening.await;
        let client = Arc::clone(&opener);
        let opened = writer.map(|writer| Opened { client, writer: Some(writer), turn: Some(turn) });
        // Given back, it is dropped.
        _ = giving.send(opened);
    };
    client.runtime.spawn(open.in_current_span());
    let ended = |_| Error::plain("the task that opens the file has ended");
    let mut opened = taking.await.map_err(ended)??;
    opened.writer.take().ok_or_else(|| Error::plain("the file was opened for another call"))
}

/// A writer that the caller has not taken yet.
struct Opened {
    client: Arc<Client>,
    /// `None` once the caller has it.
    writer: Option<Arc<Writer>>,
    turn: Option<Turn>,
}

impl Drop for Opened {
    fn drop(&mut self) {
        let Some(writer) = self.writer.take() else { return };
        let turn = self.turn.take();
        self.client.runtime.spawn(async move {
            if let Err(error) = Arc::clone(&writer).close_on_task().await {
                tracing::warn!(
                    "{}: the call that opened it was given up, and closing it failed: {error}",
                    writer.path()
                );
            }
            drop(turn);
        });
    }
}

/// The result of work that was started so.
fn outcome(work: JoinHandle<Result<()>>) -> Pending {
    Box::pin(async { work.await.map_err(Error::of_thread)? })
}

/// Takes bytes and writes them in the background: an error of one call is that of a later one, at the
/// latest of `shutdown`.
impl AsyncWrite for FileWriter {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        data: &[u8],
    ) -> Poll<io::Result<usize>> {
        let writer = self.get_mut();
        ready!(writer.poll_idle(cx))?;
        let len = data.len().min(PIECE_LEN);
        let taken = data.get(..len).unwrap_or_default();
        let budget = ready!(coop::poll_proceed(cx));
        budget.made_progress();
        if !writer.try_write(taken)? {
            let mut buffer = writer.client.buffers.take(len);
            buffer.as_mut().copy_from_slice(taken);
            writer.begin_write(buffer.into_bytes(len));
        }
        Poll::Ready(Ok(len))
    }

    /// Waits until what was taken is in packets, as [`write`](FileWriter::write) does. Readers need not see
    /// it: see [`hflush`](FileWriter::hflush).
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_idle(cx).map_err(Into::into)
    }

    /// Closes the file: see [`close`](FileWriter::close).
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.get_mut().poll_close(cx).map_err(Into::into)
    }
}

impl Drop for FileWriter {
    fn drop(&mut self) {
        // What a call began that was given up is finished; it must not be waited for here.
        let (inner, pending) = (Arc::clone(&self.inner), self.pending.get_mut().take());
        // The next call that opens the file waits for a close that is under way.
        let turn = self.client.turns.try_take(inner.path());
        self.client.runtime.spawn(async move {
            if let Some(pending) = pending
                && let Err(error) = pending.await
            {
                tracing::debug!("{} is dropped after {error}", inner.path());
            }
            inner.abandon();
            drop(turn);
        });
    }
}

#[cfg(test)]
#[path = "writer_test.rs"]
mod tests;

#[cfg(test)]
#[path = "given_up_test.rs"]
mod given_up_test;
