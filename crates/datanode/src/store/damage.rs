//! What a failed read means for the replica that was read, and for its volume.

use super::pool::BlockPool;
use super::pools::BlockPools;
use super::volume::DataVolume;
use super::volume_checks::VolumeChecks;
use std::sync::Arc;
use zerohop_replica::{ErrorKind, StoredReplica};
use zerohop_wire::ExtendedBlock;

/// Why a replica is thought to be damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suspicion {
    /// The disk returned an error.
    Disk,
    /// A file ended before the replica does, or is not there.
    Short,
}

impl Suspicion {
    /// Returns the cause that an operator reads.
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Disk => "the disk returned an error when it was read",
            Self::Short => "a file of it is missing or too short",
        }
    }

    /// What an error of a replica's files leads to suspect; `None` where it says nothing of them.
    pub(crate) fn of(error: &zerohop_replica::Error) -> Option<Self> {
        match error.kind() {
            ErrorKind::Io => Some(Self::Disk),
            ErrorKind::Corrupt | ErrorKind::NotFound => Some(Self::Short),
            _ => None,
        }
    }
}

/// Checks the volume of a replica that could not be read, and then the replica. Returns its block as
/// it is known here, and its volume, if it is finalized and damaged; not if it has changed since, or
/// if the volume failed with all its replicas.
pub(super) fn check_damage(
    pools: &BlockPools,
    checks: VolumeChecks<'_>,
    block: &ExtendedBlock,
    why: Suspicion,
) -> Option<(ExtendedBlock, Arc<DataVolume>)> {
    let pool = pools.get(&block.pool).ok()?;
    let replica = pool.get(block.block.id)?;
    checks.check(&replica.volume);
    let stored = || {
        let status = replica.lock();
        status.finalized().filter(|_| pool.holds(&replica))
    };
    let known = stored()?;
    let is_damaged = why == Suspicion::Disk || is_short(&pool, &replica.volume, &known);
    if !is_damaged || stored() != Some(known) {
        return None;
    }
    let block = ExtendedBlock { pool: Arc::clone(&pool.id), block: known.block };
    Some((block, Arc::clone(&replica.volume)))
}

fn is_short(pool: &BlockPool, volume: &DataVolume, known: &StoredReplica) -> bool {
    let Some(files) = volume.pool(&pool.id) else { return false };
    match files.open(&known.block, known.place) {
        Ok(reader) => reader.check_len(known.block.len).is_err(),
        Err(error) => Suspicion::of(&error).is_some(),
    }
}
