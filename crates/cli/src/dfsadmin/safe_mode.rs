//! `-safemode`

use std::time::Duration;

use zerohop_client::SafeModeAction;
use zerohop_conf::Conf;

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
    let fs = connect_client(conf)?;
    let mut on = fs.safe_mode(action).map_err(client_failure)?;
    while on && word.eq_ignore_ascii_case("wait") {
        std::thread::sleep(POLL);
        on = fs.safe_mode(SafeModeAction::SafemodeGet).map_err(client_failure)?;
    }
    sayln!("Safe mode is {}", if on { "ON" } else { "OFF" });
    Ok(0)
}
