//! The directories of volumes out of use: how many may fail, and which of them were reported.

use crate::error::Error;
use crate::events::DataNodeEvents;
use crate::settings::Settings;
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;
use tokio::sync::Notify;
use zerohop_proto::hdfs::datanode::VolumeFailureSummaryProto;
use zerohop_system::clock;

/// A volume out of use.
#[derive(Clone, Debug)]
pub(crate) struct VolumeFailure {
    /// Its directory.
    pub(crate) directory: String,
    /// What went wrong, with the directory.
    pub(crate) reason: String,
    /// Bytes it had.
    capacity: u64,
}

/// The volumes out of use.
pub(crate) struct VolumeFailures {
    tolerated: i64,
    state: Mutex<State>,
    /// A volume failed just now.
    failed: Notify,
    events: Arc<DataNodeEvents>,
}

#[derive(Default)]
struct State {
    configured: usize,
    failures: Vec<VolumeFailure>,
    last: Option<SystemTime>,
    /// So many of them the NameNodes were told of.
    told: usize,
}

impl VolumeFailures {
    pub(super) fn new(settings: &Settings, events: Arc<DataNodeEvents>) -> Self {
        Self {
            tolerated: settings.failed_volumes_tolerated,
            state: Mutex::new(State { configured: settings.data_dirs.len(), ..State::default() }),
            failed: Notify::new(),
            events,
        }
    }

    pub(super) fn note(&self, volume: &Path, reason: String, capacity: u64) {
        self.events.volume_failed(volume, &reason);
        let directory = volume.display().to_string();
        let mut state = self.state.lock();
        state.failures.push(VolumeFailure { directory, reason, capacity });
        state.last = Some(clock::wall());
        drop(state);
        self.failed.notify_one();
    }

    /// So many volumes are configured now.
    pub(crate) fn set_configured(&self, count: usize) {
        self.state.lock().configured = count;
    }

    /// Forgets the failure of a volume that is in use again.
    pub(super) fn end(&self, volume: &Path) {
        self.events.volume_added(volume);
        self.forget(volume);
    }

    /// Forgets the failure of a volume that is no longer configured.
    pub(crate) fn forget(&self, volume: &Path) {
        let mut state = self.state.lock();
        let is_it = |failure: &VolumeFailure| Path::new(&failure.directory) == volume;
        let told = state.failures.iter().take(state.told).filter(|known| !is_it(known)).count();
        state.failures.retain(|known| !is_it(known));
        state.told = told;
    }

    /// Whether so many volumes as have failed may fail; -1 tolerates all but one.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let state = self.state.lock();
        let failed = state.failures.len();
        let left = state.configured.saturating_sub(failed);
        let limit = usize::try_from(self.tolerated).unwrap_or(usize::MAX);
        if left > 0 && failed <= limit {
            return Ok(());
        }
        let first = state.failures.first().map(|failure| failure.reason.clone());
        Err(Error::TooManyFailedVolumes {
            failed,
            configured: state.configured,
            tolerated: self.tolerated,
            first: first.unwrap_or_else(|| "dfs.datanode.data.dir is empty".to_owned()),
        })
    }

    /// How many failed, and which, as heartbeats say it.
    pub(crate) fn summary(&self) -> (u32, Option<VolumeFailureSummaryProto>) {
        let state = self.state.lock();
        let since = |when: SystemTime| when.duration_since(SystemTime::UNIX_EPOCH).ok();
        let date = state.last.and_then(since).map_or(0, |since| since.as_millis() as u64);
        let summary = (!state.failures.is_empty()).then(|| VolumeFailureSummaryProto {
            failed_storage_locations: state.failures.iter().map(|f| f.directory.clone()).collect(),
            last_volume_failure_date: date,
            estimated_capacity_lost_total: state.failures.iter().map(|f| f.capacity).sum(),
        });
        (u32::try_from(state.failures.len()).unwrap_or(u32::MAX), summary)
    }

    /// Waits until a volume has failed since the last time this returned.
    pub(crate) async fn failed(&self) {
        self.failed.notified().await;
    }

    /// Failures that this did not return before.
    pub(crate) fn untold(&self) -> Vec<VolumeFailure> {
        let mut state = self.state.lock();
        let untold = state.failures.get(state.told..).unwrap_or_default().to_vec();
        state.told = state.failures.len();
        untold
    }
}
