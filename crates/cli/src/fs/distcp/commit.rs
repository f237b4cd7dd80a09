//! Steps after the copies (`CopyCommitter`): deletion, atomic commit, directory attributes.

use std::cmp::Ordering;

use super::filter::{Filter, qualified};
use super::listing::{self, Listing, join};
use super::options::DistcpOptions;
use super::spool::{Scratch, in_tree};
use crate::failure::{Failure, Outcome};
use crate::fs::item::Item;
use crate::fs::shell::Shell;
use crate::fs::trash::move_to_trash;

/// Result of `-delete`.
#[derive(Debug, Default)]
pub struct Deleted {
    /// Deleted files and trees.
    pub count: u64,
    /// Failures that `-i` ignored.
    pub failed: u64,
}

/// Deletes target paths that the sources do not have.
pub fn delete_missing(
    shell: &mut Shell,
    asked: &DistcpOptions,
    sources: &Listing,
    target: &Item,
    filter: &Filter,
    scratch: &Scratch,
) -> Outcome<Deleted> {
    let mut deleted = Deleted::default();
    let mut target = target.clone();
    match target.refresh() {
        // The sources were empty, so the target was not created.
        Err(failure) if failure.is_not_found() => return Ok(deleted),
        other => other?,
    }
    if !target.is_dir() {
        return Ok(deleted);
    }
    // `update`, so that the target's own directory is not listed.
    let own = DistcpOptions { update: true, ..DistcpOptions::default() };
    let there = listing::build(&own, std::slice::from_ref(&target), &target, filter, scratch)?;
    let mut expected = sources.all.entries()?;
    let mut next = expected.next().transpose()?;
    let mut tree: Option<String> = None;
    for entry in there.all.entries()? {
        let key = entry?.key;
        while next.as_ref().is_some_and(|next| in_tree(&next.key, &key) == Ordering::Less) {
            next = expected.next().transpose()?;
        }
        let is_expected = next.as_ref().is_some_and(|next| next.key == key);
        let is_in_deleted = tree.as_ref().is_some_and(|tree| is_below(&key, tree));
        if is_expected || is_in_deleted {
            continue;
        }
        let path = join(&target.path, &key);
        // Deleting the trash would delete files that were just moved there.
        if asked.use_trash && touches(&path, &target.store.trash_root()) {
            continue;
        }
        let item = Item { text: path.clone(), path, status: None, store: target.store.clone() };
        match delete(shell, asked, &item) {
            Ok(was_there) => deleted.count += u64::from(was_there),
            Err(failure) if asked.ignore_failures => {
                deleted.failed += 1;
                shell.report(failure)?;
                continue;
            }
            Err(failure) => return Err(failure),
        }
        tree = Some(key);
    }
    Ok(deleted)
}

fn delete(shell: &mut Shell, asked: &DistcpOptions, item: &Item) -> Outcome<bool> {
    if asked.use_trash && move_to_trash(shell, item)? {
        return Ok(true);
    }
    item.store.delete(&item.path, true)
}

/// Returns `true` if the path is inside the directory.
pub fn is_below(path: &str, directory: &str) -> bool {
    let rest = path.strip_prefix(directory.trim_end_matches('/'));
    rest.is_some_and(|rest| rest.len() > 1 && rest.starts_with('/'))
}

/// Returns `true` if the paths are equal or one is inside the other.
fn touches(path: &str, other: &str) -> bool {
    path == other || is_below(path, other) || is_below(other, path)
}

/// Renames the work directory to the target.
pub fn commit(work: &str, target: &Item) -> Outcome {
    let store = &target.store;
    let (from, to) = (qualified(&**store, work), qualified(&**store, &target.path));
    if store.exists(&target.path)? {
        return Err(Failure::io(format!(
            "Target-path can't be committed to because it exists at {to}. Copied data is in temp-dir: {from}"
        )));
    }
    match store.rename(work, &target.path)? {
        true => Ok(()),
        false => Err(Failure::io(format!(
            "Atomic commit failed. Temporary data in {from}, Unable to move to {to}"
        ))),
    }
}

/// Applies attributes to directories, deepest first: the permissions of a directory may deny access to its
/// entries.
pub fn preserve_directories(asked: &DistcpOptions, sources: &Listing, target: &Item) -> Outcome {
    for entry in sources.directories.entries()? {
        let entry = entry?;
        let Some(root) = sources.roots.get(entry.source) else { continue };
        let Some(facts) = &entry.directory else { continue };
        let (from, to) = (root.path_of(&entry.key), join(&target.path, &entry.key));
        asked.keep.apply((&*root.store, &from), facts, &*target.store, &to)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn below_a_directory_is_not_beside_it() {
        assert!(is_below("/d/f", "/d") && is_below("/d", "/"));
        assert!(touches("/user", "/user/me/.Trash") && touches("/user/me/.Trash/Current", "/user"));
        assert!(!touches("/user/me/.Trash.old", "/user/me/.Trash"));
        assert!(!is_below("/d", "/d") && !is_below("/d.bak/f", "/d") && !is_below("/", "/"));
    }
}
