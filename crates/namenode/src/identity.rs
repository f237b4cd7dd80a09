//! Who this NameNode is: ids that DataNodes and clients must agree with.

use crate::ha::HaState;
use std::sync::Arc;
use zerohop_proto::hdfs::{
    BlockKeyProto, ExportedBlockKeysProto, NamespaceInfoProto, NnhaStatusHeartbeatProto,
    StorageInfoProto,
};
use zerohop_wire::TxId;

/// The release whose protocols are spoken; Apache's DataNodes compare it with their own.
pub(crate) const SOFTWARE_VERSION: &str = "3.4.3";
/// What the layouts of the NameNode's directories are.
pub(crate) const LAYOUT_VERSION: i32 = -67;
/// Block reports come as buffers of varints (`NamespaceInfo.Capability.STORAGE_BLOCK_REPORT_BUFFERS`).
const CAPABILITY_REPORT_BUFFERS: u64 = 1;

/// The ids of the VERSION file.
#[derive(Clone, Debug)]
pub(crate) struct Identity {
    pub(crate) namespace_id: i32,
    pub(crate) cluster_id: String,
    pub(crate) ctime: u64,
    /// The block pool's id.
    pub(crate) pool: Arc<str>,
}

impl Identity {
    pub(crate) fn storage_info(&self) -> StorageInfoProto {
        StorageInfoProto {
            layout_version: LAYOUT_VERSION as u32,
            namespce_id: self.namespace_id as u32,
            cluster_id: self.cluster_id.clone(),
            c_time: self.ctime,
        }
    }

    /// What a DataNode is told before it registers.
    pub(crate) fn namespace_info(&self, state: HaState) -> NamespaceInfoProto {
        NamespaceInfoProto {
            build_version: build_version(),
            unused: 0,
            block_pool_id: self.pool.to_string(),
            storage_info: self.storage_info(),
            software_version: SOFTWARE_VERSION.to_owned(),
            capabilities: Some(CAPABILITY_REPORT_BUFFERS),
            state: Some(state.heartbeat_state().into()),
        }
    }
}

/// The state as a heartbeat's answer tells it, and the last transaction it is based on.
pub(crate) fn ha_status(state: HaState, txid: TxId) -> NnhaStatusHeartbeatProto {
    NnhaStatusHeartbeatProto { state: state.heartbeat_state().into(), txid: txid.0 as u64 }
}

/// Version and build, as `NameNodeInfo` shows them.
pub(crate) fn build_version() -> String {
    format!("zerohop-{}", env!("CARGO_PKG_VERSION"))
}

/// Block tokens are off.
pub(crate) fn no_block_keys() -> ExportedBlockKeysProto {
    ExportedBlockKeysProto {
        is_block_token_enabled: false,
        key_update_interval: 0,
        token_life_time: 0,
        current_key: BlockKeyProto { key_id: 0, expiry_date: 0, key_bytes: None },
        all_keys: Vec::new(),
    }
}
