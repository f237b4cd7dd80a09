//! Volumes opened, and the replicas found on them.

use super::on_disks::{self, Progress};
use super::replica::Replica;
use super::restart;
use super::status::Status;
use super::volume::{DataVolume, Location, VolumeOptions};
use super::volume_failures::VolumeFailures;
use crate::error::Error;
use crate::namenodes::PoolIdentity;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;
use zerohop_replica::{ErrorKind, StoredReplica, is_storage_id};
use zerohop_wire::BlockId;
use zerohop_wire::block_report::ReplicaState;

/// Opens the volumes of a start. One whose disk does not work is left out; that is noted in `failures`.
pub(super) fn open_usable(
    locations: Vec<Location>,
    options: VolumeOptions,
    failures: &VolumeFailures,
) -> Result<Vec<Arc<DataVolume>>, Error> {
    let mut volumes = Vec::new();
    let opened = open_volumes(locations.clone(), options);
    for (location, opened) in locations.into_iter().zip(opened) {
        match opened {
            Ok(volume) => {
                let refused = |error: zerohop_replica::Error| Error::Volume(error.to_string());
                check_storage_id(&volume, &volumes).map_err(refused)?;
                volumes.push(Arc::new(volume));
            }
            Err(error) => {
                if error.kind() == ErrorKind::Locked || error.kind() == ErrorKind::Inconsistent {
                    return Err(Error::Volume(error.to_string()));
                }
                failures.note(&location.path, error.to_string(), 0);
            }
        }
    }
    Ok(volumes)
}

/// Refuses a volume with the storage id of one that is in use (`FsDatasetImpl.activateVolume`).
///
/// # Errors
/// Fails with the directories of both.
pub(super) fn check_storage_id(
    volume: &DataVolume,
    in_use: &[Arc<DataVolume>],
) -> Result<(), zerohop_replica::Error> {
    let id = volume.storage_id();
    // New volumes have none, and ids of another form are replaced when the volume is claimed.
    if !is_storage_id(&id) {
        return Ok(());
    }
    match in_use.iter().find(|other| other.storage_id() == id) {
        Some(other) => Err(zerohop_replica::Error::same_storage(&id, volume.root(), other.root())),
        None => Ok(()),
    }
}

/// Opens a volume. A disk that hangs is an error after `dfs.datanode.disk.check.timeout`.
pub(super) fn open_volume(
    location: Location,
    options: VolumeOptions,
) -> Result<DataVolume, zerohop_replica::Error> {
    let path = location.path.clone();
    let no_answer = || zerohop_replica::Error::no_answer("open", &path, options.check_timeout());
    open_volumes(vec![location], options).pop().ok_or_else(no_answer)?
}

/// As [`open_volume`], for several at once.
fn open_volumes(
    locations: Vec<Location>,
    options: VolumeOptions,
) -> Vec<Result<DataVolume, zerohop_replica::Error>> {
    let timeout = options.check_timeout();
    let opened = on_disks::run(locations.clone(), timeout, move |location, _| {
        DataVolume::open(location, options)
    });
    let in_time = |(location, opened): (&Location, Option<_>)| {
        let no_answer = || zerohop_replica::Error::no_answer("open", &location.path, timeout);
        opened.ok_or_else(no_answer)?
    };
    locations.iter().zip(opened).map(in_time).collect()
}

/// The replicas of a block pool on one volume.
pub(super) struct Listed {
    pub(super) replicas: Vec<Arc<Replica>>,
    /// Why some of them count as empty.
    unreadable: Vec<zerohop_replica::Error>,
}

impl Listed {
    /// Whether the disk may be the reason why replicas could not be read.
    pub(super) fn has_volume_fault(&self) -> bool {
        for error in &self.unreadable {
            tracing::warn!("{error}; it counts as empty");
        }
        self.unreadable.iter().any(zerohop_replica::Error::is_volume_fault)
    }
}

/// Lists a block pool on volumes, of which any may hang.
pub(super) fn list_on(
    volumes: &[Arc<DataVolume>],
    identity: &PoolIdentity,
    datanode_uuid: &str,
    timeout: Duration,
) -> Vec<Result<Listed, zerohop_replica::Error>> {
    let (identity, uuid) = (identity.clone(), datanode_uuid.to_owned());
    let listed = on_disks::run(volumes.to_vec(), timeout, move |volume, progress| {
        list_replicas(&volume, &identity, &uuid, progress)
    });
    let in_time = |(volume, listed): (&Arc<DataVolume>, Option<_>)| {
        let no_answer = || zerohop_replica::Error::no_answer("list", volume.root(), timeout);
        listed.ok_or_else(no_answer)?
    };
    volumes.iter().zip(listed).map(in_time).collect()
}

fn list_replicas(
    volume: &Arc<DataVolume>,
    identity: &PoolIdentity,
    datanode_uuid: &str,
    progress: &Progress,
) -> Result<Listed, zerohop_replica::Error> {
    let scan = volume.open_pool(identity, datanode_uuid, progress)?;
    let kept = volume.kept_for_restart(&identity.pool_id);
    let replica = |stored: StoredReplica| {
        let status = restart::reopened(volume, &identity.pool_id, &kept, stored)
            .unwrap_or_else(|| Status::stored(stored));
        Replica::new(stored.block.id, Arc::clone(volume), status)
    };
    let replicas = scan.finalized.into_iter().chain(scan.rbw).map(replica).collect();
    Ok(Listed { replicas, unreadable: scan.unreadable })
}

/// Of two replicas of one block (on two volumes) the newer, then the longer one counts; gives the
/// better and the worse one.
pub(super) fn keep_better(
    replicas: &mut HashMap<BlockId, Arc<Replica>>,
    replica: Arc<Replica>,
) -> Option<[Arc<Replica>; 2]> {
    let rank = |replica: &Replica| {
        let block = replica.block();
        (block.stamp, replica.state() == ReplicaState::Finalized, block.len)
    };
    match replicas.entry(replica.id) {
        Entry::Vacant(vacant) => {
            vacant.insert(replica);
            None
        }
        Entry::Occupied(mut known) => {
            tracing::warn!("two replicas of one block: {} and {replica}", known.get());
            if rank(&replica) <= rank(known.get()) {
                return Some([Arc::clone(known.get()), replica]);
            }
            let worse = known.insert(Arc::clone(&replica));
            Some([replica, worse])
        }
    }
}

/// The id of the DataNode that all volumes belong to; a new one if none was used before.
pub(super) fn common_uuid(volumes: &[Arc<DataVolume>]) -> Result<String, Error> {
    let mut found: Option<(String, &Arc<DataVolume>)> = None;
    for volume in volumes {
        let Some(uuid) = volume.datanode_uuid() else { continue };
        match &found {
            Some((first, at)) if *first != uuid => {
                return Err(Error::Volume(format!(
                    "{volume} belongs to DataNode {uuid}, {at} to {first}: all directories of a \
                     DataNode must come from the same one"
                )));
            }
            Some(_) => {}
            None => found = Some((uuid, volume)),
        }
    }
    Ok(found.map_or_else(|| uuid::Uuid::new_v4().to_string(), |(uuid, _)| uuid))
}
