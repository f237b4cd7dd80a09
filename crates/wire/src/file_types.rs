//! What clients, NameNodes, images and edit logs call the kinds of files, of entries of access control lists and of extended
//! attributes; each with its number on the wire.

use zerohop_proto::hdfs::acl_entry_proto::{AclEntryScopeProto, AclEntryTypeProto};
use zerohop_proto::hdfs::hdfs_file_status_proto::FileType;
use zerohop_proto::hdfs::x_attr_proto::XAttrNamespaceProto;

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FileKind {
    /// A file.
    File,
    /// A directory.
    Directory,
    /// A link to another path.
    Symlink,
}

/// Which of a directory's two access control lists an entry is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AclScope {
    /// Checked at access.
    Access = 0,
    /// Inherited by children when they are made.
    Default = 1,
}

/// Whose access an entry of an access control list is about, in the order in which entries are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AclKind {
    /// The owner, or the user named.
    User = 0,
    /// The group, or the group named.
    Group = 1,
    /// The most that named entries and the group can have.
    Mask = 2,
    /// Everyone else.
    Other = 3,
}

/// Who may see and set an extended attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum XAttrNamespace {
    /// Users who may read or write the path.
    User = 0,
    /// Superusers.
    Trusted = 1,
    /// The system, for security modules.
    Security = 2,
    /// The system.
    System = 3,
    /// Users who read through `/.reserved/raw`.
    Raw = 4,
}

impl AclKind {
    /// From the two lowest bits, as edit logs and images number it.
    pub const fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::User,
            1 => Self::Group,
            2 => Self::Mask,
            _ => Self::Other,
        }
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

    /// From its number in a message; Hadoop reads unknown ones as `USER`, the message's default.
    pub fn from_number(number: i32) -> Self {
        Self::known(number).unwrap_or(Self::User)
    }

    /// Returns the namespace with this number, or `None` if there is none: then an image or an edit is damaged, or newer.
    pub fn known(number: i32) -> Option<Self> {
        XAttrNamespaceProto::try_from(number).ok().map(Self::from)
    }

    /// As it stands in front of a name.
    pub fn prefix(self) -> &'static str {
        Self::NAMES
            .iter()
            .find(|(_, namespace)| *namespace == self)
            .map_or("user", |(text, _)| text)
    }

    /// The one with this prefix, in letters of any case.
    pub fn from_prefix(prefix: &str) -> Option<Self> {
        let found = Self::NAMES.iter().find(|(text, _)| text.eq_ignore_ascii_case(prefix));
        found.map(|(_, namespace)| *namespace)
    }
}

/// One conversion in each direction.
macro_rules! on_the_wire {
    ($($ours:ident = $proto:ident { $($name:ident = $wire:ident),* })*) => {$(
        impl From<$proto> for $ours {
            fn from(proto: $proto) -> Self {
                match proto { $($proto::$wire => Self::$name),* }
            }
        }

        impl From<$ours> for $proto {
            fn from(kind: $ours) -> Self {
                match kind { $($ours::$name => Self::$wire),* }
            }
        }
    )*};
}

on_the_wire! {
    FileKind = FileType { File = IsFile, Directory = IsDir, Symlink = IsSymlink }
    AclScope = AclEntryScopeProto { Access = Access, Default = Default }
    AclKind = AclEntryTypeProto { User = User, Group = Group, Mask = Mask, Other = Other }
    XAttrNamespace = XAttrNamespaceProto {
        User = User, Trusted = Trusted, Security = Security, System = System, Raw = Raw
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Edit logs and images have these numbers too.
    #[test]
    fn the_numbers_are_those_of_the_messages() {
        use XAttrNamespace::{Raw, Security, System, Trusted, User};
        for namespace in [User, Trusted, Security, System, Raw] {
            let proto = XAttrNamespaceProto::from(namespace);
            assert_eq!(proto as i32, namespace as i32);
            assert_eq!(XAttrNamespace::from(proto), namespace);
            assert_eq!(XAttrNamespace::from_number(namespace as i32), namespace);
            assert_eq!(XAttrNamespace::from_prefix(namespace.prefix()), Some(namespace));
        }
        for kind in [AclKind::User, AclKind::Group, AclKind::Mask, AclKind::Other] {
            assert_eq!(AclEntryTypeProto::from(kind) as i32, kind as i32);
            assert_eq!(AclKind::from_bits(kind as u8 | 4), kind);
        }
        for scope in [AclScope::Access, AclScope::Default] {
            assert_eq!(AclEntryScopeProto::from(scope) as i32, scope as i32);
        }
    }
}
