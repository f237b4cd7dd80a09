//! InterDatanodeProtocol: another DataNode recovers a block that has a replica here.

use super::answer::on_thread;
use super::privileges::Privileges;
use crate::node::Node;
use crate::store::{Failure, RecoveryInfo};
use bytes::Bytes;
use std::sync::Arc;
use zerohop_proto::hdfs::{
    InitReplicaRecoveryRequestProto, InitReplicaRecoveryResponseProto, ReplicaStateProto,
    UpdateReplicaUnderRecoveryRequestProto, UpdateReplicaUnderRecoveryResponseProto,
};
use zerohop_transport::rpc::server::{
    CallContext, Reply, RpcService, decode_charged, decode_param, no_such_method,
};
use zerohop_wire::block_report::ReplicaState;
use zerohop_wire::{BlockId, ExtendedBlock, GenerationStamp};

/// The protocol's name and version.
pub(crate) const PROTOCOL: &str = "org.apache.hadoop.hdfs.server.protocol.InterDatanodeProtocol";
pub(crate) const VERSION: u64 = 1;

/// The protocol.
pub(super) struct InterProtocol {
    pub(super) node: Arc<Node>,
    pub(super) privileges: Arc<Privileges>,
}

impl RpcService for InterProtocol {
    fn protocol(&self) -> &'static str {
        PROTOCOL
    }

    fn version(&self) -> u64 {
        VERSION
    }

    fn call(self: Arc<Self>, context: CallContext, method: &str, param: Bytes) -> Reply {
        match method {
            "initReplicaRecovery" => match decode_charged(&context, param) {
                Ok(request) => on_thread(move || {
                    self.check(&context, "initReplicaRecovery")?;
                    init(&self.node, &request)
                }),
                Err(exception) => Reply::exception(exception),
            },
            "updateReplicaUnderRecovery" => match decode_param(param) {
                Ok(request) => on_thread(move || {
                    self.check(&context, "updateReplicaUnderRecovery")?;
                    update(&self.node, &request)
                }),
                Err(exception) => Reply::exception(exception),
            },
            _ => Reply::exception(no_such_method(PROTOCOL, method)),
        }
    }
}

impl InterProtocol {
    fn check(&self, context: &CallContext, method: &str) -> Result<(), Failure> {
        let checked = self.privileges.check_datanode(context.identity.user(), method);
        checked.map_err(|refusal| {
            tracing::warn!("{}: {}", context.host, refusal.message);
            Failure::from(refusal)
        })
    }
}

fn init(
    node: &Node,
    request: &InitReplicaRecoveryRequestProto,
) -> Result<InitReplicaRecoveryResponseProto, Failure> {
    let block = ExtendedBlock::from(&request.block.block.b);
    let id = GenerationStamp(request.block.new_gen_stamp as i64);
    Ok(match node.store.recovery().init_recovery(&block, id)? {
        Some(RecoveryInfo { block, original }) => InitReplicaRecoveryResponseProto {
            replica_found: true,
            state: Some(state_to_proto(original) as i32),
            block: Some(block.into()),
        },
        None => InitReplicaRecoveryResponseProto { replica_found: false, state: None, block: None },
    })
}

fn update(
    node: &Node,
    request: &UpdateReplicaUnderRecoveryRequestProto,
) -> Result<UpdateReplicaUnderRecoveryResponseProto, Failure> {
    let old = ExtendedBlock::from(&request.block);
    let id = GenerationStamp(request.recovery_id as i64);
    let new_id = BlockId(request.new_block_id.unwrap_or(0) as i64);
    let (replica, block) =
        node.store.recovery().update_recovered(&old, id, new_id, request.new_length)?;
    node.tell_received(&old.pool, &replica, block, None, false);
    let storage_uuid = Some(replica.volume.storage_id());
    Ok(UpdateReplicaUnderRecoveryResponseProto { storage_uuid })
}

fn state_to_proto(state: ReplicaState) -> ReplicaStateProto {
    match state {
        ReplicaState::Finalized => ReplicaStateProto::Finalized,
        ReplicaState::Rbw => ReplicaStateProto::Rbw,
        ReplicaState::Rwr => ReplicaStateProto::Rwr,
        ReplicaState::Rur => ReplicaStateProto::Rur,
        ReplicaState::Temporary => ReplicaStateProto::Temporary,
    }
}
