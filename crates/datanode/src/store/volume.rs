//! A volume: one storage directory with its type, its space and its slices of the block pools.

use super::disk_check::{DiskCheck, NoAnswer};
use super::on_disks::Progress;
use crate::error::Error;
use crate::namenodes::PoolIdentity;
use crate::outliers::{DiskSettings, DiskTimes};
use crate::settings::Settings;
use parking_lot::{Mutex, RwLock};
use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use zerohop_proto::hdfs::datanode_storage_proto::StorageState;
use zerohop_proto::hdfs::{DatanodeStorageProto, StorageReportProto};
use zerohop_replica::{
    DirectoryMode, Pool, PoolVersion, Scan, Space, StartOptions, Volume, VolumeProbe,
};
use zerohop_wire::BlockId;
use zerohop_wire::StorageType;

/// A directory of `dfs.datanode.data.dir` with its storage type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Location {
    pub(crate) path: PathBuf,
    pub(crate) storage_type: StorageType,
}

impl Location {
    /// Reads `[SSD]file:///path`, `[DISK]/path` or `/path`.
    pub(crate) fn parse(text: &str) -> Result<Self, Error> {
        let text = text.trim();
        let (kind, path) = match text.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((kind, path)) => (kind.to_ascii_uppercase(), path.trim()),
            None => ("DISK".to_owned(), text),
        };
        let storage_type = StorageType::from_str_name(&kind).ok_or_else(|| {
            Error::Config(format!("dfs.datanode.data.dir: {text}: unknown storage type {kind}"))
        })?;
        let path =
            path.strip_prefix("file://").or_else(|| path.strip_prefix("file:")).unwrap_or(path);
        if !path.starts_with('/') {
            return Err(Error::Config(format!(
                "dfs.datanode.data.dir: {text}: an absolute path is needed"
            )));
        }
        Ok(Self { path: PathBuf::from(path), storage_type })
    }
}

impl fmt::Display for Location {
    /// As Hadoop writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]file:{}", self.storage_type.as_str_name(), self.path.display())
    }
}

/// What the configuration says of every volume.
#[derive(Debug, Clone, Copy)]
pub(crate) struct VolumeOptions {
    reserve: ReservedSpace,
    mode: DirectoryMode,
    check_timeout: Duration,
    rolls_back: bool,
    disk_stats: DiskSettings,
}

impl VolumeOptions {
    /// As the settings say.
    pub(crate) fn from_settings(settings: &Settings) -> Self {
        Self {
            reserve: ReservedSpace {
                bytes: settings.du_reserved,
                percent: settings.du_reserved_pct,
            },
            mode: settings.data_dir_mode,
            check_timeout: settings.disk_check_timeout,
            rolls_back: settings.rolls_back,
            disk_stats: settings.disk_stats,
        }
    }

    /// How long a disk may take to answer.
    pub(super) fn check_timeout(&self) -> Duration {
        self.check_timeout
    }
}

/// Space that HDFS leaves free on a volume.
#[derive(Debug, Clone, Copy, Default)]
struct ReservedSpace {
    bytes: u64,
    percent: u64,
}

/// A block pool's part of a volume.
struct BlockPoolSlice {
    files: Pool,
    /// Bytes of block and meta files.
    used: AtomicU64,
}

/// A volume in use.
pub(crate) struct DataVolume {
    pub(crate) location: Location,
    /// Locked while a pool is opened, which may take long.
    volume: Mutex<Option<Volume>>,
    /// What its disk is asked meanwhile.
    probe: RwLock<VolumeProbe>,
    disk_check: DiskCheck,
    reserve: ReservedSpace,
    /// True if the DataNode was started with `-rollback`.
    rolls_back: bool,
    /// How long its disk takes.
    pub(crate) times: DiskTimes,
    pools: RwLock<HashMap<Arc<str>, BlockPoolSlice>>,
    /// The space on its file system when it was last measured; no request waits for a new measurement.
    measured: Mutex<Measured>,
    /// Bytes of block and meta files.
    used: AtomicU64,
    /// Bytes promised to replicas that are being written.
    promised: AtomicU64,
    blocks: AtomicU64,
    failed: AtomicBool,
}

