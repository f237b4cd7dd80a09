//! Layout versions of the NameNode's files (`NameNodeLayoutVersion`): smaller is newer.

use std::fmt;

/// A layout version; negative, and a smaller number is a newer layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LayoutVersion(pub i32);

impl LayoutVersion {
    /// What Hadoop 3.4 writes (`NVDIMM_SUPPORT`), and we.
    pub const CURRENT: Self = Self(-67);
    /// The oldest we read: Hadoop 2.4, the first to write each operation's length.
    pub const OLDEST: Self = Self(-56);
    /// The oldest that could open what we write (`getMinimumCompatibleLayoutVersion`).
    pub const MINIMUM_COMPATIBLE: Self = Self(-61);

    const XATTRS: Self = Self(-57);
    const CREATE_OVERWRITE: Self = Self(-58);
    const BLOCK_STORAGE_POLICY: Self = Self(-60);
    const ERASURE_CODING: Self = Self(-64);
    const SNAPSHOT_MODIFICATION_TIME: Self = Self(-66);

    /// Whether this build reads it.
    pub fn is_readable(self) -> bool {
        (Self::CURRENT.0..=Self::OLDEST.0).contains(&self.0)
    }

    /// Whether it is newer than what this build knows.
    pub fn is_from_the_future(self) -> bool {
        self.0 < Self::CURRENT.0
    }

    fn supports(self, feature: Self) -> bool {
        self.0 <= feature.0
    }

    /// Operations carry extended attributes.
    pub(crate) fn has_xattrs(self) -> bool {
        self.supports(Self::XATTRS)
    }

    /// `OP_ADD` says whether it overwrites.
    pub(crate) fn has_create_overwrite(self) -> bool {
        self.supports(Self::CREATE_OVERWRITE)
    }

    /// `OP_ADD` carries a storage policy.
    pub(crate) fn has_storage_policy(self) -> bool {
        self.supports(Self::BLOCK_STORAGE_POLICY)
    }

    /// `OP_ADD` carries an erasure-coding policy.
    pub(crate) fn has_erasure_coding(self) -> bool {
        self.supports(Self::ERASURE_CODING)
    }

    /// Snapshot operations carry a modification time.
    pub(crate) fn has_snapshot_mtime(self) -> bool {
        self.supports(Self::SNAPSHOT_MODIFICATION_TIME)
    }
}

impl fmt::Display for LayoutVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
