//! Messages of DataNodes to a standby about blocks whose edits have not arrived.
//!
//! DataNodes report to every NameNode at once, and a standby hears of edits later than they happen. A replica of a block
//! that it does not know yet, or that is newer than it knows, is neither unknown nor corrupt: the message waits until the
//! block's edit has been applied, or until this NameNode becomes active and has all edits (`PendingDataNodeMessages`).

use super::types::{NodeIdx, StorageIdx};
use crate::ids::Ids;
use hashbrown::HashMap;
use smallvec::SmallVec;
use zerohop_wire::{Block, BlockId, GenerationStamp, ReportedReplica};

/// Which report a replica was in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// The first full report of a storage since its DataNode registered, or one during the safe mode of the start.
    FirstReport,
    /// A later one.
    Report,
    /// An incremental report; perhaps of a replica that shall take another DataNode's place.
    Event(Option<NodeIdx>),
}

impl Origin {
    /// The DataNode whose place the replica shall take.
    pub(super) fn instead_of(self) -> Option<NodeIdx> {
        match self {
            Self::Event(instead_of) => instead_of,
            Self::FirstReport | Self::Report => None,
        }
    }
}

/// A DataNode's report of one replica.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Message {
    Reported(ReportedReplica, Origin),
    Deleted(Block),
}

impl Message {
    fn block(&self) -> Block {
        match self {
            Self::Reported(replica, _) => replica.block,
            Self::Deleted(block) => *block,
        }
    }

    /// Whether both report the same state of a replica: a full report repeats what an incremental one contained.
    fn repeats(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Reported(one, _), Self::Reported(two, _)) => one == two,
            (one, two) => one == two,
        }
    }
}

/// Messages in the order in which they came, and the storage of each.
type Queue = SmallVec<[(StorageIdx, Message); 3]>;

/// The messages that wait. There are none unless the NameNode is a standby.
#[derive(Debug, Default)]
pub(super) struct PendingMessages {
    by_block: HashMap<BlockId, Queue>,
    count: usize,
    last_id: BlockId,
    last_stamp: GenerationStamp,
}

impl PendingMessages {
    /// The counters after the last edit that was applied.
    pub(super) fn set_ids(&mut self, ids: &Ids) {
        (self.last_id, self.last_stamp) = (ids.block, ids.stamp);
    }

    /// Whether a block, or this generation stamp of it, comes from an edit that has not arrived. Of a block that is not
    /// known, the edits of its id and stamp may have arrived, and the one that adds it to a file not.
    pub(super) fn is_in_future(&self, block: Block, is_known: bool) -> bool {
        if is_known {
            block.stamp > self.last_stamp
        } else {
            block.stamp >= self.last_stamp || block.id >= self.last_id
        }
    }

    /// Keeps a message until the block's next edit.
    pub(super) fn add(&mut self, storage: StorageIdx, message: Message) {
        let queue = self.by_block.entry(message.block().id).or_default();
        let last = queue.iter().rfind(|(other, _)| *other == storage);
        if last.is_some_and(|(_, last)| message.repeats(last)) {
            return;
        }
        queue.push((storage, message));
        self.count += 1;
    }

    /// The messages about a block, which wait no longer.
    pub(super) fn take(&mut self, id: BlockId) -> Queue {
        let queue = self.by_block.remove(&id).unwrap_or_default();
        self.count -= queue.len();
        queue
    }

    /// The blocks with messages that wait.
    pub(super) fn blocks(&self) -> Vec<BlockId> {
        self.by_block.keys().copied().collect()
    }

    /// Forgets the messages about these storages: their DataNode is dead, or reports anew.
    pub(super) fn forget(&mut self, storages: &[StorageIdx]) {
        if self.count == 0 {
            return;
        }
        self.by_block.retain(|_, queue| {
            let before = queue.len();
            queue.retain(|(storage, _)| !storages.contains(storage));
            self.count -= before - queue.len();
            !queue.is_empty()
        });
    }

    /// How many messages wait.
    pub(super) fn count(&self) -> usize {
        self.count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_wire::ReplicaState;

    fn block(id: i64, stamp: i64) -> Block {
        Block { id: BlockId(id), len: 1, stamp: GenerationStamp(stamp) }
    }

    fn reported(id: i64, stamp: i64) -> Message {
        let replica = ReportedReplica { block: block(id, stamp), state: ReplicaState::Finalized };
        Message::Reported(replica, Origin::Event(None))
    }

    #[test]
    fn a_block_is_in_the_future_by_its_stamp_and_if_unknown_by_its_id() {
        let mut pending = PendingMessages::default();
        let ids = Ids { block: BlockId(10), stamp: GenerationStamp(20), ..Ids::default() };
        pending.set_ids(&ids);
        let is_in_future = |id, stamp, known| pending.is_in_future(block(id, stamp), known);
        assert!(is_in_future(5, 21, true) && !is_in_future(5, 20, true));
        assert!(is_in_future(11, 1, false) && is_in_future(5, 21, false));
        assert!(is_in_future(10, 20, false), "the edit that adds it may be the next");
        assert!(!is_in_future(9, 19, false));
    }

    #[test]
    fn messages_wait_in_order_until_their_block_is_taken() {
        let (mut pending, one, two) = (PendingMessages::default(), StorageIdx(1), StorageIdx(2));
        pending.add(one, reported(7, 1));
        pending.add(one, Message::Deleted(block(7, 1)));
        pending.add(two, reported(7, 1));
        pending.add(two, reported(8, 1));
        assert_eq!(pending.count(), 4);
        let expected =
            [(one, reported(7, 1)), (one, Message::Deleted(block(7, 1))), (two, reported(7, 1))];
        assert_eq!(pending.take(BlockId(7)).as_slice(), expected);
        assert!(pending.take(BlockId(7)).is_empty());
        assert_eq!((pending.count(), pending.blocks()), (1, vec![BlockId(8)]));
    }

    #[test]
    fn a_report_that_repeats_a_message_adds_none() {
        let mut pending = PendingMessages::default();
        let Message::Reported(replica, _) = reported(7, 1) else { unreachable!() };
        pending.add(StorageIdx(1), reported(7, 1));
        pending.add(StorageIdx(1), Message::Reported(replica, Origin::Report));
        assert_eq!(pending.count(), 1);
        pending.add(StorageIdx(1), Message::Deleted(replica.block));
        pending.add(StorageIdx(1), reported(7, 1));
        assert_eq!(pending.count(), 3, "it came back");
    }

    #[test]
    fn messages_of_a_dead_datanode_are_forgotten() {
        let mut pending = PendingMessages::default();
        pending.add(StorageIdx(1), reported(7, 1));
        pending.add(StorageIdx(2), reported(7, 1));
        pending.add(StorageIdx(1), reported(8, 1));
        pending.forget(&[StorageIdx(1)]);
        assert_eq!((pending.count(), pending.blocks()), (1, vec![BlockId(7)]));
    }
}
