//! How a NameNode is started.

use crate::ha::HaState;
use crate::name_service::NameService;

/// How a NameNode is started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartOption {
    /// From what is in the name directories.
    #[default]
    Regular,
    /// The same, as an observer (`-observer`).
    Observer,
    /// The same, in a rolling upgrade that a NameNode of an older layout prepared (`-rollingUpgrade started`).
    RollingUpgradeStarted,
    /// From the image that was saved when the rolling upgrade was prepared; everything since is given up
    /// (`-rollingUpgrade rollback`).
    RollingUpgradeRollback,
}

/// What this NameNode is among those of its name service when it starts.
pub(crate) struct Membership {
    pub(crate) service: NameService,
    pub(crate) state: HaState,
    /// Whether it may change.
    pub(crate) is_enabled: bool,
}
