//! Whether a rename can be carried out, for a call and for an edit alike.

use crate::Result;
use crate::error::{AlreadyExists, NotADirectory, NotFound, PathError, RenameError, refuse};
use crate::tree::{Body, Slot, Tree};
use crate::walk::{Located, is_exact_reserved};
use std::borrow::Cow;

/// The rules of renames in an inode tree.
#[derive(Clone, Copy)]
pub(crate) struct RenameCheck<'t>(pub(crate) &'t Tree);

impl RenameCheck<'_> {
    /// An existing directory as destination means the same name in it (`dstForRenameTo`).
    pub(crate) fn destination<'a>(self, from: &Located<'_>, mut to: Located<'a>) -> Located<'a> {
        let Some(directory) = to.last().filter(|slot| self.0.get(*slot).is_directory()) else {
            return to;
        };
        let name = from.name();
        let base = if to.is_root() { "" } else { &*to.path };
        let path = format!("{base}/{name}");
        to.nodes.extend(self.0.child(directory, name));
        to.depth += 1;
        to.path = Cow::Owned(path);
        to
    }

    /// The inode that an old-style rename moves and the directory it moves to; none where it answers false.
    pub(crate) fn check_old(self, from: &Located<'_>, to: &Located<'_>) -> Option<(Slot, Slot)> {
        let src = from.last().filter(|_| !from.is_root())?;
        if self.check_destination(from, to, src).is_err() || to.last().is_some() {
            return None;
        }
        Some((src, to.parent()?))
    }

    /// The inode that a rename with options moves, and the directory it moves to.
    ///
    /// # Errors
    /// As Hadoop's `rename2`.
    pub(crate) fn check(
        self,
        from: &Located<'_>,
        to: &Located<'_>,
        overwrite: bool,
    ) -> Result<(Slot, Slot)> {
        let Some(src) = from.last() else {
            return refuse(NotFound::RenameSource { path: from.path.to_string() });
        };
        if from.is_root() {
            return refuse(RenameError::SourceIsRoot);
        }
        if from.path == to.path {
            let (path, destination) = (from.path.to_string(), to.path.to_string());
            return refuse(AlreadyExists::RenameToItself { path, destination });
        }
        self.check_destination(from, to, src)?;
        if to.is_root() {
            return refuse(RenameError::DestinationIsRoot);
        }
        if let Some(dst) = to.last() {
            self.check_overwrite(from, to, overwrite, (src, dst))?;
        }
        let Some(parent) = to.parent() else {
            return refuse(NotFound::RenameParent { path: to.path.to_string() });
        };
        if !self.0.get(parent).is_directory() {
            return refuse(NotADirectory::RenameParent { path: to.path.to_string() });
        }
        Ok((src, parent))
    }

    fn check_destination(self, from: &Located<'_>, to: &Located<'_>, src: Slot) -> Result<()> {
        let paths = || (from.path.to_string(), to.path.to_string());
        if let Body::Symlink(link) = &self.0.get(src).body
            && link.target == to.path.as_bytes()
        {
            let (path, target) = paths();
            return refuse(AlreadyExists::RenameToTarget { path, target });
        }
        if to.path.strip_prefix(&*from.path).is_some_and(|rest| rest.starts_with('/')) {
            let (path, destination) = paths();
            return refuse(RenameError::IntoItself { path, destination });
        }
        if is_exact_reserved(&from.path) || is_exact_reserved(&to.path) {
            return refuse(PathError::RenameOfReserved);
        }
        Ok(())
    }

    fn check_overwrite(
        self,
        from: &Located<'_>,
        to: &Located<'_>,
        overwrite: bool,
        (src, dst): (Slot, Slot),
    ) -> Result<()> {
        if self.0.get(src).is_directory() != self.0.get(dst).is_directory() {
            let (path, destination) = (from.path.to_string(), to.path.to_string());
            return refuse(RenameError::KindsDiffer { path, destination });
        }
        if !overwrite {
            return refuse(AlreadyExists::RenameDestination { path: to.path.to_string() });
        }
        if self.0.is_non_empty_directory(dst) {
            return refuse(RenameError::NotEmpty { path: to.path.to_string() });
        }
        Ok(())
    }
}
