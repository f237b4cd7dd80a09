//! All replicas of this DataNode: volumes below, an index in memory above.
//!
//! Each part owns its state: the volumes with those that failed, the open block pools with their replicas, and the
//! local readers. What is done with replicas borrows the parts it needs; none of it knows the [`Store`].

pub(crate) mod choose;
mod damage;
mod disk_check;
mod failure;
mod local_readers;
mod moves;
mod on_disks;
mod open;
mod pool;
mod pools;
mod reconcile;
mod recovery;
mod removal;
pub(crate) mod replica;
mod report;
mod restart;
mod setup;
mod start;
pub(crate) mod status;
mod upgrade;
pub(crate) mod volume;
mod volume_checks;
mod volume_failures;
mod volumes;
pub(crate) mod write;
pub(crate) mod writer;

use crate::error::Error;
use crate::events::DataNodeEvents;
use crate::settings::Settings;
use crate::short_circuit::{BlockCache, Registry};
use choose::VolumeChooser;
use local_readers::LocalReaders;
use moves::ReplicaMoves;
use open::ReplicaReads;
use parking_lot::Mutex;
use pools::BlockPools;
use reconcile::Reconciler;
use recovery::ReplicaRecovery;
use removal::ReplicaRemoval;
use report::StorageState;
use setup::{SetupState, VolumeSetup};
use std::sync::Arc;
use std::time::Duration;
use volume::{DataVolume, Location, VolumeOptions};
use volume_checks::VolumeChecks;
use volume_failures::VolumeFailures;
use volumes::Volumes;
use write::ReplicaWrites;
use zerohop_replica::{Pool, UpgradePhase};
use zerohop_wire::{BlockId, ExtendedBlock};

#[cfg(test)]
mod start_test;
#[cfg(test)]
pub(crate) mod store_test;
#[cfg(test)]
mod volumes_test;

pub(crate) use damage::Suspicion;
pub(crate) use failure::Failure;
pub(crate) use open::{Opened, ReplicaFiles};
pub(crate) use pool::BlockPool;
pub(crate) use reconcile::Reconciled;
pub(crate) use recovery::RecoveryInfo;
pub(crate) use report::StorageBlocks;
pub(crate) use restart::mark_restart;
pub(crate) use upgrade::apply_upgrade_phase;

/// The parts, and what borrows them.
pub(crate) struct Store {
    setup: SetupState,
    volumes: Volumes,
    pools: BlockPools,
    local_readers: LocalReaders,
    /// How long a writer that has to make room may take to leave.
    writer_patience: Duration,
    events: Arc<DataNodeEvents>,
}

/// The parts.
impl Store {
    /// Opens and locks the directories of `dfs.datanode.data.dir`.
    pub(crate) fn open(settings: &Settings) -> Result<Self, Error> {
        let events = Arc::new(DataNodeEvents::new(settings));
        let locations = settings.data_dirs.iter().map(|text| Location::parse(text));
        let locations: Vec<Location> = locations.collect::<Result<_, _>>()?;
        let failures = VolumeFailures::new(settings, Arc::clone(&events));
        let options = VolumeOptions::from_settings(settings);
        let volumes = start::open_usable(locations, options, &failures)?;
        failures.check()?;
        let setup = SetupState {
            datanode_uuid: start::common_uuid(&volumes)?,
            disk_check_timeout: settings.disk_check_timeout,
            opening: Mutex::new(()),
        };
        Ok(Self {
            setup,
            volumes: Volumes::new(volumes, VolumeChooser::new(settings), failures),
            pools: BlockPools::default(),
            local_readers: LocalReaders::new(settings),
            writer_patience: settings.socket_timeout.min(Duration::from_secs(60)),
            events,
        })
    }

    /// Returns the events of this DataNode.
    pub(crate) fn events(&self) -> &DataNodeEvents {
        &self.events
    }

    /// This DataNode's id.
    pub(crate) fn datanode_uuid(&self) -> &str {
        &self.setup.datanode_uuid
    }

    /// The volumes, and those that failed.
    pub(crate) fn volumes(&self) -> &Volumes {
        &self.volumes
    }

    /// The open block pools, with their replicas.
    pub(crate) fn pools(&self) -> &BlockPools {
        &self.pools
    }

    /// The directories of volumes out of use.
    pub(crate) fn failures(&self) -> &VolumeFailures {
        self.volumes.failures()
    }

    /// Who reads replicas through descriptors of their own, and must hear when they change.
    pub(crate) fn slots(&self) -> &Arc<Registry> {
        self.local_readers.slots()
    }

    /// Replicas locked in memory.
    pub(crate) fn cache(&self) -> &Arc<BlockCache> {
        self.local_readers.cache()
    }
}

