//! What was looked up, how old it is, and what is being looked up.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A user's groups, primary one first.
pub type GroupList = Arc<[String]>;

/// Most users that are remembered.
const CACHED_MAX: usize = 4096;
/// Groups are used so many times longer than they are fresh while nobody could look them up anew.
const OLD_FACTOR: u32 = 10;

/// What is known of a user's groups.
pub(super) enum Found {
    Fresh(GroupList),
    /// They should be looked up again; until then they may be used.
    Old(GroupList),
    Nothing,
}

struct Entry {
    groups: GroupList,
    fresh_until: Instant,
    until: Instant,
}

/// The groups of users.
pub(super) struct Cache {
    keep: Duration,
    keep_empty: Duration,
    entries: HashMap<String, Entry>,
    /// Users whose groups are being looked up.
    pending: HashSet<String>,
}

impl Cache {
    /// `keep_empty` is for users without groups.
    pub(super) fn new(keep: Duration, keep_empty: Duration) -> Self {
        Self { keep, keep_empty, entries: HashMap::new(), pending: HashSet::new() }
    }

    pub(super) fn find(&self, user: &str, now: Instant) -> Found {
        match self.entries.get(user) {
            Some(entry) if now < entry.fresh_until => Found::Fresh(Arc::clone(&entry.groups)),
            Some(entry) if now < entry.until => Found::Old(Arc::clone(&entry.groups)),
            _ => Found::Nothing,
        }
    }

    /// Whether somebody looks a user's groups up now.
    pub(super) fn is_pending(&self, user: &str) -> bool {
        self.pending.contains(user)
    }

    /// A look-up begins; [`Cache::give_up`] ends it.
    pub(super) fn begin(&mut self, user: &str) {
        self.pending.insert(user.to_owned());
    }

    /// A look-up has ended, with groups or without.
    pub(super) fn give_up(&mut self, user: &str) {
        self.pending.remove(user);
    }

    pub(super) fn put(&mut self, user: &str, groups: GroupList, now: Instant) {
        if self.entries.len() >= CACHED_MAX {
            self.make_room(now);
        }
        let (fresh, old) = if groups.is_empty() {
            (self.keep_empty, self.keep_empty)
        } else {
            (self.keep, self.keep.saturating_mul(OLD_FACTOR))
        };
        let after = |time: Duration| now.checked_add(time).unwrap_or(now);
        let entry = Entry { groups, fresh_until: after(fresh), until: after(old) };
        self.entries.insert(user.to_owned(), entry);
    }

    /// Forgets all groups; look-ups under way go on.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    /// Drops what is too old; then users that the system does not know; then all, if they are real ones.
    fn make_room(&mut self, now: Instant) {
        self.entries.retain(|_, entry| entry.until > now);
        if self.entries.len() >= CACHED_MAX {
            self.entries.retain(|_, entry| !entry.groups.is_empty());
        }
        if self.entries.len() >= CACHED_MAX {
            self.entries.clear();
        }
    }

    /// Makes all entries older.
    #[cfg(test)]
    pub(super) fn age(&mut self, by: Duration) {
        for entry in self.entries.values_mut() {
            entry.fresh_until -= by;
            entry.until -= by;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn list(groups: &[&str]) -> GroupList {
        groups.iter().map(|group| (*group).to_owned()).collect()
    }

    #[test]
    fn names_that_nobody_has_do_not_fill_the_memory() {
        let mut cache = Cache::new(SECOND, SECOND);
        let now = Instant::now();
        cache.put("root", list(&["root"]), now);
        for number in 0..CACHED_MAX + 5 {
            cache.put(&format!("no such user {number}"), list(&[]), now);
        }
        assert!(cache.entries.len() <= CACHED_MAX, "{}", cache.entries.len());
        assert!(matches!(cache.find("root", now), Found::Fresh(_)), "known ones stay longer");
        for number in 0..2 * CACHED_MAX {
            cache.put(&format!("user {number}"), list(&["x"]), now);
        }
        assert!(cache.entries.len() <= CACHED_MAX, "{}", cache.entries.len());
        cache.put("last", list(&["x"]), now + 11 * SECOND);
        assert!(matches!(cache.find("user 1", now + 11 * SECOND), Found::Nothing));
    }

    #[test]
    fn groups_grow_old_before_they_are_forgotten_and_their_absence_does_not() {
        let mut cache = Cache::new(SECOND, SECOND);
        let now = Instant::now();
        cache.put("a", list(&["x"]), now);
        cache.put("b", list(&[]), now);
        assert!(matches!(cache.find("a", now), Found::Fresh(_)));
        assert!(matches!(cache.find("a", now + 2 * SECOND), Found::Old(_)));
        assert!(matches!(cache.find("a", now + 10 * SECOND), Found::Nothing));
        assert!(matches!(cache.find("b", now + SECOND), Found::Nothing));
    }
}
