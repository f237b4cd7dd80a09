//! Who calls most (`TopUserOpCounts`), and which directories the calls are about.

use crate::beans::Beans;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// A user's calls in the shortest window that the NameNode keeps.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UserCalls {
    /// Its short name.
    pub user: String,
    /// In the whole window.
    pub calls: u64,
    /// On average over the window.
    pub per_second: f64,
    /// By kind, the commonest first; kinds in which the user is not among the top are missing.
    pub kinds: Vec<(String, u64)>,
}

/// The users of one window.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Users {
    /// How long the window is.
    pub window_s: f64,
    /// The busiest first.
    pub users: Vec<UserCalls>,
}

impl Users {
    /// None where the NameNode does not count users (`dfs.namenode.top.enabled`).
    pub(crate) fn of(beans: &Beans) -> Option<Self> {
        let report = beans.find("NameNode", "FSNamesystemState")?.json("TopUserOpCounts")?;
        let windows = report.get("windows")?.as_array()?;
        let length = |window: &&Value| window.get("windowLenMs").and_then(Value::as_u64);
        let window = windows.iter().filter(|window| length(window).is_some()).min_by_key(length)?;
        let window_s = length(&window)? as f64 / 1000.0;
        let mut users: BTreeMap<&str, UserCalls> = BTreeMap::new();
        for operation in window.get("ops")?.as_array()? {
            let kind = operation.get("opType").and_then(Value::as_str).unwrap_or_default();
            for top in operation.get("topUsers").and_then(Value::as_array).into_iter().flatten() {
                let (Some(user), Some(count)) = (
                    top.get("user").and_then(Value::as_str),
                    top.get("count").and_then(Value::as_u64),
                ) else {
                    continue;
                };
                let entry = users.entry(user).or_insert_with(|| UserCalls {
                    user: user.to_owned(),
                    calls: 0,
                    per_second: 0.0,
                    kinds: Vec::new(),
                });
                match kind {
                    "*" => entry.calls = count,
                    kind => entry.kinds.push((kind.to_owned(), count)),
                }
            }
        }
        let mut users: Vec<UserCalls> = users.into_values().collect();
        for user in &mut users {
            // Of a user who is not among the top of all kinds, those that are known.
            user.calls = user.calls.max(user.kinds.iter().map(|(_, count)| count).sum());
            user.per_second = if window_s > 0.0 { user.calls as f64 / window_s } else { 0.0 };
            user.kinds.sort_by(|one, other| (other.1, &one.0).cmp(&(one.1, &other.0)));
        }
        users.sort_by(|one, other| (other.calls, &one.user).cmp(&(one.calls, &other.user)));
        Some(Self { window_s, users })
    }
}

/// The directories that most calls are about.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Directories {
    /// How long the window is.
    pub window_s: f64,
    /// Path and calls, the hottest first.
    pub directories: Vec<(String, u64)>,
}

impl Directories {
    /// None where the NameNode does not count them: Apache's do not.
    pub(crate) fn of(beans: &Beans) -> Option<Self> {
        let bean = beans.find("NameNode", "HotDirectories")?;
        let window_s = bean.count("WindowLenMs")? as f64 / 1000.0;
        let listed = bean.value("Directories")?.as_array()?;
        let entry = |entry: &Value| {
            Some((entry.get("path")?.as_str()?.to_owned(), entry.get("count")?.as_u64()?))
        };
        Some(Self { window_s, directories: listed.iter().filter_map(entry).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn state(report: &Value) -> Beans {
        let page = json!({ "beans": [{
            "name": "Hadoop:service=NameNode,name=FSNamesystemState",
            "TopUserOpCounts": report.to_string(),
        }] });
        Beans::parse(page.to_string().as_bytes()).unwrap()
    }

    #[test]
    fn users_of_the_shortest_window_with_their_kinds() {
        let top = |user: &str, count: u64| json!({ "user": user, "count": count });
        let report = json!({ "timestamp": "t", "windows": [
            { "windowLenMs": 300_000, "ops": [] },
            { "windowLenMs": 60_000, "ops": [
                { "opType": "*", "topUsers": [top("ann", 120)], "totalCount": 127 },
                { "opType": "open", "topUsers": [top("ann", 100), top("bob", 7)], "totalCount": 107 },
                { "opType": "create", "topUsers": [top("ann", 20)], "totalCount": 20 },
            ] },
        ] });
        let users = Users::of(&state(&report)).unwrap();
        assert_eq!(users.window_s, 60.0);
        let [ann, bob] = &users.users[..] else { panic!("{users:?}") };
        assert_eq!((&*ann.user, ann.calls, ann.per_second), ("ann", 120, 2.0));
        assert_eq!(ann.kinds, [("open".to_owned(), 100), ("create".to_owned(), 20)]);
        assert_eq!((&*bob.user, bob.calls), ("bob", 7));
        assert_eq!(Users::of(&state(&json!({}))), None);
    }
}
