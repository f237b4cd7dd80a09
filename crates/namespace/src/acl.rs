//! ACLs as lists of entries: the changes clients ask for, and how they are kept beside the mode.
//!
//! A logical ACL has every entry: owner, named users, group, named groups, mask, other, then the default ones. An
//! inode keeps owner, mask (or group) and other in its mode, the rest as its [`Acl`] (`AclStorage`).

use crate::Result;
use crate::answers::{AclEntry, AclKind, AclScope};
use crate::error::{AclError, AclProblem, refuse};
use crate::tree::Acl;

const ENTRIES_MAX: usize = 32;
const SCOPES: [AclScope; 2] = [AclScope::Access, AclScope::Default];

type Key<'a> = (AclScope, AclKind, Option<&'a str>);

fn key(entry: &AclEntry) -> Key<'_> {
    (entry.scope, entry.kind, entry.name.as_deref())
}

fn entry(scope: AclScope, kind: AclKind, permission: u8) -> AclEntry {
    AclEntry { scope, kind, name: None, permission: permission & 7 }
}

fn bad<T>(problem: AclProblem) -> Result<T> {
    refuse(AclError::from(problem))
}

fn class(mode: u16, shift: u16) -> u8 {
    (mode >> shift) as u8 & 7
}

/// Owner, group and other of a mode, as entries.
fn minimal(mode: u16) -> Vec<AclEntry> {
    [(AclKind::User, 6), (AclKind::Group, 3), (AclKind::Other, 0)]
        .map(|(kind, shift)| entry(AclScope::Access, kind, class(mode, shift)))
        .to_vec()
}

fn access(entries: &[AclEntry]) -> &[AclEntry] {
    &entries[..entries.partition_point(|entry| entry.scope == AclScope::Access)]
}

fn defaults(entries: &[AclEntry]) -> &[AclEntry] {
    &entries[access(entries).len()..]
}

/// All entries of an inode's ACL.
pub(crate) fn logical(mode: u16, acl: Option<&Acl>) -> Vec<AclEntry> {
    let Some(acl) = acl else { return minimal(mode) };
    let named = access(acl);
    let mut entries = if named.is_empty() {
        minimal(mode)
    } else {
        let mut entries = vec![entry(AclScope::Access, AclKind::User, class(mode, 6))];
        entries.extend_from_slice(named);
        entries.push(entry(AclScope::Access, AclKind::Mask, class(mode, 3)));
        entries.push(entry(AclScope::Access, AclKind::Other, class(mode, 0)));
        entries
    };
    entries.extend_from_slice(defaults(acl));
    entries
}

/// A logical ACL as mode and stored entries.
///
/// # Errors
/// `Error::Acl` when owner, group or other is missing, or a file shall have default entries.
pub(crate) fn to_stored(
    entries: &[AclEntry],
    mode: u16,
    is_directory: bool,
    path: &str,
) -> Result<(u16, Option<Acl>)> {
    let mut sorted = entries.to_vec();
    sorted.sort_by(|a, b| key(a).cmp(&key(b)));
    let (access, defaults) = (access(&sorted), defaults(&sorted));
    let [owner, .., other] = access else {
        return bad(AclProblem::EntryMissing);
    };
    if access.len() < 3 {
        return bad(AclProblem::EntryMissing);
    }
    if !defaults.is_empty() && !is_directory {
        return bad(AclProblem::DefaultOfFile { path: path.to_owned() });
    }
    // The entry before other: the mask, or the group where there is no mask.
    let middle = &access[access.len() - 2];
    let bits = u16::from(owner.permission) << 6
        | u16::from(middle.permission) << 3
        | u16::from(other.permission);
    let mode = mode & 0o1000 | bits;
    let mut stored = Vec::new();
    if access.len() > 3 {
        stored.extend_from_slice(&access[1..access.len() - 2]);
    }
    stored.extend_from_slice(defaults);
    Ok((mode, if stored.is_empty() { None } else { Some(stored.into()) }))
}

/// The mode of an inode whose ACL is removed: the group's own entry takes its place back from the mask.
pub(crate) fn mode_without(mode: u16, acl: &Acl) -> u16 {
    let group =
        access(acl).iter().find(|entry| entry.kind == AclKind::Group && entry.name.is_none());
    group.map_or(mode, |group| mode & !0o070 | u16::from(group.permission) << 3)
}