/// What borrows the parts.
impl Store {
    /// Opens block pools, and adds and removes volumes.
    pub(crate) fn setup(&self) -> VolumeSetup<'_> {
        VolumeSetup {
            state: &self.setup,
            volumes: &self.volumes,
            pools: &self.pools,
            checks: self.volume_checks(),
        }
    }

    /// Checks volumes, and takes those out of use that failed.
    pub(crate) fn volume_checks(&self) -> VolumeChecks<'_> {
        VolumeChecks {
            volumes: &self.volumes,
            pools: &self.pools,
            local_readers: &self.local_readers,
        }
    }

    /// Removes replicas.
    pub(crate) fn removal(&self) -> ReplicaRemoval<'_> {
        ReplicaRemoval { checks: self.volume_checks(), local_readers: &self.local_readers }
    }

    /// Opens replicas for reading.
    pub(crate) fn reads(&self) -> ReplicaReads<'_> {
        ReplicaReads {
            pools: &self.pools,
            local_readers: &self.local_readers,
            checks: self.volume_checks(),
            removal: self.removal(),
        }
    }

    /// Creates replicas, writes on them and finalizes them.
    pub(crate) fn writes(&self) -> ReplicaWrites<'_> {
        ReplicaWrites {
            volumes: &self.volumes,
            pools: &self.pools,
            local_readers: &self.local_readers,
            checks: self.volume_checks(),
            removal: self.removal(),
            writer_patience: self.writer_patience,
        }
    }

    /// Recovers replicas whose writers are gone.
    pub(crate) fn recovery(&self) -> ReplicaRecovery<'_> {
        ReplicaRecovery {
            pools: &self.pools,
            local_readers: &self.local_readers,
            removal: self.removal(),
            writer_patience: self.writer_patience,
        }
    }

    /// Moves replicas between volumes.
    pub(crate) fn moves(&self) -> ReplicaMoves<'_> {
        ReplicaMoves {
            volumes: &self.volumes,
            pools: &self.pools,
            local_readers: &self.local_readers,
            checks: self.volume_checks(),
            reads: self.reads(),
        }
    }

    /// Makes replicas in memory follow files that another program has changed.
    pub(crate) fn reconciler(&self) -> Reconciler<'_> {
        Reconciler {
            local_readers: &self.local_readers,
            checks: self.volume_checks(),
            removal: self.removal(),
        }
    }
}

/// What concerns all volumes.
impl Store {
    /// Starts to look whether all volumes are where they were, and how much space they have; takes those
    /// out whose disks do not answer. Does not wait for any disk. A look costs a small read, so it can be
    /// asked often: local readers would not notice a failure for us.
    pub(crate) fn look_at_volumes(self: &Arc<Self>) {
        for volume in self.volumes.in_use() {
            if self.volume_checks().take_out_hung(&volume) {
                continue;
            }
            let store = Arc::downgrade(self);
            volume.start_look(move |volume, reason| {
                if let Some(store) = store.upgrade() {
                    store.volume_checks().take_out(volume, reason);
                }
            });
        }
    }

    /// Checks the volume of a replica that could not be read, and then the replica. Returns its block as
    /// it is known here, and its volume, if it is finalized and damaged; not if it has changed since, or
    /// if the volume failed with all its replicas.
    pub(crate) fn check_damage(
        &self,
        block: &ExtendedBlock,
        why: Suspicion,
    ) -> Option<(ExtendedBlock, Arc<DataVolume>)> {
        damage::check_damage(&self.pools, self.volume_checks(), block, why)
    }

    /// What a heartbeat says to the NameNode of a pool; of all pools together without one. The figures
    /// are the last measured ones: no disk is asked.
    pub(crate) fn storage_reports(&self, pool_id: Option<&str>) -> StorageState {
        report::storage_state(&self.volumes, pool_id)
    }

    /// Returns the replicas of a pool by storage, for a full report, without blocks for which `is_left_out` is true.
    pub(crate) fn block_reports(
        &self,
        pool_id: &str,
        is_left_out: impl Fn(BlockId) -> bool,
    ) -> Vec<StorageBlocks> {
        report::full_report(&self.volumes, &self.pools, pool_id, is_left_out)
    }

    /// Deletes what is kept of a block pool from before an upgrade. Blocks.
    pub(crate) fn finalize_upgrade(&self, pool_id: &str) {
        upgrade::finalize_upgrade(&self.volumes, pool_id);
    }

    /// From now on deletions in a block pool are as this phase wants them; no disk is asked. Gives the pool's parts on those
    /// volumes that [`apply_upgrade_phase`] has to bring there.
    pub(crate) fn enter_upgrade_phase(&self, pool_id: &str, phase: UpgradePhase) -> Vec<Pool> {
        upgrade::enter_upgrade_phase(&self.volumes, pool_id, phase)
    }
}