impl DataVolume {
    /// Locks and opens a directory.
    pub(crate) fn open(
        location: Location,
        options: VolumeOptions,
    ) -> Result<Self, zerohop_replica::Error> {
        let times = DiskTimes::new(&options.disk_stats);
        let volume = Volume::open_with_mode(&location.path, options.mode)?;
        let volume = volume.with_io(times.io_timer());
        let probe = volume.probe();
        let space = probe.space()?;
        Ok(Self {
            location,
            volume: Mutex::new(Some(volume)),
            probe: RwLock::new(probe),
            disk_check: DiskCheck::new(options.check_timeout),
            reserve: options.reserve,
            rolls_back: options.rolls_back,
            times,
            pools: RwLock::default(),
            measured: Mutex::new(Measured { space, used: 0 }),
            used: AtomicU64::new(0),
            promised: AtomicU64::new(0),
            blocks: AtomicU64::new(0),
            failed: AtomicBool::new(false),
        })
    }

    /// The DataNode it belongs to, if it was used before.
    pub(crate) fn datanode_uuid(&self) -> Option<String> {
        let volume = self.volume.lock();
        volume.as_ref()?.version().map(|v| v.datanode_uuid.clone()).filter(|uuid| !uuid.is_empty())
    }

    /// Makes it a volume of this DataNode, opens a pool on it and lists what is there.
    pub(super) fn open_pool(
        &self,
        identity: &PoolIdentity,
        datanode_uuid: &str,
        progress: &Progress,
    ) -> Result<Scan, zerohop_replica::Error> {
        let mut volume = self.volume.lock();
        // One that was given up meanwhile holds nothing.
        let Some(volume) = volume.as_mut() else { return Ok(Scan::default()) };
        volume.claim(&identity.cluster_id, datanode_uuid)?;
        *self.probe.write() = volume.probe();
        let expected = PoolVersion {
            pool_id: identity.pool_id.to_string(),
            namespace_id: identity.namespace_id,
            ctime: identity.ctime,
        };
        let answered = || progress.answered();
        let options = StartOptions { rolls_back: self.rolls_back, answered: &answered };
        let pool = volume.open_pool_with(&expected, options)?;
        let scan = pool.scan_with(&|| progress.answered())?;
        self.used.fetch_add(scan.bytes(), Ordering::Relaxed);
        // These bytes were there when the space was measured.
        self.measured.lock().used += scan.bytes();
        let count = scan.finalized.len() + scan.rbw.len();
        self.blocks.fetch_add(count as u64, Ordering::Relaxed);
        let slice = BlockPoolSlice { files: pool, used: AtomicU64::new(scan.bytes()) };
        self.pools.write().insert(Arc::clone(&identity.pool_id), slice);
        Ok(scan)
    }

    /// Gives it up: its pools are closed and its directory is unlocked.
    pub(super) fn close(&self) {
        self.pools.write().clear();
        // While its replicas are listed it is locked, perhaps for ever; it is unlocked with this value then.
        if let Some(mut volume) = self.volume.try_lock() {
            *volume = None;
        }
    }

    /// A block pool's directories on it.
    pub(crate) fn pool(&self, id: &str) -> Option<Pool> {
        self.pools.read().get(id).map(|slice| slice.files.clone())
    }

    /// Replicas of a pool whose writers wait for this start, and until when (ms since 1970).
    pub(crate) fn kept_for_restart(&self, id: &str) -> HashMap<BlockId, u64> {
        let taken = self.pool(id).map(|pool| pool.take_restarts()).transpose();
        taken.inspect_err(|error| tracing::warn!("{error}")).ok().flatten().unwrap_or_default()
    }

    /// Its storage id; empty before it was claimed.
    pub(crate) fn storage_id(&self) -> String {
        self.probe.read().storage_id().to_owned()
    }

    /// How messages name it.
    pub(crate) fn storage(&self) -> DatanodeStorageProto {
        DatanodeStorageProto {
            storage_uuid: self.storage_id(),
            state: Some(StorageState::Normal as i32),
            storage_type: Some(self.location.storage_type.number()),
        }
    }

