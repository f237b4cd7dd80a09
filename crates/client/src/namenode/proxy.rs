//! The NameNodes of a name service as one: a call goes to the active one, is repeated as the policy
//! says, and keeps its id while it is.

use super::local::{self, LocalNameNode};
use super::policy::{Decision, Policy, Tries};
use super::target::Target;
use crate::error::Result;
use prost::Message;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use zerohop_conf::{Conf, keys};
use zerohop_proto::Checked;
use zerohop_system::{clock, random};
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientIdentity, ClientOptions, RpcClient, RpcError};
use zerohop_transport::waits::WAITS;

/// The protocol of files and administration.
pub(crate) const CLIENT_PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
const VERSION: u64 = 1;

/// The NameNodes of a name service. Cheap to clone.
#[derive(Clone)]
pub(crate) struct NameNode(Arc<Shared>);

struct Shared {
    /// In this process; then there are no servers.
    local: Option<Arc<dyn LocalNameNode>>,
    servers: Vec<RpcClient>,
    /// Index of the server that answered last.
    active: AtomicUsize,
    policy: Policy,
}

/// A client of one protocol of the NameNodes.
pub(crate) fn connect(
    protocol: &'static str,
    conf: &Conf,
    target: &Target,
    user: &User,
) -> Result<NameNode> {
    let has_failover = target.addrs.len() > 1;
    let mut options = ClientOptions::from_conf(conf)?;
    if has_failover {
        let count = |key| conf.get(key).map(|n: i32| u32::try_from(n).unwrap_or(0));
        options.connect_retries = count(&keys::DFS_CLIENT_FAILOVER_CONNECTION_RETRIES)?;
        options.connect_retries_on_timeouts =
            count(&keys::DFS_CLIENT_FAILOVER_CONNECTION_RETRIES_ON_TIMEOUTS)?;
    }
    let mut addrs = target.addrs.clone();
    if has_failover && conf.get(&keys::DFS_CLIENT_FAILOVER_RANDOM_ORDER)? {
        random::shuffle(&mut addrs);
    }
    let identity = Arc::new(ClientIdentity::random());
    let connect = |addr: &String| {
        let identity = Arc::clone(&identity);
        RpcClient::with_identity(addr, protocol, VERSION, user, options.clone(), identity)
    };
    Ok(NameNode(Arc::new(Shared {
        local: None,
        servers: addrs.iter().map(connect).collect(),
        active: AtomicUsize::new(0),
        policy: Policy::from_conf(conf, has_failover)?,
    })))
}

/// A client of a NameNode in this process.
pub(crate) fn within(namenode: Arc<dyn LocalNameNode>, conf: &Conf) -> Result<NameNode> {
    Ok(NameNode(Arc::new(Shared {
        local: Some(namenode),
        servers: Vec::new(),
        active: AtomicUsize::new(0),
        policy: Policy::from_conf(conf, false)?,
    })))
}

impl NameNode {
    /// Calls the active NameNode; the error is the last one, where several were tried.
    pub(crate) async fn call<Q: Message, R: Checked>(
        &self,
        method: &'static str,
        request: &Q,
    ) -> Result<R> {
        let shared = &*self.0;
        if let Some(namenode) = &shared.local {
            return local::call(&**namenode, method, request).await;
        }
        let mut tries = Tries::default();
        let mut at = shared.active.load(Ordering::Relaxed);
        let mut id = match shared.servers.first() {
            Some(server) => server.next_call(),
            None => return Err(crate::error::Error::invalid("no NameNode is configured")),
        };
        loop {
            let Some(server) = shared.servers.get(at % shared.servers.len()) else {
                return Err(crate::error::Error::invalid("no NameNode is configured"));
            };
            let error = match server.call_with_id(&id, method, request).await {
                Ok(answer) => return Ok(answer),
                Err(error) => error,
            };
            match shared.policy.decide(&error, tries, random::f64()) {
                Decision::Fail => return Err(error.into()),
                Decision::Retry(wait) => {
                    note(method, server.addr(), &error, tries.retries, wait);
                    clock::sleep(wait).await;
                }
                Decision::FailOver(wait) => {
                    note(method, server.addr(), &error, tries.retries, wait);
                    clock::sleep(wait).await;
                    at = shared.fail_over(at);
                    tries.failovers += 1;
                }
            }
            tries.retries += 1;
            id = id.again();
        }
    }
}

impl Shared {
    /// The server after `failed`, unless another call has moved on already.
    fn fail_over(&self, failed: usize) -> usize {
        let next = (failed + 1) % self.servers.len().max(1);
        match self.active.compare_exchange(failed, next, Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => next,
            Err(current) => current,
        }
    }
}

fn note(method: &str, addr: &str, error: &RpcError, retries: u32, wait: std::time::Duration) {
    let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
    tracing::warn!(
        target: WAITS,
        wait_ms,
        "{method} at {addr}: {error}; tried {} time(s), asking again after {wait_ms} ms",
        retries.saturating_add(1)
    );
}
