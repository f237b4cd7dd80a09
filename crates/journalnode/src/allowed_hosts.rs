//! The hosts that may call a JournalNode and fetch its segments: those of the NameNodes and JournalNodes that its configuration names.
//!
//! Without Kerberos a user name is a claim, and any host could format the shared edits away. A host that calls from further
//! addresses needs `zerohop.journalnode.allowed.hosts`.

use crate::error::{Error, Result};
use crate::settings::JournalUse;
use parking_lot::RwLock;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_conf::{Conf, ConfError, Location, keys};
use zerohop_daemon::log_limiter::LogLimiter;
use zerohop_system::clock;
use zerohop_transport::net::is_own_address;

/// Time after which an unknown host makes this JournalNode resolve the names again.
const RESOLVED_FOR: Duration = Duration::from_secs(1);
/// Time between two times that the names are resolved in any case.
const RESOLVED_MAX: Duration = Duration::from_secs(300);

/// The hosts that may call.
#[derive(Debug)]
pub(crate) struct AllowedHosts {
    names: BTreeSet<String>,
    accepts_all: bool,
    names_namenode: bool,
    resolved: RwLock<Resolved>,
    /// Held while names are resolved: one thread does it for all callers.
    resolving: tokio::sync::Mutex<()>,
    refused: LogLimiter,
}

#[derive(Debug, Default)]
struct Resolved {
    /// Addresses of each name, which stay while it cannot be resolved: a failure of DNS must not stop the NameNodes.
    of_names: BTreeMap<String, Vec<IpAddr>>,
    /// Further addresses of this machine from which calls came.
    own: BTreeSet<IpAddr>,
    /// `None` before the first time.
    at: Option<Instant>,
}

impl AllowedHosts {
    pub(crate) fn from_conf(conf: &Conf) -> std::result::Result<Arc<Self>, ConfError> {
        let extra = conf.get(&keys::ZEROHOP_JOURNALNODE_ALLOWED_HOSTS)?;
        let accepts_all = extra.iter().any(|host| host == "*");
        let namenodes = namenodes(conf)?;
        let names_namenode = !namenodes.is_empty();
        let mut names = BTreeSet::from_iter(namenodes);
        for journal in JournalUse::all(conf)? {
            names.extend(journal.address.nodes.iter().filter_map(|node| host_of(node)));
        }
        names.extend(extra.into_iter().filter(|host| host != "*"));
        Ok(Arc::new(Self {
            names,
            accepts_all,
            names_namenode,
            resolved: RwLock::default(),
            resolving: tokio::sync::Mutex::default(),
            refused: LogLimiter::default(),
        }))
    }

    /// Returns a warning for the start, or `None` if the configuration names a NameNode.
    pub(crate) fn advice(&self) -> Option<String> {
        (!self.accepts_all && !self.names_namenode)
            .then(|| format!("calls of NameNodes may be refused: {NO_NAMENODE}"))
    }

    /// Returns `true` if the host at an address may call, as far as names were resolved lately.
    pub(crate) fn is_known(&self, remote: IpAddr) -> bool {
        if self.accepts_all {
            return true;
        }
        let (resolved, remote) = (self.resolved.read(), remote.to_canonical());
        resolved.own.contains(&remote)
            || resolved.of_names.values().flatten().any(|ip| *ip == remote)
    }

    /// Resolves the names now and then, because a NameNode may move. Never ends by itself.
    pub(crate) async fn keep_resolved(self: Arc<Self>) -> Infallible {
        loop {
            clock::sleep(RESOLVED_MAX).await;
            let _alone = self.resolving.lock().await;
            let hosts = Arc::clone(&self);
            _ = tokio::task::spawn_blocking(move || hosts.resolve()).await;
        }
    }

    /// Checks that the host at an address may call. Resolves the names again for an unknown host.
    ///
    /// # Errors
    /// Fails with [`Error::ForeignHost`], which says what to set.
    pub(crate) async fn check(self: &Arc<Self>, remote: IpAddr) -> Result<()> {
        if self.is_known(remote) {
            return Ok(());
        }
        let _alone = self.resolving.lock().await;
        let at = self.resolved.read().at;
        if !self.is_known(remote) && at.is_none_or(|at| clock::since(at) >= RESOLVED_FOR) {
            let hosts = Arc::clone(self);
            let resolved = tokio::task::spawn_blocking(move || hosts.resolve());
            resolved.await.map_err(|_| Error::Stopping)?;
        }
        match self.is_known(remote) || self.is_own(remote) {
            true => Ok(()),
            false => {
                let refusal = self.refusal(remote);
                if self.refused.allow() {
                    tracing::warn!("{refusal}");
                }
                Err(Error::ForeignHost(refusal))
            }
        }
    }

