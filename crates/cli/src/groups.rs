//! `groups`: which groups users belong to, as the NameNode sees it.

use serde_json::json;
use zerohop_client::User;
use zerohop_conf::Conf;
use zerohop_proto::common::{GetGroupsForUserRequestProto, GetGroupsForUserResponseProto};

use crate::failure::{Outcome, complain};
use crate::fs::pop_flag;
use crate::namenode_call::ask;
use crate::settings::Settings;

pub const USAGE: &str = "Usage: groups [--json] [USER]...
\tPrints the groups of users, of the caller where none is named, as the NameNode finds them.
\t--json\tone object: the groups of each user";

const PROTOCOL: &str = "org.apache.hadoop.tools.GetUserMappingsProtocol";

pub fn run(settings: Settings, mut words: Vec<String>) -> i32 {
    if words.iter().any(|word| matches!(word.as_str(), "-h" | "-help" | "--help")) {
        sayln!("{USAGE}");
        return 0;
    }
    let as_json = pop_flag("--json", &mut words);
    let answer = settings.load_for_cluster().and_then(|conf| print(&conf, words, as_json));
    answer.map_or_else(|failure| complain("groups", &failure), |()| 0)
}

fn print(conf: &Conf, mut users: Vec<String>, as_json: bool) -> Outcome {
    if users.is_empty() {
        users.push(User::of_process().name);
    }
    let mut all = serde_json::Map::new();
    for user in users {
        let request = GetGroupsForUserRequestProto { user: user.clone() };
        let answer: GetGroupsForUserResponseProto =
            ask(conf, PROTOCOL, "getGroupsForUser", &request)?;
        match as_json {
            true => drop(all.insert(user, json!(answer.groups))),
            false => {
                let groups: String = answer.groups.iter().map(|name| format!(" {name}")).collect();
                sayln!("{user} :{groups}");
            }
        }
    }
    if as_json {
        sayln!("{}", serde_json::Value::Object(all));
    }
    Ok(())
}
