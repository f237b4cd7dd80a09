//! Where received packets go: the files of a replica, and the DataNode that is told when it is whole.

use crate::outliers::{DiskCall, SlowCall};
use crate::store::write::Writable;
use std::io;
use std::time::{Duration, Instant};
use zerohop_proto::hdfs::Status;
use zerohop_replica::{FlushExtent, Packet};
use zerohop_system::clock;

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
            let begun = clock::now();
            self.sink.finalize(&self.target, self.sync_at_end)?;
            self.is_finalized = true;
            self.note_disk(SlowCall::FlushOrSync, begun);
        }
        Ok(())
    }

    /// Writes packets into the files as far as `extent` says; up to where they are filled then.
    pub(super) fn write(
        &self,
        packets: &[Packet<'_>],
        extent: FlushExtent,
    ) -> Result<u64, zerohop_replica::Error> {
        let begun = clock::now();
        let times = &self.target.replica.volume.times;
        let written = times.time(DiskCall::Write, || self.target.live.write_run(packets, extent));
        self.note_disk(SlowCall::WriteToDisk, begun);
        written
    }

    /// Forces what is written to the disk; how many bytes of the block that is.
    pub(super) fn sync(&self) -> Result<u64, zerohop_replica::Error> {
        let begun = clock::now();
        let times = &self.target.replica.volume.times;
        let synced = times.time(DiskCall::Sync, || self.target.live.sync());
        self.note_disk(SlowCall::FlushOrSync, begun);
        synced
    }

    fn note_disk(&self, call: SlowCall, begun: Instant) {
        let replica = &self.target.replica;
        let about =
            || format!("volume={}, blockId={}", replica.volume.root().display(), replica.id);
        replica.volume.times.slow_calls().note(call, clock::since(begun), about);
    }

    /// The downstream DataNode took so long for packets.
    pub(super) fn note_downstream(&self, name: &str, took: Duration) {
        let replica = &self.target.replica;
        let about = || format!("downstream DN={name}, blockId={}", replica.id);
        replica.volume.times.slow_calls().note(SlowCall::WriteToMirror, took, about);
    }
}
