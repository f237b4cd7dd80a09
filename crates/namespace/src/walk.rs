//! From a path to inodes: the walk down the tree, `/.reserved` prefixes resolved.

use crate::Result;
use crate::error::{NotFound, PathError, refuse};
use crate::tree::{self, Slot, Tree};
use smallvec::SmallVec;
use std::borrow::Cow;
use zerohop_journal::op::string_fits;
use zerohop_wire::InodeId;

/// A path and the inodes of it that exist, the root first (`INodesInPath`).
#[derive(Debug)]
pub(crate) struct Located<'a> {
    pub path: Cow<'a, str>,
    pub nodes: SmallVec<[Slot; 16]>,
    /// Components, the root included.
    pub depth: usize,
    pub raw: bool,
}

impl Located<'_> {
    /// The inode the whole path names.
    pub(crate) fn last(&self) -> Option<Slot> {
        if self.nodes.len() == self.depth { self.nodes.last().copied() } else { None }
    }

    /// The inode of the path without its last component.
    pub(crate) fn parent(&self) -> Option<Slot> {
        self.nodes.get(self.depth.checked_sub(2)?).copied()
    }

    /// The deepest inode that exists.
    pub(crate) fn deepest(&self) -> Slot {
        self.nodes.last().copied().unwrap_or(0)
    }

    pub(crate) fn is_root(&self) -> bool {
        self.depth == 1
    }

    /// The last component.
    pub(crate) fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or_default()
    }

    /// The path of the first `components`, the root counted.
    pub(crate) fn prefix(&self, components: usize) -> &str {
        prefix(&self.path, components)
    }

    pub(crate) fn parent_path(&self) -> &str {
        self.prefix(self.depth.saturating_sub(1))
    }

    /// The directory that the whole path is in; none for the root.
    pub(crate) fn above(&self) -> Option<Located<'_>> {
        let depth = self.depth.checked_sub(1).filter(|depth| *depth > 0)?;
        Some(Located {
            path: Cow::Borrowed(self.parent_path()),
            nodes: self.nodes.iter().take(depth).copied().collect(),
            depth,
            raw: self.raw,
        })
    }
}

fn prefix(path: &str, components: usize) -> &str {
    if components <= 1 {
        return "/";
    }
    let slashes = path.bytes().enumerate().filter(|(_, byte)| *byte == b'/');
    let end = slashes.map(|(at, _)| at).nth(components - 1).unwrap_or(path.len());
    &path[..end]
}

const RESERVED: &str = "/.reserved";

/// `/.reserved` itself.
pub(crate) fn is_exact_reserved(path: &str) -> bool {
    path == RESERVED
}

/// Anything below `/.reserved`.
pub(crate) fn is_reserved(path: &str) -> bool {
    path.strip_prefix(RESERVED).is_some_and(|rest| rest.starts_with('/'))
}

pub(crate) fn is_reserved_raw(path: &str) -> bool {
    path.starts_with("/.reserved/raw")
}

pub(crate) fn is_reserved_inodes(path: &str) -> bool {
    path.starts_with("/.reserved/.inodes")
}

/// Resolves paths in an inode tree.
#[derive(Clone, Copy)]
pub(crate) struct Paths<'t>(pub(crate) &'t Tree);