    /// Whether it failed and is out of use.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Acquire)
    }

    /// Takes it out of use; true if it was in use until now.
    pub(crate) fn fail(&self) -> bool {
        !self.failed.swap(true, Ordering::AcqRel)
    }

    /// Takes it out of use if it cannot be read and written any more, or does not answer; tells why when
    /// that is so, once. Waits for the disk, at most for the timeout of checks.
    pub(crate) fn check(&self) -> Option<String> {
        if self.has_failed() {
            return None;
        }
        let probe = self.probe.read().clone();
        match self.disk_check.run(move || probe.check_disk()) {
            Ok(result) => self.fail_after(&result.err()?),
            Err(NoAnswer::Hung) => self.fail_as_hung(),
            Err(NoAnswer::NotAsked) => None,
        }
    }

    /// Starts to look whether it is still there, and to measure its space, unless such a question is
    /// under way; does not wait. `ended` is called with the reason if it is to be taken out.
    pub(crate) fn start_look(
        self: &Arc<Self>,
        ended: impl FnOnce(&Arc<Self>, String) + Send + 'static,
    ) {
        if self.has_failed() {
            return;
        }
        let (probe, used) = (self.probe.read().clone(), self.used());
        // A thread that the disk keeps for ever does not keep the volume locked after the node's stop.
        let volume = Arc::downgrade(self);
        let asked = self.disk_check.start(move || {
            let looked = probe.look().and_then(|()| probe.space());
            let Some(volume) = volume.upgrade() else { return };
            match looked {
                Ok(space) => *volume.measured.lock() = Measured { space, used },
                Err(error) => {
                    if let Some(reason) = volume.fail_after(&error) {
                        ended(&volume, reason);
                    }
                }
            }
        });
        if let Err(error) = asked {
            tracing::warn!("{self} cannot be checked: {error}");
        }
    }

    /// Waits until no question is under way.
    #[cfg(test)]
    pub(crate) fn wait_for_check(&self) {
        let _hung_or_not = self.disk_check.run(|| ());
    }

    /// Takes it out of use if a question to its disk has been open for too long; tells why when that is
    /// so, once.
    pub(crate) fn check_hung(&self) -> Option<String> {
        if self.disk_check.is_overdue() { self.fail_as_hung() } else { None }
    }

    fn fail_as_hung(&self) -> Option<String> {
        let timeout = self.disk_check.timeout().as_millis();
        self.fail().then(|| {
            format!(
                "volume {self} did not answer a check within {timeout} ms \
                 (dfs.datanode.disk.check.timeout)"
            )
        })
    }

    fn fail_after(&self, error: &zerohop_replica::Error) -> Option<String> {
        (error.is_end_of_volume() && self.fail()).then(|| error.to_string())
    }

    /// The space on its file system: what was measured, and what HDFS has taken or freed since.
    fn space(&self) -> Space {
        self.measured.lock().now(self.used())
    }

    /// Bytes that are for HDFS, also after it failed.
    pub(crate) fn capacity(&self) -> u64 {
        let capacity = self.measured.lock().space.capacity;
        capacity.saturating_sub(self.reserved(capacity))
    }

    fn reserved(&self, capacity: u64) -> u64 {
        self.reserve.bytes.max(capacity / 100 * self.reserve.percent)
    }

    /// Bytes that new replicas may take.
    pub(crate) fn available(&self) -> u64 {
        self.figures(self.space()).available().saturating_sub(self.promised())
    }

    fn figures(&self, space: Space) -> Figures {
        Figures { space, reserved: self.reserved(space.capacity), used: self.used() }
    }

    /// Bytes of block and meta files.
    pub(crate) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }

    /// Bytes promised to replicas that are being written.
    pub(crate) fn promised(&self) -> u64 {
        self.promised.load(Ordering::Relaxed)
    }

    /// Replicas on it.
    pub(crate) fn blocks(&self) -> u64 {
        self.blocks.load(Ordering::Relaxed)
    }

    /// Bytes that HDFS leaves free on it.
    pub(crate) fn left_free(&self) -> u64 {
        self.reserved(self.space().capacity)
    }

    /// Promises space to a replica.
    pub(crate) fn promise(&self, len: u64) {
        self.promised.fetch_add(len, Ordering::Relaxed);
    }

    /// Takes a promise back.
    pub(crate) fn release(&self, len: u64) {
        subtract(&self.promised, len);
    }

    /// A replica of so many bytes (block and meta file) is new on it.
    pub(crate) fn count(&self, pool_id: &str, bytes: u64) {
        self.used.fetch_add(bytes, Ordering::Relaxed);
        self.blocks.fetch_add(1, Ordering::Relaxed);
        if let Some(slice) = self.pools.read().get(pool_id) {
            slice.used.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    /// A replica of so many bytes went.
    pub(crate) fn discount(&self, pool_id: &str, bytes: u64) {
        subtract(&self.used, bytes);
        subtract(&self.blocks, 1);
        if let Some(slice) = self.pools.read().get(pool_id) {
            subtract(&slice.used, bytes);
        }
    }

    /// Bytes of a pool's block and meta files.
    fn used_by(&self, pool_id: &str) -> u64 {
        self.pools.read().get(pool_id).map_or(0, |slice| slice.used.load(Ordering::Relaxed))
    }

    /// What a heartbeat says of it to the NameNode of a pool.
    pub(crate) fn report(&self, pool_id: Option<&str>) -> StorageReportProto {
        let figures = self.figures(self.space());
        StorageReportProto {
            storage_uuid: self.storage_id(),
            failed: Some(self.has_failed()),
            capacity: Some(figures.space.capacity.saturating_sub(figures.reserved)),
            dfs_used: Some(figures.used),
            remaining: Some(figures.available().saturating_sub(self.promised())),
            block_pool_used: Some(pool_id.map_or(figures.used, |id| self.used_by(id))),
            storage: Some(self.storage()),
            non_dfs_used: Some(figures.others().saturating_sub(figures.reserved)),
            mount: Some(String::new()),
        }
    }

    /// Its directory.
    pub(crate) fn root(&self) -> &Path {
        &self.location.path
    }
}

/// The space on a file system, with HDFS's part of what is taken.
#[derive(Clone, Copy)]
struct Measured {
    space: Space,
    used: u64,
}

impl Measured {
    /// The space now that HDFS has taken `used` bytes.
    fn now(self, used: u64) -> Space {
        let after = |free: u64| free.saturating_add(self.used).saturating_sub(used);
        let Space { capacity, free, available } = self.space;
        Space {
            capacity,
            free: after(free).min(capacity),
            available: after(available).min(capacity),
        }
    }
}

/// A volume's bytes at one moment.
struct Figures {
    space: Space,
    /// What HDFS leaves to others.
    reserved: u64,
    used: u64,
}

impl Figures {
    /// What others than HDFS have taken, of what is reserved for them first.
    fn others(&self) -> u64 {
        self.space.capacity.saturating_sub(self.space.free).saturating_sub(self.used)
    }

    /// What HDFS may still take.
    fn available(&self) -> u64 {
        let by_capacity =
            self.space.capacity.saturating_sub(self.reserved).saturating_sub(self.used);
        let still_reserved = self.reserved.saturating_sub(self.others());
        by_capacity.min(self.space.available.saturating_sub(still_reserved))
    }
}

fn subtract(counter: &AtomicU64, len: u64) {
    let _previous = counter
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |now| Some(now.saturating_sub(len)));
}

