//! Changes of single blocks, until they have been reported to a NameNode.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use tokio::sync::{Notify, oneshot};
use zerohop_proto::hdfs::DatanodeStorageProto;
use zerohop_proto::hdfs::datanode::ReceivedDeletedBlockInfoProto;
use zerohop_proto::hdfs::datanode::StorageReceivedDeletedBlocksProto;
use zerohop_proto::hdfs::datanode::received_deleted_block_info_proto::BlockStatus;
use zerohop_wire::{Block, BlockId};

/// What has happened to one block, for an incremental block report.
#[derive(Debug, Clone)]
pub(crate) struct BlockChange {
    pub(crate) storage: DatanodeStorageProto,
    pub(crate) block: Block,
    pub(crate) status: BlockStatus,
    /// The DataNode whose replica may go instead, for moves.
    pub(crate) delete_hint: Option<String>,
}

impl BlockChange {
    fn key(&self) -> (String, BlockId) {
        (self.storage.storage_uuid.clone(), self.block.id)
    }
}

/// Changes that wait to be reported to one NameNode; the latest of a block replaces older ones.
#[derive(Default)]
pub(crate) struct PendingChanges {
    waiting: Mutex<Waiting>,
    filled: Notify,
}

#[derive(Default)]
struct Waiting {
    changes: HashMap<(String, BlockId), BlockChange>,
    told: Vec<oneshot::Sender<()>>,
}

/// Changes taken out to be reported.
#[derive(Default)]
pub(crate) struct Batch {
    changes: Vec<BlockChange>,
    told: Vec<oneshot::Sender<()>>,
}

impl PendingChanges {
    /// Adds a change, which is reported at once.
    pub(crate) fn add(&self, change: BlockChange) {
        self.waiting.lock().put(change);
        self.filled.notify_one();
    }

    /// Adds a change that waits for the next report or heartbeat.
    pub(crate) fn add_for_later(&self, change: BlockChange) {
        self.waiting.lock().put(change);
    }

    /// As [`add`](Self::add); the receiver hears when the NameNode was told.
    pub(crate) fn add_and_tell(&self, change: BlockChange) -> oneshot::Receiver<()> {
        let (told, heard) = oneshot::channel();
        let mut waiting = self.waiting.lock();
        waiting.put(change);
        waiting.told.push(told);
        drop(waiting);
        self.filled.notify_one();
        heard
    }

    /// Has the waiting changes reported now.
    pub(crate) fn wake(&self) {
        self.filled.notify_one();
    }

    /// Waits until there are changes to be reported now.
    pub(crate) async fn filled(&self) {
        self.filled.notified().await;
    }

    /// How many replicas began to be received, were received and were deleted.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        let waiting = self.waiting.lock();
        let count = |status| waiting.changes.values().filter(|c| c.status == status).count();
        (count(BlockStatus::Receiving), count(BlockStatus::Received), count(BlockStatus::Deleted))
    }

    /// Takes all changes out.
    pub(crate) fn take(&self) -> Batch {
        let waiting = std::mem::take(&mut *self.waiting.lock());
        Batch { changes: waiting.changes.into_values().collect(), told: waiting.told }
    }

    /// Puts back changes that could not be reported; newer ones of the same block win.
    pub(crate) fn put_back(&self, batch: Batch) {
        let mut waiting = self.waiting.lock();
        for old in batch.changes {
            match waiting.changes.entry(old.key()) {
                Entry::Vacant(free) => _ = free.insert(old),
                Entry::Occupied(mut known) if known.get().block.stamp < old.block.stamp => {
                    known.insert(old);
                }
                Entry::Occupied(_) => {}
            }
        }
        waiting.told.extend(batch.told);
    }
}

impl Waiting {
    /// The latest change wins, but what is said of an older stamp says nothing of a replica that has a
    /// newer one by now.
    fn put(&mut self, change: BlockChange) {
        match self.changes.entry(change.key()) {
            Entry::Vacant(free) => _ = free.insert(change),
            Entry::Occupied(mut known) if known.get().block.stamp <= change.block.stamp => {
                known.insert(change);
            }
            Entry::Occupied(_) => {}
        }
    }
}

impl Batch {
    /// Whether there is nothing to send.
    pub(crate) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// The message's storages.
    pub(crate) fn to_proto(&self) -> Vec<StorageReceivedDeletedBlocksProto> {
        let mut storages: Vec<StorageReceivedDeletedBlocksProto> = Vec::new();
        for change in &self.changes {
            let info = ReceivedDeletedBlockInfoProto {
                block: change.block.into(),
                status: change.status as i32,
                delete_hint: change.delete_hint.clone(),
            };
            let uuid = &change.storage.storage_uuid;
            match storages.iter_mut().find(|storage| storage.storage_uuid == *uuid) {
                Some(storage) => storage.blocks.push(info),
                None => storages.push(StorageReceivedDeletedBlocksProto {
                    storage_uuid: uuid.clone(),
                    blocks: vec![info],
                    storage: Some(change.storage.clone()),
                }),
            }
        }
        storages
    }

    /// Tells those who wait that it was sent.
    pub(crate) fn tell(self) {
        for told in self.told {
            let _not_awaited_any_more = told.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_wire::GenerationStamp;

    fn block_change(id: i64, status: BlockStatus) -> BlockChange {
        BlockChange {
            storage: DatanodeStorageProto { storage_uuid: "DS-1".into(), ..Default::default() },
            block: Block { id: BlockId(id), stamp: GenerationStamp(1001), len: 1 },
            status,
            delete_hint: None,
        }
    }

    #[test]
    fn the_latest_news_of_a_block_win_also_after_a_failure() {
        let pending_changes = PendingChanges::default();
        pending_changes.add(block_change(1, BlockStatus::Receiving));
        let mut heard = pending_changes.add_and_tell(block_change(1, BlockStatus::Received));
        let batch = pending_changes.take();
        assert_eq!(batch.to_proto()[0].blocks.len(), 1);
        pending_changes.add(block_change(1, BlockStatus::Deleted));
        pending_changes.put_back(batch);
        assert!(heard.try_recv().is_err());
        let batch = pending_changes.take();
        assert_eq!(batch.to_proto()[0].blocks[0].status, BlockStatus::Deleted as i32);
        batch.tell();
        assert_eq!(heard.try_recv(), Ok(()));
    }
    #[test]
    fn news_of_an_older_stamp_replace_none_of_a_newer_one() {
        let of = |stamp: i64, status: BlockStatus| {
            let mut change = block_change(1, status);
            change.block.stamp = GenerationStamp(stamp);
            change
        };
        let kept = |pending_changes: &PendingChanges| {
            let block = pending_changes.take().to_proto()[0].blocks[0].clone();
            (block.block.gen_stamp, block.status())
        };
        let pending_changes = PendingChanges::default();
        pending_changes.add(of(1002, BlockStatus::Received));
        pending_changes.add(of(1001, BlockStatus::Deleted));
        assert_eq!(kept(&pending_changes), (1002, BlockStatus::Received));
        pending_changes.add(of(1002, BlockStatus::Received));
        let failed = pending_changes.take();
        pending_changes.add(of(1001, BlockStatus::Deleted));
        pending_changes.put_back(failed);
        assert_eq!(kept(&pending_changes), (1002, BlockStatus::Received));
    }
}
