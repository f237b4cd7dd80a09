//! The groups of a user: the system's (`getgrouplist`), with the static overrides of
//! `hadoop.user.group.static.mapping.overrides` first, and cached.

use parking_lot::Mutex;
use std::collections::HashMap;
use std::ffi::{CStr, CString};
use std::sync::Arc;
use std::time::{Duration, Instant};
use zerohop_conf::{Conf, keys};

/// A user's groups, primary one first.
pub type GroupList = Arc<[String]>;

/// Most groups that one user is asked for.
const GROUPS_MAX: i32 = 65536;

/// Most users that are remembered.
const CACHED_MAX: usize = 4096;

/// Looks groups up and remembers them, for so many users at most: anybody can send names.
#[derive(Debug)]
pub struct Groups {
    overrides: HashMap<String, GroupList>,
    keep: Duration,
    keep_empty: Duration,
    cache: Mutex<Cache>,
}

/// The groups of users, each with the time until which they count.
type Cache = HashMap<String, (Instant, GroupList)>;

impl Groups {
    /// By the keys `hadoop.user.group.static.mapping.overrides` and
    /// `hadoop.security.groups.*cache.secs`; a value that does not fit counts as its default.
    pub fn from_conf(conf: &Conf) -> Self {
        let text = conf.get(&keys::HADOOP_USER_GROUP_STATIC_MAPPING_OVERRIDES).unwrap_or_default();
        let secs = Duration::from_secs;
        Self {
            overrides: parse_overrides(&text),
            keep: conf.get(&keys::HADOOP_SECURITY_GROUPS_CACHE_SECS).unwrap_or(secs(300)),
            keep_empty: conf
                .get(&keys::HADOOP_SECURITY_GROUPS_NEGATIVE_CACHE_SECS)
                .unwrap_or(secs(30)),
            cache: Mutex::default(),
        }
    }

    /// The groups of `user`; empty for a user that the system does not know.
    pub fn of(&self, user: &str) -> GroupList {
        if let Some(groups) = self.overrides.get(user) {
            return Arc::clone(groups);
        }
        let now = Instant::now();
        if let Some((until, groups)) = self.cache.lock().get(user)
            && *until > now
        {
            return Arc::clone(groups);
        }
        let groups: GroupList = system_groups(user).into();
        let keep = if groups.is_empty() { self.keep_empty } else { self.keep };
        let mut cache = self.cache.lock();
        if cache.len() >= CACHED_MAX {
            make_room(&mut cache, now);
        }
        cache.insert(user.to_owned(), (now + keep, Arc::clone(&groups)));
        groups
    }

    /// Forgets what was looked up (`-refreshUserToGroupsMappings`).
    pub fn refresh(&self) {
        self.cache.lock().clear();
    }
}

/// Drops what is too old; then users that the system does not know; then all, if they are real ones.
fn make_room(cache: &mut Cache, now: Instant) {
    cache.retain(|_, (until, _)| *until > now);
    if cache.len() >= CACHED_MAX {
        cache.retain(|_, (_, groups)| !groups.is_empty());
    }
    if cache.len() >= CACHED_MAX {
        cache.clear();
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

/// The system's groups of `user`, primary one first; empty for an unknown user.
fn system_groups(user: &str) -> Vec<String> {
    let Ok(name) = CString::new(user) else { return Vec::new() };
    let Some(primary) = primary_group(&name) else { return Vec::new() };
    group_ids(&name, primary).into_iter().filter_map(group_name).collect()
}

/// Runs a `get..._r` call with growing buffers until its answer fits.
fn with_buffer(mut call: impl FnMut(&mut [libc::c_char]) -> libc::c_int) -> bool {
    let mut buffer = vec![0; 4096];
    loop {
        match call(&mut buffer) {
            0 => return true,
            libc::ERANGE if buffer.len() < 16 << 20 => buffer.resize(buffer.len() * 4, 0),
            _ => return false,
        }
    }
}

fn primary_group(name: &CStr) -> Option<libc::gid_t> {
    let mut group = None;
    with_buffer(|buffer| {
        let mut entry = std::mem::MaybeUninit::<libc::passwd>::uninit();
        let mut found = std::ptr::null_mut();
        // SAFETY: name ends in NUL, the buffer's length is its own, and both outlive the call.
        let code = unsafe {
            libc::getpwnam_r(
                name.as_ptr(),
                entry.as_mut_ptr(),
                buffer.as_mut_ptr(),
                buffer.len(),
                &mut found,
            )
        };
        if code == 0 && !found.is_null() {
            // SAFETY: found points to entry, which the call has filled.
            group = Some(unsafe { (*found).pw_gid });
        }
        code
    });
    group
}

fn group_ids(name: &CStr, primary: libc::gid_t) -> Vec<libc::gid_t> {
    let mut count: libc::c_int = 64;
    loop {
        let room = count;
        let mut ids = vec![0; room as usize];
        // SAFETY: ids has room for count entries; name ends in NUL.
        let code =
            unsafe { libc::getgrouplist(name.as_ptr(), primary, ids.as_mut_ptr(), &mut count) };
        if code >= 0 {
            ids.truncate(usize::try_from(count).unwrap_or(0));
            return ids;
        }
        if count <= room || count > GROUPS_MAX {
            return vec![primary];
        }
    }
}

/// The name of a group; its number where it has none.
fn group_name(id: libc::gid_t) -> Option<String> {
    let mut name = None;
    with_buffer(|buffer| {
        let mut entry = std::mem::MaybeUninit::<libc::group>::uninit();
        let mut found = std::ptr::null_mut();
        // SAFETY: the buffer's length is its own, and all pointers outlive the call.
        let code = unsafe {
            libc::getgrgid_r(id, entry.as_mut_ptr(), buffer.as_mut_ptr(), buffer.len(), &mut found)
        };
        if code == 0 && !found.is_null() {
            // SAFETY: found points to entry, whose name is a NUL-ended text in the buffer.
            name = unsafe { CStr::from_ptr((*found).gr_name) }.to_str().ok().map(str::to_owned);
        }
        code
    });
    name.or_else(|| Some(id.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(groups.of("root").first().map(String::as_str), Some("root"));
    }

    #[test]
    fn names_that_nobody_has_do_not_fill_the_memory() {
        let groups = Groups::from_conf(&Conf::new());
        groups.of("root");
        for number in 0..CACHED_MAX + 5 {
            groups.of(&format!("no such user {number}"));
        }
        let cache = groups.cache.lock();
        assert!(cache.len() <= CACHED_MAX, "{}", cache.len());
        assert!(cache.contains_key("root"), "known ones stay longer");
    }

    #[test]
    fn room_is_made_of_the_old_and_the_unknown_first() {
        let now = Instant::now();
        let until = |secs| now + Duration::from_secs(secs);
        let filled = |until, groups: &[&str]| {
            let groups: GroupList = groups.iter().map(|group| (*group).to_owned()).collect();
            let user = |number: usize| (number.to_string(), (until, Arc::clone(&groups)));
            (0..CACHED_MAX).map(user).collect::<Cache>()
        };
        let mut cache = filled(until(1), &["x"]);
        cache.insert("young".to_owned(), (until(3), Arc::default()));
        make_room(&mut cache, until(2));
        assert_eq!(cache.len(), 1);
        let mut cache = filled(until(1), &["x"]);
        make_room(&mut cache, now);
        assert!(cache.is_empty());
    }
}
