//! All replicas of this DataNode: volumes below, an index in memory above.

pub(crate) mod choose;
mod failure;
mod open;
mod recovery;
pub(crate) mod replica;
pub(crate) mod volume;
pub(crate) mod write;

use crate::error::Error;
use crate::services::PoolIdentity;
use crate::services::reports::StorageBlocks;
use crate::settings::Settings;
use crate::short_circuit::{BlockCache, BlockKey, Registry};
use choose::Chooser;
use parking_lot::{Condvar, Mutex, RwLock};
use replica::{Files, Replica, Status};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use volume::{DataVolume, Location, Reserve};
use zerohop_proto::hdfs::StorageReportProto;
use zerohop_proto::hdfs::datanode::VolumeFailureSummaryProto;
use zerohop_replica::ErrorKind;
use zerohop_wire::block_report::{ReplicaState, ReportBuilder, ReportedReplica};
use zerohop_wire::{Block, BlockId, ExtendedBlock};

#[cfg(test)]
pub(crate) mod store_test;

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
    /// Folders that could not be opened at start or failed later.
    failures: Mutex<Vec<String>>,
    last_failure: Mutex<Option<SystemTime>>,
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
        let mut failures = Vec::new();
        for text in &settings.data_dirs {
            let location = Location::parse(text)?;
            match DataVolume::open(location, reserve) {
                Ok(volume) => volumes.push(Arc::new(volume)),
                Err(error) => {
                    if error.kind() == ErrorKind::Locked || error.kind() == ErrorKind::Inconsistent
                    {
                        return Err(Error::Volume(error.to_string()));
                    }
                    tracing::warn!("volume left out: {error}");
                    failures.push(error.to_string());
                }
            }
        }
        too_many_failed(settings, volumes.len(), &failures)?;
        let datanode_uuid = common_uuid(&volumes)?;
        let slots = Registry::new(settings.shm_folders.clone(), settings.shm_limits);
        let last_failure = (!failures.is_empty()).then(SystemTime::now);
        Ok(Self {
            datanode_uuid,
            volumes,
            chooser: Chooser::new(settings.volume_policy),
            pools: RwLock::default(),
            pool_opened: (Mutex::new(()), Condvar::new()),
            failures: Mutex::new(failures),
            last_failure: Mutex::new(last_failure),
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
                    self.volume_failed(volume, &error.to_string());
                    continue;
                }
                Err(error) => return Err(error),
            };
            for stored in scan.finalized.into_iter().chain(scan.rbw) {
                let replica =
                    Replica::new(stored.block.id, Arc::clone(volume), Status::stored(stored));
                keep_better(&mut replicas, replica);
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

    fn volume_failed(&self, volume: &Arc<DataVolume>, reason: &str) {
        volume.check();
        tracing::error!("volume {volume}: {reason}");
        self.failures.lock().push(volume.root().display().to_string());
        *self.last_failure.lock() = Some(SystemTime::now());
    }

    /// After an error with a replica's files: is its volume still good?
    pub(crate) fn suspect(&self, volume: &Arc<DataVolume>) {
        if !volume.has_failed() && volume.check() {
            self.failures.lock().push(volume.root().display().to_string());
            *self.last_failure.lock() = Some(SystemTime::now());
            for pool in self.pools.read().values() {
                let mut lost = Vec::new();
                pool.replicas.write().retain(|id, replica| {
                    let stays = !Arc::ptr_eq(&replica.volume, volume);
                    if !stays {
                        lost.push(*id);
                    }
                    stays
                });
                for id in lost {
                    self.revoke(&pool.key(id));
                }
            }
        }
    }

    /// Whether no volume is left.
    pub(crate) fn is_lost(&self) -> bool {
        self.volumes.iter().all(|volume| volume.has_failed())
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
        let failed = self.failures.lock().clone();
        let date = self.last_failure.lock().and_then(|when| {
            when.duration_since(SystemTime::UNIX_EPOCH).ok().map(|since| since.as_millis() as u64)
        });
        StorageState {
            reports,
            failed_volumes: u32::try_from(failed.len()).unwrap_or(u32::MAX),
            failure_summary: (!failed.is_empty()).then(|| VolumeFailureSummaryProto {
                failed_storage_locations: failed,
                last_volume_failure_date: date.unwrap_or_default(),
                estimated_capacity_lost_total: 0,
            }),
        }
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

    /// Forgets a replica, if it is still this one.
    fn forget(&self, replica: &Arc<Replica>) {
        if let Entry::Occupied(known) = self.replicas.write().entry(replica.id)
            && Arc::ptr_eq(known.get(), replica)
        {
            known.remove();
        }
    }
}

/// Of two replicas of one block (on two volumes) the newer, then the longer one counts.
fn keep_better(replicas: &mut HashMap<BlockId, Arc<Replica>>, replica: Arc<Replica>) {
    let rank = |replica: &Replica| {
        let block = replica.block();
        (block.stamp, replica.state() == ReplicaState::Finalized, block.len)
    };
    match replicas.entry(replica.id) {
        Entry::Vacant(vacant) => {
            vacant.insert(replica);
        }
        Entry::Occupied(mut known) => {
            tracing::warn!("two replicas of one block: {} and {replica}", known.get());
            if rank(&replica) > rank(known.get()) {
                known.insert(replica);
            }
        }
    }
}

fn too_many_failed(settings: &Settings, opened: usize, failures: &[String]) -> Result<(), Error> {
    let configured = settings.data_dirs.len();
    let tolerated = settings.failed_volumes_tolerated;
    let needed = match tolerated {
        -1 => 1,
        tolerated => configured.saturating_sub(usize::try_from(tolerated).unwrap_or(0)).max(1),
    };
    if opened >= needed {
        return Ok(());
    }
    Err(Error::TooManyFailedVolumes {
        failed: failures.len(),
        configured,
        tolerated,
        first: failures.first().cloned().unwrap_or_else(|| "dfs.datanode.data.dir is empty".into()),
    })
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
