//! Local reads: a DataNode of this machine passes the descriptors of a replica over its domain
//! socket, and from then on reading is a matter of this process. In the order of one read:
//! [`cache`] finds the open replica; if there is none, [`endpoint`] asks the DataNode, by the words
//! of [`talk`] and with a slot of [`slots`]; [`replica`] reads and verifies, from a [`map`] that is
//! made ready by [`windows`] and guarded by [`guard`]; [`once`] remembers what was verified;
//! [`lent`] lends verified bytes without a copy.

mod cache;
mod endpoint;
mod guard;
mod lent;
mod map;
mod once;
mod replica;
mod slots;
mod talk;
mod windows;

#[cfg(test)]
mod replica_test;

pub use cache::CacheStatistics;
pub(crate) use cache::Found;
pub(crate) use endpoint::OpenError;
pub use lent::Lent;
pub(crate) use replica::{LocalError, LocalReplica};

use super::plan::{NotLocal, ReadReason};
use crate::client;
use crate::settings::LocalSettings;
use crate::types::{DatanodeInfo, LocatedBlock};
use cache::{Cache, Key};
use endpoint::{Endpoint, SocketUse};
use parking_lot::Mutex;
use replica::Use;
use socket2::Socket;
use std::collections::HashMap;
use std::net::{IpAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::Duration;
use zerohop_transport::domain;

/// How often idle replicas are looked for, at least and at most.
const EXPIRE_EVERY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(60));

/// The replicas, sockets and segments that all readers of a client share.
pub(crate) struct LocalReads {
    settings: LocalSettings,
    client_name: String,
    cache: Arc<Cache>,
    endpoints: Mutex<HashMap<PathBuf, Arc<Endpoint>>>,
    /// The DataNode that was found to answer at a socket.
    claims: Mutex<HashMap<PathBuf, String>>,
    /// Whether an address is this machine's.
    addresses: Mutex<HashMap<String, bool>>,
    expiring: Once,
}

/// A replica that was opened.
pub(crate) struct Opened {
    pub(crate) replica: Arc<LocalReplica>,
    pub(crate) found: Found,
    /// Whether it is certain whose replica it is: where only the socket was asked, another DataNode
    /// with the same block may have answered.
    pub(crate) is_certain: bool,
}

impl LocalReads {
    pub(crate) fn new(settings: LocalSettings, client_name: String) -> Self {
        let cache = Arc::new(Cache::new(settings.cache_size, settings.cache_expiry));
        Self {
            settings,
            client_name,
            cache,
            endpoints: Mutex::default(),
            claims: Mutex::default(),
            addresses: Mutex::default(),
            expiring: Once::new(),
        }
    }

    /// The open replica of `block` on `node`.
    pub(crate) fn open(
        &self,
        block: &LocatedBlock,
        node: &DatanodeInfo,
    ) -> Result<Opened, OpenError> {
        let (path, endpoint) = self.endpoint(node).map_err(OpenError::NotLocal)?;
        let is_near = self.is_near(node);
        let (replica, found) =
            self.cache.get(Key::of(block, node), block.block.block.stamp, || {
                self.ask(block, node, &path, &endpoint, is_near)
            })?;
        self.expire_in_background();
        let is_certain = is_near || block.replicas.len() == 1;
        if found == Found::Asked && is_certain {
            self.claims.lock().entry(path).or_insert_with(|| node.uuid().to_owned());
        }
        Ok(Opened { replica, found, is_certain })
    }

    fn ask(
        &self,
        block: &LocatedBlock,
        node: &DatanodeInfo,
        path: &Path,
        endpoint: &Endpoint,
        is_near: bool,
    ) -> Result<LocalReplica, OpenError> {
        endpoint.check(node.uuid()).map_err(OpenError::NotLocal)?;
        if !is_near && (!endpoint.exists() || self.is_claimed_by_another(path, node)) {
            return Err(OpenError::NotLocal(other_host(node)));
        }
        let parts = match endpoint.request(block, node.uuid()) {
            Err(OpenError::NotLocal(why)) if !is_near => {
                tracing::debug!("{node} does not answer at {}: {}", path.display(), why.detail);
                return Err(OpenError::NotLocal(other_host(node)));
            }
            other => other?,
        };
        let wanted = block.block.block.len;
        let how = Use { map: self.settings.map, trusted_for: self.settings.trusted_for };
        LocalReplica::open(parts, &block.block, wanted, how).map_err(|error| {
            let text = format!("the files of {} cannot be used: {error}", block.block);
            OpenError::NotLocal(NotLocal::new(ReadReason::ReplicaUnusable, text))
        })
    }

