//! What a standby does by itself: it follows the edits of the active NameNode, has that one end its segments, and makes
//! images for both. An observer does the same but for the images.

mod checkpoint;
mod roll;
mod tail;

use crate::core::Core;
use crate::ha::HaState;
use crate::supervise::supervise;
use std::sync::Arc;

/// Starts what a standby or an observer does by itself.
pub(crate) fn start_jobs(core: &Arc<Core>) {
    core.state_jobs.add([
        supervise("following the edits of another NameNode", tail::run(core.clone())),
        supervise("having another NameNode roll its edit log", roll::run(core.clone())),
    ]);
    let is_standby = core.ha.state() == HaState::Standby;
    if is_standby && core.following.checkpoints && core.service.is_ha_enabled() {
        core.state_jobs.add([supervise("making checkpoints", checkpoint::run(core.clone()))]);
    }
}

/// Applies the last edits of the active NameNode from JournalNodes' memory. They forget them when the next writer is promised an epoch;
/// what is left then is read from whole segments, however long those are.
pub(crate) fn look_once(core: &Core) {
    if core.following.in_progress
        && let Err(error) = tail::look(core)
    {
        tracing::debug!("The last edits are read from segments: {error}");
    }
}
