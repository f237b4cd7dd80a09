//! The NameNodes of a name service as one: a call goes to the active one, is repeated as the policy
//! says, and keeps its id while it is.

use super::local::{self, LocalNameNode};
use super::observers::{Observers, Read, is_read};
use super::policy::{Decision, Policy, Tries};
use super::provider::Provider;
use super::servers::Servers;
use super::target::Target;
use crate::error::Result;
use crate::runtime;
use bytes::Bytes;
use prost::Message;
use std::sync::Arc;
use std::time::Duration;
use tokio::runtime::Handle;
use tokio::sync::OnceCell;
use tokio::task::JoinSet;
use zerohop_conf::{Conf, keys};
use zerohop_proto::Checked;
use zerohop_proto::hdfs::MsyncRequestProto;
use zerohop_system::{clock, random};
use zerohop_transport::login::User;
use zerohop_transport::rpc::{ClientIdentity, ClientOptions, RpcClient, RpcError};
use zerohop_transport::waits::WAITS;
use zerohop_wire::CallerContext;

/// The protocol of files and administration.
pub(crate) const CLIENT_PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientProtocol";
const VERSION: u64 = 1;

/// The NameNodes of a name service. Cheap to clone.
#[derive(Clone)]
pub(crate) struct NameNode(Arc<Shared>);

struct Shared {
    /// Connections, time limits and searches belong to it, wherever a call is awaited.
    runtime: Handle,
    /// Of all calls, to whichever server.
    identity: Arc<ClientIdentity>,
    /// In this process; then there are no servers.
    local: Option<Arc<dyn LocalNameNode>>,
    servers: Arc<Servers>,
    policy: Policy,
    provider: Provider,
    /// Filled when the active one has been looked for, where that is done before the first call.
    looked: Arc<OnceCell<()>>,
    /// Who answers reads, where they need not go to the active one.
    observers: Option<Observers>,
}

/// A client of one protocol of the NameNodes.
pub(crate) fn connect(
    protocol: &'static str,
    conf: &Conf,
    target: &Target,
    user: &User,
    runtime: &Handle,
) -> Result<NameNode> {
    let has_failover = target.addrs.len() > 1;
    let mut options = ClientOptions::from_conf(conf)?;
    options.runtime = Some(runtime.clone());
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
    let (mut provider, mut observers) = (Provider::Configured, None);
    if has_failover {
        let nameservice = target.authority.host();
        provider = Provider::from_conf(conf, nameservice)?;
        if provider == Provider::ObserverRead && protocol == CLIENT_PROTOCOL {
            observers = Some(Observers::from_conf(conf, nameservice)?);
        }
    }
    let identity = Arc::new(match observers {
        Some(_) => ClientIdentity::aligned(),
        None => ClientIdentity::random(),
    });
    let connect = |addr: &String| {
        let identity = Arc::clone(&identity);
        RpcClient::with_identity(addr, protocol, VERSION, user, options.clone(), identity)
    };
    Ok(NameNode(Arc::new(Shared {
        runtime: runtime.clone(),
        identity: Arc::clone(&identity),
        local: None,
        servers: Arc::new(Servers::new(addrs.iter().map(connect).collect())),
        policy: Policy::from_conf(conf, has_failover)?,
        provider,
        looked: Arc::default(),
        observers,
    })))
}

/// A client of a NameNode in this process.
pub(crate) fn within(
    namenode: Arc<dyn LocalNameNode>,
    conf: &Conf,
    runtime: &Handle,
) -> Result<NameNode> {
    Ok(NameNode(Arc::new(Shared {
        runtime: runtime.clone(),
        identity: Arc::new(ClientIdentity::random()),
        local: Some(namenode),
        servers: Arc::new(Servers::new(Vec::new())),
        policy: Policy::from_conf(conf, false)?,
        provider: Provider::Configured,
        looked: Arc::default(),
        observers: None,
    })))
}

impl NameNode {
    /// What calls say they are for, from now on.
    pub(crate) fn set_caller_context(&self, context: Option<CallerContext>) {
        self.0.identity.set_caller_context(context);
    }

    /// Calls the active NameNode, or for a read an observer; the error is the last one, where several were tried.
    pub(crate) async fn call<Q: Message, R: Checked>(
        &self,
        method: &'static str,
        request: &Q,
    ) -> Result<R> {
        runtime::within(&self.0.runtime, self.call_within(method, request)).await
    }

