//! The events of a DataNode for its operator: replicas found corrupt, lost or deleted, and failed volumes.

use crate::settings::Settings;
use crate::store::volume::DataVolume;
use std::path::Path;
use zerohop_daemon::events::{Event, EventKind, EventRecord};
use zerohop_replica::Place;
use zerohop_wire::{Block, ExtendedBlock};

/// The kinds of events of a DataNode.
static KINDS: [EventKind; 7] = [
    EventKind { name: "corrupt replica", counter: "CorruptReplicasFound", is_good: false },
    EventKind { name: "corrupt replica deleted", counter: "CorruptReplicasDeleted", is_good: true },
    EventKind { name: "replica lost", counter: "ReplicasLost", is_good: false },
    EventKind { name: "unknown replica found", counter: "UnknownReplicasFound", is_good: true },
    EventKind {
        name: "corrupt replica at another DataNode",
        counter: "CorruptSourcesFound",
        is_good: false,
    },
    EventKind { name: "volume failed", counter: "VolumesFailed", is_good: false },
    EventKind { name: "volume in use again", counter: "VolumesBack", is_good: true },
];

static CORRUPT: &EventKind = &KINDS[0];
static CORRUPT_DELETED: &EventKind = &KINDS[1];
static LOST: &EventKind = &KINDS[2];
static UNEXPECTED: &EventKind = &KINDS[3];
static CORRUPT_AT_SOURCE: &EventKind = &KINDS[4];
static VOLUME_FAILED: &EventKind = &KINDS[5];
static VOLUME_BACK: &EventKind = &KINDS[6];

/// The columns of the page of events. A file is the block file on the disk: only the NameNode knows the file in HDFS.
pub(crate) const COLUMNS: [&str; 4] = ["block", "file", "DataNode", "disk"];

/// The events of one DataNode.
#[derive(Debug)]
pub(crate) struct DataNodeEvents {
    record: EventRecord,
    host: String,
}

impl DataNodeEvents {
    /// Creates an empty record.
    pub(crate) fn new(settings: &Settings) -> Self {
        Self { record: EventRecord::new(&KINDS), host: settings.host_name.clone() }
    }

    /// Returns the record, for pages and metrics.
    pub(crate) fn record(&self) -> &EventRecord {
        &self.record
    }

    /// Records that a replica of this DataNode is corrupt and reported to the NameNode.
    pub(crate) fn corrupt(&self, block: &ExtendedBlock, volume: &DataVolume, cause: &str) {
        self.replica(CORRUPT, &block.pool, block.block, volume, cause);
    }

    /// Records that a corrupt replica was deleted, which the NameNode orders when it has enough good ones. Other deletions are
    /// not recorded.
    pub(crate) fn deleted(&self, pool: &str, block: Block, volume: &DataVolume) {
        let shown = shown(pool, block);
        let newest = self.record.newest_of(|event| event.value("block") == shown);
        if newest.is_some_and(|event| event.kind() == CORRUPT) {
            let cause = "the NameNode has enough good replicas";
            self.replica(CORRUPT_DELETED, pool, block, volume, cause);
        }
    }

    /// Records that the files of a replica are gone.
    pub(crate) fn lost(&self, pool: &str, block: Block, volume: &DataVolume, cause: &str) {
        self.replica(LOST, pool, block, volume, cause);
    }

    /// Records that a scan found a replica that this DataNode did not know.
    pub(crate) fn unexpected(&self, pool: &str, block: Block, volume: &DataVolume) {
        self.replica(UNEXPECTED, pool, block, volume, "found by the directory scanner");
    }

    /// Records that another DataNode sent a corrupt replica.
    pub(crate) fn corrupt_at_source(&self, block: &ExtendedBlock, source: &str) {
        let event = Event::new(CORRUPT_AT_SOURCE, "it was copied here, and a checksum did not fit")
            .about("block", shown(&block.pool, block.block))
            .about("DataNode", source);
        self.record.record(event);
    }

    /// Records that a volume is out of use.
    pub(crate) fn volume_failed(&self, directory: &Path, cause: &str) {
        self.volume(VOLUME_FAILED, directory, cause);
    }

    /// Records that a volume is in use again, if it had failed.
    pub(crate) fn volume_added(&self, directory: &Path) {
        let disk = directory.display().to_string();
        let is_of_volume =
            |event: &Event| event.value("block").is_empty() && event.value("disk") == disk;
        if self.record.newest_of(is_of_volume).is_some_and(|event| event.kind() == VOLUME_FAILED) {
            self.volume(VOLUME_BACK, directory, "");
        }
    }

    fn volume(&self, kind: &'static EventKind, directory: &Path, cause: &str) {
        let event = Event::new(kind, cause)
            .about("DataNode", &self.host)
            .about("disk", directory.display());
        self.record.record(event);
    }

    fn replica(
        &self,
        kind: &'static EventKind,
        pool: &str,
        block: Block,
        volume: &DataVolume,
        cause: &str,
    ) {
        let mut event = Event::new(kind, cause).about("block", shown(pool, block));
        if let Some(files) = volume.pool(pool) {
            event = event.about("file", files.data_path(block.id, Place::Finalized).display());
        }
        self.record
            .record(event.about("DataNode", &self.host).about("disk", volume.root().display()));
    }
}

fn shown(pool: &str, block: Block) -> String {
    format!("{pool}:{block}")
}
