//! Users and groups as this machine knows them: `/etc/passwd`, `/etc/group`, or what its name service says.

use nix::unistd::{Gid, Group, Uid, User, geteuid, getuid};
use std::ffi::{CStr, CString};
use std::path::PathBuf;

/// The id of the user who started this process.
pub fn real_id() -> u32 {
    getuid().as_raw()
}

/// The id of the user whose rights this process has.
pub fn effective_id() -> u32 {
    geteuid().as_raw()
}

/// The name of a user.
pub fn user_name(id: u32) -> Option<String> {
    Some(user(id)?.name)
}

/// A user's home directory.
pub fn home(id: u32) -> Option<PathBuf> {
    Some(user(id)?.dir)
}

/// The id of the user with this name.
pub fn user_id(name: &str) -> Option<u32> {
    Some(User::from_name(name).ok()??.uid.as_raw())
}

/// The name of a group.
pub fn group_name(id: u32) -> Option<String> {
    Some(Group::from_gid(Gid::from_raw(id)).ok()??.name)
}

/// The id of the group with this name.
pub fn group_id(name: &str) -> Option<u32> {
    Some(Group::from_name(name).ok()??.gid.as_raw())
}

/// The groups of a user, primary one first; a group without a name by its number. Empty for an unknown user.
pub fn groups_of(user: &str) -> Vec<String> {
    let (Ok(name), Ok(Some(entry))) = (CString::new(user), User::from_name(user)) else {
        return Vec::new();
    };
    let groups = group_list(&name, entry.gid);
    let name_of = |group: Gid| group_name(group.as_raw()).unwrap_or_else(|| group.to_string());
    groups.into_iter().map(name_of).collect()
}

#[cfg(not(target_vendor = "apple"))]
fn group_list(user: &CStr, primary: Gid) -> Vec<Gid> {
    nix::unistd::getgrouplist(user, primary).unwrap_or_else(|_| vec![primary])
}

/// There clients alone run, whose groups the NameNode looks up for itself.
#[cfg(target_vendor = "apple")]
fn group_list(_user: &CStr, primary: Gid) -> Vec<Gid> {
    vec![primary]
}

fn user(id: u32) -> Option<User> {
    User::from_uid(Uid::from_raw(id)).ok()?
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNKNOWN: u32 = u32::MAX - 7;

    #[test]
    fn names_and_ids_lead_to_each_other() {
        let root = user_name(0).unwrap();
        assert_eq!(user_id(&root), Some(0));
        assert!(home(0).unwrap().is_absolute());
        assert_eq!(groups_of(&root).first(), group_name(0).as_ref());
        assert_eq!(group_name(0).and_then(|name| group_id(&name)), Some(0));
        assert_eq!((user_name(UNKNOWN), group_name(UNKNOWN), home(UNKNOWN)), (None, None, None));
        assert_eq!((user_id("no such user"), group_id("no such group")), (None, None));
        assert!(groups_of("no such user").is_empty() && groups_of("a\0b").is_empty());
    }
}
