//! A name service: a block pool, and the NameNodes that know its files.

use super::identity::PoolIdentity;
use super::incremental::BlockChange;
use super::link::{Link, Progress};
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use zerohop_proto::hdfs::DatanodeIdProto;
use zerohop_proto::hdfs::datanode::DatanodeRegistrationProto;
use zerohop_replica::UpgradePhase;

/// One name service: a block pool and its NameNodes.
pub(crate) struct PoolService {
    /// Its name, for logs.
    pub(crate) name: String,
    identity: RwLock<Option<PoolIdentity>>,
    links: RwLock<Vec<Arc<Link>>>,
    active: Mutex<Active>,
    /// What the active NameNode said last of a rolling upgrade.
    upgrade: Mutex<UpgradePhase>,
    /// One handshake at a time: the first one opens the pool's directories.
    pub(crate) opening: tokio::sync::Mutex<()>,
}

/// The active NameNode. The claim of a different NameNode counts if its transaction id is later than that of the last claim
/// (`BPOfferService.updateActorStatesFromHeartbeat`).
#[derive(Default)]
struct Active {
    index: Option<usize>,
    /// Transaction id of the last claim that counted.
    txid: Option<u64>,
    /// Number of times that a different NameNode became active.
    term: u64,
}

impl PoolService {
    /// A service whose NameNodes are added next.
    pub(crate) fn new(name: String) -> Arc<Self> {
        Arc::new(Self {
            name,
            identity: RwLock::new(None),
            links: RwLock::default(),
            active: Mutex::default(),
            upgrade: Mutex::new(UpgradePhase::None),
            opening: tokio::sync::Mutex::new(()),
        })
    }

    /// Adds a NameNode.
    pub(crate) fn add(&self, link: Arc<Link>) {
        self.links.write().push(link);
    }

    /// Its NameNodes.
    pub(crate) fn links(&self) -> Vec<Arc<Link>> {
        self.links.read().clone()
    }

    /// Its NameNodes that may still listen.
    fn listeners(&self) -> Vec<Arc<Link>> {
        self.links.read().iter().filter(|link| !link.has_refused()).cloned().collect()
    }

    /// Its block pool, once a NameNode said.
    pub(crate) fn identity(&self) -> Option<PoolIdentity> {
        self.identity.read().clone()
    }

    /// The block pool's id, once a NameNode said.
    pub(crate) fn pool_id(&self) -> Option<Arc<str>> {
        self.identity.read().as_ref().map(|identity| Arc::clone(&identity.pool_id))
    }

    /// Notes whose pool it is.
    pub(crate) fn set_identity(&self, identity: PoolIdentity) {
        *self.identity.write() = Some(identity);
    }

    /// Notes what NameNode `index` says of itself; true when it is the active one now.
    pub(crate) fn claim(&self, index: usize, is_active: bool, txid: u64) -> bool {
        let mut active = self.active.lock();
        let is_known = active.index == Some(index);
        if is_active && (is_known || active.txid.is_none_or(|last| txid > last)) {
            if !is_known {
                tracing::info!("name service {}: NameNode {index} is active", self.name);
                active.term += 1;
            }
            (active.index, active.txid) = (Some(index), Some(txid));
        } else if is_known && !is_active {
            active.index = None;
        }
        active.index == Some(index)
    }

    /// Returns `true` if NameNode `index` is the active one.
    pub(crate) fn is_active(&self, index: usize) -> bool {
        self.active.lock().index == Some(index)
    }

    /// Returns since which change NameNode `index` is the active one, or `None` if it is not.
    pub(crate) fn term_of(&self, index: usize) -> Option<u64> {
        let active = self.active.lock();
        (active.index == Some(index)).then_some(active.term)
    }

    /// Notes what the active NameNode says of a rolling upgrade; true if that is news.
    pub(crate) fn note_upgrade(&self, phase: UpgradePhase) -> bool {
        std::mem::replace(&mut *self.upgrade.lock(), phase) != phase
    }

    /// The active NameNode, or the only one.
    pub(crate) fn active(&self) -> Option<Arc<Link>> {
        let links = self.links.read();
        let index = self.active.lock().index.unwrap_or(0);
        links.get(index).cloned()
    }

    /// How this DataNode is registered with the active NameNode.
    pub(crate) fn registration(&self) -> Option<DatanodeRegistrationProto> {
        let links = self.links();
        let active = self.active().and_then(|link| link.registration());
        active.or_else(|| links.iter().find_map(|link| link.registration()))
    }

    /// How this DataNode is known.
    pub(crate) fn datanode_id(&self) -> Option<DatanodeIdProto> {
        self.registration().map(|registration| registration.datanode_id)
    }

    /// Tells all NameNodes.
    pub(crate) fn tell(&self, change: &BlockChange) {
        for link in self.listeners() {
            link.pending_changes.add(change.clone());
        }
    }

