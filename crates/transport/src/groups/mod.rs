//! The groups of a user: the system's, with the static overrides of `hadoop.user.group.static.mapping.overrides` first, and
//! cached.
//!
//! A look-up may take seconds (LDAP behind NSS). Threads that serve others ask [`Groups::known`], which never waits, and
//! have the rest looked up elsewhere by [`Groups::load`].

mod cache;

pub use cache::GroupList;

use cache::{CACHED_MAX, Entry, Lifetimes};
use parking_lot::Mutex;
use quick_cache::sync::{Cache, GuardResult};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_conf::{Conf, keys};
use zerohop_system::{clock, users};

type LookUp = dyn Fn(&str) -> Vec<String> + Send + Sync;

/// Looks groups up and remembers them, for so many users at most: every peer can send names. Cheap to clone.
#[derive(Clone)]
pub struct Groups(Arc<Shared>);

struct Shared {
    overrides: HashMap<String, GroupList>,
    look_up: Box<LookUp>,
    lifetimes: Lifetimes,
    /// A look-up that takes longer is logged.
    warn_after: Duration,
    /// Threads that look groups up again while callers get the old ones; 0: callers wait.
    reload_threads: usize,
    /// Concurrent callers for one user wait for one look-up; other callers do not wait.
    cache: Cache<String, Arc<Entry>>,
    reloads: Mutex<Reloads>,
}

/// Work for the threads of the background.
#[derive(Default)]
struct Reloads {
    due: VecDeque<(String, Arc<Entry>)>,
    threads: usize,
}

impl std::fmt::Debug for Groups {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Groups").field("overrides", &self.0.overrides).finish_non_exhaustive()
    }
}

impl Groups {
    /// By the keys `hadoop.user.group.static.mapping.overrides` and `hadoop.security.groups.*`; a value that does not fit
    /// counts as its default.
    pub fn from_conf(conf: &Conf) -> Self {
        Self::with_look_up(conf, Box::new(users::groups_of))
    }

    fn with_look_up(conf: &Conf, look_up: Box<LookUp>) -> Self {
        let text = conf.get(&keys::HADOOP_USER_GROUP_STATIC_MAPPING_OVERRIDES).unwrap_or_default();
        let secs = Duration::from_secs;
        let groups = conf.get(&keys::HADOOP_SECURITY_GROUPS_CACHE_SECS).unwrap_or(secs(300));
        let none = conf.get(&keys::HADOOP_SECURITY_GROUPS_NEGATIVE_CACHE_SECS).unwrap_or(secs(30));
        let reloads =
            conf.get(&keys::HADOOP_SECURITY_GROUPS_CACHE_BACKGROUND_RELOAD).unwrap_or(false);
        let threads = conf
            .get(&keys::HADOOP_SECURITY_GROUPS_CACHE_BACKGROUND_RELOAD_THREADS)
            .map_or(3, |threads| usize::try_from(threads).unwrap_or(1).max(1));
        Self(Arc::new(Shared {
            overrides: parse_overrides(&text),
            look_up,
            warn_after: conf
                .get(&keys::HADOOP_SECURITY_GROUPS_CACHE_WARN_AFTER_MS)
                .unwrap_or(secs(5)),
            reload_threads: if reloads { threads } else { 0 },
            lifetimes: Lifetimes { groups, none },
            cache: Cache::new(CACHED_MAX),
            reloads: Mutex::default(),
        }))
    }

    /// The groups of `user`; empty for a user that the system does not know. Waits for a look-up if need be.
    pub fn of(&self, user: &str) -> GroupList {
        if let Some(known) = self.known(user) {
            return known;
        }
        let shared = &*self.0;
        let now = clock::now();
        let is_over = |entry: &Arc<Entry>| !shared.may_be_used(entry, now);
        shared.cache.remove_if(user, is_over);
        match shared.cache.get_value_or_guard(user, None) {
            GuardResult::Value(entry) => Arc::clone(&entry.groups),
            // If the look-up panics, the guard lets the next caller try.
            GuardResult::Guard(guard) => {
                let entry = shared.look_up(user);
                // It is not kept where the cache was cleared meanwhile.
                let _ = guard.insert(Arc::clone(&entry));
                Arc::clone(&entry.groups)
            }
            GuardResult::Timeout => shared.look_up(user).groups.clone(),
        }
    }

