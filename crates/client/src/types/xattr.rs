//! Extended attributes.

use crate::error::{Error, ErrorKind};
use bytes::Bytes;
use zerohop_proto::hdfs::XAttrProto;
use zerohop_proto::hdfs::x_attr_proto::XAttrNamespaceProto;

/// Who may see and set an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum XAttrNamespace {
    /// Whoever may read or write the path.
    User,
    /// Superusers.
    Trusted,
    /// The system, for security modules.
    Security,
    /// The system.
    System,
    /// Whoever reads through `/.reserved/raw`.
    Raw,
}

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

impl XAttrNamespace {
    const NAMES: [(&'static str, Self); 5] = [
        ("user", Self::User),
        ("trusted", Self::Trusted),
        ("security", Self::Security),
        ("system", Self::System),
        ("raw", Self::Raw),
    ];

    /// As it stands in front of a name.
    pub fn prefix(self) -> &'static str {
        Self::NAMES.iter().find(|(_, n)| *n == self).map_or("user", |(text, _)| text)
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
            let prefix = prefix.to_ascii_lowercase();
            let (_, namespace) = XAttrNamespace::NAMES.iter().find(|(text, _)| *text == prefix)?;
            Some(Self { namespace: *namespace, name: name.to_owned(), value })
        });
        found.ok_or_else(|| {
            Error::new(
                ErrorKind::Invalid,
                "An XAttr name must be prefixed with user/trusted/security/system/raw, followed by a '.'",
            )
        })
    }

    pub(crate) fn to_proto(&self) -> XAttrProto {
        let namespace = match self.namespace {
            XAttrNamespace::User => XAttrNamespaceProto::User,
            XAttrNamespace::Trusted => XAttrNamespaceProto::Trusted,
            XAttrNamespace::Security => XAttrNamespaceProto::Security,
            XAttrNamespace::System => XAttrNamespaceProto::System,
            XAttrNamespace::Raw => XAttrNamespaceProto::Raw,
        };
        XAttrProto {
            namespace: namespace.into(),
            name: self.name.clone(),
            value: (!self.value.is_empty()).then(|| self.value.clone()),
        }
    }
}

impl From<XAttrProto> for XAttr {
    fn from(proto: XAttrProto) -> Self {
        Self {
            namespace: match proto.namespace() {
                XAttrNamespaceProto::User => XAttrNamespace::User,
                XAttrNamespaceProto::Trusted => XAttrNamespace::Trusted,
                XAttrNamespaceProto::Security => XAttrNamespace::Security,
                XAttrNamespaceProto::System => XAttrNamespace::System,
                XAttrNamespaceProto::Raw => XAttrNamespace::Raw,
            },
            name: proto.name,
            value: proto.value.unwrap_or_default(),
        }
    }
}
