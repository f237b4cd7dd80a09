//! Access control lists.

use crate::error::{Error, Result};
use std::fmt;
use zerohop_proto::hdfs::acl_entry_proto::{AclEntryScopeProto, FsActionProto};
use zerohop_proto::hdfs::{AclEntryProto, AclStatusProto};
pub use zerohop_wire::AclKind;

/// One entry of a list, in Hadoop's notation `default:user:name:rwx`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct AclEntry {
    /// Whether it is for children to come (`default:`).
    pub is_default: bool,
    /// Whom it is about.
    pub kind: AclKind,
    /// The user's or group's name; `None` for owner, group, mask and other.
    pub name: Option<String>,
    /// The bits of `rwx`.
    pub permission: u8,
}

impl AclEntry {
    /// An entry without a name, for the path itself.
    pub const fn new(kind: AclKind, permission: u8) -> Self {
        Self { is_default: false, kind, name: None, permission }
    }

    /// Reads an entry of an `<acl_spec>`; one that is only to be removed has no permission.
    ///
    /// # Errors
    /// If it is no entry; in the words of Hadoop's shell.
    pub fn parse(text: &str, with_permission: bool) -> Result<Self> {
        let invalid = || Error::invalid(format!("Invalid <aclSpec> : {text}"));
        let mut fields: Vec<&str> = text.split(':').collect();
        // Java's split leaves trailing empty fields out.
        while fields.last().is_some_and(|field| field.is_empty()) {
            fields.pop();
        }
        let mut fields = fields.into_iter().peekable();
        let is_default = fields.next_if_eq(&"default").is_some();
        let kind = match fields.next().ok_or_else(invalid)?.to_ascii_lowercase().as_str() {
            "user" => AclKind::User,
            "group" => AclKind::Group,
            "mask" => AclKind::Mask,
            "other" => AclKind::Other,
            _ => return Err(Error::invalid(format!("Invalid type of acl in <aclSpec> :{text}"))),
        };
        let name = fields.next().filter(|name| !name.is_empty()).map(str::to_owned);
        let mut permission = 7;
        if with_permission {
            let letters = fields.next().ok_or_else(invalid)?;
            permission =
                (0..8).find(|bits| Rwx(*bits).to_string() == letters).ok_or_else(|| {
                    Error::invalid(format!("Invalid permission in <aclSpec> : {text}"))
                })?;
        }
        match fields.next() {
            Some(_) => Err(invalid()),
            None => Ok(Self { is_default, kind, name, permission }),
        }
    }
}

setters! {
    AclEntry {
        is_default: bool,
        name: Option<String>,
    }
}

/// As `getfacl` prints it.
impl fmt::Display for AclEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            AclKind::User => "user",
            AclKind::Group => "group",
            AclKind::Mask => "mask",
            AclKind::Other => "other",
        };
        let scope = if self.is_default { "default:" } else { "" };
        let name = self.name.as_deref().unwrap_or_default();
        write!(f, "{scope}{kind}:{name}:{}", Rwx(self.permission))
    }
}

/// Three bits as letters.
struct Rwx(u8);

impl fmt::Display for Rwx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letter = |bit: u8, letter: char| if self.0 & bit != 0 { letter } else { '-' };
        write!(f, "{}{}{}", letter(4, 'r'), letter(2, 'w'), letter(1, 'x'))
    }
}

/// A path's list with its owner and permission bits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AclStatus {
    /// The owner's name.
    pub owner: String,
    /// The group's name.
    pub group: String,
    /// The sticky bit.
    pub is_sticky: bool,
    /// The entries beyond the permission bits; empty where there is no list.
    pub entries: Vec<AclEntry>,
    /// The permission bits, where the server says them.
    pub permission: Option<u16>,
}

impl From<&AclEntry> for AclEntryProto {
    fn from(entry: &AclEntry) -> Self {
        let scope =
            if entry.is_default { AclEntryScopeProto::Default } else { AclEntryScopeProto::Access };
        Self {
            r#type: entry.kind as i32,
            scope: scope.into(),
            permissions: i32::from(entry.permission & 7),
            name: entry.name.clone(),
        }
    }
}

impl From<AclEntryProto> for AclEntry {
    fn from(proto: AclEntryProto) -> Self {
        Self {
            is_default: proto.scope() == AclEntryScopeProto::Default,
            kind: proto.r#type().into(),
            permission: FsActionProto::try_from(proto.permissions).map_or(0, |a| a as u8),
            name: proto.name.filter(|name| !name.is_empty()),
        }
    }
}

impl From<AclStatusProto> for AclStatus {
    fn from(proto: AclStatusProto) -> Self {
        Self {
            owner: proto.owner,
            group: proto.group,
            is_sticky: proto.sticky,
            entries: proto.entries.into_iter().map(Into::into).collect(),
            permission: proto.permission.map(|p| p.perm as u16),
        }
    }
}
