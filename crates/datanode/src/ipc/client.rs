//! ClientDatanodeProtocol: what clients and administrators ask a DataNode.

use super::answer::{on_thread, reply};
use super::privileges::Privileges;
use crate::node::{Ending, Node};
use crate::store::Failure;
use bytes::Bytes;
use std::sync::Arc;
use zerohop_proto::hdfs::{
    DatanodeLocalInfoProto, DatanodeVolumeInfoProto, DeleteBlockPoolRequestProto,
    DeleteBlockPoolResponseProto, EvictWritersResponseProto, GetBalancerBandwidthResponseProto,
    GetBlockLocalPathInfoRequestProto, GetBlockLocalPathInfoResponseProto,
    GetDatanodeInfoResponseProto, GetReplicaVisibleLengthRequestProto,
    GetReplicaVisibleLengthResponseProto, GetVolumeReportResponseProto,
    RefreshNamenodesResponseProto, ShutdownDatanodeRequestProto, ShutdownDatanodeResponseProto,
    TriggerBlockReportRequestProto, TriggerBlockReportResponseProto,
};
use zerohop_replica::{delete_pool as delete_pool_of, is_pool_empty};
use zerohop_system::clock;
use zerohop_transport::reconfigure;
use zerohop_transport::rpc::server::{
    CallContext, Reply, RpcService, decode_param, no_such_method,
};
use zerohop_wire::{ExtendedBlock, JavaException, RemoteException};

const PROTOCOL: &str = "org.apache.hadoop.hdfs.protocol.ClientDatanodeProtocol";

/// The protocol.
pub(super) struct ClientProtocol {
    pub(super) node: Arc<Node>,
    pub(super) privileges: Arc<Privileges>,
}

impl RpcService for ClientProtocol {
    fn protocol(&self) -> &'static str {
        PROTOCOL
    }

    fn version(&self) -> u64 {
        1
    }

    fn call(self: Arc<Self>, context: CallContext, method: &str, param: Bytes) -> Reply {
        if !self.privileges.are_known(context.identity.user()) {
            // A look-up of groups may take seconds, and this thread serves other connections.
            let method = method.to_owned();
            return Reply::later(async move {
                self.privileges.groups.load(context.identity.user()).await;
                self.answer(&context, &method, param).answer().await
            });
        }
        self.answer(&context, method, param)
    }
}

impl ClientProtocol {
    fn answer(&self, context: &CallContext, method: &str, param: Bytes) -> Reply {
        match method {
            "getReplicaVisibleLength" => self.visible_length(param),
            "getDatanodeInfo" => Reply::message(&self.info()),
            "getBlockLocalPathInfo" => self.local_path(context.identity.user(), param),
            "refreshNamenodes"
            | "deleteBlockPool"
            | "shutdownDatanode"
            | "evictWriters"
            | "getVolumeReport"
            | "triggerBlockReport"
            | "getBalancerBandwidth"
            | "startReconfiguration"
            | "getReconfigurationStatus"
            | "listReconfigurableProperties" => {
                self.administer(context.identity.user(), method, param)
            }
            "submitDiskBalancerPlan"
            | "cancelDiskBalancerPlan"
            | "queryDiskBalancerPlan"
            | "getDiskBalancerSetting" => Reply::exception(
                JavaException::UnsupportedOperation.with(format!("{method} is not supported")),
            ),
            _ => Reply::exception(no_such_method(PROTOCOL, method)),
        }
    }

    fn visible_length(&self, param: Bytes) -> Reply {
        let node = Arc::clone(&self.node);
        let block = decode_param::<GetReplicaVisibleLengthRequestProto>(param)
            .map(|request| ExtendedBlock::from(&request.block));
        match block {
            Ok(block) => on_thread(move || {
                let length = node.store.reads().visible_len(&block)?;
                Ok(GetReplicaVisibleLengthResponseProto { length })
            }),
            Err(exception) => Reply::exception(exception),
        }
    }

    fn info(&self) -> GetDatanodeInfoResponseProto {
        GetDatanodeInfoResponseProto {
            local_info: DatanodeLocalInfoProto {
                software_version: self.software_version(),
                config_version: "core-0,hdfs-0".to_owned(),
                uptime: clock::since(self.node.started).as_secs(),
            },
        }
    }

    fn software_version(&self) -> String {
        let identity = self.node.services().iter().find_map(|service| service.identity());
        identity.map_or_else(|| "unknown".to_owned(), |identity| identity.software_version)
    }

