//! One replica as the DataNode knows it in memory.

use super::Failure;
use super::volume::DataVolume;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::fmt;
use std::io;
use std::net::Shutdown;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zerohop_replica::{LiveReplica, StoredReplica};
use zerohop_system::clock;
use zerohop_transport::net::DataStream;
use zerohop_wire::block_report::ReplicaState;
use zerohop_wire::{Block, BlockId, GenerationStamp};

/// A replica: its volume, and what changes under its lock.
pub(crate) struct Replica {
    /// The block.
    pub(crate) id: BlockId,
    /// Where its files are.
    pub(crate) volume: Arc<DataVolume>,
    status: Mutex<Status>,
    /// A writer left, or more bytes can be read.
    changed: Condvar,
}

/// What is known of a replica.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    pub(crate) state: ReplicaState,
    pub(crate) files: Files,
    /// Who writes now.
    pub(crate) writer: Option<Arc<Writer>>,
    /// While under recovery: the recovery's id and the state before it.
    pub(crate) recovery: Option<Recovery>,
    /// Space reserved on the volume for bytes that did not come yet.
    pub(crate) reserved: u64,
}

/// The files of a replica.
#[derive(Clone, Debug)]
pub(crate) enum Files {
    /// They do not change.
    Stored(StoredReplica),
    /// They are open and may change.
    Live(Arc<LiveReplica>),
}

/// A recovery of a replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Recovery {
    /// The generation stamp the block will have.
    pub(crate) id: GenerationStamp,
    /// The state before the recovery.
    pub(crate) original: ReplicaState,
}

impl Status {
    /// A replica found on disk.
    pub(crate) fn stored(stored: StoredReplica) -> Self {
        let state = stored.place.state_at_start();
        Self { state, files: Files::Stored(stored), writer: None, recovery: None, reserved: 0 }
    }

    /// A replica that is being written.
    pub(crate) fn live(state: ReplicaState, live: Arc<LiveReplica>, writer: Arc<Writer>) -> Self {
        Self { writer: Some(writer), ..Self::open(state, live) }
    }

    /// A replica whose writer is away.
    pub(crate) fn open(state: ReplicaState, live: Arc<LiveReplica>) -> Self {
        Self { state, files: Files::Live(live), writer: None, recovery: None, reserved: 0 }
    }

    /// The block, with all bytes received as length.
    pub(crate) fn block(&self) -> Block {
        match &self.files {
            Files::Stored(stored) => stored.block,
            Files::Live(live) => live.block(),
        }
    }

    /// Bytes all nodes of the pipeline have.
    pub(crate) fn acked(&self) -> u64 {
        match &self.files {
            Files::Stored(stored) => stored.block.len,
            Files::Live(live) => live.acked(),
        }
    }

    /// The state before a recovery, if one is under way.
    pub(crate) fn original_state(&self) -> ReplicaState {
        self.recovery.map_or(self.state, |recovery| recovery.original)
    }

    /// How many bytes readers may see; `None` while it is a temporary copy, or waits for its recovery:
    /// then it may have fewer bytes than a writer was promised.
    pub(crate) fn visible(&self) -> Option<u64> {
        match self.original_state() {
            ReplicaState::Finalized => Some(self.block().len),
            ReplicaState::Rbw => Some(self.acked()),
            ReplicaState::Rwr | ReplicaState::Rur | ReplicaState::Temporary => None,
        }
    }
}

/// The thread that writes a replica, as others can reach it.
pub(crate) struct Writer {
    streams: Mutex<Vec<Arc<DataStream>>>,
    stopped: AtomicBool,
}

impl Writer {
    /// A writer that receives from `upstream`.
    pub(crate) fn new(upstream: Arc<DataStream>) -> Arc<Self> {
        Arc::new(Self { streams: Mutex::new(vec![upstream]), stopped: AtomicBool::new(false) })
    }

    /// Another stream the thread may wait for.
    pub(crate) fn add(&self, stream: Arc<DataStream>) {
        let mut streams = self.streams.lock();
        if self.stopped.load(Ordering::Acquire) {
            drop(stream.shutdown(Shutdown::Both));
        }
        streams.push(stream);
    }

    /// Cuts its connections, so that the thread ends soon.
    pub(crate) fn stop(&self) {
        let streams = self.streams.lock();
        self.stopped.store(true, Ordering::Release);
        for stream in streams.iter() {
            drop(stream.shutdown(Shutdown::Both));
        }
    }

