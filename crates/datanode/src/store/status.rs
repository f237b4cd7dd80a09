//! What changes about a replica: its state, its files, its writer, its recovery.

use super::volume::DataVolume;
use super::writer::Writer;
use std::fmt;
use std::sync::Arc;
use zerohop_replica::{LiveReplica, StoredReplica};
use zerohop_wire::block_report::ReplicaState;
use zerohop_wire::{Block, GenerationStamp};

/// What is known of a replica.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    state: ReplicaState,
    files: Files,
    /// Who writes now.
    writer: Option<Arc<Writer>>,
    /// While under recovery: the recovery's id and the state before it.
    recovery: Option<Recovery>,
    /// Space reserved on the volume for bytes that did not come yet.
    reserved: u64,
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

/// What is known.
impl Status {
    /// A replica found on disk.
    pub(crate) fn stored(stored: StoredReplica) -> Self {
        let state = stored.place.state_at_start();
        Self { state, files: Files::Stored(stored), writer: None, recovery: None, reserved: 0 }
    }

    /// A replica that `writer` writes, with `reserved` bytes set aside for it.
    pub(crate) fn written_by(
        writer: Arc<Writer>,
        state: ReplicaState,
        live: Arc<LiveReplica>,
        reserved: u64,
    ) -> Self {
        Self { writer: Some(writer), reserved, ..Self::open(state, live) }
    }

    /// A replica whose writer is away.
    pub(crate) fn open(state: ReplicaState, live: Arc<LiveReplica>) -> Self {
        Self { state, files: Files::Live(live), writer: None, recovery: None, reserved: 0 }
    }

    /// Its state; RUR while a recovery is under way.
    pub(crate) fn state(&self) -> ReplicaState {
        self.state
    }

    /// The state before a recovery, if one is under way.
    pub(crate) fn original_state(&self) -> ReplicaState {
        self.recovery.map_or(self.state, |recovery| recovery.original)
    }

    /// Its files.
    pub(crate) fn files(&self) -> &Files {
        &self.files
    }

    /// Its files on disk if it is finalized, and no recovery is under way.
    pub(crate) fn finalized(&self) -> Option<StoredReplica> {
        match &self.files {
            Files::Stored(stored) if self.state == ReplicaState::Finalized => Some(*stored),
            _ => None,
        }
    }

    /// Who writes now.
    pub(crate) fn writer(&self) -> Option<&Arc<Writer>> {
        self.writer.as_ref()
    }

    /// The recovery under way.
    pub(crate) fn recovery(&self) -> Option<Recovery> {
        self.recovery
    }

    /// Space reserved on the volume for bytes that did not come yet.
    #[cfg(test)]
    pub(crate) fn reserved(&self) -> u64 {
        self.reserved
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

    /// How many bytes readers may see; `None` while it is a temporary copy, or waits for its recovery:
    /// then it may have fewer bytes than a writer was promised.
    pub(crate) fn visible(&self) -> Option<u64> {
        match self.original_state() {
            ReplicaState::Finalized => Some(self.block().len),
            ReplicaState::Rbw => Some(self.acked()),
            ReplicaState::Rwr | ReplicaState::Rur | ReplicaState::Temporary => None,
        }
    }

    pub(super) fn describe(&self, volume: &DataVolume, f: &mut fmt::Formatter<'_>) -> fmt::Result {
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
        fmt::from_fn(move |f| self.describe(volume, f))
    }
}

/// What becomes of it.
impl Status {
    /// `writer` writes from here on; the former one has left.
    pub(super) fn set_writer(&mut self, writer: &Arc<Writer>) {
        self.writer = Some(Arc::clone(writer));
    }

    /// `writer` does not write any more; false if another one does.
    pub(super) fn clear_writer(&mut self, writer: &Arc<Writer>) -> bool {
        let is_current = self.writer.as_ref().is_some_and(|current| Arc::ptr_eq(current, writer));
        if is_current {
            self.writer = None;
        }
        is_current
    }

    /// Its files are open from here on; its state stays.
    pub(super) fn set_live(&mut self, live: Arc<LiveReplica>) {
        self.files = Files::Live(live);
    }

    /// Its files on disk are found to be these.
    pub(super) fn set_stored(&mut self, stored: StoredReplica) {
        self.files = Files::Stored(stored);
    }

    /// It is open to be written on, with `reserved` bytes set aside for it.
    pub(super) fn reopen(&mut self, live: Arc<LiveReplica>, reserved: u64) {
        self.state = ReplicaState::Rbw;
        self.files = Files::Live(live);
        self.reserved = reserved;
    }

    /// A copy for a client's pipeline is whole; the client's writer is yet to come.
    pub(super) fn convert_to_rbw(&mut self) {
        self.state = ReplicaState::Rbw;
        self.writer = None;
    }

    /// A recovery begins, or takes the place of an earlier one.
    pub(super) fn begin_recovery(&mut self, id: GenerationStamp) -> Recovery {
        let recovery = Recovery { id, original: self.original_state() };
        self.state = ReplicaState::Rur;
        self.recovery = Some(recovery);
        recovery
    }

    /// It is final: its files are these, and a recovery is over.
    pub(super) fn finalize(&mut self, stored: StoredReplica) {
        self.state = ReplicaState::Finalized;
        self.files = Files::Stored(stored);
        self.recovery = None;
    }

    /// Takes up to `len` of the space reserved for it; how much that was.
    pub(super) fn take_reserved(&mut self, len: u64) -> u64 {
        let taken = len.min(self.reserved);
        self.reserved -= taken;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_replica::Place;
    use zerohop_wire::BlockId;

    fn finalized() -> Status {
        let block = Block { id: BlockId(1), stamp: GenerationStamp(1001), len: 700 };
        Status::stored(StoredReplica { block, place: Place::Finalized, meta_len: 15 })
    }

    #[test]
    fn a_second_recovery_remembers_the_state_before_the_first() {
        let mut status = finalized();
        let stored = status.finalized().unwrap();
        status.begin_recovery(GenerationStamp(1002));
        assert_eq!((status.state(), status.finalized()), (ReplicaState::Rur, None));
        let again = status.begin_recovery(GenerationStamp(1003));
        let original = ReplicaState::Finalized;
        assert_eq!(again, Recovery { id: GenerationStamp(1003), original });
        assert_eq!(status.visible(), Some(700));
        status.finalize(stored);
        assert_eq!((status.state(), status.recovery()), (original, None));
    }

    #[test]
    fn a_late_writer_does_not_clear_the_one_that_followed() {
        let stream = || Arc::new(zerohop_transport::domain::pair().unwrap().0.into());
        let (first, second) = (Writer::new(stream()), Writer::new(stream()));
        let mut status = finalized();
        status.set_writer(&first);
        status.set_writer(&second);
        assert!(!status.clear_writer(&first));
        assert!(status.writer().is_some_and(|writer| Arc::ptr_eq(writer, &second)));
        assert!(status.clear_writer(&second));
        assert!(status.writer().is_none());
    }
}
