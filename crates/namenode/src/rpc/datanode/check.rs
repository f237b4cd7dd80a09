//! Whether a call comes from a DataNode of this namespace.

use crate::convert;
use crate::core::Core;
use crate::rpc::answer::RpcResult;
use zerohop_proto::hdfs::StorageInfoProto;
use zerohop_proto::hdfs::datanode::DatanodeRegistrationProto;
use zerohop_wire::{JavaException, RemoteException};

/// Refuses calls of a DataNode that does not belong to this namespace, or whose UUID another one registered with since.
pub(super) fn check_sender(core: &Core, registration: &DatanodeRegistrationProto) -> RpcResult<()> {
    check_registration(core, registration)?;
    let sender = convert::datanode_id(registration.datanode_id.clone());
    let checked = core.read(|namespace| namespace.blocks().datanodes().check_sender(&sender));
    Ok(checked.inspect_err(|refusal| tracing::warn!("{refusal}"))?)
}

/// Refuses DataNodes of another namespace.
pub(super) fn check_registration(
    core: &Core,
    registration: &DatanodeRegistrationProto,
) -> RpcResult<()> {
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
    Err(unregistered(registration, &theirs, &ours))
}

fn registration_id(info: &StorageInfoProto) -> String {
    format!("NS-{}-{}-{}", info.namespce_id as i32, info.cluster_id, info.c_time)
}

/// Refuses calls that mean another block pool.
pub(super) fn check_pool(core: &Core, pool: &str) -> RpcResult<()> {
    if *core.identity.pool == *pool {
        return Ok(());
    }
    let message = format!("Unexpected block pool id {pool}, expected {}", core.identity.pool);
    Err(JavaException::Io.with(message))
}

fn unregistered(
    registration: &DatanodeRegistrationProto,
    theirs: &str,
    ours: &str,
) -> RemoteException {
    let id = &registration.datanode_id;
    JavaException::UnregisteredNode.with(format!(
        "Unregistered server: DatanodeRegistration({}:{}, datanodeUuid={}, infoPort={}, ipcPort={}): it belongs to the file system {theirs}, \
         this NameNode serves {ours}. If the NameNode was formatted again, start it on the name directories of the \
         file system that the DataNode has, or empty the DataNode's dfs.datanode.data.dir and restart it",
        id.ip_addr, id.xfer_port, id.datanode_uuid, id.info_port, id.ipc_port
    ))
}
