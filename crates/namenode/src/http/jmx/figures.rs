//! What the beans are made of, taken under one lock.

use crate::core::Core;
use zerohop_namespace::NamespaceStats;
use zerohop_namespace::blocks::{AdminState, BlockStats, NodeFilter, NodeReport};

pub(super) struct Figures {
    pub(super) blocks: BlockStats,
    pub(super) names: NamespaceStats,
    pub(super) live: Vec<NodeReport>,
    pub(super) dead: Vec<NodeReport>,
    /// Why it is in safe mode.
    pub(super) tip: Option<String>,
    /// Lines of files with blocks that have no good replica: the first page of them.
    pub(super) corrupt_files: Vec<String>,
}

impl Figures {
    pub(super) fn take(core: &Core) -> Self {
        core.read(|namespace| {
            let op = zerohop_namespace::OpContext::internal(core.clock.now());
            let corrupt = namespace.view(&op).list_corrupt_file_blocks("/", None);
            let (corrupt, _) = corrupt.unwrap_or_default();
            let safe_mode = namespace.blocks().safe_mode();
            Self {
                blocks: namespace.blocks().stats(),
                names: namespace.stats(),
                live: namespace.blocks().datanodes().reports(NodeFilter::Live),
                dead: namespace.blocks().datanodes().reports(NodeFilter::Dead),
                tip: safe_mode.is_on().then(|| safe_mode.tip()),
                corrupt_files: corrupt.iter().map(ToString::to_string).collect(),
            }
        })
    }

    /// Volumes of live DataNodes that failed.
    pub(super) fn failed_volumes(&self) -> u32 {
        self.live.iter().map(|node| node.failed_volumes).sum()
    }

    /// Bytes that they had.
    pub(super) fn capacity_lost(&self) -> u64 {
        self.live.iter().map(|node| node.volume_failures.capacity_lost).sum()
    }
}

pub(super) fn count(reports: &[NodeReport], state: AdminState) -> usize {
    reports.iter().filter(|report| report.info.stats.admin == state).count()
}

pub(super) fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}
