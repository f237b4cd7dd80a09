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

/// Looks groups up and remembers them.
#[derive(Debug)]
pub struct Groups {
    overrides: HashMap<String, GroupList>,
    keep: Duration,
    keep_empty: Duration,
    cache: Mutex<HashMap<String, (Instant, GroupList)>>,
}

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
        self.cache.lock().insert(user.to_owned(), (now + keep, Arc::clone(&groups)));
        groups
    }

    /// Forgets what was looked up (`-refreshUserToGroupsMappings`).
    pub fn refresh(&self) {
        self.cache.lock().clear();
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
}