    /// The groups of `user` if that needs no look-up: it does not wait.
    pub fn known(&self, user: &str) -> Option<GroupList> {
        let shared = &self.0;
        if let Some(groups) = shared.overrides.get(user) {
            return Some(Arc::clone(groups));
        }
        let now = clock::now();
        let entry = shared.cache.get(user).filter(|entry| shared.may_be_used(entry, now))?;
        if !entry.is_fresh(now) && entry.begin_reload() {
            self.reload(user, Arc::clone(&entry));
        }
        Some(Arc::clone(&entry.groups))
    }

    /// As [`Groups::of`], on a thread that may wait. Runs inside a tokio runtime.
    pub async fn load(&self, user: &str) -> GroupList {
        if let Some(known) = self.known(user) {
            return known;
        }
        let (groups, user) = (self.clone(), user.to_owned());
        tokio::task::spawn_blocking(move || groups.of(&user)).await.unwrap_or_default()
    }

    /// Forgets what was looked up (`-refreshUserToGroupsMappings`).
    pub fn refresh(&self) {
        self.0.cache.clear();
    }

    /// Has groups looked up again in the background.
    fn reload(&self, user: &str, old: Arc<Entry>) {
        let mut reloads = self.0.reloads.lock();
        reloads.due.push_back((user.to_owned(), old));
        if reloads.threads >= self.0.reload_threads {
            return;
        }
        reloads.threads += 1;
        drop(reloads);
        let shared = Arc::clone(&self.0);
        let thread = std::thread::Builder::new().name("group-reload".to_owned());
        let started = thread.spawn(move || {
            let mut thread = ReloadThread { shared: &shared, has_ended: false };
            while let Some((user, old)) = thread.next_due() {
                let reloading = Reloading(&old);
                shared.cache.insert(user.clone(), shared.look_up(&user));
                drop(reloading);
            }
        });
        if let Err(error) = started {
            tracing::warn!("groups cannot be looked up in the background: {error}");
            let mut reloads = self.0.reloads.lock();
            reloads.threads -= 1;
            reloads.due.drain(..).for_each(|(_, old)| old.give_up_reload());
        }
    }
}

impl Shared {
    /// Old groups are used where a thread of the background looks for new ones.
    fn may_be_used(&self, entry: &Entry, now: Instant) -> bool {
        entry.is_fresh(now) || self.reload_threads > 0 && entry.is_usable(now)
    }

    fn look_up(&self, user: &str) -> Arc<Entry> {
        let start = clock::now();
        let groups: GroupList = (self.look_up)(user).into();
        let took = clock::since(start);
        if took > self.warn_after {
            tracing::warn!("Potential performance problem: getGroups(user={user}) took {took:?}.");
        }
        self.lifetimes.entry(groups, clock::now())
    }
}

/// A thread of the background, which counts until it finds nothing to do or a look-up panics.
struct ReloadThread<'a> {
    shared: &'a Shared,
    has_ended: bool,
}

impl ReloadThread<'_> {
    /// The next user to look up; the thread ends if there is none.
    fn next_due(&mut self) -> Option<(String, Arc<Entry>)> {
        let mut reloads = self.shared.reloads.lock();
        let next = reloads.due.pop_front();
        if next.is_none() {
            // Under the same lock: who adds work from now on starts another thread.
            reloads.threads -= 1;
            self.has_ended = true;
        }
        next
    }
}

impl Drop for ReloadThread<'_> {
    fn drop(&mut self) {
        if !self.has_ended {
            self.shared.reloads.lock().threads -= 1;
        }
    }
}

/// A look-up in the background; when it ends, the next may begin.
struct Reloading<'a>(&'a Entry);

impl Drop for Reloading<'_> {
    fn drop(&mut self) {
        self.0.give_up_reload();
    }
}

