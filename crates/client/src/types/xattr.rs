//! Extended attributes.

use crate::error::Error;
use zerohop_wire::XAttr;

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

/// An attribute without a value, by its full name (`user.color`).
pub(crate) fn named(full_name: &str) -> Result<XAttr, Error> {
    XAttr::named(full_name).ok_or_else(|| {
        Error::invalid(
            "An XAttr name must be prefixed with user/trusted/security/system/raw, followed by a '.'",
        )
    })
}