/// Mode and ACL a new child takes from its directory's default entries; `mode` is what was asked for.
pub(crate) fn inherited(
    parent: Option<&Acl>,
    mode: u16,
    is_directory: bool,
) -> Option<(u16, Option<Acl>)> {
    let from = defaults(parent?);
    if from.is_empty() {
        return None;
    }
    let is_minimal = from.len() == 3;
    let mut entries: Vec<AclEntry> = from
        .iter()
        .map(|default| {
            let limit = match default.kind {
                AclKind::User if default.name.is_none() => class(mode, 6),
                AclKind::Group if is_minimal => class(mode, 3),
                AclKind::Mask => class(mode, 3),
                AclKind::Other => class(mode, 0),
                _ => 7,
            };
            AclEntry {
                scope: AclScope::Access,
                permission: default.permission & limit,
                ..default.clone()
            }
        })
        .collect();
    if is_directory {
        entries.extend_from_slice(from);
    }
    to_stored(&entries, mode, is_directory, "").ok()
}

/// Entries added or changed (`modifyAclEntries`).
pub(crate) fn merged(existing: &[AclEntry], spec: &[AclEntry]) -> Result<Vec<AclEntry>> {
    let spec = checked_spec(spec)?;
    let mut change = Change::default();
    for old in existing {
        match spec.iter().find(|new| key(new) == key(old)) {
            Some(new) => change.put_new(new),
            None => change.keep(old),
        }
    }
    let is_new = |new: &&AclEntry| !existing.iter().any(|old| key(old) == key(new));
    spec.iter().filter(is_new).for_each(|new| change.put_new(new));
    change.finish()
}

/// Entries taken away (`removeAclEntries`).
pub(crate) fn without(existing: &[AclEntry], spec: &[AclEntry]) -> Result<Vec<AclEntry>> {
    let spec = checked_spec(spec)?;
    let mut change = Change::default();
    for old in existing {
        if spec.iter().any(|gone| key(gone) == key(old)) {
            change.touch(old);
        } else {
            change.keep(old);
        }
    }
    change.finish()
}

/// Default entries taken away (`removeDefaultAcl`).
pub(crate) fn without_defaults(existing: &[AclEntry]) -> Result<Vec<AclEntry>> {
    validated(access(existing).to_vec())
}

/// All entries of the scopes that are named replaced (`setAcl`).
pub(crate) fn replaced(existing: &[AclEntry], spec: &[AclEntry]) -> Result<Vec<AclEntry>> {
    let spec = checked_spec(spec)?;
    let mut change = Change::default();
    spec.iter().for_each(|new| change.put_new(new));
    for old in existing {
        if !change.scope_dirty[old.scope as usize] {
            change.keep(old);
        }
    }
    change.finish()
}

fn checked_spec(spec: &[AclEntry]) -> Result<Vec<AclEntry>> {
    let mut sorted = spec.to_vec();
    sorted.sort_by(|a, b| key(a).cmp(&key(b)));
    check_count(&sorted)?;
    Ok(sorted)
}

fn check_count(sorted: &[AclEntry]) -> Result<()> {
    for (scope, entries) in SCOPES.into_iter().zip([access(sorted), defaults(sorted)]) {
        let (count, maximum) = (entries.len(), ENTRIES_MAX);
        if count > maximum {
            return bad(AclProblem::TooManyEntries { scope, count, maximum });
        }
    }
    Ok(())
}

/// A new list under construction, with what must be known to compute its masks (`AclTransformation`).
#[derive(Default)]
struct Change {
    entries: Vec<AclEntry>,
    mask: [Option<AclEntry>; 2],
    mask_dirty: [bool; 2],
    scope_dirty: [bool; 2],
}

impl Change {
    fn keep(&mut self, old: &AclEntry) {
        if old.kind == AclKind::Mask {
            self.mask[old.scope as usize] = Some(old.clone());
        } else {
            self.entries.push(old.clone());
        }
    }

    fn put_new(&mut self, new: &AclEntry) {
        self.touch(new);
        self.keep(new);
    }

    fn touch(&mut self, changed: &AclEntry) {
        self.scope_dirty[changed.scope as usize] = true;
        self.mask_dirty[changed.scope as usize] |= changed.kind == AclKind::Mask;
    }

    fn finish(mut self) -> Result<Vec<AclEntry>> {
        self.entries.sort_by(|a, b| key(a).cmp(&key(b)));
        self.copy_defaults();
        self.calculate_masks()?;
        validated(self.entries)
    }

