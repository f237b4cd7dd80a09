//! Local reads: a DataNode of this machine passes the descriptors of a replica over its domain
//! socket, and from then on reading is a matter of this process. In the order of one read:
//! [`cache`] finds the open replica; if there is none, [`endpoint`] asks the DataNode, by the words
//! of [`talk`] and with a slot of [`slots`]; [`replica`] reads and verifies, from a [`map`] that is
//! made ready by [`windows`] and guarded by [`guard`], or from the file where it is cold and [`descriptors`]
//! kept it open; [`once`] remembers what was verified;
//! [`zero_copy`] gives verified bytes without a copy. [`paths`] is the legacy way to a replica's files, off
//! by default.

mod cache;
mod descriptors;
mod endpoint;
mod files;
mod guard;
mod map;
mod once;
mod paths;
mod replica;
mod slots;
mod talk;
mod windows;
mod zero_copy;

#[cfg(test)]
pub(super) mod replica_test;
#[cfg(test)]
mod together_test;

pub(crate) use paths::ToldPaths;
pub(crate) use replica::LocalReplica;
pub use zero_copy::ZeroCopyRead;

use super::local_outcome::{CacheStatistics, Found, OpenError};
use super::plan::{NotLocal, ReadReason};
use crate::runtime;
use crate::settings::{LocalSettings, Settings};
use crate::types::{DatanodeInfo, LocatedBlock};
use cache::{Cache, Key};
use descriptors::Descriptors;
use endpoint::{Endpoint, SocketUse};
use files::{Parts, Use};
use parking_lot::Mutex;
use paths::Paths;
use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::{IpAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Once};
use std::time::Duration;
use zerohop_system::clock;
use zerohop_transport::domain;
use zerohop_transport::login::User;
use zerohop_transport::net::DataStream;
use zerohop_transport::rpc::ClientOptions;

/// How often idle replicas are looked for, at least and at most.
const EXPIRE_EVERY: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(60));

/// The replicas, sockets and segments that all readers of a client share.
pub(crate) struct LocalReads {
    settings: LocalSettings,
    client_name: String,
    cache: Arc<Cache>,
    descriptors: Arc<Descriptors>,
    /// Set where files are opened by their paths; then no socket is asked for descriptors.
    paths: Option<Paths>,
    endpoints: Mutex<HashMap<PathBuf, Arc<Endpoint>>>,
    /// Whether an address is this machine's.
    addresses: Mutex<HashMap<String, bool>>,
    expiring: Once,
}

/// A replica that was opened.
pub(crate) struct Opened {
    pub(crate) replica: Arc<LocalReplica>,
    pub(crate) found: Found,
}

impl LocalReads {
    pub(crate) fn new(
        settings: &Settings,
        client_name: String,
        user: &User,
        rpc_options: &ClientOptions,
    ) -> Self {
        let (local, by_host_name) = (settings.local.clone(), settings.by_host_name);
        let paths = local
            .by_path
            .then(|| Paths::new(&local, user.clone(), by_host_name, rpc_options.clone()));
        Self {
            client_name,
            cache: Arc::new(Cache::new(local.cache_size, local.cache_expiry)),
            descriptors: Arc::default(),
            settings: local,
            paths,
            endpoints: Mutex::default(),
            addresses: Mutex::default(),
            expiring: Once::new(),
        }
    }

    /// The replica of `block` on `node`, if a reader of this client has it open: nothing is waited for.
    pub(crate) fn find_open(
        &self,
        block: &LocatedBlock,
        node: &DatanodeInfo,
    ) -> Option<Arc<LocalReplica>> {
        self.cache.find_open(&Key::of(block, node), block.block.block.stamp)
    }

    /// The open replica of `block` on `node`. `told` is the answer of [`ask_for_paths`](Self::ask_for_paths), if that
    /// was needed.
    pub(crate) fn open(
        &self,
        block: &LocatedBlock,
        node: &DatanodeInfo,
        told: Option<ToldPaths>,
    ) -> Result<Opened, OpenError> {
        let is_near = self.is_near(node);
        let (key, stamp) = (Key::of(block, node), block.block.block.stamp);
        if let Some(paths) = &self.paths {
            let told = told.filter(|told| told.is_of(&key));
            let is_missing = told.is_none() && !self.cache.has(&key, stamp);
            if is_missing && is_near && paths.may_ask(node) {
                return Err(OpenError::NeedsPaths);
            }
            let (replica, found) = self.cache.get(key, stamp, || {
                self.replica(block, paths.open(block, node, is_near, told)?, false)
            })?;
            self.expire_in_background();
            return Ok(Opened { replica, found });
        }
        let (path, endpoint) = self.endpoint(node).map_err(OpenError::NotLocal)?;
        let (replica, found) = self.cache.get(key, stamp, || {
            let parts = ask(block, node, &endpoint, is_near)?;
            self.replica(block, parts, self.settings.map)
        })?;
        self.expire_in_background();
        // Where only the socket was asked, another DataNode with the same block may have answered.
        let is_likely = block.replicas.len() == 1 || is_near && self.is_alone_at(&path, block);
        if found == Found::Asked && is_likely {
            endpoint.claim(node.uuid());
        }
        Ok(Opened { replica, found })
    }

