//! What images and edit logs carry.

use crate::blocks::BlockManager;
use crate::cache::Cache;
use crate::lease::Leases;
use crate::tree::Tree;
use crate::{Ids, NamespaceParams};
use zerohop_proto::hdfs::ErasureCodingPolicyProto;

/// The durable state of a namespace, and the block manager that keeps its blocks.
pub(crate) struct DurableState {
    pub(crate) tree: Tree,
    pub(crate) blocks: BlockManager,
    pub(crate) leases: Leases,
    pub(crate) cache: Cache,
    pub(crate) ids: Ids,
    /// Erasure-coding policies of the image this began with: written into our images, not used here.
    pub(crate) ec_policies: Vec<ErasureCodingPolicyProto>,
    /// When Apache's rolling upgrade began that is not finalized, ms since the epoch.
    pub(crate) rolling_upgrade_ms: Option<u64>,
}

impl DurableState {
    /// An empty namespace: only the root directory, owned by the superuser.
    pub(crate) fn new(params: &NamespaceParams, blocks: BlockManager) -> Self {
        Self {
            tree: Tree::new(&params.superuser, &params.supergroup, 0o755),
            blocks,
            leases: Leases::default(),
            cache: Cache::default(),
            ids: Ids::default(),
            ec_policies: Vec::new(),
            rolling_upgrade_ms: None,
        }
    }
}