    /// Ends the receiving side only: the thread can still say good-bye to its client.
    pub(crate) fn stop_receiving(&self) {
        let streams = self.streams.lock();
        self.stopped.store(true, Ordering::Release);
        if let Some(upstream) = streams.first() {
            drop(upstream.shutdown(Shutdown::Read));
        }
    }

    /// Whether somebody told it to stop.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Writer {{ stopped: {} }}", self.is_stopped())
    }
}

impl Replica {
    /// A replica on `volume`.
    pub(crate) fn new(id: BlockId, volume: Arc<DataVolume>, status: Status) -> Arc<Self> {
        Arc::new(Self { id, volume, status: Mutex::new(status), changed: Condvar::new() })
    }

    /// Its status, locked: moves of its files happen under this lock.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Status> {
        self.status.lock()
    }

    /// Stops its writer, if it has one; false if that would have to wait for its lock.
    pub(super) fn try_stop_writer(&self) -> bool {
        let Some(status) = self.status.try_lock() else { return false };
        status.writer.iter().for_each(|writer| writer.stop());
        true
    }

    /// Stops its writer, if it has one.
    pub(super) fn stop_writer(&self) {
        self.lock().writer.iter().for_each(|writer| writer.stop());
    }

    /// Its status, locked, if nobody has it locked now.
    pub(crate) fn try_lock(&self) -> Option<MutexGuard<'_, Status>> {
        self.status.try_lock()
    }

    /// As [`lock`](Self::lock), where another way to lock may fail.
    pub(super) fn lock_now(&self) -> Result<MutexGuard<'_, Status>, Failure> {
        Ok(self.lock())
    }

    /// The block, with all bytes received as length.
    pub(crate) fn block(&self) -> Block {
        self.status.lock().block()
    }

    /// Its state.
    pub(crate) fn state(&self) -> ReplicaState {
        self.status.lock().state
    }

    /// The writer has put more bytes into the files.
    pub(crate) fn grown(&self) {
        self.changed.notify_all();
    }

    /// So many bytes more are in the files: the file system counts them, they are not promised any more.
    pub(crate) fn filled(&self, len: u64) {
        let mut status = self.status.lock();
        let kept = len.min(status.reserved);
        status.reserved -= kept;
        drop(status);
        self.volume.release(kept);
    }

    /// Its writer failed: nothing more will come for now.
    pub(crate) fn expect_no_more(&self) {
        self.filled(u64::MAX);
    }

    /// Waits until `len` bytes can be read.
    pub(crate) fn wait_for(&self, len: u64, timeout: Duration) -> bool {
        let deadline = clock::now() + timeout;
        let mut status = self.status.lock();
        while status.block().len < len {
            let over = self.changed.wait_until(&mut status, deadline).timed_out();
            if over || status.writer.is_none() {
                return status.block().len >= len;
            }
        }
        true
    }

    /// `writer` does not write any more.
    pub(crate) fn release(&self, writer: &Arc<Writer>) {
        let mut status = self.status.lock();
        if status.writer.as_ref().is_some_and(|current| Arc::ptr_eq(current, writer)) {
            status.writer = None;
            self.changed.notify_all();
        }
    }

    /// Stops the present writer, if there is one, and waits until it left; the lock is held then.
    pub(crate) fn lock_without_writer(
        &self,
        timeout: Duration,
    ) -> io::Result<MutexGuard<'_, Status>> {
        let deadline = clock::now() + timeout;
        let mut status = self.status.lock();
        while let Some(writer) = status.writer.clone() {
            writer.stop();
            if self.changed.wait_until(&mut status, deadline).timed_out() && status.writer.is_some()
            {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    format!("Join on writer thread of {} timed out", self.id),
                ));
            }
        }
        Ok(status)
    }
}

impl fmt::Display for Replica {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.status.lock().describe(&self.volume, f)
    }
}

impl Status {
    fn describe(&self, volume: &DataVolume, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let block = self.block();
        write!(
            f,
            "{block}, {}, getNumBytes()={}, getVisibleLength()={}, getVolume()={volume}",
            self.state,
            block.len,
            self.visible().map_or(-1, |len| len as i64),
        )
    }

    /// The replica as messages name it, while its lock is held.
    pub(crate) fn text<'a>(&'a self, volume: &'a DataVolume) -> impl fmt::Display + 'a {
        std::fmt::from_fn(move |f| self.describe(volume, f))
    }
}
