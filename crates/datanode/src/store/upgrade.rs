//! Upgrades, as the NameNode of a block pool reports them.

use super::volumes::Volumes;
use zerohop_replica::{Pool, UpgradePhase, finalize_volume_upgrade};

/// Deletes what the volumes keep of a block pool from before an upgrade: the replicas that were deleted since, too, take space
/// until then (`DataStorage.finalizeUpgrade`). Blocks.
pub(super) fn finalize_upgrade(volumes: &Volumes, pool_id: &str) {
    for volume in volumes.in_use() {
        let done = finalize_volume_upgrade(volume.root()).and_then(|was_of_volume| {
            match volume.pool(pool_id) {
                Some(part) if !was_of_volume => part.trash().finalize_upgrade(),
                _ => Ok(()),
            }
        });
        if let Err(error) = done {
            tracing::warn!("cannot finalize the upgrade of block pool {pool_id}: {error}");
        }
    }
}

/// From now on deletions in a block pool are as this phase wants them; no disk is asked. Gives the pool's parts on those
/// volumes that [`apply_upgrade_phase`] has to bring there.
pub(super) fn enter_upgrade_phase(
    volumes: &Volumes,
    pool_id: &str,
    phase: UpgradePhase,
) -> Vec<Pool> {
    let volumes = volumes.in_use();
    let parts = volumes.iter().filter_map(|volume| volume.pool(pool_id));
    parts.filter(|part| part.trash().enter(phase)).collect()
}

/// Writes or deletes the marker and the trash. Blocks.
pub(crate) fn apply_upgrade_phase(parts: &[Pool], phase: UpgradePhase) {
    for part in parts {
        if let Err(error) = part.trash().apply(phase) {
            tracing::warn!("{error}");
        }
    }
}
