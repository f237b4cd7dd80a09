//! Why a DataNode does not take a block.

use std::fmt;

/// Why a DataNode was not chosen: Hadoop's `NodeNotChosenReason`. Made for every DataNode that is passed
/// over, so it carries nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Refusal {
    NotInService,
    /// The client does not want it any more, or it has the block already.
    Excluded,
    Busy,
    Stale,
    Slow,
    RackFull,
    /// None of its volumes has the room, or a type that the policy takes.
    NoStorage,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotInService => "not in service",
            Self::Excluded => "excluded by the client, or holds the block",
            Self::Busy => "too busy",
            Self::Stale => "not heard of lately",
            Self::Slow => "slow, as other DataNodes report",
            Self::RackFull => "its rack has enough replicas",
            Self::NoStorage => "no volume for it",
        })
    }
}
