//! Who this process is to a cluster without Kerberos (`UserGroupInformation`).

use std::fmt;
use zerohop_system::users;

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
    let id = users::effective_id();
    users::user_name(id).unwrap_or_else(|| id.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owner_has_a_name() {
        assert!(!owner().is_empty());
    }
}
