//! Leases: which client has which files open (`LeaseManager`). When they were renewed is in [`crate::lease_clock`].

use hashbrown::HashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zerohop_wire::InodeId;

/// All leases; a file has at most one holder, the client named in its writer.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    holders: HashMap<Arc<str>, BTreeSet<InodeId>>,
    files: BTreeMap<InodeId, Arc<str>>,
}

impl Leases {
    /// Gives a file's lease to a holder; the previous holder loses it.
    pub(crate) fn assign(&mut self, holder: &Arc<str>, file: InodeId) {
        if let Some(before) = self.files.insert(file, holder.clone())
            && before != *holder
        {
            self.drop_from(&before, file);
        }
        self.holders.entry(holder.clone()).or_default().insert(file);
    }

    pub(crate) fn remove(&mut self, file: InodeId) {
        if let Some(holder) = self.files.remove(&file) {
            self.drop_from(&holder, file);
        }
    }

    fn drop_from(&mut self, holder: &Arc<str>, file: InodeId) {
        if let Some(files) = self.holders.get_mut(holder) {
            files.remove(&file);
            if files.is_empty() {
                self.holders.remove(holder);
            }
        }
    }

    pub(crate) fn holder(&self, file: InodeId) -> Option<&Arc<str>> {
        self.files.get(&file)
    }

    pub(crate) fn exists(&self, holder: &str) -> bool {
        self.holders.contains_key(holder)
    }

    /// All clients with files open, and these files.
    pub(crate) fn holders(&self) -> impl Iterator<Item = (&Arc<str>, &BTreeSet<InodeId>)> {
        self.holders.iter()
    }

    /// Clients with files open.
    pub(crate) fn holder_count(&self) -> usize {
        self.holders.len()
    }

    /// Open files with an id above `after`, in order of ids.
    pub(crate) fn files_after(&self, after: InodeId) -> impl Iterator<Item = InodeId> + '_ {
        use std::ops::Bound::{Excluded, Unbounded};
        self.files.range((Excluded(after), Unbounded)).map(|(id, _)| *id)
    }

    pub(crate) fn len(&self) -> usize {
        self.files.len()
    }

    /// How many files a holder has open.
    pub(crate) fn len_of(&self, holder: &str) -> usize {
        self.holders.get(holder).map_or(0, BTreeSet::len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_holder_and_an_empty_lease_goes() {
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let mut leases = Leases::default();
        leases.assign(&a, InodeId(1));
        leases.assign(&b, InodeId(1));
        assert!(!leases.exists("a"));
        assert_eq!(leases.holder(InodeId(1)), Some(&b));
        leases.remove(InodeId(1));
        assert_eq!((leases.len(), leases.exists("b")), (0, false));
    }
}
