//! One replica as the DataNode knows it in memory.

use super::Failure;
use super::status::Status;
use super::volume::DataVolume;
use super::writer::Writer;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;
use zerohop_system::clock;
use zerohop_wire::block_report::ReplicaState;
use zerohop_wire::{Block, BlockId};

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
        status.writer().into_iter().for_each(|writer| writer.stop());
        true
    }

    /// Stops its writer, if it has one.
    pub(super) fn stop_writer(&self) {
        self.lock().writer().into_iter().for_each(|writer| writer.stop());
    }

    /// Its status, locked, if no other thread holds the lock.
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
        self.status.lock().state()
    }

    /// The writer has put more bytes into the files.
    pub(crate) fn grown(&self) {
        self.changed.notify_all();
    }

    /// So many bytes more are in the files: the file system counts them, they are not promised any more.
    pub(crate) fn filled(&self, len: u64) {
        let taken = self.status.lock().take_reserved(len);
        self.volume.release(taken);
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
            if over || status.writer().is_none() {
                return status.block().len >= len;
            }
        }
        true
    }

    /// `writer` does not write any more.
    pub(crate) fn release(&self, writer: &Arc<Writer>) {
        if self.status.lock().clear_writer(writer) {
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
        while let Some(writer) = status.writer().cloned() {
            writer.stop();
            let over = self.changed.wait_until(&mut status, deadline).timed_out();
            if over && status.writer().is_some() {
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
