//! The events of a NameNode for its operator: corrupt replicas and their repair, dead DataNodes, failed disks, JournalNodes
//! that are left out.

use crate::core::Core;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::time::Duration;
use zerohop_daemon::events::{Event, EventKind, EventRecord};
use zerohop_namespace::blocks::{AdminState, NodeFilter};

/// Interval between two checks of what has failed and what works again.
pub(crate) const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The columns of the page of events.
pub(crate) const COLUMNS: [&str; 4] = ["block", "file", "DataNode", "disk"];

/// The kinds of events of a NameNode.
static KINDS: [EventKind; 8] = [
    EventKind { name: "DataNode dead", counter: "DataNodesDied", is_good: false },
    EventKind { name: "DataNode back", counter: "DataNodesBack", is_good: true },
    EventKind { name: "volume failed", counter: "VolumesFailed", is_good: false },
    EventKind { name: "volume in use again", counter: "VolumesBack", is_good: true },
    EventKind { name: "name directory failed", counter: "NameDirectoriesFailed", is_good: false },
    EventKind {
        name: "name directory in use again",
        counter: "NameDirectoriesBack",
        is_good: true,
    },
    EventKind { name: "JournalNode left out", counter: "JournalNodesLeftOut", is_good: false },
    EventKind { name: "JournalNode in step again", counter: "JournalNodesBack", is_good: true },
];

/// A kind of condition: the event of its begin, and the event of its end.
type Condition = (&'static EventKind, &'static EventKind);

static DEAD: Condition = (&KINDS[0], &KINDS[1]);
static VOLUME: Condition = (&KINDS[2], &KINDS[3]);
static NAME_DIRECTORY: Condition = (&KINDS[4], &KINDS[5]);
static JOURNAL_NODE: Condition = (&KINDS[6], &KINDS[7]);

/// The subject of a condition: its kind, a DataNode or JournalNode, and a disk.
type Place = (&'static str, String, String);

/// The events of one NameNode.
pub(crate) struct NameNodeEvents {
    record: EventRecord,
    /// The conditions that the last check found.
    present: Mutex<BTreeMap<Place, Condition>>,
}

impl Default for NameNodeEvents {
    fn default() -> Self {
        Self { record: EventRecord::new(&KINDS), present: Mutex::default() }
    }
}

impl NameNodeEvents {
    /// Returns the record, for pages and metrics.
    pub(crate) fn record(&self) -> &EventRecord {
        &self.record
    }

    /// Records each condition that began or ended since the last check.
    pub(crate) fn check(&self, core: &Core) {
        self.compare(conditions(core));
    }

    fn compare(&self, found: BTreeMap<Place, (Condition, String)>) {
        let mut present = self.present.lock();
        for (place, (condition, cause)) in &found {
            if !present.contains_key(place) {
                let event = event(condition.0, place, cause);
                if *condition == NAME_DIRECTORY {
                    // The directory logged it.
                    self.record.keep(event);
                } else {
                    self.record.record(event);
                }
            }
        }
        for (place, condition) in present.iter().filter(|(place, _)| !found.contains_key(*place)) {
            self.record.record(event(condition.1, place, ""));
        }
        *present = found.into_iter().map(|(place, (condition, _))| (place, condition)).collect();
    }
}

fn event(kind: &'static EventKind, (_, node, disk): &Place, cause: &str) -> Event {
    let mut event = Event::new(kind, cause);
    if !node.is_empty() {
        event = event.about("DataNode", node);
    }
    if !disk.is_empty() {
        event = event.about("disk", disk);
    }
    event
}

/// Returns what is out of order now, with the cause of each.
fn conditions(core: &Core) -> BTreeMap<Place, (Condition, String)> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails_and_what_works_again_is_recorded_once() {
        let events = NameNodeEvents::default();
        let volume = || ("volume", "dn1:9866".to_owned(), "/data/1".to_owned());
        let dead = || ("dead", "dn2:9866".to_owned(), String::new());
        let failed = || (volume(), (VOLUME, "cause".to_owned()));
        events.compare(BTreeMap::from([failed()]));
        events.compare(BTreeMap::from([failed(), (dead(), (DEAD, String::new()))]));
        events.compare(BTreeMap::from([failed()]));
        events.compare(BTreeMap::new());
        events.compare(BTreeMap::from([failed()]));
        let kinds: Vec<_> =
            events.record().newest().iter().map(|known| known.event.kind().name).collect();
        assert_eq!(
            kinds,
            [
                "volume failed",
                "volume in use again",
                "DataNode back",
                "DataNode dead",
                "volume failed"
            ]
        );
        let newest = &events.record().newest()[0].event;
        assert_eq!((newest.value("DataNode"), newest.value("disk")), ("dn1:9866", "/data/1"));
    }
}
