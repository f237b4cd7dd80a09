//! The block scanner: every replica of every volume is verified from time to time (`BlockScanner`).

use super::settings::BlockScannerSettings;
use super::statistics::Statistics;
use super::volume_scanner::VolumeScanner;
use crate::store::volume::DataVolume;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::Duration;
use zerohop_system::clock;
use zerohop_wire::ExtendedBlock;

/// How long the removal of a volume waits for its scanner.
const REMOVAL_PATIENCE: Duration = Duration::from_secs(5 * 60);

/// The scanners of all volumes.
pub(crate) struct BlockScanner {
    settings: Option<BlockScannerSettings>,
    scanners: Mutex<Vec<Arc<VolumeScanner>>>,
}

impl BlockScanner {
    /// Without settings there is none.
    pub(crate) fn new(settings: Option<BlockScannerSettings>) -> Self {
        Self { settings, scanners: Mutex::default() }
    }

    /// Whether replicas are verified.
    pub(crate) fn is_enabled(&self) -> bool {
        self.settings.is_some()
    }

    /// Makes the scanner of a volume; the caller starts its thread.
    pub(super) fn add_volume(
        &self,
        volume: &Arc<DataVolume>,
    ) -> Option<(Arc<VolumeScanner>, BlockScannerSettings)> {
        let settings = self.settings?;
        let scanner = Arc::new(VolumeScanner::new(Arc::clone(volume)));
        self.scanners.lock().push(Arc::clone(&scanner));
        Some((scanner, settings))
    }

    /// Forgets the scanner of a volume.
    pub(super) fn forget_volume(&self, volume: &Arc<DataVolume>) -> Option<Arc<VolumeScanner>> {
        let mut scanners = self.scanners.lock();
        let at = scanners.iter().position(|known| Arc::ptr_eq(&known.volume, volume))?;
        Some(scanners.remove(at))
    }

    /// Stops the scanner of a volume and waits for it.
    pub(crate) fn remove_volume(&self, volume: &Arc<DataVolume>) {
        if let Some(scanner) = self.forget_volume(volume) {
            scanner.stop();
            if !volume.has_failed() {
                scanner.wait_until_ended(clock::now() + REMOVAL_PATIENCE);
            }
        }
    }

    /// Has all scanners look for new block pools.
    pub(crate) fn look_for_pools(&self) {
        self.scanners.lock().iter().for_each(|scanner| scanner.look_for_pools());
    }

    /// Has a replica verified before all others: a read failed, or a client said that it is corrupt.
    pub(crate) fn suspect(&self, block: &ExtendedBlock, volume: &Arc<DataVolume>) {
        let scanners = self.scanners.lock();
        if let Some(scanner) = scanners.iter().find(|known| Arc::ptr_eq(&known.volume, volume)) {
            scanner.suspect(block);
        }
    }

    /// Stops all scanners; each keeps its cursor.
    pub(crate) fn stop_without_waiting(&self) {
        self.scanners.lock().iter().for_each(|scanner| scanner.stop());
    }

    /// Stops all scanners and waits for them, but not for a disk that hangs.
    pub(crate) fn stop(&self) {
        self.stop_without_waiting();
        let scanners = std::mem::take(&mut *self.scanners.lock());
        let patience = self.settings.map_or(Duration::ZERO, |settings| settings.join_timeout);
        let deadline = clock::now() + patience;
        for scanner in scanners {
            if !scanner.wait_until_ended(deadline) {
                tracing::warn!("the scanner of volume {} does not end", scanner.volume);
            }
        }
    }

    /// What the scanners have done, by volume.
    pub(crate) fn statistics(&self) -> Vec<(Arc<DataVolume>, Statistics)> {
        let scanners = self.scanners.lock();
        scanners.iter().map(|one| (Arc::clone(&one.volume), one.statistics())).collect()
    }

    /// The page `/blockScannerReport`, as Apache's DataNode shows it.
    pub(crate) fn report(&self) -> String {
        if !self.is_enabled() {
            return "Periodic block scanner is not running. Please check the datanode log if this is \
                    unexpected."
                .to_owned();
        }
        let mut volumes: Vec<_> = self
            .statistics()
            .into_iter()
            .map(|(volume, statistics)| (volume.storage_id(), volume.to_string(), statistics))
            .collect();
        volumes.sort_by(|one, other| one.0.cmp(&other.0));
        let mut page = "Block Scanner Statistics\n\n".to_owned();
        for (storage_id, root, statistics) in volumes {
            let _a_string_takes_all = statistics.write(&mut page, &storage_id, &root);
        }
        page
    }
}
