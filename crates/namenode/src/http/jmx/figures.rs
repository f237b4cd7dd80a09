//! What records and beans are made of, taken under one lock.

use crate::core::Core;
use zerohop_namespace::NamespaceStats;
use zerohop_namespace::blocks::{BlockStats, NodeCounts, NodeFilter, NodeReport};

/// Figures of blocks, names and DataNodes.
pub(super) struct Figures {
    pub(super) blocks: BlockStats,
    pub(super) names: NamespaceStats,
    pub(super) nodes: NodeCounts,
    /// Messages of DataNodes that wait for edits.
    pub(super) pending_messages: usize,
    /// Why it is in safe mode.
    pub(super) tip: Option<String>,
}

impl Figures {
    pub(super) fn take(core: &Core) -> Self {
        core.read(|namespace| {
            let safe_mode = namespace.blocks().safe_mode();
            Self {
                blocks: namespace.blocks().stats(),
                names: namespace.stats(),
                nodes: namespace.blocks().datanodes().counts(),
                pending_messages: namespace.blocks().pending_messages(),
                tip: safe_mode.is_on().then(|| safe_mode.tip()),
            }
        })
    }
}

/// What only beans for people show: each DataNode, and files that lack blocks.
pub(super) struct Lists {
    pub(super) live: Vec<NodeReport>,
    pub(super) dead: Vec<NodeReport>,
    /// Lines of files with blocks that have no good replica: the first page of them.
    pub(super) corrupt_files: Vec<String>,
}

impl Lists {
    pub(super) fn take(core: &Core) -> Self {
        core.read(|namespace| {
            let op = zerohop_namespace::OpContext::internal(core.clock.now());
            let corrupt = namespace.view(&op).list_corrupt_file_blocks("/", None);
            let (corrupt, _) = corrupt.unwrap_or_default();
            Self {
                live: namespace.blocks().datanodes().reports(NodeFilter::Live),
                dead: namespace.blocks().datanodes().reports(NodeFilter::Dead),
                corrupt_files: corrupt.iter().map(ToString::to_string).collect(),
            }
        })
    }
}

pub(super) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}
