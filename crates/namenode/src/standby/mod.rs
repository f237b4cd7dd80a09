//! What a standby does by itself: it follows the edits of the active NameNode, has that one end its segments, and makes
//! images for both.

mod checkpoint;
mod roll;
mod tail;

use crate::core::Core;
use crate::supervise::supervise;
use std::sync::Arc;

/// Starts what a standby does by itself.
pub(crate) fn start_jobs(core: &Arc<Core>) {
    core.state_jobs.add([
        supervise("following the edits of another NameNode", tail::run(core.clone())),
        supervise("having another NameNode roll its edit log", roll::run(core.clone())),
    ]);
    if core.following.checkpoints && core.service.is_ha_enabled() {
        core.state_jobs.add([supervise("making checkpoints", checkpoint::run(core.clone()))]);
    }
}
