//! Whose a block pool is.

use std::sync::Arc;
use zerohop_proto::hdfs::NamespaceInfoProto;

/// Who a block pool belongs to, as its NameNode said first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PoolIdentity {
    pub(crate) pool_id: Arc<str>,
    pub(crate) cluster_id: String,
    pub(crate) namespace_id: i32,
    pub(crate) ctime: i64,
    pub(crate) software_version: String,
}

impl From<&NamespaceInfoProto> for PoolIdentity {
    fn from(info: &NamespaceInfoProto) -> Self {
        Self {
            pool_id: info.block_pool_id.as_str().into(),
            cluster_id: info.storage_info.cluster_id.clone(),
            namespace_id: info.storage_info.namespce_id as i32,
            ctime: info.storage_info.c_time as i64,
            software_version: info.software_version.clone(),
        }
    }
}
