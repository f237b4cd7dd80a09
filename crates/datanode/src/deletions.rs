//! Deletions that NameNodes ordered: full reports wait for them.
//!
//! A NameNode that takes over does not know what the one before it ordered. A replica that is
//! reported and deleted afterwards may be the one it counts on when it has another deleted.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use zerohop_proto::hdfs::datanode::BlockCommandProto;
use zerohop_wire::BlockId;

/// The replicas to delete of an order: their block pool, and their ids.
type Order = (Arc<str>, Vec<BlockId>);

/// Orders to delete that are not carried out yet, by number.
#[derive(Default)]
pub(crate) struct Deletions(watch::Sender<BTreeMap<u64, Order>>);

/// An order under way, until it is dropped.
pub(crate) struct Deletion {
    deletions: Arc<Deletions>,
    number: u64,
}

impl Deletions {
    /// Notes an order. The caller does so before it handles the next message of the NameNode.
    pub(crate) fn begin(self: &Arc<Self>, command: &BlockCommandProto) -> Deletion {
        let ids = command.blocks.iter().map(|block| BlockId(block.block_id as i64)).collect();
        let order = (command.block_pool_id.as_str().into(), ids);
        let mut number = 0;
        self.0.send_modify(|orders| {
            number = orders.last_key_value().map_or(0, |(last, _)| last + 1);
            orders.insert(number, order);
        });
        Deletion { deletions: Arc::clone(self), number }
    }

    /// Waits until none is under way; false if that took too long.
    pub(crate) async fn carried_out(&self, patience: Duration) -> bool {
        let mut orders = self.0.subscribe();
        tokio::time::timeout(patience, orders.wait_for(BTreeMap::is_empty)).await.is_ok()
    }

    /// Returns the blocks of a pool whose replicas are ordered to be deleted and may still exist.
    pub(crate) fn ordered(&self, pool_id: &str) -> HashSet<BlockId> {
        let orders = self.0.borrow();
        let of_pool = orders.values().filter(|(pool, _)| **pool == *pool_id);
        of_pool.flat_map(|(_, ids)| ids).copied().collect()
    }
}

impl Drop for Deletion {
    fn drop(&mut self) {
        self.deletions.0.send_modify(|orders| _ = orders.remove(&self.number));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerohop_proto::hdfs::BlockProto;

    fn command(ids: &[u64]) -> BlockCommandProto {
        let block = |id: &u64| BlockProto { block_id: *id, gen_stamp: 1001, num_bytes: None };
        BlockCommandProto {
            block_pool_id: "BP-1".to_owned(),
            blocks: ids.iter().map(block).collect(),
            ..Default::default()
        }
    }

    #[tokio::test]
    async fn a_report_waits_for_deletions_but_not_for_ever() {
        let deletions = Arc::<Deletions>::default();
        assert!(deletions.carried_out(Duration::ZERO).await);
        let (first, second) = (deletions.begin(&command(&[1])), deletions.begin(&command(&[2])));
        drop(first);
        assert!(!deletions.carried_out(Duration::ZERO).await);
        let waiting = deletions.carried_out(Duration::from_secs(60));
        let (is_carried_out, ()) = tokio::join!(waiting, async { drop(second) });
        assert!(is_carried_out);
    }

    /// A disk hung, and a report listed what was being deleted on it: a new active NameNode relied on it.
    #[test]
    fn a_report_that_waited_too_long_leaves_out_what_is_being_deleted() {
        let deletions = Arc::<Deletions>::default();
        let (first, second) = (deletions.begin(&command(&[1, 2])), deletions.begin(&command(&[2])));
        drop(first);
        assert_eq!(deletions.ordered("BP-1"), HashSet::from([BlockId(2)]));
        assert!(deletions.ordered("BP-2").is_empty());
        drop(second);
        assert!(deletions.ordered("BP-1").is_empty());
    }
}
