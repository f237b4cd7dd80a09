//! Operations on the whole: counters, segments, rolling upgrades.

use super::field::plain_ops;
use zerohop_wire::{BlockId, GenerationStamp};

plain_ops! {
    /// The generation stamp of legacy blocks.
    SetGenstampV1 {
        /// The last one given out.
        stamp: GenerationStamp,
    }

    /// The last generation stamp given out.
    SetGenstampV2 {
        /// The last one given out.
        stamp: GenerationStamp,
    }

    /// The last block id given out.
    AllocateBlockId {
        /// The last one given out.
        block_id: BlockId,
    }

    /// The first record of a segment.
    StartLogSegment {}

    /// The last record of a segment.
    EndLogSegment {}

    /// A rolling upgrade began.
    RollingUpgradeStart {
        /// When, ms since the epoch.
        time_ms: i64,
    }

    /// A rolling upgrade was finalized.
    RollingUpgradeFinalize {
        /// When, ms since the epoch.
        time_ms: i64,
    }
}
