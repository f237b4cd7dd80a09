//! All replicas of this DataNode: volumes below, an index in memory above.

pub(crate) mod choose;
mod failure;
mod health;
mod open;
mod recovery;
mod relocate;
pub(crate) mod replica;
pub(crate) mod volume;
pub(crate) mod write;

use crate::error::Error;
use crate::services::PoolIdentity;
use crate::services::reports::StorageBlocks;
use crate::settings::Settings;
use crate::short_circuit::{BlockCache, BlockKey, Registry};
use choose::Chooser;
use health::Health;
use parking_lot::{Condvar, Mutex, RwLock};
use replica::{Files, Replica, Status};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use volume::{DataVolume, Location, Reserve};
use zerohop_proto::hdfs::StorageReportProto;
use zerohop_proto::hdfs::datanode::VolumeFailureSummaryProto;
use zerohop_replica::{ErrorKind, Place, StoredReplica};
use zerohop_wire::block_report::{ReplicaState, ReportBuilder, ReportedReplica};
use zerohop_wire::{Block, BlockId, ExtendedBlock};

#[cfg(test)]
pub(crate) mod store_test;
#[cfg(test)]
mod volumes_test;

pub(crate) use failure::Failure;
pub(crate) use open::{Opened, ToPass};
pub(crate) use recovery::RecoveryInfo;

/// The replicas of one block pool.
pub(crate) struct BlockPool {
    pub(crate) id: Arc<str>,
    replicas: RwLock<HashMap<BlockId, Arc<Replica>>>,
}

/// All replicas.
pub(crate) struct Store {
    /// This DataNode's id.
    pub(crate) datanode_uuid: String,
    volumes: Vec<Arc<DataVolume>>,
    chooser: Chooser,
    pools: RwLock<HashMap<Arc<str>, Arc<BlockPool>>>,
    /// Requests that came before their pool was open wait here.
    pool_opened: (Mutex<()>, Condvar),
    health: Health,
    /// Who reads replicas through descriptors of their own, and must hear when they change.
    pub(crate) slots: Arc<Registry>,
    /// Replicas locked in memory.
    pub(crate) cache: Arc<BlockCache>,
    /// How long a writer that has to make room may take to leave.
    writer_patience: Duration,
}

/// What a heartbeat says of the volumes.
pub(crate) struct StorageState {
    pub(crate) reports: Vec<StorageReportProto>,
    pub(crate) failed_volumes: u32,
    pub(crate) failure_summary: Option<VolumeFailureSummaryProto>,
}

