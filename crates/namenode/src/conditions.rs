//! The conditions that an operator should know of: dead DataNodes, failed volumes and name directories, JournalNodes that are
//! left out.

use crate::core::Core;
use crate::events::{Condition, DEAD, JOURNAL_NODE, NAME_DIRECTORY, Place, VOLUME};
use std::collections::BTreeMap;
use std::time::Duration;
use zerohop_namespace::blocks::{AdminState, NodeFilter};

/// Interval between two checks of what has failed and what works again.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// Returns what is out of order now, with the cause of each.
pub(crate) fn present(core: &Core) -> BTreeMap<Place, (Condition, String)> {
    let mut found = BTreeMap::new();
    let reports = core.read(|namespace| namespace.blocks().datanodes().reports(NodeFilter::All));
    for report in reports {
        let name = format!("{}:{}", report.info.id.host, report.info.id.xfer_port);
        if !report.alive && report.info.stats.admin != AdminState::InMaintenance {
            let cause = "no heartbeat; its replicas are copied from other DataNodes";
            found.insert(("dead", name.clone(), String::new()), (DEAD, cause.to_owned()));
        }
        for directory in report.volume_failures.directories.iter().filter(|_| report.alive) {
            found.insert(
                ("volume", name.clone(), directory.clone()),
                (VOLUME, "its DataNode says so".to_owned()),
            );
        }
    }
    for dir in core.storage.dirs() {
        if let Some(cause) = dir.failure() {
            let place = ("name directory", String::new(), dir.root().display().to_string());
            found.insert(place, (NAME_DIRECTORY, cause.to_owned()));
        }
    }
    if core.ha.is_active() {
        for node in core.storage.journal_nodes() {
            if node.acknowledged.is_some() && !node.is_written {
                let cause = node.failure.map(|(reason, _)| reason).unwrap_or_default();
                found.insert(("journal", node.name, String::new()), (JOURNAL_NODE, cause));
            }
        }
    }
    found
}
