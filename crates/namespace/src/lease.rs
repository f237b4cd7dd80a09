//! Leases: which client has which files open, and since when it was silent (`LeaseManager`).

use crate::blocks::Now;
use hashbrown::HashMap;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use zerohop_wire::InodeId;

/// Who holds the leases the NameNode takes over (`HdfsServerConstants.NAMENODE_LEASE_HOLDER`); a number follows it.
const NAMENODE_HOLDER: &str = "HDFS_NameNode";

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
    /// Who takes files over at present, and since when on the steady clock.
    namenode: Option<(Arc<str>, u64)>,
    /// Files that could not be released: they are not tried again before that time of the steady clock.
    put_off: HashMap<InodeId, u64>,
}

impl Leases {
    /// Who takes a file over now. Each file given to a holder renews that holder's lease, so that the name changes once it
    /// is older than `limit_ms`: what the old name holds then runs out and is tried again, however many files come later
    /// (`LeaseManager.getInternalLeaseHolder`).
    pub(crate) fn namenode_holder(&mut self, limit_ms: u64, now: Now) -> Arc<str> {
        match &self.namenode {
            Some((name, since)) if now.mono_ms.saturating_sub(*since) <= limit_ms => name.clone(),
            _ => {
                let name: Arc<str> = format!("{NAMENODE_HOLDER}-{}", now.wall_ms).into();
                self.namenode = Some((name.clone(), now.mono_ms));
                name
            }
        }
    }

    /// Leaves a file out of [`Leases::silent_files`] for a time: others get their turn.
    pub(crate) fn put_off(&mut self, file: InodeId, until_ms: u64) {
        self.put_off.insert(file, until_ms);
    }

    /// Gives a file to a holder (whoever had it before loses it) and renews that lease.
    pub(crate) fn add(&mut self, holder: &Arc<str>, file: InodeId, now_ms: u64) {
        if let Some(before) = self.files.insert(file, holder.clone())
            && before != *holder
        {
            self.drop_from(&before, file);
        }
        self.put_off.remove(&file);
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
            self.put_off.remove(&file);
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

    /// Files of holders silent for longer than `limit_ms`, those silent longest first; none that was put off.
    pub(crate) fn silent_files(&self, limit_ms: u64, now_ms: u64, max: usize) -> Vec<InodeId> {
        let mut silent: Vec<&Lease> = self
            .holders
            .values()
            .filter(|lease| now_ms.saturating_sub(lease.renewed_ms) > limit_ms)
            .collect();
        silent.sort_by_key(|lease| lease.renewed_ms);
        silent
            .iter()
            .flat_map(|lease| lease.files.iter().copied())
            .filter(|file| self.is_due(*file, now_ms))
            .take(max)
            .collect()
    }

    /// Whether a file may be tried again that could not be released.
    pub(crate) fn is_due(&self, file: InodeId, now_ms: u64) -> bool {
        self.put_off.get(&file).is_none_or(|until| *until <= now_ms)
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
    #[test]
    fn the_namenode_takes_another_name_when_the_old_one_is_older_than_the_limit() {
        let mut leases = Leases::default();
        let at = |mono_ms| Now { wall_ms: 1_000_000 + mono_ms, mono_ms };
        let first = leases.namenode_holder(100, at(1000));
        assert_eq!(&*first, "HDFS_NameNode-1001000");
        assert_eq!(leases.namenode_holder(100, at(1100)), first);
        assert_eq!(&*leases.namenode_holder(100, at(1101)), "HDFS_NameNode-1001101");
    }

    #[test]
    fn a_file_put_off_comes_again_and_holds_up_nobody() {
        let holder: Arc<str> = "a".into();
        let mut leases = Leases::default();
        (1..=3).for_each(|file| leases.add(&holder, InodeId(file), 0));
        leases.put_off(InodeId(1), 50);
        assert_eq!(leases.silent_files(10, 49, 2), [InodeId(2), InodeId(3)]);
        assert_eq!(leases.silent_files(10, 50, 2), [InodeId(1), InodeId(2)]);
        leases.put_off(InodeId(2), 90);
        leases.remove(InodeId(2));
        leases.put_off(InodeId(3), 90);
        leases.add(&holder, InodeId(3), 50);
        assert!(leases.put_off.keys().eq([&InodeId(1)]));
    }
}
