//! Differences between the files on the disks and the replicas in memory, and what is done about them
//! (`FsDatasetImpl.checkAndUpdate`).

use super::directory::ScanCounts;
use crate::node::Node;
use crate::store::replica::Replica;
use crate::store::volume::DataVolume;
use crate::store::{BlockPool, Reconciled};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use zerohop_replica::{ListedReplica, Place, StoredReplica};
use zerohop_wire::{BlockId, ExtendedBlock};

/// What a comparison found.
pub(super) struct Differences {
    pub(super) counts: ScanCounts,
    pub(super) blocks: Vec<Difference>,
}

/// A block whose files differ from its replica in memory. It is looked at again before anything is done:
/// the listing takes long, and replicas change meanwhile.
pub(super) struct Difference {
    id: BlockId,
    /// The volume where the files are, or were.
    volume: Arc<DataVolume>,
}

/// Compares the finalized replicas of a pool with the files found on the volumes that could be listed.
pub(super) fn compare(
    pool: &BlockPool,
    on_disk: &[(Arc<DataVolume>, Vec<ListedReplica>)],
) -> Differences {
    let mut counts = ScanCounts::default();
    let mut blocks = Vec::new();
    let mut in_memory: HashMap<BlockId, Arc<Replica>> =
        pool.all().into_iter().map(|replica| (replica.id, replica)).collect();
    let mut seen: Vec<(BlockId, Arc<DataVolume>)> = Vec::new();
    for (volume, listed) in on_disk {
        counts.total += listed.len();
        for found in listed {
            counts.missing_data += usize::from(found.data_len.is_none());
            counts.missing_meta += usize::from(found.meta.is_none());
            let differs = match in_memory.get(&found.id) {
                None => {
                    counts.missing_in_memory += 1;
                    true
                }
                Some(replica) if !Arc::ptr_eq(&replica.volume, volume) => {
                    counts.duplicates += 1;
                    true
                }
                Some(replica) => {
                    seen.push((found.id, Arc::clone(volume)));
                    let differs = finalized(replica).is_some_and(|known| !fits(&known, found));
                    counts.mismatched += usize::from(differs && found.data_len.is_some());
                    differs
                }
            };
            if differs {
                blocks.push(Difference { id: found.id, volume: Arc::clone(volume) });
            }
        }
    }
    for (id, volume) in seen {
        if in_memory.get(&id).is_some_and(|replica| Arc::ptr_eq(&replica.volume, &volume)) {
            in_memory.remove(&id);
        }
    }
    let was_listed =
        |volume: &Arc<DataVolume>| on_disk.iter().any(|(listed, _)| Arc::ptr_eq(listed, volume));
    for replica in in_memory.into_values() {
        if was_listed(&replica.volume) && finalized(&replica).is_some() {
            counts.missing_data += 1;
            counts.missing_meta += 1;
            blocks.push(Difference { id: replica.id, volume: Arc::clone(&replica.volume) });
        }
    }
    Differences { counts, blocks }
}

/// A replica's files as memory knows them, if it is finalized and no other thread holds its lock.
fn finalized(replica: &Replica) -> Option<StoredReplica> {
    replica.try_lock()?.finalized()
}

fn fits(known: &StoredReplica, found: &ListedReplica) -> bool {
    let stamp = found.meta.map(|(stamp, _)| stamp);
    let is_same = Some(known.block.len) == found.data_len && Some(known.block.stamp) == stamp;
    is_same && found.is_regular && known.place == Place::Finalized
}

impl Difference {
    /// Makes memory follow the disk, and tells the NameNode: of `notifications` replicas at once, of the
    /// others with the next full report.
    pub(super) fn resolve(
        self,
        node: &Arc<Node>,
        pool: &Arc<BlockPool>,
        notifications: &AtomicUsize,
    ) {
        if self.volume.has_failed() {
            return;
        }
        let may_notify = || {
            let one_less = |left: usize| left.checked_sub(1);
            notifications.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok()
        };
        match node.store.reconciler().reconcile(pool, self.id, &self.volume) {
            Ok(Reconciled::Same) => {}
            Ok(Reconciled::Added(replica)) => {
                let block = replica.block();
                node.store.events().unexpected(&pool.id, block, &self.volume);
                if may_notify() {
                    node.tell_received(&pool.id, &replica, block, None, false);
                }
            }
            Ok(Reconciled::Removed(block)) => {
                let cause = "the directory scanner found no files";
                node.store.events().lost(&pool.id, block, &self.volume, cause);
                if may_notify() {
                    node.tell_deleted(&pool.id, &self.volume, block);
                }
            }
            Ok(Reconciled::Corrupt(block)) => {
                let block = ExtendedBlock { pool: Arc::clone(&pool.id), block };
                let cause = "the directory scanner found a file of another length or kind";
                node.report_own_bad(&block, &self.volume, cause);
            }
            Err(failure) => tracing::warn!("directory scan: blk_{}: {failure}", self.id),
        }
    }
}
