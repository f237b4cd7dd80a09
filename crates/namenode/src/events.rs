//! The events of a NameNode for its operator: corrupt replicas and their repair, dead DataNodes, failed disks, JournalNodes
//! that are left out.

use parking_lot::Mutex;
use std::collections::BTreeMap;
use zerohop_daemon::events::{Event, EventKind, EventRecord};
use zerohop_namespace::blocks::{RepairEvent, RepairStep, StorageName};

/// The columns of the page of events.
pub(crate) const COLUMNS: [&str; 5] = ["block", "file", "DataNode", "JournalNode", "disk"];

/// The kinds of events of a NameNode.
static KINDS: [EventKind; 11] = [
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
    EventKind { name: "corrupt replica", counter: "CorruptReplicasFound", is_good: false },
    EventKind { name: "copy of a good replica ordered", counter: "RepairsOrdered", is_good: true },
    EventKind { name: "block repaired", counter: "BlocksRepaired", is_good: true },
];

static CORRUPT: &EventKind = &KINDS[8];
static COPY_ORDERED: &EventKind = &KINDS[9];
static REPAIRED: &EventKind = &KINDS[10];

/// A kind of condition: the event of its begin, and the event of its end.
pub(crate) type Condition = (&'static EventKind, &'static EventKind);

pub(crate) static DEAD: Condition = (&KINDS[0], &KINDS[1]);
pub(crate) static VOLUME: Condition = (&KINDS[2], &KINDS[3]);
pub(crate) static NAME_DIRECTORY: Condition = (&KINDS[4], &KINDS[5]);
pub(crate) static JOURNAL_NODE: Condition = (&KINDS[6], &KINDS[7]);

/// The subject of a condition: its kind, a DataNode or JournalNode, and a disk.
pub(crate) type Place = (&'static str, String, String);

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

    /// Keeps the events of repairs, which are logged as repairs.
    pub(crate) fn keep(&self, events: Vec<Event>) {
        for event in events {
            self.record.keep(event);
        }
    }

    /// Records each condition that began or ended since the last call. `found` has those that are present now, with their causes.
    pub(crate) fn compare(&self, found: BTreeMap<Place, (Condition, String)>) {
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

/// Returns a step of a repair as events: a copy may go to several DataNodes. `path` is the block's file.
pub(crate) fn of_repair(repair: &RepairEvent, path: &str) -> Vec<Event> {
    let about = |kind: &'static EventKind, at: &StorageName, cause: String| {
        Event::new(kind, cause)
            .about("block", repair.block)
            .about("file", path)
            .about("DataNode", &at.datanode)
            .about("disk", disk(at))
    };
    match &repair.step {
        RepairStep::Found { at, reason, good } => {
            let cause = format!("{}; {good} good replicas are left", reason.name());
            vec![about(CORRUPT, at, cause)]
        }
        RepairStep::CopyOrdered { source, targets } => {
            let cause = || format!("{source} sends it");
            targets.iter().map(|at| about(COPY_ORDERED, at, cause())).collect()
        }
        RepairStep::Repaired { at, good } => {
            vec![about(REPAIRED, at, format!("it has {good} good replicas"))]
        }
    }
}

/// Returns the volume of a storage, or the storage's id if its DataNode does not report the volume.
fn disk(at: &StorageName) -> &str {
    at.mount.as_deref().filter(|mount| !mount.is_empty()).unwrap_or(&at.storage)
}

fn event(kind: &'static EventKind, (_, node, disk): &Place, cause: &str) -> Event {
    let mut event = Event::new(kind, cause);
    if !node.is_empty() {
        let is_journal_node = [JOURNAL_NODE.0, JOURNAL_NODE.1].contains(&kind);
        event = event.about(if is_journal_node { "JournalNode" } else { "DataNode" }, node);
    }
    if !disk.is_empty() {
        event = event.about("disk", disk);
    }
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A corrupt replica was repaired in the night, and no page said so in the morning.
    #[test]
    fn the_repair_of_a_block_is_listed_with_its_file_and_disks() {
        let events = NameNodeEvents::default();
        let block = zerohop_wire::Block {
            id: zerohop_wire::BlockId(7),
            stamp: zerohop_wire::GenerationStamp(1001),
            len: 5,
        };
        let at = |datanode: &str, mount: Option<&str>| StorageName {
            datanode: datanode.to_owned(),
            storage: "DS-1".into(),
            mount: mount.map(str::to_owned),
        };
        let bad = at("10.0.0.1:9866", Some("/data/1"));
        let reason = zerohop_namespace::blocks::CorruptReason::Reported;
        for step in [
            RepairStep::Found { at: bad.clone(), reason, good: 1 },
            RepairStep::CopyOrdered {
                source: "10.0.0.2:9866".to_owned(),
                targets: vec![at("10.0.0.3:9866", None)],
            },
            RepairStep::Repaired { at: bad, good: 2 },
        ] {
            let repair = RepairEvent { block, file: zerohop_wire::InodeId(16_390), step };
            events.keep(of_repair(&repair, "/logs/a"));
        }
        let kept = events.record().newest();
        let row = |at: usize| {
            let event = &kept[at].event;
            (event.kind().name, event.value("DataNode"), event.value("disk"))
        };
        assert_eq!(row(0), ("block repaired", "10.0.0.1:9866", "/data/1"));
        assert_eq!(row(1), ("copy of a good replica ordered", "10.0.0.3:9866", "DS-1"));
        assert_eq!(row(2), ("corrupt replica", "10.0.0.1:9866", "/data/1"));
        let files =
            kept.iter().map(|known| (known.event.value("block"), known.event.value("file")));
        assert!(files.into_iter().all(|shown| shown == ("blk_7_1001", "/logs/a")), "{kept:?}");
    }

    /// The log said `JournalNode left out: DataNode jn1:8485`.
    #[test]
    fn a_journal_node_is_not_called_a_datanode() {
        let events = NameNodeEvents::default();
        let place = ("JournalNode", "jn1:8485".to_owned(), String::new());
        events.compare(BTreeMap::from([(place, (JOURNAL_NODE, "cause".to_owned()))]));
        events.compare(BTreeMap::new());
        for known in events.record().newest() {
            let shown = (known.event.value("DataNode"), known.event.value("JournalNode"));
            assert_eq!(shown, ("", "jn1:8485"));
        }
    }

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
