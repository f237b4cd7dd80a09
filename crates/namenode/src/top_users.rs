//! Who does what lately (`TopMetrics`, `RollingWindowManager`): operations by user and kind in windows of some minutes.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::Arc;
use zerohop_conf::{Conf, ConfError, keys};

/// Parts of a window (`dfs.namenode.top.window.num.buckets` has the same default).
const BUCKETS: u64 = 10;
/// Users that are told apart.
const USERS_MAX: usize = 10_000;

/// The operations of one user: a count for each window.
type ByKind = HashMap<&'static str, Vec<RollingCount>>;

/// Counts operations by user.
pub(crate) struct TopUsers {
    is_enabled: bool,
    users_max: usize,
    windows_ms: Vec<u64>,
    users: Mutex<HashMap<Arc<str>, ByKind>>,
}

/// What was counted in one window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TopWindow {
    pub(crate) length_ms: u64,
    /// By kind of operation; `*` for all of them. The busiest first.
    pub(crate) operations: Vec<TopOperation>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TopOperation {
    pub(crate) kind: &'static str,
    pub(crate) total: u64,
    pub(crate) users: Vec<(Arc<str>, u64)>,
}

impl TopUsers {
    /// By `dfs.namenode.top.*`.
    ///
    /// # Errors
    /// If one of them is malformed.
    pub(crate) fn from_conf(conf: &Conf) -> Result<Self, ConfError> {
        let minutes = conf.get(&keys::DFS_NAMENODE_TOP_WINDOWS_MINUTES)?;
        let minutes = minutes.iter().filter_map(|text| text.trim().parse::<u64>().ok());
        Ok(Self {
            is_enabled: conf.get(&keys::DFS_NAMENODE_TOP_ENABLED)?,
            users_max: usize::try_from(conf.get(&keys::DFS_NAMENODE_TOP_NUM_USERS)?).unwrap_or(0),
            windows_ms: minutes.filter(|m| (1..=1440).contains(m)).map(|m| m * 60_000).collect(),
            users: Mutex::default(),
        })
    }

    /// Counts an operation; `now_ms` is of the steady clock.
    pub(crate) fn count(&self, user: &str, kind: &'static str, now_ms: u64) {
        if !self.is_enabled || kind.is_empty() {
            return;
        }
        let mut users = self.users.lock();
        if !users.contains_key(user) {
            if users.len() >= USERS_MAX {
                self.forget_idle(&mut users, now_ms);
            }
            if users.len() >= USERS_MAX {
                return;
            }
            users.insert(user.into(), HashMap::new());
        }
        let Some(kinds) = users.get_mut(user) else { return };
        let windows = kinds
            .entry(kind)
            .or_insert_with(|| vec![RollingCount::default(); self.windows_ms.len()]);
        for (count, length_ms) in windows.iter_mut().zip(&self.windows_ms) {
            count.add(now_ms, length_ms / BUCKETS);
        }
    }

    fn forget_idle(&self, users: &mut HashMap<Arc<str>, ByKind>, now_ms: u64) {
        let is_busy = |windows: &Vec<RollingCount>| {
            let mut all = windows.iter().zip(&self.windows_ms);
            all.any(|(count, length_ms)| count.sum(now_ms, length_ms / BUCKETS) > 0)
        };
        users.retain(|_, kinds| kinds.values().any(is_busy));
    }

    /// The windows, the shortest first.
    pub(crate) fn report(&self, now_ms: u64) -> Vec<TopWindow> {
        let (counted, sums) = self.counted(now_ms);
        let windows = self.windows_ms.iter().enumerate();
        let window = |(at, length_ms): (usize, &u64)| {
            let sums = sums.iter().skip(at).step_by(self.windows_ms.len());
            let operations = self.operations(counted.iter().zip(sums.copied()));
            TopWindow { length_ms: *length_ms, operations }
        };
        windows.map(window).collect()
    }

