//! DatanodeProtocol: registration, heartbeats, reports.

mod command;
mod heartbeat;
mod register;
mod report;

use super::answer::{Call, Outcome};
use super::client::report_bad_blocks;
use crate::core::Core;
use bytes::Bytes;
use std::sync::Arc;
use zerohop_proto::hdfs::datanode::DatanodeRegistrationProto;
use zerohop_proto::hdfs::{StorageInfoProto, VersionRequestProto, VersionResponseProto};
use zerohop_transport::rpc::server::{CallContext, Reply, RpcService, no_such_method};
use zerohop_wire::{JavaException, RemoteException};

const NAME: &str = "org.apache.hadoop.hdfs.server.protocol.DatanodeProtocol";

pub(super) struct DatanodeProtocol {
    core: Arc<Core>,
}

impl DatanodeProtocol {
    pub(super) fn new(core: Arc<Core>) -> Self {
        Self { core }
    }
}

impl RpcService for DatanodeProtocol {
    fn protocol(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> u64 {
        1
    }

    fn call(self: Arc<Self>, context: CallContext, method: &str, param: Bytes) -> Reply {
        let call = Call { core: &self.core, context, param };
        match method {
            "versionRequest" => version(call),
            "registerDatanode" => register::register(call),
            "sendHeartbeat" => heartbeat::heartbeat(call),
            "blockReport" => report::full(call),
            "blockReceivedAndDeleted" => report::incremental(call),
            "cacheReport" => report::cache(call),
            "errorReport" => report::error(call),
            "reportBadBlocks" => report_bad_blocks(call),
            "commitBlockSynchronization" => report::commit_synchronization(call),
            other => Reply::exception(no_such_method(NAME, other)),
        }
    }
}

fn version(call: Call<'_>) -> Reply {
    call.ask(|core, _, _: VersionRequestProto| {
        Ok(VersionResponseProto { info: core.identity.namespace_info() })
    })
}

/// Refuses DataNodes of another namespace.
fn check_registration(core: &Core, registration: &DatanodeRegistrationProto) -> Outcome<()> {
    let (theirs, ours) = (
        registration_id(&registration.storage_info),
        registration_id(&core.identity.storage_info()),
    );
    if theirs == ours {
        return Ok(());
    }
    tracing::warn!(
        "Registration IDs mismatched: the DatanodeRegistration ID is {theirs} but the expected ID is {ours}"
    );
    Err(unregistered(registration))
}

fn registration_id(info: &StorageInfoProto) -> String {
    format!("NS-{}-{}-{}", info.namespce_id as i32, info.cluster_id, info.c_time)
}

fn check_pool(core: &Core, pool: &str) -> Outcome<()> {
    if *core.identity.pool == *pool {
        return Ok(());
    }
    let message = format!("Unexpected block pool id {pool}, expected {}", core.identity.pool);
    Err(JavaException::Io.with(message))
}

fn unregistered(registration: &DatanodeRegistrationProto) -> RemoteException {
    let id = &registration.datanode_id;
    JavaException::UnregisteredNode.with(format!(
        "Unregistered server: DatanodeRegistration({}:{}, datanodeUuid={}, infoPort={}, ipcPort={})",
        id.ip_addr, id.xfer_port, id.datanode_uuid, id.info_port, id.ipc_port
    ))
}
