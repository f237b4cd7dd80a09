//! The check that guards pages for administrators: those that cost the process something, show what clients do, or show how the
//! cluster is protected.

use super::page::Page;
use axum::http::StatusCode;
use zerohop_conf::{Conf, keys};
use zerohop_system::users;

/// Lets the users of `dfs.cluster.administrators` pass, and the user of the process. If the list is empty, every user passes,
/// unless `hadoop.security.authorization` is on (`HttpServer2.hasAdministratorAccess`).
///
/// # Errors
/// Fails with the page that the user gets instead, which has status 403.
pub fn check_administrator(conf: &Conf, user: Option<&str>) -> Result<(), Page> {
    let refused = |text: String| Err(Page::text(text).with_status(StatusCode::FORBIDDEN));
    let list = match conf.get(&keys::DFS_CLUSTER_ADMINISTRATORS) {
        Ok(list) => list,
        Err(error) => return refused(format!("{error}\n")),
    };
    let is_authorized = conf.get(&keys::HADOOP_SECURITY_AUTHORIZATION).unwrap_or(true);
    if list.trim().is_empty() && !is_authorized {
        return Ok(());
    }
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
    fn nobody_but_the_process_passes_with_authorization_and_without_a_list() {
        let own = users::user_name(users::effective_id()).unwrap();
        let mut conf = Conf::new();
        conf.set("hadoop.security.authorization", "true");
        for (user, passes) in [(None, false), (Some("mallory"), false), (Some(own.as_str()), true)]
        {
            assert_eq!(check_administrator(&conf, user).is_ok(), passes, "{user:?}");
        }
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
