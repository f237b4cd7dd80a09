//! Access-control lists and extended attributes: their operations, and how other operations
//! carry them.

use super::field::{Body, Result};
use crate::codec::{Reader, Writer};
use crate::error::DecodeError;
use crate::types::{AclEntry, AclKind, AclScope, XAttr};
use zerohop_proto::hdfs::{AclEditLogProto, AclEntryProto, XAttrEditLogProto, XAttrProto};

/// Bits of an entry's byte in `OP_ADD` and `OP_MKDIR`: `name 1 | scope 1 | type 2 | permission 3`.
const ACL_TYPE_SHIFT: u8 = 3;
const ACL_SCOPE_SHIFT: u8 = 5;
const ACL_NAME_SHIFT: u8 = 6;

pub(super) fn put_acl(entries: &[AclEntry], out: &mut Writer<'_>) {
    out.i32(entries.len() as i32);
    for entry in entries {
        let bits = (entry.scope as u8) << ACL_SCOPE_SHIFT
            | (entry.kind as u8) << ACL_TYPE_SHIFT
            | entry.perm & 7;
        match &entry.name {
            Some(name) => {
                out.u8(bits | 1 << ACL_NAME_SHIFT);
                out.utf8(name);
            }
            None => out.u8(bits),
        }
    }
}

pub(super) fn get_acl(from: &mut Reader<'_>) -> Result<Vec<AclEntry>> {
    let count = from.i32()?;
    let count = from.count("number of ACL entries", count.into(), 1)?;
    (0..count).map(|_| get_acl_entry(from)).collect()
}

fn get_acl_entry(from: &mut Reader<'_>) -> Result<AclEntry> {
    let bits = from.u8()?;
    let named = bits >> ACL_NAME_SHIFT & 1 == 1;
    Ok(AclEntry {
        scope: if bits >> ACL_SCOPE_SHIFT & 1 == 1 { AclScope::Default } else { AclScope::Access },
        kind: AclKind::from_bits(bits >> ACL_TYPE_SHIFT),
        name: if named { Some(from.utf8()?.into()) } else { None },
        perm: bits & 7,
    })
}

/// One `XAttrEditLogProto`; none at all is a single zero byte.
pub(super) fn put_xattrs(path: Option<&str>, xattrs: &[XAttr], out: &mut Writer<'_>) {
    if path.is_none() && xattrs.is_empty() {
        return out.u8(0);
    }
    out.proto(&XAttrEditLogProto {
        src: path.map(str::to_owned),
        x_attrs: xattrs.iter().map(XAttrProto::from).collect(),
    });
}

pub(super) fn get_xattrs(from: &mut Reader<'_>) -> Result<(String, Vec<XAttr>)> {
    let proto: XAttrEditLogProto = from.proto()?;
    let xattrs = proto.x_attrs.into_iter().map(XAttr::from).collect();
    Ok((proto.src.unwrap_or_default(), xattrs))
}

/// A path's access-control list as it is now, the entries of the mode included.
#[derive(Clone, Debug, PartialEq)]
pub struct SetAcl {
    /// The path.
    pub path: String,
    /// Its entries.
    pub entries: Vec<AclEntry>,
}

impl Body for SetAcl {
    const RPC_IDS: bool = false;

    fn put(&self, out: &mut Writer<'_>) {
        out.proto(&AclEditLogProto {
            src: self.path.clone(),
            entries: self.entries.iter().map(AclEntryProto::from).collect(),
        });
    }

    fn get(from: &mut Reader<'_>) -> Result<Self> {
        let proto: AclEditLogProto = from.proto()?;
        let entries = proto.entries.iter().map(AclEntry::try_from).collect::<Result<_>>()?;
        Ok(Self { path: proto.src, entries })
    }
}

/// Extended attributes were set.
#[derive(Clone, Debug, PartialEq)]
pub struct SetXAttr {
    /// The path.
    pub path: String,
    /// The attributes.
    pub xattrs: Vec<XAttr>,
}

/// Extended attributes were removed.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoveXAttr {
    /// The path.
    pub path: String,
    /// The attributes; only namespace and name count.
    pub xattrs: Vec<XAttr>,
}

macro_rules! xattr_ops {
    ($($name:ident)*) => {
        $(impl Body for $name {
            const RPC_IDS: bool = true;

            fn put(&self, out: &mut Writer<'_>) {
                put_xattrs(Some(&self.path), &self.xattrs, out);
            }

            fn get(from: &mut Reader<'_>) -> Result<Self> {
                let (path, xattrs) = get_xattrs(from)?;
                Ok(Self { path, xattrs })
            }
        })*
    };
}

xattr_ops! { SetXAttr RemoveXAttr }

impl From<&AclEntry> for AclEntryProto {
    fn from(entry: &AclEntry) -> Self {
        Self {
            r#type: entry.kind as i32,
            scope: entry.scope as i32,
            permissions: i32::from(entry.perm & 7),
            name: entry.name.as_deref().map(str::to_owned),
        }
    }
}

impl TryFrom<&AclEntryProto> for AclEntry {
    type Error = DecodeError;

    fn try_from(proto: &AclEntryProto) -> Result<Self> {
        let scope = match proto.scope {
            0 => AclScope::Access,
            1 => AclScope::Default,
            value => return Err(DecodeError::Value { what: "ACL scope", value: value.into() }),
        };
        let kind = match proto.r#type {
            kind @ 0..=3 => AclKind::from_bits(kind as u8),
            value => return Err(DecodeError::Value { what: "ACL type", value: value.into() }),
        };
        let perm = match proto.permissions {
            perm @ 0..=7 => perm as u8,
            value => {
                return Err(DecodeError::Value { what: "ACL permission", value: value.into() });
            }
        };
        let name = proto.name.as_deref().filter(|name| !name.is_empty()).map(Into::into);
        Ok(Self { scope, kind, name, perm })
    }
}

impl From<&XAttr> for XAttrProto {
    fn from(xattr: &XAttr) -> Self {
        Self {
            namespace: xattr.namespace as i32,
            name: xattr.name.to_string(),
            value: xattr.value.clone(),
        }
    }
}

impl From<XAttrProto> for XAttr {
    fn from(proto: XAttrProto) -> Self {
        Self {
            namespace: crate::types::XAttrNamespace::from_number(proto.namespace),
            name: proto.name.into(),
            value: proto.value,
        }
    }
}