impl Store {
    /// Opens and locks the folders of `dfs.datanode.data.dir`.
    pub(crate) fn open(settings: &Settings) -> Result<Self, Error> {
        let reserve = Reserve { bytes: settings.du_reserved, percent: settings.du_reserved_pct };
        let mut volumes = Vec::new();
        let health = Health::new(settings);
        for text in &settings.data_dirs {
            let location = Location::parse(text)?;
            match DataVolume::open(location.clone(), reserve) {
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
        let slots = Registry::new(settings.shm_folders.clone(), settings.shm_limits);
        Ok(Self {
            datanode_uuid,
            volumes,
            chooser: Chooser::new(settings.volume_policy),
            pools: RwLock::default(),
            pool_opened: (Mutex::new(()), Condvar::new()),
            health,
            cache: BlockCache::new(settings.cache_limits, Arc::clone(&slots)),
            slots,
            writer_patience: settings.socket_timeout.min(Duration::from_secs(60)),
        })
    }

    /// Opens a block pool on all volumes and lists its replicas.
    pub(crate) fn open_pool(&self, identity: &PoolIdentity) -> Result<(), zerohop_replica::Error> {
        if self.pools.read().contains_key(&identity.pool_id) {
            return Ok(());
        }
        let mut replicas: HashMap<BlockId, Arc<Replica>> = HashMap::new();
        for volume in &self.volumes {
            let scan = match volume.open_pool(identity, &self.datanode_uuid) {
                Ok(scan) => scan,
                Err(error) if error.is_volume_fault() => {
                    volume.fail();
                    self.take_out(volume, error.to_string());
                    continue;
                }
                Err(error) => return Err(error),
            };
            let kept = volume.kept_for_restart(&identity.pool_id);
            for stored in scan.finalized.into_iter().chain(scan.rbw) {
                let status = reopened(volume, &identity.pool_id, &kept, stored)
                    .unwrap_or_else(|| Status::stored(stored));
                let replica = Replica::new(stored.block.id, Arc::clone(volume), status);
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

    /// The volumes.
    pub(crate) fn volumes(&self) -> &[Arc<DataVolume>] {
        &self.volumes
    }

    fn has_pool(&self, id: &str) -> bool {
        self.pools.read().contains_key(id)
    }

    /// Waits until a pool is open; false when it is not in time.
    pub(crate) fn wait_for_pool(&self, id: &str, patience: Duration) -> bool {
        if self.has_pool(id) {
            return true;
        }
        let deadline = Instant::now() + patience;
        let mut waiting = self.pool_opened.0.lock();
        while !self.has_pool(id) {
            if self.pool_opened.1.wait_until(&mut waiting, deadline).timed_out() {
                return self.has_pool(id);
            }
        }
        true
    }

    /// A block pool.
    pub(crate) fn pool(&self, id: &str) -> Result<Arc<BlockPool>, Failure> {
        let pool = self.pools.read().get(id).cloned();
        pool.ok_or_else(|| Failure::io(format!("Not ready to serve the block pool, {id}.")))
    }

    /// A replica by its block id.
    pub(crate) fn replica(&self, block: &ExtendedBlock) -> Result<Arc<Replica>, Failure> {
        let pool = self.pool(&block.pool)?;
        pool.get(block.block.id).ok_or_else(|| {
            Failure::not_found(format_args!(
                "Cannot append to a non-existent replica {}:{}",
                block.pool, block.block.id
            ))
        })
    }

    /// What a heartbeat says.
    pub(crate) fn storage_reports(&self) -> StorageState {
        let in_use = |volume: &&Arc<DataVolume>| !volume.has_failed();
        let reports = self.volumes.iter().filter(in_use).map(|v| v.report()).collect();
        let (failed_volumes, failure_summary) = self.health.summary();
        StorageState { reports, failed_volumes, failure_summary }
    }

    /// The replicas of a pool, by storage, for a full report.
    pub(crate) fn block_reports(&self, pool_id: &str) -> Vec<StorageBlocks> {
        let in_use = |volume: &&Arc<DataVolume>| !volume.has_failed();
        let volumes: Vec<&Arc<DataVolume>> = self.volumes.iter().filter(in_use).collect();
        let mut builders: Vec<ReportBuilder> =
            volumes.iter().map(|_| ReportBuilder::default()).collect();
        if let Ok(pool) = self.pool(pool_id) {
            for replica in pool.all() {
                let status = replica.lock();
                let state = status.original_state();
                if state == ReplicaState::Temporary {
                    continue;
                }
                let reported = ReportedReplica { block: status.block(), state };
                let at = volumes.iter().position(|volume| Arc::ptr_eq(volume, &replica.volume));
                if let Some(builder) = at.and_then(|at| builders.get_mut(at)) {
                    builder.add(&reported);
                }
            }
        }
        let storages = volumes.iter().map(|volume| volume.storage());
        storages.zip(builders).map(|(storage, blocks)| StorageBlocks { storage, blocks }).collect()
    }

    /// Deletes a replica of this block with this stamp; the block as it was, with its volume.
    pub(crate) fn delete(
        &self,
        pool: &BlockPool,
        block: Block,
    ) -> Result<(Block, Arc<DataVolume>), Failure> {
        let Some(replica) = pool.get(block.id) else {
            return Err(Failure::io(format!(
                "Failed to delete replica {block}: ReplicaInfo not found."
            )));
        };
        {
            let status = replica.lock();
            let known = status.block();
            if known.stamp != block.stamp {
                return Err(Failure::io(format!(
                    "Failed to delete replica {block}: GenerationStamp not matched, existing \
                     replica is {known}"
                )));
            }
            if let Some(writer) = &status.writer {
                writer.stop();
            }
        }
        let known = self.remove(pool, &replica)?;
        Ok((known, Arc::clone(&replica.volume)))
    }

    /// Tells local readers not to use their descriptors of a block any more. Comes after the change
    /// that keeps new ones from being opened, so that no reader slips through.
    pub(super) fn revoke(&self, block: &BlockKey) {
        self.slots.revoke(block);
        self.cache.unlock(block);
    }

    /// Deletes a replica's files and forgets it.
    fn remove(&self, pool: &BlockPool, replica: &Arc<Replica>) -> Result<Block, Failure> {
        let mut status = replica.lock();
        let block = status.block();
        if !pool.holds(replica) {
            return Err(Failure::not_found(format_args!("Replica not found for {block}")));
        }
        let reserved = std::mem::take(&mut status.reserved);
        let deleted = match &status.files {
            Files::Live(live) => live.delete(),
            Files::Stored(stored) => match replica.volume.pool(&pool.id) {
                Some(files) => files.delete(&stored.block, stored.place),
                None => Ok(0),
            },
        };
        let counted = matches!(status.files, Files::Stored(_));
        drop(status);
        pool.forget(replica);
        self.revoke(&pool.key(replica.id));
        replica.volume.release(reserved);
        let freed = deleted.inspect_err(|error| self.file_trouble(pool, replica, error))?;
        if counted {
            replica.volume.discount(freed);
        }
        Ok(block)
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
            live.pool().mark_restart(replica.id, millis(SystemTime::now() + time))?;
            tracing::info!("{pool_id}:{} waits for the restart", status.block());
        }
        Ok(())
    }

    /// Tells all writers to say good-bye: this DataNode is about to stop.
    pub(crate) fn stop_writers(&self) {
        for pool in self.pools.read().values() {
            for replica in pool.all() {
                let writer = replica.lock().writer.clone();
                if let Some(writer) = writer {
                    writer.stop_receiving();
                }
            }
        }
    }
}

impl BlockPool {
    /// A block of this pool.
    pub(crate) fn key(&self, id: BlockId) -> BlockKey {
        BlockKey { pool: Arc::clone(&self.id), id }
    }

    /// A replica.
    pub(crate) fn get(&self, id: BlockId) -> Option<Arc<Replica>> {
        self.replicas.read().get(&id).cloned()
    }

    /// All replicas.
    pub(crate) fn all(&self) -> Vec<Arc<Replica>> {
        self.replicas.read().values().cloned().collect()
    }

    /// Adds a replica, unless there is one of this block: that is the error. (Locks of replicas come
    /// before this map's, so none is taken under it.)
    fn add(&self, replica: &Arc<Replica>) -> Result<(), Arc<Replica>> {
        match self.replicas.write().entry(replica.id) {
            Entry::Vacant(vacant) => {
                vacant.insert(Arc::clone(replica));
                Ok(())
            }
            Entry::Occupied(known) => Err(Arc::clone(known.get())),
        }
    }

    /// Whether this is the replica of its block, neither removed nor moved.
    fn holds(&self, replica: &Arc<Replica>) -> bool {
        self.replicas.read().get(&replica.id).is_some_and(|known| Arc::ptr_eq(known, replica))
    }

    /// Whether another one has taken its place.
    fn has_moved(&self, replica: &Arc<Replica>) -> bool {
        self.replicas.read().get(&replica.id).is_some_and(|known| !Arc::ptr_eq(known, replica))
    }

    /// Forgets a replica, if it is still this one.
    fn forget(&self, replica: &Arc<Replica>) {
        if let Entry::Occupied(known) = self.replicas.write().entry(replica.id)
            && Arc::ptr_eq(known.get(), replica)
        {
            known.remove();
        }
    }
}

/// The status of a replica whose writer waits for it, if that is so.
fn reopened(
    volume: &DataVolume,
    pool_id: &str,
    kept: &HashMap<BlockId, u64>,
    stored: StoredReplica,
) -> Option<Status> {
    let until_ms = kept.get(&stored.block.id).filter(|_| stored.place == Place::Rbw)?;
    if *until_ms < millis(SystemTime::now()) {
        return None;
    }
    let live = volume.pool(pool_id)?.adopt(stored.block, stored.place);
    let live = live.inspect_err(|error| tracing::warn!("{error}")).ok()?;
    volume.discount(stored.block.len + stored.meta_len);
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
                    "{volume} belongs to DataNode {uuid}, {at} to {first}: all folders of a \
                     DataNode must come from the same one"
                )));
            }
            Some(_) => {}
            None => found = Some((uuid, volume)),
        }
    }
    Ok(found.map_or_else(|| uuid::Uuid::new_v4().to_string(), |(uuid, _)| uuid))
}
