//! Who this process is to a cluster without Kerberos (`UserGroupInformation`).

use std::ffi::CStr;
use std::fmt;

/// A user, or a user acted for by another.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct User {
    /// The user to act as.
    pub name: String,
    /// Who really acts, where that is a proxy.
    pub real: Option<String>,
}

impl User {
    /// A user acting as itself.
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), real: None }
    }

    /// `name`, acted for by `real`.
    pub fn proxied(name: impl Into<String>, real: impl Into<String>) -> Self {
        Self { name: name.into(), real: Some(real.into()) }
    }

    /// The user of this process: HADOOP_USER_NAME or the owner of the process, and
    /// HADOOP_PROXY_USER as the one to act for.
    pub fn of_process() -> Self {
        let read = |name| std::env::var(name).ok().filter(|value: &String| !value.is_empty());
        let login = read("HADOOP_USER_NAME").unwrap_or_else(owner);
        match read("HADOOP_PROXY_USER") {
            Some(proxied) => Self::proxied(proxied, login),
            None => Self::new(login),
        }
    }
}

impl fmt::Display for User {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

/// The name of this process's owner; its number where it has none.
fn owner() -> String {
    let uid = rustix::process::geteuid().as_raw();
    name_of(uid).unwrap_or_else(|| uid.to_string())
}

fn name_of(uid: u32) -> Option<String> {
    let mut buffer = vec![0; 16 << 10];
    let mut entry = std::mem::MaybeUninit::<libc::passwd>::uninit();
    let mut found = std::ptr::null_mut();
    // SAFETY: the buffer's length is its own, and all pointers outlive the call.
    let code = unsafe {
        libc::getpwuid_r(uid, entry.as_mut_ptr(), buffer.as_mut_ptr(), buffer.len(), &mut found)
    };
    if code != 0 || found.is_null() {
        return None;
    }
    // SAFETY: found points to entry, whose name is a NUL-ended text in the buffer.
    unsafe { CStr::from_ptr((*found).pw_name) }.to_str().ok().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_has_a_name() {
        assert!(!owner().is_empty());
        assert_eq!(name_of(0).as_deref(), Some("root"));
        assert_eq!(name_of(4_000_000_000), None);
    }
}