impl fmt::Display for DataVolume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.location.path.display())
    }
}

impl fmt::Debug for DataVolume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What others have taken of the reserve is not left free a second time, and is no unplanned use.
    #[test]
    fn a_reserve_is_for_what_others_have_taken_too() {
        let of = |free, available, reserved, used| {
            let space = Space { capacity: 1000, free, available };
            let figures = Figures { space, reserved, used };
            (figures.available(), figures.others().saturating_sub(reserved))
        };
        assert_eq!(of(1000, 950, 0, 0), (950, 0));
        assert_eq!(of(900, 850, 100, 0), (850, 0));
        assert_eq!(of(950, 900, 100, 0), (850, 0));
        assert_eq!(of(600, 550, 100, 100), (550, 200));
        assert_eq!(of(900, 890, 300, 100), (590, 0));
        assert_eq!(of(0, 0, 100, 100), (0, 800));
    }

    #[test]
    fn locations_are_read_as_hadoop_writes_them() {
        for (text, path, kind) in [
            ("/d/1", "/d/1", StorageType::Disk),
            ("file:///d/1", "/d/1", StorageType::Disk),
            ("[SSD]file:///d/2", "/d/2", StorageType::Ssd),
            (" [ram_disk] /d/3", "/d/3", StorageType::RamDisk),
        ] {
            let wanted = Location { path: path.into(), storage_type: kind };
            assert_eq!(Location::parse(text).unwrap(), wanted, "{text}");
        }
        assert!(Location::parse("[TAPE]/d").is_err());
        assert!(Location::parse("d/1").is_err());
    }
}