    /// Asks a DataNode for the paths of a replica's files, where files are opened by their paths.
    pub(crate) async fn ask_for_paths(
        &self,
        block: &LocatedBlock,
        node: &DatanodeInfo,
    ) -> Option<ToldPaths> {
        self.paths.as_ref()?.ask(block, node).await
    }

    fn replica(
        &self,
        block: &LocatedBlock,
        parts: Parts,
        map: bool,
    ) -> Result<LocalReplica, OpenError> {
        let wanted = block.block.block.len;
        let how = Use {
            map,
            trusted_for: self.settings.trusted_for,
            descriptors: Arc::clone(&self.descriptors),
        };
        LocalReplica::open(parts, wanted, &how).map_err(|error| {
            let text = format!("the files of {} cannot be used: {error}", block.block);
            OpenError::NotLocal(NotLocal::new(ReadReason::ReplicaUnusable, text))
        })
    }

    /// A warning about the way in which local replicas are opened, if there is one.
    pub(crate) fn note(&self) -> &'static str {
        if self.paths.is_some() { paths::WARNING } else { "" }
    }

    /// Where the socket of `node` is.
    pub(crate) fn socket_path(&self, node: &DatanodeInfo) -> PathBuf {
        domain::effective_path(&self.settings.socket_path, node.transfer_port())
    }

    /// A connection for the block data of `node`, not through TCP.
    pub(crate) fn connect(&self, node: &DatanodeInfo) -> Result<DataStream, NotLocal> {
        let (_, endpoint) = self.endpoint(node)?;
        if !self.is_near(node) && endpoint.claimant().as_deref() != Some(node.uuid()) {
            return Err(NotLocal::other_host(node));
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
        let is_near = match ip.map(|ip| UdpSocket::bind((ip, 0))) {
            Some(Ok(_)) => true,
            // Out of descriptors, or the like: it says nothing about the address.
            Some(Err(error)) if error.kind() != ErrorKind::AddrNotAvailable => return false,
            _ => false,
        };
        self.addresses.lock().insert(node.ip().to_owned(), is_near);
        is_near
    }

    /// Whether only one replica of `block` is on a DataNode of this machine whose socket would be at
    /// `path`: two of one path, without `_PORT` in it, cannot be told apart.
    fn is_alone_at(&self, path: &Path, block: &LocatedBlock) -> bool {
        let would = |node: &&DatanodeInfo| self.is_near(node) && self.socket_path(node) == path;
        block.nodes().filter(would).count() == 1
    }

    /// Drops idle replicas from time to time, for as long as the client lives.
    fn expire_in_background(&self) {
        self.expiring.call_once(|| {
            let Ok(runtime) = runtime::background() else { return };
            let cache = Arc::downgrade(&self.cache);
            let every = (self.settings.cache_expiry / 4).clamp(EXPIRE_EVERY.0, EXPIRE_EVERY.1);
            runtime.spawn(async move {
                loop {
                    clock::sleep(every).await;
                    match cache.upgrade() {
                        Some(cache) => cache.expire(),
                        None => return,
                    }
                }
            });
        });
    }
}

/// Asks at a socket for a replica of `node`.
fn ask(
    block: &LocatedBlock,
    node: &DatanodeInfo,
    endpoint: &Endpoint,
    is_near: bool,
) -> Result<Parts, OpenError> {
    let is_another_s = || endpoint.claimant().is_some_and(|claimant| claimant != node.uuid());
    if !is_near && (!endpoint.exists() || is_another_s()) {
        return Err(OpenError::NotLocal(NotLocal::other_host(node)));
    }
    let asked = match endpoint.check(node.uuid()) {
        Ok(()) => endpoint.request(block, node.uuid()),
        Err(why) => Err(OpenError::NotLocal(why)),
    };
    match asked {
        Err(OpenError::NotLocal(why)) if why.is_refusal() && is_near && is_another_s() => {
            Err(OpenError::NotLocal(NotLocal::other_datanode(node, &why)))
        }
        Err(OpenError::NotLocal(why)) if !is_near && !why.is_of_this_process() => {
            tracing::debug!("{node} does not answer at its socket: {}", why.detail);
            Err(OpenError::NotLocal(NotLocal::other_host(node)))
        }
        other => other,
    }
}
