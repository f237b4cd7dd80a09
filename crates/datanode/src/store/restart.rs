//! Replicas that stay under construction while the DataNode restarts: their writers wait for it.

use super::Failure;
use super::replica::Replica;
use super::status::{Files, Status};
use super::volume::DataVolume;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use zerohop_replica::{Place, StoredReplica};
use zerohop_system::clock;
use zerohop_wire::BlockId;
use zerohop_wire::block_report::ReplicaState;

/// Keeps a replica as one being written over a restart, should that take no longer than `time`.
pub(crate) fn mark_restart(
    pool_id: &str,
    replica: &Replica,
    time: Duration,
) -> Result<(), Failure> {
    let status = replica.lock();
    if let (Files::Live(live), ReplicaState::Rbw) = (status.files(), status.state()) {
        live.flush()?;
        live.pool().mark_restart(replica.id, millis(clock::wall() + time))?;
        tracing::info!("{pool_id}:{} waits for the restart", status.block());
    }
    Ok(())
}

/// The status of a replica whose writer waits for it, if that is so.
pub(super) fn reopened(
    volume: &DataVolume,
    pool_id: &str,
    kept: &HashMap<BlockId, u64>,
    stored: StoredReplica,
) -> Option<Status> {
    let until_ms = kept.get(&stored.block.id).filter(|_| stored.place == Place::Rbw)?;
    if *until_ms < millis(clock::wall()) {
        return None;
    }
    let live = volume.pool(pool_id)?.adopt(stored.block, stored.place);
    let live = live.inspect_err(|error| tracing::warn!("{error}")).ok()?;
    volume.discount(pool_id, stored.block.len + stored.meta_len);
    Some(Status::open(ReplicaState::Rbw, Arc::new(live)))
}

fn millis(time: SystemTime) -> u64 {
    let since = time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