/// `user1=group1,group2;user2=;user3`
fn parse_overrides(text: &str) -> HashMap<String, GroupList> {
    let mut overrides = HashMap::new();
    for entry in text.split(';').map(str::trim).filter(|e| !e.is_empty()) {
        let (user, groups) = entry.split_once('=').unwrap_or((entry, ""));
        let groups: Vec<String> = groups
            .split(',')
            .map(str::trim)
            .filter(|group| !group.is_empty())
            .map(str::to_owned)
            .collect();
        overrides.insert(user.trim().to_owned(), groups.into());
    }
    overrides
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::sync::mpsc;

    #[test]
    fn overrides_come_first_and_unknown_users_have_none() {
        let mut conf = Conf::new();
        conf.set("hadoop.user.group.static.mapping.overrides", "a=x, y;b=;root=wheel");
        let groups = Groups::from_conf(&conf);
        assert_eq!(*groups.of("a"), ["x", "y"]);
        assert!(groups.of("b").is_empty());
        assert_eq!(*groups.of("root"), ["wheel"]);
        assert!(groups.of("no such user").is_empty());
    }

    #[test]
    fn the_system_knows_root() {
        let groups = Groups::from_conf(&Conf::new());
        assert_eq!(groups.of("root").first().map(String::as_str), Some("root"));
        groups.refresh();
        assert!(groups.known("root").is_none());
        assert_eq!(groups.of("root").first().map(String::as_str), Some("root"));
    }

    /// A look-up that ends when it is told to, and counts.
    fn slow(conf: &Conf) -> (Groups, mpsc::Sender<()>, Arc<AtomicUsize>) {
        let (go, gate) = mpsc::channel();
        let (gate, count) = (Mutex::new(gate), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&count);
        let look_up = move |_: &str| {
            gate.lock().recv().unwrap();
            vec![format!("g{}", counted.fetch_add(1, Ordering::SeqCst))]
        };
        (Groups::with_look_up(conf, Box::new(look_up)), go, count)
    }

    #[test]
    fn callers_of_one_user_share_one_look_up_and_no_other_waits_for_it() {
        let mut conf = Conf::new();
        conf.set("hadoop.user.group.static.mapping.overrides", "bob=b");
        let (groups, go, count) = slow(&conf);
        assert!(groups.known("alice").is_none());
        let waiting: Vec<_> = (0..4)
            .map(|_| {
                let groups = groups.clone();
                std::thread::spawn(move || groups.of("alice"))
            })
            .collect();
        assert_eq!(*groups.of("bob"), ["b"]);
        go.send(()).unwrap();
        for thread in waiting {
            assert_eq!(*thread.join().unwrap(), ["g0"]);
        }
        assert_eq!(groups.known("alice").as_deref(), Some(&["g0".to_owned()][..]));
        assert_eq!(count.load(Ordering::SeqCst), 1);
    }

    #[test]
    fn old_groups_are_used_while_new_ones_are_looked_up_in_the_background() {
        let mut conf = Conf::new();
        conf.set("hadoop.security.groups.cache.background.reload", "true");
        let (groups, go, count) = slow(&conf);
        go.send(()).unwrap();
        assert_eq!(*groups.of("alice"), ["g0"]);
        let long_ago = Instant::now() - Duration::from_secs(400);
        let old = groups.0.lifetimes.entry(groups.of("alice"), long_ago);
        groups.0.cache.insert("alice".to_owned(), old);
        // The look-up has not ended, and many ask.
        for _ in 0..5 {
            assert_eq!(*groups.of("alice"), ["g0"]);
        }
        go.send(()).unwrap();
        while *groups.of("alice") != ["g1"] {
            std::thread::yield_now();
        }
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn names_of_no_user_do_not_fill_the_memory() {
        let nobody = |user: &str| if user == "root" { vec!["root".to_owned()] } else { vec![] };
        let groups = Groups::with_look_up(&Conf::new(), Box::new(nobody));
        for number in 0..2 * CACHED_MAX {
            // Who is asked for again and again stays.
            assert_eq!(*groups.of("root"), ["root"]);
            assert!(groups.of(&format!("no such user {number}")).is_empty());
        }
        assert!(groups.0.cache.len() <= CACHED_MAX, "{}", groups.0.cache.len());
        assert!(groups.known("root").is_some());
    }

    #[test]
    fn a_look_up_that_panics_leaves_no_caller_waiting() {
        let panics = |_: &str| -> Vec<String> { panic!("the library failed") };
        let groups = Groups::with_look_up(&Conf::new(), Box::new(panics));
        for _ in 0..2 {
            let groups = groups.clone();
            assert!(std::thread::spawn(move || groups.of("alice")).join().is_err());
        }
    }
}