    /// Paths of a replica's files, for the short-circuit reads of before descriptors were passed.
    fn local_path(&self, user: &str, param: Bytes) -> Reply {
        if !self.privileges.path_users.iter().any(|known| known == user) {
            return Reply::exception(JavaException::AccessControl.with(format!(
                "Can't continue with getBlockLocalPathInfo() authorization. The user {user} is not \
                 configured in dfs.block.local-path-access.user"
            )));
        }
        let node = Arc::clone(&self.node);
        let block = decode_param::<GetBlockLocalPathInfoRequestProto>(param)
            .map(|request| ExtendedBlock::from(&request.block));
        match block {
            Ok(block) => on_thread(move || {
                let (block, paths) = node.store.reads().paths(&block)?;
                let [local_path, local_meta_path] = paths.map(|path| path.display().to_string());
                let block = (&block).into();
                Ok(GetBlockLocalPathInfoResponseProto { block, local_path, local_meta_path })
            }),
            Err(exception) => Reply::exception(exception),
        }
    }

    fn administer(&self, user: &str, method: &str, param: Bytes) -> Reply {
        if !self.privileges.is_superuser(user) {
            return Reply::exception(JavaException::AccessControl.with("Permission denied"));
        }
        match method {
            "refreshNamenodes" => {
                tracing::info!("refreshNamenodes: the name services are read at start only");
                Reply::message(&RefreshNamenodesResponseProto {})
            }
            "deleteBlockPool" => self.delete_pool(param),
            "shutdownDatanode" => reply(self.shut_down(user, param)),
            "evictWriters" => {
                self.node.store.pools().stop_writers();
                Reply::message(&EvictWritersResponseProto {})
            }
            "getVolumeReport" => Reply::message(&self.volumes()),
            "triggerBlockReport" => reply(self.trigger_report(param)),
            "startReconfiguration" => reconfigure::start(&self.node),
            "getReconfigurationStatus" => reconfigure::status(&*self.node),
            "listReconfigurableProperties" => reconfigure::properties(&*self.node),
            _ => Reply::message(&GetBalancerBandwidthResponseProto {
                bandwidth: self.node.balance_throttle.limit(),
            }),
        }
    }

    fn shut_down(
        &self,
        user: &str,
        param: Bytes,
    ) -> Result<ShutdownDatanodeResponseProto, RemoteException> {
        let restarts = decode_param::<ShutdownDatanodeRequestProto>(param)?.for_upgrade;
        tracing::info!("{user} called shutdownDatanode (upgrade={restarts})");
        if !self.node.end(Ending::Asked { restarts }) {
            return Err(JavaException::Io.with("Shutdown already in progress."));
        }
        Ok(ShutdownDatanodeResponseProto {})
    }

    fn delete_pool(&self, param: Bytes) -> Reply {
        let node = Arc::clone(&self.node);
        match decode_param::<DeleteBlockPoolRequestProto>(param) {
            Ok(request) => on_thread(move || delete_pool(&node, &request)),
            Err(exception) => Reply::exception(exception),
        }
    }

    fn volumes(&self) -> GetVolumeReportResponseProto {
        let in_use = self.node.store.volumes().in_use();
        let info = in_use.iter().map(|volume| DatanodeVolumeInfoProto {
            path: volume.root().display().to_string(),
            storage_type: volume.location.storage_type.number(),
            used_space: volume.used(),
            free_space: volume.available(),
            reserved_space: volume.left_free(),
            reserved_space_for_replicas: volume.promised(),
            num_blocks: volume.blocks(),
        });
        GetVolumeReportResponseProto { volume_info: info.collect() }
    }

    fn trigger_report(
        &self,
        param: Bytes,
    ) -> Result<TriggerBlockReportResponseProto, RemoteException> {
        let request: TriggerBlockReportRequestProto = decode_param(param)?;
        for service in self.node.services() {
            let wanted = |addr: &str| request.nn_address.as_deref().is_none_or(|nn| nn == addr);
            for link in service.links().iter().filter(|link| wanted(&link.addr)) {
                if request.incremental {
                    link.pending_changes.wake();
                } else {
                    link.ask_full_report();
                }
            }
        }
        Ok(TriggerBlockReportResponseProto {})
    }
}

/// Removes what a pool that is served no more left on the volumes.
fn delete_pool(
    node: &Node,
    request: &DeleteBlockPoolRequestProto,
) -> Result<DeleteBlockPoolResponseProto, Failure> {
    let id = &request.block_pool;
    if node.service(id).is_some() || node.store.pools().get(id).is_ok() {
        return Err(Failure::io(
            "The block pool is still running. First do a refreshNamenodes to shutdown the \
             block pool service",
        ));
    }
    let used = node.store.volumes().in_use();
    if !request.force {
        for volume in &used {
            if !is_pool_empty(volume.root(), id)? {
                let text = "Cannot delete block pool, it contains some block files";
                return Err(Failure::io(text));
            }
        }
    }
    for volume in used {
        delete_pool_of(volume.root(), id)?;
    }
    tracing::info!("block pool {id} was deleted, as asked");
    Ok(DeleteBlockPoolResponseProto {})
}
