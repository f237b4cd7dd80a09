//! Entries of access control lists: in Hadoop's notation and in messages.

use crate::file_types::{AclKind, AclScope};
use std::fmt;
use std::sync::Arc;
use zerohop_proto::hdfs::AclEntryProto;

/// One entry of an access control list, in Hadoop's notation `default:user:name:rwx`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AclEntry {
    /// Whether it is checked at access, or inherited by children when they are made (`default:`).
    pub scope: AclScope,
    /// Whose access it is about.
    pub kind: AclKind,
    /// The user's or group's name; `None` for owner, owning group, mask and other.
    pub name: Option<Arc<str>>,
    /// The bits of `rwx`.
    pub permission: u8,
}

/// A text that is no entry of an `<acl_spec>`, in the words of Hadoop's shell.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct InvalidAclEntry(String);

impl AclEntry {
    /// An entry without a name that is checked at access.
    pub const fn new(kind: AclKind, permission: u8) -> Self {
        Self { scope: AclScope::Access, kind, name: None, permission }
    }

    /// Gives it the name of a user or group.
    #[must_use]
    pub fn name(mut self, name: impl Into<Arc<str>>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Makes it one that children inherit.
    #[must_use]
    pub fn default_scope(mut self) -> Self {
        self.scope = AclScope::Default;
        self
    }

    /// Whether children inherit it.
    pub fn is_default(&self) -> bool {
        self.scope == AclScope::Default
    }

    /// Reads an entry of an `<acl_spec>`; one that is only to be removed has no permission.
    ///
    /// # Errors
    /// If it is no entry.
    pub fn parse(text: &str, with_permission: bool) -> Result<Self, InvalidAclEntry> {
        let invalid = || InvalidAclEntry(format!("Invalid <aclSpec> : {text}"));
        let mut fields: Vec<&str> = text.split(':').collect();
        // Java's split leaves trailing empty fields out.
        while fields.last().is_some_and(|field| field.is_empty()) {
            fields.pop();
        }
        let mut fields = fields.into_iter().peekable();
        let is_default = fields.next_if_eq(&"default").is_some();
        let scope = if is_default { AclScope::Default } else { AclScope::Access };
        let kind = match fields.next().ok_or_else(invalid)?.to_ascii_lowercase().as_str() {
            "user" => AclKind::User,
            "group" => AclKind::Group,
            "mask" => AclKind::Mask,
            "other" => AclKind::Other,
            _ => return Err(InvalidAclEntry(format!("Invalid type of acl in <aclSpec> :{text}"))),
        };
        let name = fields.next().filter(|name| !name.is_empty()).map(Into::into);
        let mut permission = 7;
        if with_permission {
            let letters = fields.next().ok_or_else(invalid)?;
            permission =
                (0..8).find(|bits| Rwx(*bits).to_string() == letters).ok_or_else(|| {
                    InvalidAclEntry(format!("Invalid permission in <aclSpec> : {text}"))
                })?;
        }
        match fields.next() {
            Some(_) => Err(invalid()),
            None => Ok(Self { scope, kind, name, permission }),
        }
    }
}

/// As `getfacl` prints it (`AclEntry.toString`).
impl fmt::Display for AclEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            AclKind::User => "user",
            AclKind::Group => "group",
            AclKind::Mask => "mask",
            AclKind::Other => "other",
        };
        let scope = if self.is_default() { "default:" } else { "" };
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

impl From<&AclEntry> for AclEntryProto {
    fn from(entry: &AclEntry) -> Self {
        Self {
            r#type: entry.kind as i32,
            scope: entry.scope as i32,
            permissions: i32::from(entry.permission & 7),
            name: entry.name.as_deref().map(str::to_owned),
        }
    }
}

/// Numbers that Hadoop does not know read as the message's defaults; an empty name as none.
impl From<AclEntryProto> for AclEntry {
    fn from(proto: AclEntryProto) -> Self {
        Self {
            scope: proto.scope().into(),
            kind: proto.r#type().into(),
            permission: proto.permissions() as i32 as u8,
            name: proto.name.filter(|name| !name.is_empty()).map(Into::into),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_the_same_in_text_and_in_a_message() {
        for text in ["user::rwx", "user:bruce:rw-", "default:group::r-x", "mask::---", "other::--x"]
        {
            let entry = AclEntry::parse(text, true).unwrap();
            assert_eq!(entry.to_string(), text);
            assert_eq!(entry.is_default(), text.starts_with("default:"));
            assert_eq!(AclEntry::from(AclEntryProto::from(&entry)), entry);
        }
        let named = AclEntry::new(AclKind::User, 4).name("bob").default_scope();
        assert_eq!(named.to_string(), "default:user:bob:r--");
    }

    #[test]
    fn what_is_no_entry_is_refused_in_hadoops_words() {
        let error = |text: &str| AclEntry::parse(text, true).unwrap_err().to_string();
        assert_eq!(error("user:bruce:rwz"), "Invalid permission in <aclSpec> : user:bruce:rwz");
        assert_eq!(error("who:bruce:rwx"), "Invalid type of acl in <aclSpec> :who:bruce:rwx");
        assert_eq!(error("user:bruce"), "Invalid <aclSpec> : user:bruce");
        assert_eq!(error("user:bruce:rwx:x"), "Invalid <aclSpec> : user:bruce:rwx:x");
        assert_eq!(AclEntry::parse("user:bruce", false).unwrap().permission, 7);
    }
}