impl Paths<'_> {
    /// Walks a path, `/.reserved` prefixes resolved, nothing checked.
    pub(crate) fn walk<'a>(self, path: &'a str) -> Result<Located<'a>> {
        if !path.starts_with('/') {
            return refuse(PathError::NotAbsolute { path: path.to_owned() });
        }
        let path = tree::canonical(path);
        if !is_reserved(&path) {
            return Ok(self.walk_plain(path, false));
        }
        let raw = is_reserved_raw(&path);
        let path = self.resolve_reserved(path)?;
        Ok(self.walk_plain(path, raw))
    }

    fn walk_plain<'a>(self, path: Cow<'a, str>, raw: bool) -> Located<'a> {
        let mut nodes = SmallVec::new();
        let mut depth = 1;
        let mut here = Some(self.0.root());
        nodes.push(self.0.root());
        for part in tree::components(&path) {
            depth += 1;
            here = here.and_then(|directory| self.0.child(directory, part));
            nodes.extend(here);
        }
        Located { path, nodes, depth, raw }
    }

    fn resolve_reserved<'a>(self, path: Cow<'a, str>) -> Result<Cow<'a, str>> {
        let rest = path.get(RESERVED.len() + 1..).unwrap_or_default();
        let (kind, rest) = rest.split_once('/').unwrap_or((rest, ""));
        match kind {
            ".inodes" if !rest.is_empty() => self.resolve_inode_path(&path, rest).map(Cow::Owned),
            "raw" if rest == ".reserved" => Ok(path),
            "raw" => Ok(Cow::Owned(format!("/{rest}"))),
            _ => Ok(path),
        }
    }

    fn resolve_inode_path(self, path: &str, rest: &str) -> Result<String> {
        let (number, below) = rest.split_once('/').unwrap_or((rest, ""));
        let Ok(id) = number.parse::<u64>() else {
            return refuse(NotFound::InodePath { path: path.to_string() });
        };
        let Some(slot) = self.0.find(InodeId(id)) else {
            return refuse(NotFound::InodeNumber { path: path.to_string() });
        };
        if below == ".." || below.starts_with("../") {
            let parent = self.0.get(slot).parent;
            return Ok(if parent == tree::NO_SLOT { "/".into() } else { self.0.path(parent) });
        }
        let mut full = self.0.path(slot);
        if !below.is_empty() {
            if full != "/" {
                full.push('/');
            }
            full.push_str(below);
        }
        Ok(full)
    }

    /// The path of an inode that is in the tree.
    pub(crate) fn locate(self, slot: Slot) -> Located<'static> {
        let mut nodes: SmallVec<[Slot; 16]> = self.0.ancestors(slot).collect();
        nodes.reverse();
        Located { path: Cow::Owned(self.0.path(slot)), depth: nodes.len(), nodes, raw: false }
    }

    /// The file a path names (`INodeFile.valueOf`).
    pub(crate) fn file_at(self, last: Option<Slot>, path: &str) -> Result<Slot> {
        match last {
            None => refuse(NotFound::File { path: path.to_owned() }),
            Some(slot) if self.0.get(slot).as_file().is_none() => {
                refuse(NotFound::NotAFile { path: path.to_owned() })
            }
            Some(slot) => Ok(slot),
        }
    }

    /// The inode that an edit names.
    ///
    /// # Errors
    /// `Error::NotFound` when there is none.
    pub(crate) fn existing(self, path: &str) -> Result<Slot> {
        match self.walk(path)?.last() {
            Some(slot) => Ok(slot),
            None => refuse(NotFound::OfEdit { path: path.to_owned() }),
        }
    }

    /// The file that an edit names.
    ///
    /// # Errors
    /// `Error::NotFound` when there is none.
    pub(crate) fn existing_file(self, path: &str) -> Result<Slot> {
        self.file_at(self.walk(path)?.last(), path)
    }

    /// An inode's path for an edit that cannot be refused. After renames the path may be too long for an edit: then it names the
    /// inode number.
    pub(crate) fn edit_path(self, slot: Slot) -> String {
        self.edit_path_of(self.0.path(slot), slot)
    }

    /// As [`Paths::edit_path`], the path being known.
    pub(crate) fn edit_path_of(self, path: impl Into<String>, slot: Slot) -> String {
        let path = path.into();
        if string_fits(&path) {
            return path;
        }
        format!("/.reserved/.inodes/{}", self.0.get(slot).id)
    }

    /// Refuses names that no inode may have (`FSDirectory.addLastINode`).
    pub(crate) fn check_new_name(self, directory: Slot, name: &str) -> Result<()> {
        if directory == self.0.root() && name == ".reserved" {
            return refuse(PathError::ReservedName { name: name.to_owned() });
        }
        if name == ".snapshot" {
            return refuse(PathError::SnapshotName);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_count_the_root() {
        let shown: Vec<_> = (1..5).map(|n| prefix("/a/bc/d", n)).collect();
        assert_eq!(shown, ["/", "/a", "/a/bc", "/a/bc/d"]);
    }

    #[test]
    fn reserved_paths_are_told_apart() {
        assert!(is_exact_reserved("/.reserved"));
        assert!(
            is_reserved("/.reserved/raw")
                && !is_reserved("/.reserved")
                && !is_reserved("/.reservedx/a")
        );
    }
}
