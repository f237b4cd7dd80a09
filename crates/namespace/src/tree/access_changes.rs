//! The latest changes of who may do what: a check of a subtree, during which others change it, looks at these again.

use std::collections::VecDeque;
use zerohop_wire::InodeId;

/// Changes that are kept; a check that takes longer than they last begins again.
const KEPT_MAX: usize = 1 << 14;

/// What happened to an inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AccessChange {
    /// It was created, or moved here with all below it.
    Attached(InodeId),
    /// It has another owner, group, mode or ACL.
    Permission(InodeId),
}

/// The latest changes, numbered from the first one of this process on.
#[derive(Debug, Default)]
pub(crate) struct AccessChanges {
    kept: VecDeque<AccessChange>,
    /// The number of the oldest that is kept.
    first: u64,
}

/// A change is not kept any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Forgotten;

impl AccessChanges {
    /// Keeps a change.
    pub(super) fn note(&mut self, change: AccessChange) {
        if self.kept.len() == KEPT_MAX {
            self.kept.pop_front();
            self.first += 1;
        }
        self.kept.push_back(change);
    }

    /// The number that the next change will have.
    pub(crate) fn end(&self) -> u64 {
        self.first + self.kept.len() as u64
    }

    /// The change of a number; none at the end.
    ///
    /// # Errors
    /// [`Forgotten`] if there were so many since that it is not kept.
    pub(crate) fn get(&self, number: u64) -> Result<Option<AccessChange>, Forgotten> {
        let at = number.checked_sub(self.first).ok_or(Forgotten)?;
        Ok(self.kept.get(at as usize).copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_changes_are_kept_and_older_ones_are_said_to_be_forgotten() {
        let mut changes = AccessChanges::default();
        let change = |id| AccessChange::Permission(InodeId(id));
        assert_eq!((changes.end(), changes.get(0)), (0, Ok(None)));
        let count = KEPT_MAX as u64 + 5;
        (0..count).for_each(|id| changes.note(change(id)));
        assert_eq!(changes.get(4), Err(Forgotten));
        assert_eq!(changes.get(5), Ok(Some(change(5))));
        assert_eq!(changes.get(count - 1), Ok(Some(change(count - 1))));
        assert_eq!((changes.end(), changes.get(count)), (count, Ok(None)));
    }
}
