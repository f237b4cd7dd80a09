//! A file being written, as threads and tasks write it: what they want done continues step by step, and between the
//! steps the NameNode is asked.

use super::call::{Answer, Need, WrittenFile};
use super::create::{block_flags, create_file, reject_unsupported};
use super::packet_writer::{PacketWriter, Work};
use super::stream::Stream;
use super::turns::{Turn, Turns};
use crate::client::Client;
use crate::error::{Error, Result};
use crate::lease::{Idle, Keepable};
use crate::spans;
use crate::types::{AppendOptions, CreateOptions};
use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use tracing::Instrument;
use zerohop_transport::trace;
use zerohop_wire::JavaException;

/// A file being written. What is not async blocks the thread.
pub(crate) struct Writer {
    file: Arc<WrittenFile>,
    is_open: AtomicBool,
    /// Bytes of the file with those given by the caller: known without waiting for the state, which is locked while block
    /// data moves.
    pos: AtomicU64,
    turns: Turns,
    state: Mutex<State>,
}

struct State {
    packets: PacketWriter,
    failure: Option<Error>,
}

impl State {
    /// Records a failure, unless there is one already.
    fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
        self.packets.stream.pipeline = None;
    }
}

/// A step that is being taken. If it panics it leaves a failure: bytes may be missing.
struct Step<'a> {
    writer: &'a Writer,
    state: MutexGuard<'a, State>,
    has_ended: bool,
}

impl Drop for Step<'_> {
    fn drop(&mut self) {
        if self.has_ended {
            self.writer.pos.store(self.state.packets.pos, Ordering::Release);
        } else {
            self.state.fail(self.writer.unfinished());
        }
    }
}

impl Writer {
    pub(crate) async fn create(
        client: &Arc<Client>,
        src: String,
        options: &CreateOptions,
    ) -> Result<Arc<Self>> {
        let settings = &client.settings;
        let checksum = options.checksum.unwrap_or(settings.checksum);
        let block_size = options.block_size.unwrap_or(settings.block_size);
        let chunk_len = checksum.bytes_per_checksum() as u64;
        if !block_size.is_multiple_of(chunk_len) {
            return Err(Error::invalid(format!(
                "Invalid values: dfs.bytes-per-checksum (={chunk_len}) must divide block size \
                 (={block_size})."
            )));
        }
        let span = spans::of_file("write file", &src);
        let created = create_file(client, &src, options, block_size).instrument(span.clone()).await;
        let status = created.inspect_err(|error| trace::record_failure(&span, error))?;
        let file = Arc::new(WrittenFile {
            client: Arc::clone(client),
            src,
            file_id: status.file_id.0,
            favored: options.favored_nodes.clone(),
            block_flags: block_flags(options),
            span,
        });
        if let Err(refused) = reject_unsupported(&file.src, &status) {
            return Err(file.refuse(None, refused).await);
        }
        let mut stream = Stream::new(Arc::clone(&file), &status, checksum);
        stream.lazy_persist = options.lazy_persist;
        Ok(Self::start(file, PacketWriter::new(stream, checksum, options.sync_block)))
    }

    pub(crate) async fn append(
        client: &Arc<Client>,
        src: String,
        options: &AppendOptions,
    ) -> Result<Arc<Self>> {
        let span = spans::of_file("append to file", &src);
        let asked = client.namenode.append(&src, &client.name, options);
        let appended = asked.instrument(span.clone()).await;
        let (last, status) = appended.inspect_err(|error| trace::record_failure(&span, error))?;
        let checksum = client.settings.checksum;
        let file = Arc::new(WrittenFile {
            client: Arc::clone(client),
            src,
            file_id: status.file_id.0,
            favored: Vec::new(),
            block_flags: Vec::new(),
            span,
        });
        let stream = Stream::new(Arc::clone(&file), &status, checksum);
        let mut packets = PacketWriter::new(stream, checksum, options.sync_block);
        packets.pos = status.len;
        let end = last.as_ref().map(|last| last.block.clone());
        let continued = reject_unsupported(&file.src, &status).and_then(|()| match last {
            Some(last) if !options.new_block => packets.continue_block(last, &status),
            Some(last) => {
                packets.stream.block = Some(last.block);
                Ok(())
            }
            None => Ok(()),
        });
        if let Err(refused) = continued {
            return Err(file.refuse(end, refused).await);
        }
        Ok(Self::start(file, packets))
    }