    async fn call_within<Q: Message, R: Checked>(
        &self,
        method: &'static str,
        request: &Q,
    ) -> Result<R> {
        let shared = &*self.0;
        if let Some(namenode) = &shared.local {
            return local::call(&**namenode, method, request).await;
        }
        let request = request.encode_to_vec();
        let answer = match &shared.observers {
            Some(observers) => shared.call_observers(observers, method, &request).await?,
            None => shared.call_active(method, &request).await?,
        };
        let decoded = zerohop_proto::decode(answer).map_err(|problem| RpcError::Protocol {
            addr: shared.address(shared.servers.active()),
            reason: problem.to_string(),
        });
        Ok(decoded?)
    }
}

impl Shared {
    fn address(&self, at: usize) -> String {
        self.servers.get(at).map(|server| server.addr().to_owned()).unwrap_or_default()
    }

    /// Asks an observer where one may answer, and the active NameNode otherwise.
    async fn call_observers(
        &self,
        observers: &Observers,
        method: &'static str,
        request: &[u8],
    ) -> Result<Bytes> {
        if is_read(method) && observers.may_exist() {
            if observers.must_sync() {
                self.call_active("msync", &MsyncRequestProto {}.encode_to_vec()).await?;
                observers.synced();
            }
            if let Some(server) = self.servers.get(0)
                && let Read::Answered(answer) =
                    observers.read(&self.servers, &server.next_call(), method, request).await
            {
                return Ok(answer?);
            }
        }
        let answer = self.call_active(method, request).await?;
        observers.synced();
        Ok(answer)
    }

    /// Calls the active NameNode until the policy gives up.
    async fn call_active(&self, method: &'static str, request: &[u8]) -> Result<Bytes> {
        let servers = &self.servers;
        if self.provider == Provider::Hedging {
            self.look_once().await;
        }
        let mut tries = Tries::default();
        let mut at = servers.active();
        let mut id = match servers.get(at) {
            Some(server) => server.next_call(),
            None => return Err(crate::error::Error::invalid("no NameNode is configured")),
        };
        loop {
            let Some(server) = servers.get(at) else {
                return Err(crate::error::Error::invalid("no NameNode is configured"));
            };
            let answer = server.call_raw(&id, method, request);
            let error = if servers.len() == 1 {
                match answer.await {
                    Ok(answer) => return Ok(answer),
                    Err(error) => error,
                }
            } else {
                tokio::select! {
                    biased;
                    answer = answer => match answer {
                        Ok(answer) => return Ok(answer),
                        Err(error) => error,
                    },
                    // The same call: if it was carried out, the new active one knows its answer.
                    other = servers.until_replaced(at) => {
                        tracing::warn!(
                            "{method}: {} does not answer, and {} is active now", server.addr(), self.address(other)
                        );
                        (at, id) = (other, id.again());
                        tries.failovers += 1;
                        tries.retries += 1;
                        continue;
                    }
                }
            };
            match self.policy.decide(&error, tries, random::f64()) {
                Decision::Fail => return Err(error.into()),
                Decision::Retry(wait) => {
                    note(method, server.addr(), &error, tries.retries, wait);
                    clock::sleep(wait).await;
                }
                Decision::FailOver(wait) => {
                    note(method, server.addr(), &error, tries.retries, wait);
                    at = self.next(at, wait).await;
                    tries.failovers += 1;
                }
            }
            tries.retries += 1;
            id = id.again();
        }
    }

    /// Looks for the active one, unless that was done before. By a task, for which other calls wait: this one may never be
    /// polled again.
    async fn look_once(&self) {
        if self.looked.initialized() {
            return;
        }
        let (looked, servers) = (Arc::clone(&self.looked), Arc::clone(&self.servers));
        let look = || async move {
            servers.find_active(None).await;
        };
        let looking = tokio::spawn(async move {
            looked.get_or_init(look).await;
        });
        // If none is found, the call's policy decides.
        _ = looking.await;
    }

    /// The NameNode to ask after `failed`: the next one after a wait, or sooner the one that says that it is active.
    async fn next(&self, failed: usize, wait: Duration) -> usize {
        if self.provider == Provider::Hedging
            && let Some(found) = self.servers.find_active(None).await
        {
            return found;
        }
        if wait.is_zero() {
            return self.servers.fail_over(failed);
        }
        // A task: while it looks, others wait for it.
        let (mut search, servers) = (JoinSet::new(), Arc::clone(&self.servers));
        search.spawn(async move { servers.until_one_is_active().await });
        tokio::select! {
            () = clock::sleep(wait) => self.servers.fail_over(failed),
            Some(Ok(found)) = search.join_next() => found,
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
