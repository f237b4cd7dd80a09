//! The talk with NameNodes: one [`PoolService`] a name service, one [`actor`] a NameNode.

pub(crate) mod actor;
pub(crate) mod addresses;
pub(crate) mod commands;
pub(crate) mod disks;
pub(crate) mod incremental;
pub(crate) mod reports;

use actor::Actor;
use incremental::News;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use zerohop_proto::hdfs::datanode::DatanodeRegistrationProto;
use zerohop_proto::hdfs::{DatanodeIdProto, NamespaceInfoProto};

/// Who a block pool belongs to, as its NameNode said first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PoolIdentity {
    pub(crate) pool_id: Arc<str>,
    pub(crate) cluster_id: String,
    pub(crate) namespace_id: i32,
    pub(crate) ctime: i64,
    pub(crate) software_version: String,
}

impl From<&NamespaceInfoProto> for PoolIdentity {
    fn from(info: &NamespaceInfoProto) -> Self {
        Self {
            pool_id: info.block_pool_id.as_str().into(),
            cluster_id: info.storage_info.cluster_id.clone(),
            namespace_id: info.storage_info.namespce_id as i32,
            ctime: info.storage_info.c_time as i64,
            software_version: info.software_version.clone(),
        }
    }
}

/// How far an actor is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Not registered yet.
    Connecting,
    /// Registered; the blocks are not reported yet.
    Registered,
    /// Registered and reported.
    Reported,
    /// The NameNode refused this DataNode for good.
    Refused(String),
}

/// One name service: a block pool and its NameNodes.
pub(crate) struct PoolService {
    /// Its name, for logs.
    pub(crate) name: String,
    identity: RwLock<Option<PoolIdentity>>,
    actors: RwLock<Vec<Arc<Actor>>>,
    active: Mutex<Active>,
    /// One handshake at a time: the first one opens the pool's folders.
    opening: tokio::sync::Mutex<()>,
}

/// Which NameNode is active: a claim counts when its transaction id is not older than the last one.
#[derive(Default)]
struct Active {
    index: Option<usize>,
    txid: u64,
}

impl PoolService {
    /// A service whose actors are added next.
    pub(crate) fn new(name: String) -> Arc<Self> {
        Arc::new(Self {
            name,
            identity: RwLock::new(None),
            actors: RwLock::default(),
            active: Mutex::default(),
            opening: tokio::sync::Mutex::new(()),
        })
    }

    /// Adds the actor of one NameNode.
    pub(crate) fn add(&self, actor: Arc<Actor>) {
        self.actors.write().push(actor);
    }

    /// Its actors.
    pub(crate) fn actors(&self) -> Vec<Arc<Actor>> {
        self.actors.read().clone()
    }

    /// Its block pool, once a NameNode said.
    pub(crate) fn identity(&self) -> Option<PoolIdentity> {
        self.identity.read().clone()
    }

    /// The block pool's id, once a NameNode said.
    pub(crate) fn pool_id(&self) -> Option<Arc<str>> {
        self.identity.read().as_ref().map(|identity| Arc::clone(&identity.pool_id))
    }

    fn set_identity(&self, identity: PoolIdentity) {
        *self.identity.write() = Some(identity);
    }

    /// Notes what NameNode `index` says of itself; true when it is the active one now.
    pub(crate) fn claim(&self, index: usize, is_active: bool, txid: u64) -> bool {
        let mut active = self.active.lock();
        if is_active && (active.index == Some(index) || txid >= active.txid) {
            if active.index != Some(index) {
                tracing::info!("name service {}: NameNode {index} is active", self.name);
            }
            *active = Active { index: Some(index), txid };
        } else if active.index == Some(index) {
            active.index = None;
        }
        active.index == Some(index)
    }

    /// The active NameNode's actor, or the only one.
    pub(crate) fn active(&self) -> Option<Arc<Actor>> {
        let actors = self.actors.read();
        let index = self.active.lock().index.unwrap_or(0);
        actors.get(index).cloned()
    }

    /// How this DataNode is registered with the active NameNode.
    pub(crate) fn registration(&self) -> Option<DatanodeRegistrationProto> {
        let actors = self.actors();
        let active = self.active().and_then(|actor| actor.registration());
        active.or_else(|| actors.iter().find_map(|actor| actor.registration()))
    }

    /// How this DataNode is known.
    pub(crate) fn datanode_id(&self) -> Option<DatanodeIdProto> {
        self.registration().map(|registration| registration.datanode_id)
    }

    /// Tells all NameNodes.
    pub(crate) fn tell(&self, news: &News) {
        for actor in self.actors.read().iter() {
            actor.outbox.add(news.clone());
        }
    }

    /// Tells all NameNodes and waits a moment for the active one to have heard it: a client that
    /// is acknowledged asks the NameNode next, and should find it informed.
    pub(crate) fn tell_and_wait(
        &self,
        news: &News,
        handle: &tokio::runtime::Handle,
        patience: Duration,
    ) {
        let active = self.active();
        let mut heard = None;
        for actor in self.actors.read().iter() {
            if active.as_ref().is_some_and(|active| Arc::ptr_eq(active, actor)) {
                heard = Some(actor.outbox.add_and_tell(news.clone()));
            } else {
                actor.outbox.add(news.clone());
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

    /// How far its actors are.
    pub(crate) fn progress(&self) -> Vec<watch::Receiver<Progress>> {
        self.actors.read().iter().map(|actor| actor.progress()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_active_does_not_win_over_a_newer_one() {
        let service = PoolService::new("c".into());
        assert!(service.claim(0, true, 10));
        assert!(service.claim(1, true, 12));
        assert!(!service.claim(0, true, 11));
        assert!(!service.claim(1, false, 12));
        assert!(service.claim(0, true, 13));
    }
}
