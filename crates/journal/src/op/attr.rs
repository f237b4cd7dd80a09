//! Access-control lists and extended attributes: their operations, and how other operations
//! carry them.

use super::field::{Body, Result};
use crate::codec::{Reader, Writer};
use crate::error::DecodeError;
use crate::types::{AclEntry, AclKind, AclScope, XAttr, XAttrNamespace};
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
            | entry.permission & 7;
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
        permission: bits & 7,
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
    let xattrs = proto.x_attrs.into_iter().map(xattr).collect::<Result<_>>()?;
    Ok((proto.src.unwrap_or_default(), xattrs))
}

/// Decodes an attribute. Fails if its namespace is unknown, because it would be lost under another one.
fn xattr(proto: XAttrProto) -> Result<XAttr> {
    match XAttrNamespace::known(proto.namespace) {
        Some(_) => Ok(proto.into()),
        None => Err(DecodeError::Value {
            what: "namespace of an extended attribute",
            value: proto.namespace.into(),
        }),
    }
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
        let entries = proto.entries.into_iter().map(acl_entry).collect::<Result<_>>()?;
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

/// An entry of an edit: numbers that Hadoop does not know are a fault of the log.
fn acl_entry(proto: AclEntryProto) -> Result<AclEntry> {
    let check = |what, value: i32, most| match value {
        value if (0..=most).contains(&value) => Ok(()),
        value => Err(DecodeError::Value { what, value: value.into() }),
    };
    check("ACL scope", proto.scope, 1)?;
    check("ACL type", proto.r#type, 3)?;
    check("ACL permission", proto.permissions, 7)?;
    Ok(proto.into())
}
