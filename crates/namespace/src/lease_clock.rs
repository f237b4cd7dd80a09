//! When leases were renewed. No edit carries that: it starts empty with the NameNode.

use crate::blocks::Now;
use crate::lease::Leases;
use hashbrown::HashMap;
use std::collections::BTreeSet;
use std::sync::Arc;
use zerohop_wire::InodeId;

/// The holder of leases that the NameNode recovers (`HdfsServerConstants.NAMENODE_LEASE_HOLDER`); a number follows it.
const NAMENODE_HOLDER: &str = "HDFS_NameNode";

/// Times of the caller's steady clock, in ms.
#[derive(Debug, Default)]
pub(crate) struct LeaseClock {
    /// Leases that were not renewed since count as renewed then: no client could renew one before.
    started_ms: u64,
    renewed_ms: HashMap<Arc<str>, u64>,
    /// The NameNode's present name as a lease holder, and since when it is used.
    namenode: Option<(Arc<str>, u64)>,
    /// Files whose lease could not be released, and when to try again.
    postponed: HashMap<InodeId, u64>,
    /// A call has changed the namespace.
    is_live: bool,
}

impl LeaseClock {
    /// Clients can renew their leases from now on.
    pub(crate) fn start(&mut self, now_ms: u64) {
        *self = Self { started_ms: now_ms, is_live: self.is_live, ..Self::default() };
    }

    /// As [`LeaseClock::start`], with the first call that changes the namespace: replay is over.
    pub(crate) fn start_once(&mut self, now_ms: u64) {
        if !self.is_live {
            self.is_live = true;
            self.start(now_ms);
        }
    }

    /// A client renewed its lease.
    pub(crate) fn renew(&mut self, holder: &Arc<str>, now_ms: u64) {
        self.renewed_ms.insert(holder.clone(), now_ms);
    }

    /// A client opened a file or was given one.
    pub(crate) fn assigned(&mut self, holder: &Arc<str>, file: InodeId, now_ms: u64) {
        self.postponed.remove(&file);
        self.renew(holder, now_ms);
    }

    fn last_renewed_ms(&self, holder: &str) -> u64 {
        self.renewed_ms.get(holder).copied().unwrap_or(self.started_ms)
    }

    /// Whether a holder was silent for longer than `limit_ms`.
    pub(crate) fn is_silent(&self, holder: &str, limit_ms: u64, now_ms: u64) -> bool {
        now_ms.saturating_sub(self.last_renewed_ms(holder)) > limit_ms
    }

    /// Files of holders silent for longer than `limit_ms`, those silent longest first; none that was postponed.
    pub(crate) fn silent_files(
        &self,
        leases: &Leases,
        limit_ms: u64,
        now_ms: u64,
        max: usize,
    ) -> Vec<InodeId> {
        let mut silent: Vec<(u64, &BTreeSet<InodeId>)> = leases
            .holders()
            .filter(|(holder, _)| self.is_silent(holder, limit_ms, now_ms))
            .map(|(holder, files)| (self.last_renewed_ms(holder), files))
            .collect();
        silent.sort_by_key(|(renewed_ms, _)| *renewed_ms);
        silent
            .iter()
            .flat_map(|(_, files)| files.iter().copied())
            .filter(|file| self.is_due(*file, now_ms))
            .take(max)
            .collect()
    }

    /// Leaves a file out of [`LeaseClock::silent_files`] until then, so that other files are tried.
    pub(crate) fn postpone(&mut self, file: InodeId, until_ms: u64) {
        self.postponed.insert(file, until_ms);
    }

    /// Whether a file is not postponed.
    pub(crate) fn is_due(&self, file: InodeId, now_ms: u64) -> bool {
        self.postponed.get(&file).is_none_or(|until_ms| *until_ms <= now_ms)
    }

    /// Forgets holders and files that have no lease any more.
    pub(crate) fn forget_ended(&mut self, leases: &Leases) {
        self.renewed_ms.retain(|holder, _| leases.exists(holder));
        self.postponed.retain(|file, _| leases.holder(*file).is_some());
    }

    /// The name under which the NameNode recovers a lease now. Each file given to a holder renews its lease, so the name changes once it
    /// is older than `limit_ms`: the leases of the old name then expire and are tried again, however many files come later
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_namenode_takes_another_name_when_the_old_one_is_older_than_the_limit() {
        let mut clock = LeaseClock::default();
        let at = |mono_ms| Now { wall_ms: 1_000_000 + mono_ms, mono_ms };
        let first = clock.namenode_holder(100, at(1000));
        assert_eq!(&*first, "HDFS_NameNode-1001000");
        assert_eq!(clock.namenode_holder(100, at(1100)), first);
        assert_eq!(&*clock.namenode_holder(100, at(1101)), "HDFS_NameNode-1001101");
    }

    #[test]
    fn a_lease_that_could_not_be_renewed_begins_with_the_start() {
        let mut clock = LeaseClock::default();
        clock.start(1000);
        assert!(!clock.is_silent("a", 10, 1010) && clock.is_silent("a", 10, 1011));
        clock.renew(&"a".into(), 1005);
        assert!(!clock.is_silent("a", 10, 1015) && clock.is_silent("a", 10, 1016));
    }

    #[test]
    fn only_the_first_call_starts_the_clock() {
        let mut clock = LeaseClock::default();
        clock.start_once(1000);
        clock.start_once(2000);
        assert!(clock.is_silent("a", 10, 1011));
        clock.start(3000);
        clock.start_once(4000);
        assert!(!clock.is_silent("a", 10, 3010) && clock.is_silent("a", 10, 3011));
    }

    #[test]
    fn a_file_postponed_comes_again_and_delays_no_other() {
        let holder: Arc<str> = "a".into();
        let (mut leases, mut clock) = (Leases::default(), LeaseClock::default());
        for file in 1..=3 {
            leases.assign(&holder, InodeId(file));
            clock.assigned(&holder, InodeId(file), 0);
        }
        clock.postpone(InodeId(1), 50);
        assert_eq!(clock.silent_files(&leases, 10, 49, 2), [InodeId(2), InodeId(3)]);
        assert_eq!(clock.silent_files(&leases, 10, 50, 2), [InodeId(1), InodeId(2)]);
        clock.postpone(InodeId(2), 90);
        leases.remove(InodeId(2));
        clock.forget_ended(&leases);
        clock.postpone(InodeId(3), 90);
        clock.assigned(&holder, InodeId(3), 50);
        assert!(clock.postponed.keys().eq([&InodeId(1)]));
        leases.remove(InodeId(1));
        leases.remove(InodeId(3));
        clock.forget_ended(&leases);
        assert!(clock.postponed.is_empty() && clock.renewed_ms.is_empty());
    }
}
