//! New directories: the one that a call asks for, and missing parents.

use super::directory_rules::Modes;
use crate::Result;
use crate::acl;
use crate::call::Call;
use crate::quota::Counts;
use crate::tree::Slot;
use crate::walk::Located;
use zerohop_journal::op::Mkdir;

/// Adds directories for a call.
pub(crate) struct NewDirectories<'c, 'n> {
    pub(crate) call: &'c mut Call<'n>,
}

impl NewDirectories<'_, '_> {
    /// Makes the missing parents of a path, with one edit each. Returns the parent of the last component.
    pub(crate) fn create_missing_parents(
        &mut self,
        located: &Located<'_>,
        modes: Modes,
    ) -> Result<Slot> {
        let mut directory = located.deepest();
        for depth in located.nodes.len() + 1..located.depth {
            directory = self.create_directory(directory, located, depth, modes)?;
        }
        Ok(directory)
    }

    /// Makes the missing parents of a new file, with the mode of the deepest directory that exists.
    pub(crate) fn create_file_parents(&mut self, located: &Located<'_>) -> Result<Slot> {
        let masked = self.call.state.tree().get(located.deepest()).permission.mode();
        self.create_missing_parents(located, Modes { masked, unmasked: None }.with_owner_write())
    }

    pub(crate) fn create_directory(
        &mut self,
        parent: Slot,
        located: &Located<'_>,
        depth: usize,
        modes: Modes,
    ) -> Result<Slot> {
        let path = located.prefix(depth);
        let name = path.rsplit('/').next().unwrap_or_default();
        self.call.rules().check_insert(
            parent,
            name,
            located.prefix(depth - 1),
            &Counts { names: 1, ..Counts::default() },
        )?;
        let (mode, acl) = self.call.rules().new_mode(parent, modes, true);
        let op = Mkdir {
            inode_id: self.call.next_inode_id(),
            path: path.to_owned(),
            timestamp_ms: self.call.wall_ms() as i64,
            permissions: self.call.rules().new_permissions(parent, mode),
            acl: acl.as_ref().map(|acl| acl::logical(mode, Some(acl))).unwrap_or_default(),
            xattrs: Vec::new(),
        };
        Ok(self.call.commit(op)?.inode.unwrap_or(parent))
    }
}
