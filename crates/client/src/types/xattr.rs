//! How extended attributes are set.

/// Whether a new attribute may be made, an old one replaced. The default allows both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct XAttrFlags {
    /// It may be new.
    pub create: bool,
    /// It may be there already.
    pub replace: bool,
}

impl Default for XAttrFlags {
    fn default() -> Self {
        Self { create: true, replace: true }
    }
}

impl XAttrFlags {
    pub(crate) fn bits(self) -> u32 {
        u32::from(self.create) | u32::from(self.replace) << 1
    }
}
