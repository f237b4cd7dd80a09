//! Opening the volumes and their block pools, and what is kept from one start to the next.

use super::Store;
use super::choose::VolumeChooser;
use super::failure::Failure;
use super::health::Health;
use super::on_disks::{self, Progress};
use super::pool::BlockPool;
use super::replica::{Files, Replica, Status};
use super::volume::{DataVolume, Location, VolumeOptions};
use super::volume_list::VolumeList;
use crate::error::Error;
use crate::namenodes::PoolIdentity;
use crate::settings::Settings;
use crate::short_circuit::{BlockCache, Registry};
use parking_lot::{Condvar, Mutex, RwLock};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use zerohop_replica::{ErrorKind, Place, StoredReplica};
use zerohop_system::clock;
use zerohop_wire::BlockId;
use zerohop_wire::block_report::ReplicaState;

impl Store {
    /// Opens and locks the directories of `dfs.datanode.data.dir`.
    pub(crate) fn open(settings: &Settings) -> Result<Self, Error> {
        let options = VolumeOptions::from_settings(settings);
        let locations = settings.data_dirs.iter().map(|text| Location::parse(text));
        let locations: Vec<Location> = locations.collect::<Result<_, _>>()?;
        let mut volumes = Vec::new();
        let health = Health::new(settings);
        let opened = open_volumes(locations.clone(), options);
        for (location, opened) in locations.into_iter().zip(opened) {
            match opened {
                Ok(volume) => volumes.push(Arc::new(volume)),
                Err(error) => {
                    if error.kind() == ErrorKind::Locked || error.kind() == ErrorKind::Inconsistent
                    {
                        return Err(Error::Volume(error.to_string()));
                    }
                    tracing::warn!("volume left out: {error}");
                    health.note(&location.path, error.to_string(), 0);
                }
            }
        }
        health.check()?;
        let datanode_uuid = common_uuid(&volumes)?;
        let slots = Registry::new(settings.shm_directories.clone(), settings.shm_limits);
        Ok(Self {
            datanode_uuid,
            volumes: VolumeList::new(volumes),
            opening: Mutex::new(()),
            chooser: VolumeChooser::new(settings),
            pools: RwLock::default(),
            pool_opened: (Mutex::new(()), Condvar::new()),
            health,
            cache: BlockCache::new(settings.cache_limits, Arc::clone(&slots)),
            slots,
            disk_check_timeout: settings.disk_check_timeout,
            writer_patience: settings.socket_timeout.min(Duration::from_secs(60)),
        })
    }

    /// Opens a block pool on all volumes and lists its replicas.
    pub(crate) fn open_pool(&self, identity: &PoolIdentity) -> Result<(), zerohop_replica::Error> {
        let _no_volume_is_changed = self.opening.lock();
        if self.pools.read().contains_key(&identity.pool_id) {
            return Ok(());
        }
        let mut replicas: HashMap<BlockId, Arc<Replica>> = HashMap::new();
        let volumes = self.volumes.in_use();
        let found = self.open_pool_on(&volumes, identity);
        for (volume, found) in volumes.iter().zip(found) {
            let found = match found {
                Ok(found) => found,
                Err(error) if error.is_volume_fault() => {
                    if volume.fail() {
                        self.take_out(volume, error.to_string());
                    }
                    continue;
                }
                Err(error) => return Err(error),
            };
            for replica in found {
                if let Some([kept, other]) = keep_better(&mut replicas, replica) {
                    self.drop_twin(&identity.pool_id, &kept, &other);
                }
            }
        }
        tracing::info!("block pool {}: {} replicas", identity.pool_id, replicas.len());
        let id = Arc::clone(&identity.pool_id);
        let pool = BlockPool { id: Arc::clone(&id), replicas: RwLock::new(replicas) };
        let _waiters_look = self.pool_opened.0.lock();
        self.pools.write().insert(id, Arc::new(pool));
        self.pool_opened.1.notify_all();
        Ok(())
    }

    /// Opens a block pool on each of the volumes at once; gives the replicas that are there. A disk that hangs is an
    /// error of its volume after `dfs.datanode.disk.check.timeout`.
    pub(super) fn open_pool_on(
        &self,
        volumes: &[Arc<DataVolume>],
        identity: &PoolIdentity,
    ) -> Vec<Result<Vec<Arc<Replica>>, zerohop_replica::Error>> {
        let listed = list_on(volumes, identity, &self.datanode_uuid, self.disk_check_timeout);
        let checked = |(volume, listed): (&Arc<DataVolume>, Result<Listed, _>)| {
            let listed = listed?;
            if listed.has_volume_fault() {
                self.suspect(volume);
            }
            Ok(if volume.has_failed() { Vec::new() } else { listed.replicas })
        };
        volumes.iter().zip(listed).map(checked).collect()
    }

    /// Keeps a replica as one being written over a restart, should that take no longer than `time`.
    pub(crate) fn mark_restart(
        &self,
        pool_id: &str,
        replica: &Replica,
        time: Duration,
    ) -> Result<(), Failure> {
        let status = replica.lock();
        if let (Files::Live(live), ReplicaState::Rbw) = (&status.files, status.state) {
            live.flush()?;
            live.pool().mark_restart(replica.id, millis(clock::wall() + time))?;
            tracing::info!("{pool_id}:{} waits for the restart", status.block());
        }
        Ok(())
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
struct Listed {
    replicas: Vec<Arc<Replica>>,
    /// Why some of them count as empty.
    unreadable: Vec<zerohop_replica::Error>,
}

impl Listed {
    /// Whether the disk may be the reason why replicas could not be read.
    fn has_volume_fault(&self) -> bool {
        for error in &self.unreadable {
            tracing::warn!("{error}; it counts as empty");
        }
        self.unreadable.iter().any(zerohop_replica::Error::is_volume_fault)
    }
}

/// Lists a block pool on volumes, of which any may hang.
fn list_on(
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
        let status = reopened(volume, &identity.pool_id, &kept, stored)
            .unwrap_or_else(|| Status::stored(stored));
        Replica::new(stored.block.id, Arc::clone(volume), status)
    };
    let replicas = scan.finalized.into_iter().chain(scan.rbw).map(replica).collect();
    Ok(Listed { replicas, unreadable: scan.unreadable })
}

/// The status of a replica whose writer waits for it, if that is so.
fn reopened(
    volume: &DataVolume,
    pool_id: &str,
    kept: &HashMap<BlockId, u64>,
    stored: StoredReplica,
) -> Option<Status> {
    let until_ms = kept.get(&stored.block.id).filter(|_| stored.place == Place::Rbw)?;
    if *until_ms < millis(clock::wall()) {
        return None;
    }
    let live = volume.pool(pool_id)?.adopt(stored.block, stored.place);
    let live = live.inspect_err(|error| tracing::warn!("{error}")).ok()?;
    volume.discount(pool_id, stored.block.len + stored.meta_len);
    Some(Status::open(ReplicaState::Rbw, Arc::new(live)))
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

/// Of two replicas of one block (on two volumes) the newer, then the longer one counts; gives the
/// better and the worse one.
fn keep_better(
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

fn common_uuid(volumes: &[Arc<DataVolume>]) -> Result<String, Error> {
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
