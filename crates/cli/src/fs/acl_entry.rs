//! Entries of access control lists, and their text.

use zerohop_client::{AclEntry, AclKind};

use crate::failure::{Failure, Outcome};

/// What to do to an access control list.
pub enum AclChange {
    Modify(Vec<AclEntry>),
    Remove(Vec<AclEntry>),
    Set(Vec<AclEntry>),
    RemoveDefault,
    RemoveAll,
}

/// `rwx` of three bits.
pub fn symbol(bits: u8) -> String {
    let letter = |bit: u8, letter: char| if bits & bit != 0 { letter } else { '-' };
    [letter(4, 'r'), letter(2, 'w'), letter(1, 'x')].iter().collect()
}

/// Reads an entry of an `<acl_spec>`; without a permission where it is only to be removed.
pub fn parse(text: &str, with_permission: bool) -> Outcome<AclEntry> {
    AclEntry::parse(text, with_permission).map_err(|error| Failure::usage(error.to_string()))
}

/// All entries of a path: those that its permission bits and extended entries make together, in order.
pub fn full_list(mode: u32, extended: &[AclEntry]) -> Vec<AclEntry> {
    let bits = |shift: u32| ((mode >> shift) & 7) as u8;
    let (access, default): (Vec<_>, Vec<_>) =
        extended.iter().cloned().partition(|entry| !entry.is_default());
    let mut list = vec![AclEntry::new(AclKind::User, bits(6))];
    if access.is_empty() {
        list.push(AclEntry::new(AclKind::Group, bits(3)));
    } else {
        // The group bits of the file are the mask; the group's own entry is among the extended.
        list.extend(access);
        list.push(AclEntry::new(AclKind::Mask, bits(3)));
    }
    list.push(AclEntry::new(AclKind::Other, bits(0)));
    list.extend(default);
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_and_written() {
        let text = |spec: &str| parse(spec, true).unwrap().to_string();
        assert_eq!(text("user:bruce:rw-"), "user:bruce:rw-");
        assert_eq!(text("default:GROUP::r-x"), "default:group::r-x");
        assert_eq!(parse("user:bruce", false).unwrap().permission, 7);
        let error = |spec: &str| parse(spec, true).unwrap_err().text;
        assert_eq!(error("user:bruce:rwz"), "Invalid permission in <aclSpec> : user:bruce:rwz");
        assert_eq!(error("who:bruce:rwx"), "Invalid type of acl in <aclSpec> :who:bruce:rwx");
        assert_eq!(error("user:bruce"), "Invalid <aclSpec> : user:bruce");
        assert_eq!(error(":::"), "Invalid <aclSpec> : :::");
    }
}
