//! What another part of this process asks of the NameNode: ClientProtocol without a connection, for WebHDFS.

use crate::core::Core;
use crate::rpc::answer::Call;
use crate::rpc::client::ClientProtocol;
use crate::rpc::service::Protocol;
use crate::service::http_context;
use bytes::Bytes;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Weak};
use zerohop_daemon::http::HandlerThreads;
use zerohop_namespace::Namespace;
use zerohop_namespace::blocks::{
    AdminState, ClientLocation, DatanodeId, NodeFilter, PlacementRequest,
};
use zerohop_transport::rpc::server::Reply;
use zerohop_wire::{CallerIdentity, JavaException, RemoteException};

/// Calls that are answered at once; more wait. They take the namespace's lock, as pages do.
const CALLS_MAX: usize = 64;

/// ClientProtocol for callers that came by HTTP. Cheap to clone; clones share their threads.
#[derive(Clone)]
pub struct LocalCalls {
    /// The NameNode keeps who asks by these.
    core: Weak<Core>,
    threads: HandlerThreads,
}

/// Where a DataNode serves HTTP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DatanodeHttp {
    /// Its UUID.
    pub uuid: String,
    /// Its host, as it registered.
    pub host: String,
    /// The port.
    pub port: u16,
}

impl DatanodeHttp {
    fn of(id: &DatanodeId) -> Option<Self> {
        let port = u16::try_from(id.info_port).ok()?;
        Some(Self { uuid: id.uuid.clone(), host: id.host.clone(), port })
    }
}

impl LocalCalls {
    pub(crate) fn new(core: &Arc<Core>) -> Self {
        Self { core: Arc::downgrade(core), threads: HandlerThreads::new(CALLS_MAX) }
    }

    /// Answers a call: `request` and the answer are encoded messages. The audit log names `remote`.
    ///
    /// # Errors
    /// What the NameNode refuses with.
    pub async fn call(
        &self,
        identity: CallerIdentity,
        remote: SocketAddr,
        method: &'static str,
        request: Bytes,
    ) -> Result<Bytes, RemoteException> {
        let core = self.core.upgrade().ok_or_else(ends)?;
        let groups = match core.groups.known(identity.user()) {
            Some(groups) => groups,
            None => core.groups.load(identity.user()).await,
        };
        let context = http_context(identity, remote);
        if ClientProtocol::needs_rack(method) {
            core.racks.ask_for_client(&context.host).await;
        }
        let reply = self.threads.run(move || {
            let call = Call { core: &core, context, groups, param: request, audited_as: "webhdfs" };
            ClientProtocol::call(call, method)
        });
        let reply: Reply = reply.await.map_err(|_| busy())?;
        reply.answer().await
    }

    /// A DataNode for a new block that a client at `client` writes: as placement chooses, none of `excluded` (`host` or
    /// `host:port` of block data). None if there is none.
    pub async fn datanode_for_block(
        &self,
        client: IpAddr,
        block_size: u64,
        excluded: Vec<String>,
    ) -> Option<DatanodeHttp> {
        let core = self.core.upgrade()?;
        let client = client.to_canonical().to_string();
        core.racks.ask_for_client(&client).await;
        let rack = core.racks.of_client(&client);
        let choose = move || {
            let client = ClientLocation { host: &client, rack: rack.as_deref() };
            core.read(|names| choose(names, client, block_size, &excluded))
        };
        self.threads.run(choose).await.ok().flatten()
    }

    /// The DataNodes in service, none of `excluded` (`host` or `host:port` of block data).
    ///
    /// # Errors
    /// If all threads are busy or the NameNode stops; the caller asks again later.
    pub async fn datanodes_in_service(
        &self,
        excluded: Vec<String>,
    ) -> Result<Vec<DatanodeHttp>, RemoteException> {
        let core = self.core.upgrade().ok_or_else(ends)?;
        let list = move || core.read(|namespace| in_service(namespace, &excluded));
        self.threads.run(list).await.map_err(|_| busy())
    }
}

fn ends() -> RemoteException {
    JavaException::Retriable.with("The NameNode stops")
}

fn busy() -> RemoteException {
    JavaException::Retriable.with("All threads for calls by HTTP are busy; ask again later")
}

fn in_service(namespace: &Namespace, excluded: &[String]) -> Vec<DatanodeHttp> {
    let live = namespace.blocks().datanodes().reports(NodeFilter::Live).into_iter();
    let normal = live.filter(|node| node.info.stats.admin == AdminState::Normal);
    let wanted = normal.filter(|node| !excluded.iter().any(|name| names(name, &node.info.id)));
    wanted.filter_map(|node| DatanodeHttp::of(&node.info.id)).collect()
}

fn choose(
    namespace: &Namespace,
    client: ClientLocation<'_>,
    block_size: u64,
    excluded: &[String],
) -> Option<DatanodeHttp> {
    let datanodes = namespace.blocks().datanodes();
    let unwanted: Vec<String> = excluded.iter().flat_map(|name| datanodes.uuids_at(name)).collect();
    let targets = namespace.blocks().choose_more_targets(&PlacementRequest {
        replicas: 1,
        client_host: client.host,
        client_rack: client.rack,
        block_size,
        excluded: &unwanted,
        ..PlacementRequest::default()
    });
    let placed = datanodes.locations(&targets).into_iter().next().map(|found| found.node.id);
    // A full cluster still reads.
    let id = placed.or_else(|| datanodes.any_in_service(&unwanted))?;
    DatanodeHttp::of(&id)
}

/// Whether `name`, a host or a host and the port of block data, is this DataNode.
fn names(name: &str, id: &DatanodeId) -> bool {
    let (host, port) = match name.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (host, Some(port)),
        _ => (name, None),
    };
    (host == id.host || host == id.ip) && port.is_none_or(|port| port.parse() == Ok(id.xfer_port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datanode_is_excluded_by_its_host_or_its_address() {
        let id = DatanodeId {
            ip: "10.0.0.1".to_owned(),
            host: "dn1".to_owned(),
            uuid: "u".to_owned(),
            xfer_port: 9866,
            info_port: 9864,
            info_secure_port: 0,
            ipc_port: 9867,
        };
        for name in ["dn1", "10.0.0.1", "dn1:9866", "10.0.0.1:9866"] {
            assert!(names(name, &id), "{name}");
        }
        for name in ["dn2", "dn1:9867", "dn2:9866", "", "dn1:"] {
            assert!(!names(name, &id), "{name}");
        }
    }
}

#[cfg(test)]
#[path = "local_test.rs"]
mod rack_tests;
