//! What a NameNode has to be told about single blocks, until it was told.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use tokio::sync::{Notify, oneshot};
use zerohop_proto::hdfs::DatanodeStorageProto;
use zerohop_proto::hdfs::datanode::ReceivedDeletedBlockInfoProto;
use zerohop_proto::hdfs::datanode::StorageReceivedDeletedBlocksProto;
use zerohop_proto::hdfs::datanode::received_deleted_block_info_proto::BlockStatus;
use zerohop_wire::{Block, BlockId};

/// News of one block.
#[derive(Debug, Clone)]
pub(crate) struct News {
    pub(crate) storage: DatanodeStorageProto,
    pub(crate) block: Block,
    pub(crate) status: BlockStatus,
    /// The DataNode whose replica may go instead, for moves.
    pub(crate) delete_hint: Option<String>,
}

impl News {
    fn key(&self) -> (String, BlockId) {
        (self.storage.storage_uuid.clone(), self.block.id)
    }
}

/// News that wait to be sent to one NameNode; the latest of a block replaces older ones.
#[derive(Default)]
pub(crate) struct Outbox {
    waiting: Mutex<Waiting>,
    filled: Notify,
}

#[derive(Default)]
struct Waiting {
    news: HashMap<(String, BlockId), News>,
    told: Vec<oneshot::Sender<()>>,
}

/// News taken out to be sent.
#[derive(Default)]
pub(crate) struct Batch {
    news: Vec<News>,
    told: Vec<oneshot::Sender<()>>,
}

impl Outbox {
    /// Adds news; "receiving" alone does not hurry.
    pub(crate) fn add(&self, news: News) {
        let hurry = news.status != BlockStatus::Receiving;
        self.waiting.lock().put(news);
        if hurry {
            self.filled.notify_one();
        }
    }

    /// As [`add`](Self::add); the receiver hears when the NameNode was told.
    pub(crate) fn add_and_tell(&self, news: News) -> oneshot::Receiver<()> {
        let (told, heard) = oneshot::channel();
        let mut waiting = self.waiting.lock();
        waiting.put(news);
        waiting.told.push(told);
        drop(waiting);
        self.filled.notify_one();
        heard
    }

    /// Sends what is there although nothing hurries.
    pub(crate) fn hurry(&self) {
        self.filled.notify_one();
    }

    /// Waits until something hurries.
    pub(crate) async fn filled(&self) {
        self.filled.notified().await;
    }

    /// Takes all news out.
    pub(crate) fn take(&self) -> Batch {
        let waiting = std::mem::take(&mut *self.waiting.lock());
        Batch { news: waiting.news.into_values().collect(), told: waiting.told }
    }

    /// Puts back news that could not be sent; newer ones of the same block win.
    pub(crate) fn put_back(&self, batch: Batch) {
        let mut waiting = self.waiting.lock();
        for old in batch.news {
            match waiting.news.entry(old.key()) {
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
    /// The latest news win, but what is said of an older stamp says nothing of a replica that has a
    /// newer one by now.
    fn put(&mut self, news: News) {
        match self.news.entry(news.key()) {
            Entry::Vacant(free) => _ = free.insert(news),
            Entry::Occupied(mut known) if known.get().block.stamp <= news.block.stamp => {
                known.insert(news);
            }
            Entry::Occupied(_) => {}
        }
    }
}

impl Batch {
    /// Whether there is nothing to send.
    pub(crate) fn is_empty(&self) -> bool {
        self.news.is_empty()
    }

    /// The message's storages.
    pub(crate) fn to_proto(&self) -> Vec<StorageReceivedDeletedBlocksProto> {
        let mut storages: Vec<StorageReceivedDeletedBlocksProto> = Vec::new();
        for news in &self.news {
            let info = ReceivedDeletedBlockInfoProto {
                block: news.block.into(),
                status: news.status as i32,
                delete_hint: news.delete_hint.clone(),
            };
            let uuid = &news.storage.storage_uuid;
            match storages.iter_mut().find(|storage| storage.storage_uuid == *uuid) {
                Some(storage) => storage.blocks.push(info),
                None => storages.push(StorageReceivedDeletedBlocksProto {
                    storage_uuid: uuid.clone(),
                    blocks: vec![info],
                    storage: Some(news.storage.clone()),
                }),
            }
        }
        storages
    }

    /// Tells those who wait that it was sent.
    pub(crate) fn tell(self) {
        for told in self.told {
            let _nobody_waits_any_more = told.send(());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_wire::GenerationStamp;

    fn news(id: i64, status: BlockStatus) -> News {
        News {
            storage: DatanodeStorageProto { storage_uuid: "DS-1".into(), ..Default::default() },
            block: Block { id: BlockId(id), stamp: GenerationStamp(1001), len: 1 },
            status,
            delete_hint: None,
        }
    }

    #[test]
    fn the_latest_news_of_a_block_win_also_after_a_failure() {
        let outbox = Outbox::default();
        outbox.add(news(1, BlockStatus::Receiving));
        let mut heard = outbox.add_and_tell(news(1, BlockStatus::Received));
        let batch = outbox.take();
        assert_eq!(batch.to_proto()[0].blocks.len(), 1);
        outbox.add(news(1, BlockStatus::Deleted));
        outbox.put_back(batch);
        assert!(heard.try_recv().is_err());
        let batch = outbox.take();
        assert_eq!(batch.to_proto()[0].blocks[0].status, BlockStatus::Deleted as i32);
        batch.tell();
        assert_eq!(heard.try_recv(), Ok(()));
    }
    #[test]
    fn news_of_an_older_stamp_replace_none_of_a_newer_one() {
        let of = |stamp: i64, status: BlockStatus| {
            let mut news = news(1, status);
            news.block.stamp = GenerationStamp(stamp);
            news
        };
        let kept = |outbox: &Outbox| {
            let block = outbox.take().to_proto()[0].blocks[0].clone();
            (block.block.gen_stamp, block.status())
        };
        let outbox = Outbox::default();
        outbox.add(of(1002, BlockStatus::Received));
        outbox.add(of(1001, BlockStatus::Deleted));
        assert_eq!(kept(&outbox), (1002, BlockStatus::Received));
        outbox.add(of(1002, BlockStatus::Received));
        let failed = outbox.take();
        outbox.add(of(1001, BlockStatus::Deleted));
        outbox.put_back(failed);
        assert_eq!(kept(&outbox), (1002, BlockStatus::Received));
    }
}
