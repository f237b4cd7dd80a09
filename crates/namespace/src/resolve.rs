//! From a path to inodes: the walk, `/.reserved`, and the checks on the way.

use crate::fail::{denied, fail, invalid_path, not_absolute, not_found};
use crate::limits::check_text;
use crate::tree::{self, Slot};
use crate::{Namespace, OpContext, Result};
use smallvec::SmallVec;
use std::borrow::Cow;
use zerohop_wire::{InodeId, JavaException};

/// What an operation is going to do at a path (`FSDirectory.DirOp`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DirOp {
    Read,
    ReadLink,
    Write,
    WriteLink,
    Create,
    CreateLink,
}

impl DirOp {
    fn creates(self) -> bool {
        matches!(self, Self::Create | Self::CreateLink)
    }

    fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadLink)
    }

    fn follows_links(self) -> bool {
        matches!(self, Self::Read | Self::Write | Self::Create)
    }
}

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

    /// The folder that the whole path is in; none for the root.
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

impl Namespace {
    /// Walks a path and checks that the caller may pass (`FSDirectory.resolvePath`).
    pub(crate) fn resolve<'a>(
        &self,
        ctx: &OpContext,
        path: &'a str,
        op: DirOp,
    ) -> Result<Located<'a>> {
        if op.creates() && !tree::is_valid_name(path) {
            return invalid_path(&format!("Invalid file name: {path}"));
        }
        let located = self.walk(path)?;
        if !op.reads() {
            check_text("The path", &located.path)?;
        }
        if located.raw && !op.reads() && self.params.permissions_enabled {
            self.check_superuser(ctx, "null")?;
        }
        match self.check_traverse(ctx, &located, op.follows_links()) {
            // Only creating operations tell a file in the way from a wall.
            Err(e) if !op.creates() && e.kind() == Some(JavaException::ParentNotDirectory) => {
                denied(e.message)
            }
            Err(e) => Err(e),
            Ok(()) => Ok(located),
        }
    }

    /// Walks a path, `/.reserved` prefixes resolved, nothing checked.
    pub(crate) fn walk<'a>(&self, path: &'a str) -> Result<Located<'a>> {
        if !path.starts_with('/') {
            return Err(not_absolute(path));
        }
        let path = tree::canonical(path);
        if !is_reserved(&path) {
            return Ok(self.walk_plain(path, false));
        }
        let raw = is_reserved_raw(&path);
        let path = self.resolve_reserved(path)?;
        Ok(self.walk_plain(path, raw))
    }

    fn walk_plain<'a>(&self, path: Cow<'a, str>, raw: bool) -> Located<'a> {
        let mut nodes = SmallVec::new();
        let mut depth = 1;
        let mut here = Some(self.state.tree.root());
        nodes.push(self.state.tree.root());
        for part in tree::components(&path) {
            depth += 1;
            here = here.and_then(|folder| self.state.tree.child(folder, part));
            nodes.extend(here);
        }
        Located { path, nodes, depth, raw }
    }

    fn resolve_reserved<'a>(&self, path: Cow<'a, str>) -> Result<Cow<'a, str>> {
        let rest = path.get(RESERVED.len() + 1..).unwrap_or_default();
        let (kind, rest) = rest.split_once('/').unwrap_or((rest, ""));
        match kind {
            ".inodes" if !rest.is_empty() => self.resolve_inode_path(&path, rest).map(Cow::Owned),
            "raw" if rest == ".reserved" => Ok(path),
            "raw" => Ok(Cow::Owned(format!("/{rest}"))),
            _ => Ok(path),
        }
    }

    fn resolve_inode_path(&self, path: &str, rest: &str) -> Result<String> {
        let (number, below) = rest.split_once('/').unwrap_or((rest, ""));
        let Ok(id) = number.parse::<u64>() else {
            return not_found(format!("Invalid inode path: {path}"));
        };
        let Some(slot) = self.state.tree.find(InodeId(id)) else {
            return not_found(format!("File for given inode path does not exist: {path}"));
        };
        if below == ".." || below.starts_with("../") {
            let parent = self.state.tree.get(slot).parent;
            return Ok(if parent == tree::NO_SLOT {
                "/".into()
            } else {
                self.state.tree.path(parent)
            });
        }
        let mut full = self.state.tree.path(slot);
        if !below.is_empty() {
            if full != "/" {
                full.push('/');
            }
            full.push_str(below);
        }
        Ok(full)
    }

    /// The inode of an id if the client sent one, else the path (`resolvePath` with a file id): no traversal check.
    pub(crate) fn resolve_file<'a>(
        &self,
        ctx: &OpContext,
        path: &'a str,
        id: InodeId,
    ) -> Result<Located<'a>> {
        if id == InodeId::GRANDFATHER {
            return self.resolve(ctx, path, DirOp::Write);
        }
        match self.state.tree.find(id) {
            Some(slot) => Ok(self.locate(slot)),
            None => {
                let path = tree::canonical(path);
                let depth = tree::components(&path).count() + 1;
                Ok(Located { path, nodes: SmallVec::new(), depth, raw: false })
            }
        }
    }

    /// The path of an inode that is in the tree.
    pub(crate) fn locate(&self, slot: Slot) -> Located<'static> {
        let mut nodes: SmallVec<[Slot; 16]> = self.state.tree.ancestors(slot).collect();
        nodes.reverse();
        Located {
            path: Cow::Owned(self.state.tree.path(slot)),
            depth: nodes.len(),
            nodes,
            raw: false,
        }
    }

    /// The inode a path names, or `FileNotFoundException` in the words of `resolveLastINode`.
    pub(crate) fn last_inode(&self, located: &Located<'_>) -> Result<Slot> {
        match located.last() {
            Some(slot) => Ok(slot),
            None => not_found(format!("cannot find {}", located.path)),
        }
    }

    /// The file a path names (`INodeFile.valueOf`).
    pub(crate) fn file_at(&self, last: Option<Slot>, path: &str) -> Result<Slot> {
        match last {
            None => not_found(format!("File does not exist: {path}")),
            Some(slot) if self.state.tree.get(slot).as_file().is_none() => {
                not_found(format!("Path is not a file: {path}"))
            }
            Some(slot) => Ok(slot),
        }
    }

    /// The folder a path names (`INodeDirectory.valueOf`).
    pub(crate) fn folder_at(&self, last: Option<Slot>, path: &str) -> Result<Slot> {
        match last {
            None => not_found(format!("Directory does not exist: {path}")),
            Some(slot) if !self.state.tree.get(slot).is_directory() => {
                fail(JavaException::PathIsNotDirectory, path_is_not_directory(path))
            }
            Some(slot) => Ok(slot),
        }
    }
}

/// `PathIOException` words its message around the path.
fn path_is_not_directory(path: &str) -> String {
    format!("`{path}': Is not a directory")
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
