//! What is the same on all pages of a NameNode.

use crate::core::Core;
use crate::ha::HaState;
use zerohop_pages::{Level, NavLink, Site};

const NAV: [(&str, &str); 10] = [
    ("/", "Overview"),
    ("/datanodes", "DataNodes"),
    ("/explorer", "Files"),
    ("/startup", "Start-up"),
    ("/journal", "Edit log"),
    ("/calls", "Calls"),
    ("/slow-nodes", "Slow nodes"),
    ("/events", "Events"),
    ("/configuration", "Configuration"),
    ("/logs", "Log"),
];

pub(super) fn nav() -> Vec<NavLink> {
    NAV.into_iter().map(|(href, label)| NavLink { href, label }).collect()
}

pub(super) fn of(core: &Core) -> Site {
    let state = core.ha.state();
    let level = if state == HaState::Active { Level::Good } else { Level::Plain };
    Site {
        kind: "NameNode",
        name: core.settings.rpc_bind.clone(),
        state: Some((state.name().to_owned(), level)),
        nav: nav(),
    }
}