    /// Tells all NameNodes that a replica begins to be written. A NameNode that is alone chose this DataNode for it, so that it has
    /// time until the next heartbeat. Of several, the edits that they share do not say where blocks are, and which one is
    /// active is known here only since the last heartbeat: what is not reported to one cannot be read or recovered when
    /// it becomes active.
    pub(crate) fn tell_receiving(&self, change: &BlockChange) {
        let links = self.listeners();
        for link in &links {
            if links.len() == 1 {
                link.pending_changes.add_for_later(change.clone());
            } else {
                link.pending_changes.add(change.clone());
            }
        }
    }

    /// Tells all NameNodes and waits a moment for the active one to have heard it: a client that
    /// is acknowledged asks the NameNode next, and should find it informed.
    pub(crate) fn tell_and_wait(
        &self,
        change: &BlockChange,
        handle: &tokio::runtime::Handle,
        patience: Duration,
    ) {
        let active = self.active();
        let mut heard = None;
        for link in self.listeners() {
            if active.as_ref().is_some_and(|active| Arc::ptr_eq(active, &link)) {
                heard = Some(link.pending_changes.add_and_tell(change.clone()));
            } else {
                link.pending_changes.add(change.clone());
            }
        }
        if let Some(heard) = heard
            && !patience.is_zero()
        {
            let waited = handle.block_on(async { tokio::time::timeout(patience, heard).await });
            if waited.is_err() {
                tracing::debug!("{}: the NameNode takes its time with a report", self.name);
            }
        }
    }

    /// How far it is with its NameNodes.
    pub(crate) fn progress(&self) -> Vec<watch::Receiver<Progress>> {
        self.links.read().iter().map(|link| link.progress()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::link::tests::link;
    use super::*;
    use zerohop_proto::hdfs::DatanodeStorageProto;
    use zerohop_proto::hdfs::datanode::received_deleted_block_info_proto::BlockStatus;
    use zerohop_wire::{Block, BlockId, GenerationStamp};

    #[test]
    fn news_are_not_kept_for_a_namenode_that_refused() {
        let service = PoolService::new("c".into());
        let links = [link(0), link(1)];
        links.iter().for_each(|link| service.add(Arc::clone(link)));
        let change = BlockChange {
            storage: DatanodeStorageProto::default(),
            block: Block { id: BlockId(1), stamp: GenerationStamp(1001), len: 1 },
            status: BlockStatus::Received,
            delete_hint: None,
        };
        service.tell(&change);
        links[1].refused("another cluster".to_owned());
        service.tell(&change);
        assert!(!links[0].pending_changes.take().is_empty());
        assert!(links[1].pending_changes.take().is_empty());
    }

    /// Whether changes wait that are to be reported at once.
    async fn is_filled(link: &Link) -> bool {
        tokio::select! {
            biased;
            () = link.pending_changes.filled() => true,
            () = std::future::ready(()) => false,
        }
    }

    /// They waited for the next other report. A file that was flushed and stayed open had no locations after a failover, and a
    /// recovery of it would have found no replica.
    #[tokio::test]
    async fn each_of_several_namenodes_hears_at_once_of_a_replica_that_begins_to_be_written() {
        let service = PoolService::new("c".into());
        let links = [link(0), link(1)];
        let change = BlockChange {
            storage: DatanodeStorageProto::default(),
            block: Block { id: BlockId(1), stamp: GenerationStamp(1001), len: 0 },
            status: BlockStatus::Receiving,
            delete_hint: None,
        };
        service.add(Arc::clone(&links[0]));
        service.tell_receiving(&change);
        assert!(!is_filled(&links[0]).await, "it has time until the next heartbeat");
        assert!(!links[0].pending_changes.take().is_empty());
        service.add(Arc::clone(&links[1]));
        for active in 0..2 {
            service.claim(active, true, 10 + active as u64);
            service.tell_receiving(&change);
            assert!(is_filled(&links[0]).await && is_filled(&links[1]).await);
        }
    }

    #[test]
    fn an_old_active_does_not_win_over_a_newer_one() {
        let service = PoolService::new("c".into());
        assert!(service.claim(0, true, 10));
        assert!(service.claim(1, true, 12));
        assert!(!service.claim(0, true, 11));
        assert!(!service.claim(1, false, 12));
        assert!(service.claim(0, true, 13));
    }

    /// A NameNode that was replaced claimed to be active once more with the transaction of the one that replaced it.
    #[test]
    fn a_claim_with_the_transaction_of_the_last_one_does_not_replace_it() {
        let service = PoolService::new("c".into());
        assert!(service.claim(0, true, 10) && service.claim(0, true, 10));
        assert_eq!(service.term_of(0), Some(1));
        assert!(service.claim(1, true, 11));
        assert!(!service.claim(0, true, 11) && service.is_active(1));
        assert_eq!((service.term_of(0), service.term_of(1)), (None, Some(2)));
    }
}
