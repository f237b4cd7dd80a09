//! Where received packets go: the files of a replica, and the DataNode that is told when it is whole.

use crate::store::write::Writable;
use std::io;
use std::time::Duration;
use zerohop_proto::hdfs::Status;

/// What the receiver asks of the DataNode around it.
pub(crate) trait Sink {
    /// All bytes are written: finalizes the replica and tells the NameNode.
    fn finalize(&mut self, target: &Writable, sync: bool) -> io::Result<()>;
    /// Called between packets of a copy that another program waits for.
    fn progress(&mut self) -> io::Result<()> {
        Ok(())
    }
    /// Packets were written, for metrics.
    fn wrote(&mut self, _packets: usize, _bytes: u64, _took: Duration) {}
    /// A checksum did not fit.
    fn corrupt(&mut self) {}
    /// What a writer that was told to stop says to its client.
    fn status_on_failure(&self) -> Option<Status> {
        None
    }
}

/// A replica being received.
pub(super) struct Destination<S: Sink> {
    pub(super) target: Writable,
    pub(super) sink: S,
    sync_at_end: bool,
    is_finalized: bool,
}

impl<S: Sink> Destination<S> {
    pub(super) fn new(target: Writable, sink: S, sync_at_end: bool) -> Self {
        Self { target, sink, sync_at_end, is_finalized: false }
    }

    /// The replica is forced to disk when it is finalized.
    pub(super) fn sync_at_end(&mut self) {
        self.sync_at_end = true;
    }

    /// All DataNodes of the pipeline have the replica up to `end`.
    pub(super) fn set_acked(&self, end: u64) {
        self.target.live.set_acked(end);
    }

    /// Finalizes the replica, once.
    pub(super) fn finalize(&mut self) -> io::Result<()> {
        if !self.is_finalized {
            self.sink.finalize(&self.target, self.sync_at_end)?;
            self.is_finalized = true;
        }
        Ok(())
    }
}
