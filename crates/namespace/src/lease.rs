//! Leases: which client has which files open, and since when it was silent (`LeaseManager`).

use hashbrown::HashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zerohop_wire::InodeId;

/// Who holds the leases the NameNode takes over (`HdfsServerConstants.NAMENODE_LEASE_HOLDER`).
pub(crate) const NAMENODE_HOLDER: &str = "HDFS_NameNode";

#[derive(Debug, Default)]
struct Lease {
    /// On the caller's steady clock.
    renewed_ms: u64,
    files: BTreeSet<InodeId>,
}

/// All leases; a file has at most one holder, the client named in its writer.
#[derive(Debug, Default)]
pub(crate) struct Leases {
    holders: HashMap<Arc<str>, Lease>,
    files: BTreeMap<InodeId, Arc<str>>,
}

impl Leases {
    /// Gives a file to a holder (whoever had it before loses it) and renews that lease.
    pub(crate) fn add(&mut self, holder: &Arc<str>, file: InodeId, now_ms: u64) {
        if let Some(before) = self.files.insert(file, holder.clone())
            && before != *holder
        {
            self.drop_from(&before, file);
        }
        let lease = self.holders.entry(holder.clone()).or_default();
        lease.files.insert(file);
        lease.renewed_ms = now_ms;
    }

    /// Clients with files open.
    pub(crate) fn holder_count(&self) -> usize {
        self.holders.len()
    }

    pub(crate) fn remove(&mut self, file: InodeId) {
        if let Some(holder) = self.files.remove(&file) {
            self.drop_from(&holder, file);
        }
    }

    fn drop_from(&mut self, holder: &Arc<str>, file: InodeId) {
        if let Some(lease) = self.holders.get_mut(holder) {
            lease.files.remove(&file);
            if lease.files.is_empty() {
                self.holders.remove(holder);
            }
        }
    }

    pub(crate) fn renew(&mut self, holder: &str, now_ms: u64) {
        if let Some(lease) = self.holders.get_mut(holder) {
            lease.renewed_ms = now_ms;
        }
    }

    /// After a start nobody could renew: the clocks begin anew.
    pub(crate) fn renew_all(&mut self, now_ms: u64) {
        self.holders.values_mut().for_each(|lease| lease.renewed_ms = now_ms);
    }

    pub(crate) fn holder(&self, file: InodeId) -> Option<&Arc<str>> {
        self.files.get(&file)
    }

    pub(crate) fn exists(&self, holder: &str) -> bool {
        self.holders.contains_key(holder)
    }

    /// Whether a holder was silent for longer than `limit_ms`.
    pub(crate) fn is_silent(&self, holder: &str, limit_ms: u64, now_ms: u64) -> bool {
        self.holders
            .get(holder)
            .is_some_and(|lease| now_ms.saturating_sub(lease.renewed_ms) > limit_ms)
    }

    /// Files of holders silent for longer than `limit_ms`, those silent longest first.
    pub(crate) fn silent_files(&self, limit_ms: u64, now_ms: u64, max: usize) -> Vec<InodeId> {
        let mut silent: Vec<&Lease> = self
            .holders
            .values()
            .filter(|lease| now_ms.saturating_sub(lease.renewed_ms) > limit_ms)
            .collect();
        silent.sort_by_key(|lease| lease.renewed_ms);
        silent.iter().flat_map(|lease| lease.files.iter().copied()).take(max).collect()
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
        self.holders.get(holder).map_or(0, |lease| lease.files.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_has_one_holder_and_an_empty_lease_goes() {
        let (a, b): (Arc<str>, Arc<str>) = ("a".into(), "b".into());
        let mut leases = Leases::default();
        leases.add(&a, InodeId(1), 0);
        leases.add(&b, InodeId(1), 5);
        assert!(!leases.exists("a"));
        assert_eq!(leases.holder(InodeId(1)), Some(&b));
        assert!(leases.is_silent("b", 10, 16) && !leases.is_silent("b", 10, 15));
        assert_eq!(leases.silent_files(10, 16, 9), [InodeId(1)]);
        leases.remove(InodeId(1));
        assert_eq!((leases.len(), leases.exists("b")), (0, false));
    }
}