    /// Where the socket of `node` is.
    pub(crate) fn socket_path(&self, node: &DatanodeInfo) -> PathBuf {
        domain::effective_path(&self.settings.socket_path, node.transfer_port())
    }

    /// A connection for the block data of `node`, not through TCP.
    pub(crate) fn connect(&self, node: &DatanodeInfo) -> Result<Socket, NotLocal> {
        let (path, endpoint) = self.endpoint(node)?;
        let is_claimed = || self.claims.lock().get(&path).is_some_and(|c| c == node.uuid());
        let is_here = self.is_near(node) || is_claimed();
        if !is_here {
            return Err(other_host(node));
        }
        endpoint.check("")?;
        endpoint.connect()
    }

    /// Whether a DataNode of this machine that failed answers again at its socket.
    pub(crate) fn is_back(&self, node: &DatanodeInfo) -> bool {
        self.is_near(node) && self.connect(node).is_ok()
    }

    /// Closes connections that wait for their next request: descriptors are short.
    pub(crate) fn close_idle(&self) {
        self.endpoints.lock().values().for_each(|endpoint| endpoint.close_idle());
    }

    /// Drops a replica that was found bad.
    pub(crate) fn forget(
        &self,
        block: &LocatedBlock,
        node: &DatanodeInfo,
        bad: &Arc<LocalReplica>,
    ) {
        self.cache.forget(&Key::of(block, node), bad);
    }

    pub(crate) fn statistics(&self) -> CacheStatistics {
        self.cache.statistics()
    }

    fn endpoint(&self, node: &DatanodeInfo) -> Result<(PathBuf, Arc<Endpoint>), NotLocal> {
        let configured = &self.settings.socket_path;
        if configured.is_empty() {
            let text = "dfs.domain.socket.path is not set";
            return Err(NotLocal::new(ReadReason::NotConfigured, text));
        }
        let path = self.socket_path(node);
        let mut endpoints = self.endpoints.lock();
        if let Some(endpoint) = endpoints.get(&path) {
            return Ok((path, Arc::clone(endpoint)));
        }
        let how = SocketUse {
            timeout: self.settings.socket_timeout,
            disabled_for: self.settings.disabled_for,
        };
        let endpoint = Arc::new(Endpoint::new(path.clone(), how, self.client_name.clone()));
        endpoints.insert(path.clone(), Arc::clone(&endpoint));
        Ok((path, endpoint))
    }

    /// Whether the DataNode's address is one of this machine. Where it is not, the socket is asked:
    /// in a container the machine has other addresses, and the DataNode's socket may be mounted.
    fn is_near(&self, node: &DatanodeInfo) -> bool {
        if let Some(known) = self.addresses.lock().get(node.ip()) {
            return *known;
        }
        let ip: Option<IpAddr> = node.ip().parse().ok();
        let is_near = ip.is_some_and(|ip| UdpSocket::bind((ip, 0)).is_ok());
        self.addresses.lock().insert(node.ip().to_owned(), is_near);
        is_near
    }

    fn is_claimed_by_another(&self, path: &Path, node: &DatanodeInfo) -> bool {
        self.claims.lock().get(path).is_some_and(|claimant| claimant != node.uuid())
    }

    /// Drops idle replicas from time to time, for as long as the client lives.
    fn expire_in_background(&self) {
        self.expiring.call_once(|| {
            let Ok(runtime) = client::background() else { return };
            let cache = Arc::downgrade(&self.cache);
            let every = (self.settings.cache_expiry / 4).clamp(EXPIRE_EVERY.0, EXPIRE_EVERY.1);
            runtime.spawn(async move {
                loop {
                    tokio::time::sleep(every).await;
                    match cache.upgrade() {
                        Some(cache) => cache.expire(),
                        None => return,
                    }
                }
            });
        });
    }
}

fn other_host(node: &DatanodeInfo) -> NotLocal {
    NotLocal::new(ReadReason::OtherHost, format!("{node} is on another machine"))
}