    /// Default entries need an owner, a group and an other: missing ones are copied from the access entries.
    fn copy_defaults(&mut self) {
        if defaults(&self.entries).is_empty() {
            return;
        }
        for kind in [AclKind::User, AclKind::Group, AclKind::Other] {
            let find = |scope| self.entries.iter().find(|entry| key(entry) == (scope, kind, None));
            if find(AclScope::Default).is_none()
                && let Some(access) = find(AclScope::Access)
            {
                let copy = entry(AclScope::Default, kind, access.permission);
                self.entries.push(copy);
            }
        }
    }

    fn calculate_masks(&mut self) -> Result<()> {
        for scope in SCOPES {
            let at = scope as usize;
            let of_scope = || self.entries.iter().filter(move |entry| entry.scope == scope);
            if of_scope().next().is_none() {
                continue;
            }
            let masked = |entry: &&AclEntry| entry.kind == AclKind::Group || entry.name.is_some();
            let union = of_scope().filter(masked).fold(0, |sum, entry| sum | entry.permission);
            let needed = of_scope().any(|entry| entry.name.is_some());
            match &self.mask[at] {
                None if needed && self.mask_dirty[at] => {
                    return bad(AclProblem::MaskRequired);
                }
                Some(mask) if !self.scope_dirty[at] || self.mask_dirty[at] => {
                    self.entries.push(mask.clone())
                }
                Some(_) => self.entries.push(entry(scope, AclKind::Mask, union)),
                None if needed => self.entries.push(entry(scope, AclKind::Mask, union)),
                None => {}
            }
        }
        Ok(())
    }
}

fn validated(mut entries: Vec<AclEntry>) -> Result<Vec<AclEntry>> {
    entries.sort_by(|a, b| key(a).cmp(&key(b)));
    if entries.windows(2).any(|pair| key(&pair[0]) == key(&pair[1])) {
        return bad(AclProblem::Duplicate);
    }
    let misnamed = |entry: &&AclEntry| {
        entry.name.is_some() && matches!(entry.kind, AclKind::Mask | AclKind::Other)
    };
    if let Some(entry) = entries.iter().find(misnamed) {
        return bad(AclProblem::NameNotAllowed { entry: entry.clone() });
    }
    check_count(&entries)?;
    let (access, defaults) = (access(&entries), defaults(&entries));
    for kind in [AclKind::User, AclKind::Group, AclKind::Other] {
        let has =
            |list: &[AclEntry]| list.iter().any(|entry| entry.kind == kind && entry.name.is_none());
        if !has(access) {
            return bad(AclProblem::EntryMissing);
        }
        if !defaults.is_empty() && !has(defaults) {
            return bad(AclProblem::DefaultEntryMissing);
        }
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(kind: AclKind, name: &str, permission: u8) -> AclEntry {
        AclEntry { scope: AclScope::Access, kind, name: Some(name.into()), permission }
    }

    #[test]
    fn a_named_user_brings_a_mask_and_removal_brings_the_group_back() {
        let entries = merged(&minimal(0o640), &[named(AclKind::User, "bob", 6)]).unwrap();
        let (mode, acl) = to_stored(&entries, 0o640, false, "/f").unwrap();
        assert_eq!(mode, 0o660);
        let acl = acl.unwrap();
        assert_eq!(acl.len(), 2);
        assert_eq!(logical(mode, Some(&acl)), entries);
        assert_eq!(mode_without(mode, &acl), 0o640);
    }

    #[test]
    fn a_default_acl_limits_what_children_get() {
        let default = |kind, name: Option<&str>, permission| AclEntry {
            scope: AclScope::Default,
            kind,
            name: name.map(Into::into),
            permission,
        };
        let spec = [default(AclKind::User, Some("bob"), 7), default(AclKind::Other, None, 0)];
        let (_, parent) =
            to_stored(&merged(&minimal(0o755), &spec).unwrap(), 0o755, true, "/d").unwrap();
        let (mode, acl) = inherited(parent.as_ref(), 0o666, false).unwrap();
        assert_eq!(mode, 0o660);
        assert_eq!(access(&acl.unwrap()).len(), 2);
        let (_, acl) = inherited(parent.as_ref(), 0o777, true).unwrap();
        assert_eq!(defaults(&acl.unwrap()), defaults(&parent.unwrap()));
    }

    #[test]
    fn bad_lists_are_refused() {
        let group = entry(AclScope::Access, AclKind::Group, 7);
        assert!(replaced(&minimal(0o755), &[group]).is_err());
        let twice = [named(AclKind::User, "a", 1), named(AclKind::User, "a", 2)];
        assert!(merged(&minimal(0o755), &twice).is_err());
    }
}