    /// Users with a kind of operation, those of one user behind each other, and for each of these as many counts as there are
    /// windows. Each operation waits for the lock that this holds: nothing is sorted or grouped here.
    fn counted(&self, now_ms: u64) -> (Vec<(Arc<str>, &'static str)>, Vec<u64>) {
        let users = self.users.lock();
        let (mut counted, mut sums) = (Vec::new(), Vec::new());
        for (user, kinds) in users.iter() {
            for (kind, counts) in kinds {
                counted.push((Arc::clone(user), *kind));
                let windows = counts.iter().zip(&self.windows_ms);
                sums.extend(windows.map(|(count, length)| count.sum(now_ms, length / BUCKETS)));
            }
        }
        (counted, sums)
    }

    /// The kinds of operations of a window, the busiest first, with their busiest users.
    fn operations<'a>(
        &self,
        counted: impl Iterator<Item = (&'a (Arc<str>, &'static str), u64)>,
    ) -> Vec<TopOperation> {
        let mut kinds: HashMap<&'static str, Vec<(Arc<str>, u64)>> = HashMap::new();
        let mut all: Vec<(Arc<str>, u64)> = Vec::new();
        for ((user, kind), count) in counted.filter(|(_, count)| *count > 0) {
            kinds.entry(kind).or_default().push((Arc::clone(user), count));
            match all.last_mut() {
                Some((last, sum)) if Arc::ptr_eq(last, user) => *sum += count,
                _ => all.push((Arc::clone(user), count)),
            }
        }
        if !all.is_empty() {
            kinds.insert("*", all);
        }
        let operation = |(kind, users): (&'static str, Vec<(Arc<str>, u64)>)| {
            let total = users.iter().map(|(_, count)| count).sum();
            TopOperation { kind, total, users: busiest(users, self.users_max) }
        };
        let mut operations: Vec<TopOperation> = kinds.into_iter().map(operation).collect();
        operations.sort_by(|one, other| (other.total, one.kind).cmp(&(one.total, other.kind)));
        operations
    }
}

/// The `max` busiest users, sorted; those with equal counts by name.
fn busiest(mut users: Vec<(Arc<str>, u64)>, max: usize) -> Vec<(Arc<str>, u64)> {
    let order =
        |one: &(Arc<str>, u64), other: &(Arc<str>, u64)| (other.1, &one.0).cmp(&(one.1, &other.0));
    if max < users.len() {
        users.select_nth_unstable_by(max, order);
        users.truncate(max);
    }
    users.sort_unstable_by(order);
    users
}

/// A count over the last [`BUCKETS`] spans of time.
#[derive(Clone, Debug, Default)]
pub(crate) struct RollingCount {
    newest: u64,
    counts: [u32; BUCKETS as usize],
}

impl RollingCount {
    pub(crate) fn add(&mut self, now_ms: u64, bucket_ms: u64) {
        let bucket = now_ms / bucket_ms.max(1);
        if bucket >= self.newest + BUCKETS {
            self.counts = Default::default();
        } else {
            for passed in self.newest + 1..=bucket {
                self.counts[(passed % BUCKETS) as usize] = 0;
            }
        }
        self.newest = self.newest.max(bucket);
        let count = &mut self.counts[(bucket % BUCKETS) as usize];
        *count = count.saturating_add(1);
    }

    pub(crate) fn sum(&self, now_ms: u64, bucket_ms: u64) -> u64 {
        let bucket = now_ms / bucket_ms.max(1);
        let passed = bucket.saturating_sub(self.newest).min(BUCKETS);
        // The oldest ones have left the window since something was counted.
        let left = (0..BUCKETS - passed).map(|back| (self.newest + BUCKETS - back) % BUCKETS);
        left.filter_map(|at| self.counts.get(at as usize)).map(|count| u64::from(*count)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_forgets_what_was_before_it() {
        let mut count = RollingCount::default();
        for now_ms in [0, 5, 999, 5000] {
            count.add(now_ms, 100);
        }
        assert_eq!(count.sum(5000, 100), 1);
        count.add(5500, 100);
        assert_eq!([count.sum(5500, 100), count.sum(6050, 100), count.sum(9000, 100)], [2, 1, 0]);
    }

    #[test]
    fn the_busiest_users_of_each_kind_are_named() {
        let mut conf = Conf::new();
        conf.set("dfs.namenode.top.num.users", "1");
        let top = TopUsers::from_conf(&conf).unwrap();
        for (user, kind) in [("ann", "open"), ("bob", "open"), ("bob", "open"), ("ann", "create")] {
            top.count(user, kind, 1000);
        }
        top.count("eve", "", 1000);
        let report = top.report(2000);
        assert_eq!(
            report.iter().map(|w| w.length_ms).collect::<Vec<_>>(),
            [60_000, 300_000, 1_500_000]
        );
        let kinds: Vec<_> = report[0].operations.iter().map(|op| (op.kind, op.total)).collect();
        assert_eq!(kinds, [("*", 4), ("open", 3), ("create", 1)]);
        assert_eq!(report[0].operations[0].users, [("ann".into(), 2)], "of equals the first name");
        assert_eq!(report[0].operations[1].users, [("bob".into(), 2)]);
        assert!(top.report(70_000)[0].operations.is_empty());
        conf.set("dfs.namenode.top.enabled", "false");
        let off = TopUsers::from_conf(&conf).unwrap();
        off.count("ann", "open", 0);
        assert!(off.report(0)[0].operations.is_empty());
    }
}
