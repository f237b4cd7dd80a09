//! The volumes of a DataNode: volumes are added, fail and are removed while it runs.

use super::choose::VolumeChooser;
use super::volume::DataVolume;
use super::volume_failures::VolumeFailures;
use parking_lot::RwLock;
use std::sync::Arc;
use zerohop_wire::RemoteException;
use zerohop_wire::StorageType;

/// The volumes, in the order in which they were opened. A failed volume stays in the list until it is
/// removed.
pub(crate) struct Volumes {
    list: RwLock<Arc<[Arc<DataVolume>]>>,
    chooser: VolumeChooser,
    failures: VolumeFailures,
}

impl Volumes {
    pub(super) fn new(
        volumes: Vec<Arc<DataVolume>>,
        chooser: VolumeChooser,
        failures: VolumeFailures,
    ) -> Self {
        Self { list: RwLock::new(volumes.into()), chooser, failures }
    }

    /// All volumes, as they are now.
    pub(crate) fn all(&self) -> Arc<[Arc<DataVolume>]> {
        Arc::clone(&self.list.read())
    }

    /// The volumes that have not failed.
    pub(crate) fn in_use(&self) -> Vec<Arc<DataVolume>> {
        self.all().iter().filter(|volume| !volume.has_failed()).cloned().collect()
    }

    /// The directories out of use.
    pub(crate) fn failures(&self) -> &VolumeFailures {
        &self.failures
    }

    /// A volume in use of `storage_type` with room for `len` bytes.
    pub(super) fn choose(
        &self,
        storage_type: StorageType,
        len: u64,
    ) -> Result<Arc<DataVolume>, RemoteException> {
        self.chooser.choose(&self.in_use(), storage_type, len)
    }

    /// Adds a volume; that its directory failed before does not count any more.
    pub(super) fn add(&self, volume: &Arc<DataVolume>) {
        let mut list = self.list.write();
        *list = list.iter().chain([volume]).cloned().collect();
        drop(list);
        self.failures.end(volume.root());
    }

    /// Removes a volume; that it failed still counts.
    pub(super) fn remove(&self, volume: &Arc<DataVolume>) {
        let mut list = self.list.write();
        *list = list.iter().filter(|known| !Arc::ptr_eq(known, volume)).cloned().collect();
    }
}