    fn start(file: Arc<WrittenFile>, packets: PacketWriter) -> Arc<Self> {
        let pos = AtomicU64::new(packets.pos);
        let state = Mutex::new(State { packets, failure: None });
        let is_open = AtomicBool::new(true);
        let writer = Arc::new(Self { file, is_open, pos, turns: Turns::default(), state });
        let weak: Weak<Self> = Arc::downgrade(&writer);
        writer.file.client.leases.keep(weak);
        writer
    }

    pub(crate) fn path(&self) -> &str {
        &self.file.src
    }

    pub(crate) fn pos(&self) -> u64 {
        self.pos.load(Ordering::Acquire)
    }

    pub(crate) fn file_id(&self) -> u64 {
        self.file.file_id
    }

    /// Returns the error of every further call, if this writer is known to have failed. Does not wait.
    pub(crate) fn failure(&self) -> Option<Error> {
        if self.turns.is_broken() {
            return Some(self.unfinished());
        }
        self.state.try_lock()?.failure.clone()
    }

    /// DataNodes of the current pipeline.
    pub(crate) fn replicas(&self) -> usize {
        self.state.lock().packets.stream.nodes.len()
    }

    /// Does work on this thread, which waits for the NameNode where that has to be asked.
    pub(crate) fn run<D: AsRef<[u8]>>(&self, work: Work<D>) -> Result<()> {
        let turn = self.wait_for_turn();
        let done = self.run_in_turn(work);
        turn.end();
        done
    }

    /// Waits for a repair that is under way.
    fn wait_for_turn(&self) -> Turn<'_> {
        self.turns.try_take().unwrap_or_else(|| self.file.client.wait(self.turns.take()))
    }

    fn run_in_turn<D: AsRef<[u8]>>(&self, mut work: Work<D>) -> Result<()> {
        let mut answer = None;
        while let Some(need) = self.step(&mut work, answer.take())? {
            answer = Some(self.file.client.wait(self.file.meet(need)));
        }
        Ok(())
    }

    /// The same on a task: block data moves on a thread, and the task awaits the NameNode.
    pub(crate) async fn run_on_task(self: Arc<Self>, work: Work<Bytes>) -> Result<()> {
        let turn = self.turns.take().await;
        let done = self.continue_on_task(work).await;
        turn.end();
        done
    }

    /// Does work step by step; where the runtime takes no more of it, the rest is lost.
    async fn continue_on_task(self: &Arc<Self>, work: Work<Bytes>) -> Result<()> {
        let done = self.steps_on_threads(work).await;
        if let Err(error) = &done
            && self.is_open()
        {
            self.state.lock().fail(error.clone());
        }
        done
    }

    async fn steps_on_threads(self: &Arc<Self>, mut work: Work<Bytes>) -> Result<()> {
        let mut answer = None;
        loop {
            let writer = Arc::clone(self);
            let step = move || {
                let need = writer.step(&mut work, answer)?;
                Ok((need, work))
            };
            let (need, continued) = self.file.client.on_thread(step).await?;
            let Some(need) = need else { return Ok(()) };
            answer = Some(self.file.meet(need).await);
            work = continued;
        }
    }

    /// Continues work until it is done or needs the NameNode.
    fn step<D: AsRef<[u8]>>(
        &self,
        work: &mut Work<D>,
        answer: Option<Answer>,
    ) -> Result<Option<Need>> {
        let _within = self.file.span.enter();
        self.guarded(|packets| {
            if let Some(answer) = answer {
                packets.stream.answered(answer);
            }
            packets.step(work)
        })
    }

    /// Writes `data` if that waits for nothing: the packet that is being filled has room for it and
    /// more. False, and nothing is written, if not.
    pub(crate) fn try_write(&self, data: &[u8]) -> Result<bool> {
        let Some(state) = self.state.try_lock().filter(|_| self.is_open()) else {
            return Ok(false);
        };
        self.guard(state, |packets| Ok(packets.try_write(data)))
    }

    /// Writes what `input` puts into a packet; see [`PacketWriter::fill_with`]. `input`'s own error is the
    /// inner one, after which the file is as it was.
    pub(crate) fn write_with(
        &self,
        input: impl FnOnce(&mut [u8]) -> io::Result<usize>,
    ) -> Result<io::Result<usize>> {
        let turn = self.wait_for_turn();
        let filled = (|| {
            self.run_in_turn(Work::<&[u8]>::EndFullBlock)?;
            let filled = self.guarded(|packets| Ok(packets.fill_with(input)))?;
            self.run_in_turn(Work::<&[u8]>::Send)?;
            Ok(filled)
        })();
        turn.end();
        filled
    }

    /// Sends what is left and completes the file. A second call does nothing, and fails as the first one did.
    pub(crate) fn close(&self) -> Result<()> {
        if !self.is_open() {
            return self.state.lock().failure.clone().map_or(Ok(()), Err);
        }
        let sent = self.run(Work::<&[u8]>::finish());
        self.file.client.wait(self.end(sent))
    }

    /// The same without blocking the task.
    pub(crate) async fn close_on_task(self: Arc<Self>) -> Result<()> {
        if !self.is_open() {
            return Ok(());
        }
        let sent = Arc::clone(&self).run_on_task(Work::finish()).await;
        self.end(sent).await
    }

    /// Completes the file, if all of it was sent, or if there was no room for the rest.
    async fn end(&self, sent: Result<()>) -> Result<()> {
        let completes = sent.as_ref().err().is_none_or(is_out_of_space);
        let completed = if completes { self.complete().await } else { Ok(()) };
        let closed = match sent {
            Ok(()) => completed,
            Err(error) => {
                if let Err(failure) = completed {
                    tracing::warn!("{} stays open: {failure}", self.file.src);
                }
                Err(error)
            }
        };
        if let Err(error) = &closed {
            self.state.lock().failure.get_or_insert_with(|| error.clone());
        }
        self.abandon();
        if closed.is_err() && self.file.client.settings.recover_lease_on_close {
            self.file.recover_lease().await;
        }
        closed
    }

    async fn complete(&self) -> Result<()> {
        let last = self.state.lock().packets.stream.block.clone();
        let completed = self.file.complete(last).instrument(self.file.span.clone()).await;
        completed.inspect_err(|error| trace::record_failure(&self.file.span, error))
    }

    /// Gives the file up without completing it: its lease runs out by itself. Waits for nothing: a repair that has the
    /// state ends at its next step, and the pipeline with the writer.
    pub(crate) fn abandon(&self) {
        self.is_open.store(false, Ordering::Release);
        if let Some(mut state) = self.state.try_lock() {
            state.packets.stream.pipeline = None;
        }
    }

    /// After a failure every call fails with the same error: what was acknowledged is unknown.
    fn guarded<T>(&self, work: impl FnOnce(&mut PacketWriter) -> Result<T>) -> Result<T> {
        if !self.is_open() {
            return Err(Error::plain("stream is closed"));
        }
        self.guard(self.state.lock(), work)
    }

    fn guard<T>(
        &self,
        mut state: MutexGuard<'_, State>,
        work: impl FnOnce(&mut PacketWriter) -> Result<T>,
    ) -> Result<T> {
        if let Some(failure) = &state.failure {
            return Err(failure.clone());
        }
        if self.turns.is_broken() {
            state.packets.stream.pipeline = None;
            return Err(self.unfinished());
        }
        let mut step = Step { writer: self, state, has_ended: false };
        let result = work(&mut step.state.packets);
        step.has_ended = true;
        if let Err(error) = &result {
            trace::record_failure(&self.file.span, error);
            step.state.fail(error.clone());
        }
        result
    }

    /// The error after work that ended in the middle.
    fn unfinished(&self) -> Error {
        Error::plain(format!(
            "{}: an earlier call was not finished, because its thread panicked or its runtime was shut down; what it \
             wrote is unknown, and the file cannot be completed: write it again",
            self.file.src
        ))
    }
}

