//! Who may see the pages that cost the process something: those that `dfs.cluster.administrators` names.

use super::page::Page;
use axum::http::StatusCode;
use zerohop_conf::{Conf, keys};
use zerohop_system::users;

/// Lets a user pass. Where no administrators are named everybody passes, as with Hadoop's pages (`HttpServer2`); else it takes
/// one of the list, or the user of this process.
///
/// # Errors
/// The page with status 403 that the user gets instead.
pub(super) fn check_administrator(conf: &Conf, user: Option<&str>) -> Result<(), Page> {
    let list = conf.get(&keys::DFS_CLUSTER_ADMINISTRATORS).unwrap_or_default();
    if list.trim().is_empty() {
        return Ok(());
    }
    let refused = |text: String| Err(Page::text(text).with_status(StatusCode::FORBIDDEN));
    let Some(user) = user.filter(|user| !user.is_empty()) else {
        return refused(
            "Unauthenticated users are not authorized to access this page; name yours as ?user.name=NAME\n"
                .to_owned(),
        );
    };
    let is_own = users::user_name(users::effective_id()).is_some_and(|own| own == user);
    match is_own || is_listed(&list, user) {
        true => Ok(()),
        false => refused(format!(
            "User {user} is unauthorized to access this page: not listed in {}\n",
            keys::DFS_CLUSTER_ADMINISTRATORS.name
        )),
    }
}

/// Whether a list names a user or a group of that user: users, a blank, groups, each with commas between.
fn is_listed(list: &str, user: &str) -> bool {
    let (users, groups) = list.split_once(' ').unwrap_or((list, ""));
    let names = |list: &str, name: &str| {
        list.split(',').map(str::trim).any(|one| one == "*" || (!one.is_empty() && one == name))
    };
    names(users, user)
        || (!groups.trim().is_empty()
            && users::groups_of(user).iter().any(|group| names(groups, group)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(list: &str, user: Option<&str>) -> u16 {
        let mut conf = Conf::new();
        conf.set(keys::DFS_CLUSTER_ADMINISTRATORS.name, list);
        check_administrator(&conf, user).map_or_else(|page| page.status.as_u16(), |()| 200)
    }

    #[test]
    fn administrators_pass_where_some_are_named() {
        let own = users::user_name(users::effective_id()).unwrap();
        for (list, user, expected) in [
            ("", None, 200),
            (" ", Some("mallory"), 200),
            ("alice,bob", Some("bob"), 200),
            ("alice,bob", Some("mallory"), 403),
            ("alice,bob", None, 403),
            ("alice,bob", Some(""), 403),
            ("alice", Some(own.as_str()), 200),
            ("*", Some("mallory"), 200),
            ("alice nobody-has-this-group", Some("mallory"), 403),
            (" root", Some("root"), 200),
        ] {
            assert_eq!(status(list, user), expected, "{list:?} {user:?}");
        }
    }
}
