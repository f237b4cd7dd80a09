//! Groups that were looked up, and how old they are.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A user's groups, primary one first.
pub type GroupList = Arc<[String]>;

/// Most users that are remembered.
pub(super) const CACHED_MAX: usize = 4096;
/// Groups are used so many times longer than they are fresh while they are looked up anew.
const OLD_FACTOR: u32 = 10;

/// How long groups are used.
#[derive(Clone, Copy)]
pub(super) struct Lifetimes {
    pub(super) groups: Duration,
    /// For users without groups.
    pub(super) none: Duration,
}

/// The groups of one user.
pub(super) struct Entry {
    pub(super) groups: GroupList,
    fresh_until: Instant,
    usable_until: Instant,
    /// Whether a thread of the background looks them up again, or is about to.
    is_reloading: AtomicBool,
}

impl Lifetimes {
    /// What was looked up now.
    pub(super) fn entry(&self, groups: GroupList, now: Instant) -> Arc<Entry> {
        let (fresh, usable) = if groups.is_empty() {
            (self.none, self.none)
        } else {
            (self.groups, self.groups.saturating_mul(OLD_FACTOR))
        };
        let after = |time: Duration| now.checked_add(time).unwrap_or(now);
        Arc::new(Entry {
            groups,
            fresh_until: after(fresh),
            usable_until: after(usable),
            is_reloading: AtomicBool::new(false),
        })
    }
}

impl Entry {
    /// Whether they need not be looked up again.
    pub(super) fn is_fresh(&self, now: Instant) -> bool {
        now < self.fresh_until
    }

    /// Whether they may be used while they are looked up again.
    pub(super) fn is_usable(&self, now: Instant) -> bool {
        now < self.usable_until
    }

    /// True for the first caller, who has them looked up again.
    pub(super) fn begin_reload(&self) -> bool {
        !self.is_reloading.swap(true, Ordering::AcqRel)
    }

    /// A look-up has failed; the next caller tries again.
    pub(super) fn give_up_reload(&self) {
        self.is_reloading.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn groups_grow_old_before_they_are_forgotten_and_their_absence_does_not() {
        let lifetimes = Lifetimes { groups: SECOND, none: SECOND };
        let now = Instant::now();
        let some = lifetimes.entry(Arc::from(["x".to_owned()]), now);
        let none = lifetimes.entry(Arc::default(), now);
        assert!(some.is_fresh(now) && none.is_fresh(now));
        assert!(!some.is_fresh(now + 2 * SECOND) && some.is_usable(now + 2 * SECOND));
        assert!(!some.is_usable(now + 10 * SECOND));
        assert!(!none.is_usable(now + SECOND));
        assert!(some.begin_reload() && !some.begin_reload());
        some.give_up_reload();
        assert!(some.begin_reload());
    }
}
