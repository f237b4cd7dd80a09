//! Whether a call comes from a DataNode of this namespace.

use crate::convert;
use crate::core::Core;
use crate::message::decode_request;
use crate::rpc::answer::{Call, RpcResult};
use bytes::Bytes;
use prost::encoding::{WireType, decode_key, decode_varint, skip_field};
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

/// Looks at who sends a message before the whole of it is decoded: a stranger may send much. Returns `false` if the sender
/// must register first. A small message passes; it is judged when it is decoded.
///
/// # Errors
/// Fails if the message does not say who sends it, or for the reasons of [`check_sender`].
pub(super) fn may_be_decoded(call: &Call<'_>) -> RpcResult<bool> {
    if !call.context.memory.is_charged() {
        return Ok(true);
    }
    let registration = registration_of(call.param.clone())
        .ok_or_else(|| JavaException::RpcServer.with("the message has no registration"))?;
    let registration: DatanodeRegistrationProto = decode_request(&call.context, registration)?;
    check_sender(call.core, &registration)?;
    let uuid = &registration.datanode_id.datanode_uuid;
    let registered =
        call.core.read(|namespace| namespace.blocks().datanodes().check_registered(uuid));
    if let Err(reason) = &registered {
        let (len, from) = (call.param.len(), &call.context.host);
        tracing::warn!("a message of {len} bytes from {from} was not decoded: {reason}");
    }
    Ok(registered.is_ok())
}

/// Like [`may_be_decoded`], for messages whose answer has no commands: the next heartbeat's tells the sender to register.
///
/// # Errors
/// Also fails if the sender must register first.
pub(super) fn check_may_be_decoded(call: &Call<'_>) -> RpcResult<()> {
    match may_be_decoded(call)? {
        true => Ok(()),
        false => Err(JavaException::Io.with("a dead or unregistered DataNode must register first")),
    }
}

/// Takes the registration out of a DataNode's message, in each of which it is the first field. Returns `None` if the bytes are
/// no such message.
fn registration_of(mut message: Bytes) -> Option<Bytes> {
    while !message.is_empty() {
        let (number, wire_type) = decode_key(&mut message).ok()?;
        if (number, wire_type) == (1, WireType::LengthDelimited) {
            let len = usize::try_from(decode_varint(&mut message).ok()?).ok()?;
            return (len <= message.len()).then(|| message.split_to(len));
        }
        skip_field(wire_type, number, &mut message, Default::default()).ok()?;
    }
    None
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
