//! What the NameNode promises even if its disks or its power fail; docs/reliability.md explains each.

use std::fmt;

/// One promise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// N1
    StartsOrNamesTheCommand,
    /// N2
    AcknowledgedEditsStay,
    /// N3
    NothingIsHalfApplied,
    /// N4
    ReplayEqualsLive,
    /// N5
    GoesOnAfterTheStart,
    /// N6
    ReplicasOfFilesAreKept,
    /// N7
    DamageIsNoticed,
}

impl Promise {
    fn text(self) -> &'static str {
        match self {
            Self::StartsOrNamesTheCommand => {
                "N1 the NameNode starts after a crash, or its error names the command after which it does"
            }
            Self::AcknowledgedEditsStay => "N2 an acknowledged edit is there after every crash",
            Self::NothingIsHalfApplied => "N3 the namespace is exactly that after some transaction",
            Self::ReplayEqualsLive => "N4 replaying the edits gives the namespace that served",
            Self::GoesOnAfterTheStart => {
                "N5 edits made after the start are there at the next start"
            }
            Self::ReplicasOfFilesAreKept => {
                "N6 the replicas of closed files are located, and no DataNode is told to delete one that is needed"
            }
            Self::DamageIsNoticed => {
                "N7 a flipped bit or an old copy of a directory never changes the namespace: another directory stands in, or the NameNode refuses to start"
            }
        }
    }
}

/// A promise that was not kept.
#[derive(Clone, Debug)]
pub struct Broken {
    /// Which.
    pub promise: Promise,
    /// What was found.
    pub found: String,
}

impl Broken {
    /// With what was found.
    pub fn new(promise: Promise, found: impl Into<String>) -> Self {
        Self { promise, found: found.into() }
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken promise {}: {}", self.promise.text(), self.found)
    }
}
