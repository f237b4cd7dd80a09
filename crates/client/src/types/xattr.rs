//! Extended attributes.

use crate::error::{Error, ErrorKind};
use bytes::Bytes;
use zerohop_proto::hdfs::XAttrProto;
pub use zerohop_wire::XAttrNamespace;

/// An attribute with its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct XAttr {
    /// The namespace.
    pub namespace: XAttrNamespace,
    /// The name without its namespace.
    pub name: String,
    /// The value; empty where it has none or was not asked.
    pub value: Bytes,
}

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

impl XAttr {
    /// The name with its namespace: `user.color`.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.namespace.prefix(), self.name)
    }

    /// An attribute from its full name.
    pub(crate) fn parse(full_name: &str, value: Bytes) -> Result<Self, Error> {
        let split = full_name.split_once('.').filter(|(_, name)| !name.is_empty());
        let found = split.and_then(|(prefix, name)| {
            let namespace = XAttrNamespace::from_prefix(prefix)?;
            Some(Self { namespace, name: name.to_owned(), value })
        });
        found.ok_or_else(|| {
            Error::new(
                ErrorKind::Invalid,
                "An XAttr name must be prefixed with user/trusted/security/system/raw, followed by a '.'",
            )
        })
    }

    pub(crate) fn to_proto(&self) -> XAttrProto {
        XAttrProto {
            namespace: self.namespace as i32,
            name: self.name.clone(),
            value: (!self.value.is_empty()).then(|| self.value.clone()),
        }
    }
}

impl From<XAttrProto> for XAttr {
    fn from(proto: XAttrProto) -> Self {
        Self {
            namespace: proto.namespace().into(),
            name: proto.name,
            value: proto.value.unwrap_or_default(),
        }
    }
}
