//! Resolves paths and checks that the caller may traverse them.

use crate::Result;
use crate::access::PermissionChecker;
use crate::error::{Denied, Error, NotADirectory, NotFound, PathError, refuse};
use crate::limits::check_text;
use crate::tree::{self, Slot};
use crate::walk::{Located, Paths};
use smallvec::SmallVec;
use zerohop_wire::InodeId;

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

impl PermissionChecker<'_> {
    /// Walks a path and checks that the caller may pass (`FSDirectory.resolvePath`).
    pub(crate) fn resolve<'a>(self, path: &'a str, op: DirOp) -> Result<Located<'a>> {
        if op.creates() && !tree::is_valid_name(path) {
            return refuse(PathError::InvalidFileName { path: path.to_owned() });
        }
        let located = Paths(self.tree).walk(path)?;
        if !op.reads() {
            check_text("The path", &located.path)?;
        }
        if located.raw && !op.reads() && self.params.permissions_enabled {
            self.check_superuser("null")?;
        }
        match self.check_traverse(&located, op.follows_links()) {
            // Only operations that create say that a file is in the way; others answer that access is denied.
            Err(Error::NotADirectory(file)) if !op.creates() => {
                refuse(Denied::BelowFile { path: file.into_path() })
            }
            Err(e) => Err(e),
            Ok(()) => Ok(located),
        }
    }

    /// The inode of an id if the client sent one, else of the path (`resolvePath` with a file id): no traversal check.
    pub(crate) fn resolve_file<'a>(self, path: &'a str, id: InodeId) -> Result<Located<'a>> {
        if id == InodeId::GRANDFATHER {
            return self.resolve(path, DirOp::Write);
        }
        match self.tree.find(id) {
            Some(slot) => Ok(Paths(self.tree).locate(slot)),
            None => {
                let path = tree::canonical(path);
                let depth = tree::components(&path).count() + 1;
                Ok(Located { path, nodes: SmallVec::new(), depth, raw: false })
            }
        }
    }

    /// The inode a path names, or `Error::NotFound` in the words of `resolveLastINode`.
    pub(crate) fn last_inode(self, located: &Located<'_>) -> Result<Slot> {
        match located.last() {
            Some(slot) => Ok(slot),
            None => refuse(NotFound::LastInode { path: located.path.to_string() }),
        }
    }

    /// The directory a path names (`INodeDirectory.valueOf`).
    pub(crate) fn directory_at(self, last: Option<Slot>, path: &str) -> Result<Slot> {
        match last {
            None => refuse(NotFound::Directory { path: path.to_owned() }),
            Some(slot) if !self.tree.get(slot).is_directory() => {
                refuse(NotADirectory::Path { path: path.to_owned() })
            }
            Some(slot) => Ok(slot),
        }
    }
}