/// Returns `true` for an error of a space quota. As with Hadoop's client, close then completes the file without the rest: the
/// caller gets the error, and the lease ends.
fn is_out_of_space(error: &Error) -> bool {
    use JavaException::{DSQuotaExceeded, QuotaByStorageTypeExceeded};
    matches!(error.remote_kind(), Some(DSQuotaExceeded | QuotaByStorageTypeExceeded))
}

impl Keepable for Writer {
    fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Acquire)
    }

    fn look(&self) -> Idle {
        // A call that holds the lock meets a failure itself.
        let state = self.state.try_lock().filter(|state| state.failure.is_none());
        state.map_or(Idle::Well, |mut state| state.packets.stream.look())
    }

    fn heartbeat(&self) {
        if let Some(mut state) = self.state.try_lock()
            && state.packets.stream.is_quiet()
        {
            state.packets.stream.heartbeat();
        }
    }

    fn repair(self: Arc<Self>) {
        let runtime = self.file.client.runtime.clone();
        runtime.spawn(async move {
            // Without the turn: a call is under way, and meets the failure itself.
            let Some(turn) = self.turns.try_take() else { return };
            if let Err(error) = self.continue_on_task(Work::Repair).await {
                tracing::warn!("{}: the pipeline is lost: {error}", self.file.src);
            }
            turn.end();
        });
    }
}

#[cfg(test)]
#[path = "file_test.rs"]
mod tests;
