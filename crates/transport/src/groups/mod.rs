//! The groups of a user: the system's, with the static overrides of `hadoop.user.group.static.mapping.overrides` first, and
//! cached.
//!
//! A look-up may take seconds (LDAP behind NSS). Threads that serve others ask [`Groups::known`], which never waits, and
//! have the rest looked up elsewhere by [`Groups::load`].

mod cache;
mod system;

pub use cache::GroupList;

use cache::{Cache, Found};
use parking_lot::{Condvar, Mutex};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_conf::{Conf, keys};

type LookUp = dyn Fn(&str) -> Vec<String> + Send + Sync;

/// Looks groups up and remembers them, for so many users at most: anybody can send names. Cheap to clone.
#[derive(Clone)]
pub struct Groups(Arc<Shared>);

struct Shared {
    overrides: HashMap<String, GroupList>,
    look_up: Box<LookUp>,
    /// A look-up that takes longer is logged.
    warn_after: Duration,
    /// Threads that look groups up again while callers get the old ones; 0: callers wait.
    reload_threads: usize,
    state: Mutex<State>,
    /// Notified when a look-up ends.
    ended: Condvar,
}

struct State {
    cache: Cache,
    /// Users to look up in the background.
    due: VecDeque<String>,
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
        Self::with_look_up(conf, Box::new(system::groups_of))
    }

    fn with_look_up(conf: &Conf, look_up: Box<LookUp>) -> Self {
        let text = conf.get(&keys::HADOOP_USER_GROUP_STATIC_MAPPING_OVERRIDES).unwrap_or_default();
        let secs = Duration::from_secs;
        let keep = conf.get(&keys::HADOOP_SECURITY_GROUPS_CACHE_SECS).unwrap_or(secs(300));
        let keep_empty =
            conf.get(&keys::HADOOP_SECURITY_GROUPS_NEGATIVE_CACHE_SECS).unwrap_or(secs(30));
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
            state: Mutex::new(State {
                cache: Cache::new(keep, keep_empty),
                due: VecDeque::new(),
                threads: 0,
            }),
            ended: Condvar::new(),
        }))
    }

    /// The groups of `user`; empty for a user that the system does not know. Waits for a look-up if need be.
    pub fn of(&self, user: &str) -> GroupList {
        if let Some(known) = self.known(user) {
            return known;
        }
        let shared = &*self.0;
        let mut state = shared.state.lock();
        // Calls of one user that come together wait for one look-up.
        while state.cache.is_pending(user) {
            shared.ended.wait(&mut state);
            if let Found::Fresh(groups) | Found::Old(groups) =
                state.cache.find(user, Instant::now())
            {
                return groups;
            }
        }
        state.cache.begin(user);
        drop(state);
        shared.look_up(user)
    }

    /// The groups of `user` if that needs no look-up: it does not wait.
    pub fn known(&self, user: &str) -> Option<GroupList> {
        let shared = &self.0;
        if let Some(groups) = shared.overrides.get(user) {
            return Some(Arc::clone(groups));
        }
        let mut state = shared.state.lock();
        match state.cache.find(user, Instant::now()) {
            Found::Fresh(groups) => Some(groups),
            // Somebody looks them up already.
            Found::Old(groups) if state.cache.is_pending(user) => Some(groups),
            Found::Old(groups) if shared.reload_threads > 0 => {
                state.cache.begin(user);
                state.due.push_back(user.to_owned());
                if state.threads < shared.reload_threads {
                    state.threads += 1;
                    drop(state);
                    self.start_reloading();
                }
                Some(groups)
            }
            Found::Old(_) | Found::Nothing => None,
        }
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
        self.0.state.lock().cache.clear();
    }

    fn start_reloading(&self) {
        let shared = Arc::clone(&self.0);
        let thread = std::thread::Builder::new().name("group-reload".to_owned());
        let started = thread.spawn(move || {
            while let Some(user) = shared.next_due() {
                shared.look_up(&user);
            }
        });
        if let Err(error) = started {
            tracing::warn!("groups cannot be looked up in the background: {error}");
            let mut state = self.0.state.lock();
            state.threads -= 1;
            while let Some(user) = state.due.pop_front() {
                state.cache.give_up(&user);
            }
        }
    }
}

impl Shared {
    /// The next user for a thread of the background, which ends if there is none.
    fn next_due(&self) -> Option<String> {
        let mut state = self.state.lock();
        let next = state.due.pop_front();
        if next.is_none() {
            state.threads -= 1;
        }
        next
    }

    /// Looks up what [`Cache::begin`] announced.
    fn look_up(&self, user: &str) -> GroupList {
        /// Whoever waits must go on also if the look-up panics.
        struct Ended<'a>(&'a Shared, &'a str);
        impl Drop for Ended<'_> {
            fn drop(&mut self) {
                self.0.state.lock().cache.give_up(self.1);
                self.0.ended.notify_all();
            }
        }
        let ended = Ended(self, user);
        let start = Instant::now();
        let groups: GroupList = (self.look_up)(user).into();
        let took = start.elapsed();
        if took > self.warn_after {
            tracing::warn!("Potential performance problem: getGroups(user={user}) took {took:?}.");
        }
        self.state.lock().cache.put(user, Arc::clone(&groups), Instant::now());
        drop(ended);
        groups
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
    fn callers_of_one_user_share_one_look_up_and_nobody_else_waits_for_it() {
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
        let (groups, go, _) = slow(&conf);
        go.send(()).unwrap();
        assert_eq!(*groups.of("alice"), ["g0"]);
        groups.0.state.lock().cache.age(Duration::from_secs(400));
        // The look-up has not ended, and many ask.
        for _ in 0..5 {
            assert_eq!(*groups.of("alice"), ["g0"]);
        }
        go.send(()).unwrap();
        let mut state = groups.0.state.lock();
        while state.cache.is_pending("alice") {
            groups.0.ended.wait(&mut state);
        }
        drop(state);
        assert_eq!(*groups.of("alice"), ["g1"]);
    }

    #[test]
    fn a_look_up_that_panics_leaves_nobody_waiting() {
        let panics = |_: &str| -> Vec<String> { panic!("the library failed") };
        let groups = Groups::with_look_up(&Conf::new(), Box::new(panics));
        for _ in 0..2 {
            let groups = groups.clone();
            assert!(std::thread::spawn(move || groups.of("alice")).join().is_err());
        }
    }
}
