//! The system's groups of a user (`getgrouplist`).

use nix::unistd::{Gid, Group, User, getgrouplist};
use std::ffi::CString;

/// The system's groups of `user`, primary one first; empty for an unknown user.
pub(super) fn groups_of(user: &str) -> Vec<String> {
    let (Ok(name), Ok(Some(entry))) = (CString::new(user), User::from_name(user)) else {
        return Vec::new();
    };
    let groups = getgrouplist(&name, entry.gid).unwrap_or_else(|_| vec![entry.gid]);
    groups.into_iter().map(group_name).collect()
}

/// The name of a group; its number where it has none.
fn group_name(group: Gid) -> String {
    match Group::from_gid(group) {
        Ok(Some(group)) => group.name,
        _ => group.to_string(),
    }
}