    fn resolve(&self) {
        for name in &self.names {
            match (name.as_str(), 0).to_socket_addrs() {
                Ok(found) => {
                    let found = found.map(|address| address.ip().to_canonical()).collect();
                    self.resolved.write().of_names.insert(name.clone(), found);
                }
                Err(error) => tracing::warn!("{name}, whose calls are to be accepted: {error}"),
            }
        }
        self.resolved.write().at = Some(clock::now());
    }

    /// Returns `true` if a call comes from this machine and this machine is one of the hosts: the kernel chooses the address that
    /// such a call comes from.
    fn is_own(&self, remote: IpAddr) -> bool {
        let is_own = |address: IpAddr| address.is_loopback() || is_own_address(address);
        let named: Vec<IpAddr> =
            self.resolved.read().of_names.values().flatten().copied().collect();
        let is_named = || named.into_iter().any(is_own);
        if !is_own(remote) || !is_named() {
            return false;
        }
        self.resolved.write().own.insert(remote.to_canonical());
        true
    }

    fn refusal(&self, remote: IpAddr) -> String {
        if !self.names_namenode {
            return format!("{remote} may not call this JournalNode: {NO_NAMENODE}");
        }
        let names: Vec<&str> = self.names.iter().map(String::as_str).collect();
        format!(
            "{remote} may not call this JournalNode: this is not the address of a NameNode or JournalNode that its configuration \
             names ({}); add its host to zerohop.journalnode.allowed.hosts there if it is one of them, and restart",
            names.join(", ")
        )
    }
}

const NO_NAMENODE: &str = "the configuration of this JournalNode names no NameNode. Give it dfs.nameservices, \
    dfs.ha.namenodes.NAMESERVICE, dfs.namenode.rpc-address.NAMESERVICE.NAMENODE and dfs.namenode.shared.edits.dir as the NameNodes \
    have them, or name hosts in zerohop.journalnode.allowed.hosts (* accepts all), and restart it";

/// Returns the hosts of all NameNodes that the configuration names.
fn namenodes(conf: &Conf) -> std::result::Result<Vec<String>, ConfError> {
    let mut hosts = Vec::new();
    let mut add = |conf: &Conf| {
        let addresses = [
            conf.get(&keys::DFS_NAMENODE_RPC_ADDRESS)?,
            conf.get(&keys::DFS_NAMENODE_SERVICERPC_ADDRESS)?,
            // It fetches segments, too. Its default names no host.
            Some(conf.get(&keys::DFS_NAMENODE_SECONDARY_HTTP_ADDRESS)?),
        ];
        hosts.extend(addresses.iter().flatten().filter_map(|address| host_of(address)));
        Ok::<(), ConfError>(())
    };
    add(conf)?;
    let services = conf.get(&keys::DFS_NAMESERVICES)?;
    for service in &services {
        let own = conf.specialize(Some(service), None);
        add(&own)?;
        let ids = own.get_raw(&format!("dfs.ha.namenodes.{service}")).unwrap_or_default();
        for id in ids.split(',').map(str::trim).filter(|id| !id.is_empty()) {
            add(&conf.specialize(Some(service), Some(id)))?;
        }
    }
    let default = Location::parse(conf.get(&keys::FS_DEFAULTFS)?.trim());
    if let Some(authority) = default.place().filter(|_| default.has_scheme("hdfs")) {
        let host = host_of(authority.host());
        hosts.extend(host.filter(|host| !services.contains(host)));
    }
    Ok(hosts)
}

/// Returns the host of `host:port`, or `None` if it stands for all hosts.
fn host_of(address: &str) -> Option<String> {
    let address = address.trim();
    let host = match address.rsplit_once(':') {
        Some((host, port)) if port.parse::<u16>().is_ok() => host,
        _ => address,
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let is_host = !host.is_empty() && !["0.0.0.0", "::"].contains(&host);
    is_host.then(|| host.to_owned())
}

#[cfg(test)]
#[path = "allowed_hosts_test.rs"]
mod allowed_hosts_test;
