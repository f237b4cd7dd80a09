//! `-safemode`

use std::time::Duration;
use zerohop_system::clock;

use zerohop_client::SafeModeAction;
use zerohop_client::blocking::FileSystem;
use zerohop_conf::Conf;

use super::every;
use crate::failure::{Failure, Outcome};
use crate::fs::{client_failure, connect_client};

/// Between two questions of `wait`.
const POLL: Duration = Duration::from_millis(500);

pub fn run(conf: &Conf, words: Vec<String>) -> Outcome<i32> {
    let [word] = words.as_slice() else { return Err(Failure::usage("")) };
    let action = match word.to_ascii_lowercase().as_str() {
        "enter" => SafeModeAction::SafemodeEnter,
        "leave" => SafeModeAction::SafemodeLeave,
        "get" | "wait" => SafeModeAction::SafemodeGet,
        "forceexit" => SafeModeAction::SafemodeForceExit,
        _ => return Err(Failure::usage("")),
    };
    let wait = word.eq_ignore_ascii_case("wait");
    let nodes = every::of_default(conf)?;
    if nodes.is_empty() {
        sayln!("Safe mode is {}", ask(&connect_client(conf)?, action, wait)?);
    }
    // The first that fails ends it, as with Apache's.
    for node in nodes {
        let state = ask(&node.client(conf)?, action, wait)?;
        sayln!("Safe mode is {state} in {}", node.address());
    }
    Ok(0)
}

fn ask(fs: &FileSystem, action: SafeModeAction, wait: bool) -> Outcome<&'static str> {
    let mut on = fs.safe_mode(action).map_err(client_failure)?;
    while on && wait {
        clock::sleep_thread(POLL);
        on = fs.safe_mode(SafeModeAction::SafemodeGet).map_err(client_failure)?;
    }
    Ok(if on { "ON" } else { "OFF" })
}
