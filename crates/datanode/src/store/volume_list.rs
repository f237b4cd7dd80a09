//! The volumes of a DataNode: volumes are added and removed while it runs.

use super::volume::DataVolume;
use parking_lot::RwLock;
use std::sync::Arc;

/// The volumes, in the order in which they were opened. A failed volume stays in the list until it is
/// removed.
pub(super) struct VolumeList(RwLock<Arc<[Arc<DataVolume>]>>);

impl VolumeList {
    pub(super) fn new(volumes: Vec<Arc<DataVolume>>) -> Self {
        Self(RwLock::new(volumes.into()))
    }

    /// All volumes, as they are now.
    pub(super) fn all(&self) -> Arc<[Arc<DataVolume>]> {
        Arc::clone(&self.0.read())
    }

    /// The volumes that have not failed.
    pub(super) fn in_use(&self) -> Vec<Arc<DataVolume>> {
        self.all().iter().filter(|volume| !volume.has_failed()).cloned().collect()
    }

    /// Adds a volume.
    pub(super) fn add(&self, volume: Arc<DataVolume>) {
        let mut volumes = self.0.write();
        *volumes = volumes.iter().cloned().chain([volume]).collect();
    }

    /// Removes a volume.
    pub(super) fn remove(&self, volume: &Arc<DataVolume>) {
        let mut volumes = self.0.write();
        *volumes = volumes.iter().filter(|known| !Arc::ptr_eq(known, volume)).cloned().collect();
    }
}
