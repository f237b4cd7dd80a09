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

/// As `getfacl` prints it.
pub fn text(entry: &AclEntry) -> String {
    let kind = match entry.kind {
        AclKind::User => "user",
        AclKind::Group => "group",
        AclKind::Mask => "mask",
        AclKind::Other => "other",
    };
    let scope = if entry.is_default { "default:" } else { "" };
    format!(
        "{scope}{kind}:{}:{}",
        entry.name.as_deref().unwrap_or_default(),
        symbol(entry.permission)
    )
}

/// Reads an entry of an `<acl_spec>`; without a permission where it is only to be removed.
pub fn parse(text: &str, with_permission: bool) -> Outcome<AclEntry> {
    let invalid = || Failure::usage(format!("Invalid <aclSpec> : {text}"));
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
        _ => return Err(Failure::usage(format!("Invalid type of acl in <aclSpec> :{text}"))),
    };
    let name = fields.next().filter(|name| !name.is_empty()).map(str::to_owned);
    let mut permission = 7;
    if with_permission {
        let letters = fields.next().ok_or_else(invalid)?;
        permission = (0..8)
            .find(|bits| symbol(*bits) == letters)
            .ok_or_else(|| Failure::usage(format!("Invalid permission in <aclSpec> : {text}")))?;
    }
    match fields.next() {
        Some(_) => Err(invalid()),
        None => Ok(AclEntry::new(kind, permission).is_default(is_default).name(name)),
    }
}

/// All entries of a path: those that its permission bits and extended entries make together, in order.
pub fn full_list(mode: u32, extended: &[AclEntry]) -> Vec<AclEntry> {
    let bits = |shift: u32| ((mode >> shift) & 7) as u8;
    let (access, default): (Vec<_>, Vec<_>) =
        extended.iter().cloned().partition(|entry| !entry.is_default);
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
        let text = |spec: &str| super::text(&parse(spec, true).unwrap());
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
