//! What happens by itself as time passes, driven by one task.

use crate::conditions;
use crate::core::Core;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use zerohop_namespace::blocks::{AdminState, Now};
use zerohop_namespace::{Namespace, OpContext};

/// How often DataNodes, safe mode and redundancy are looked at.
const TICK: Duration = Duration::from_millis(500);
/// Steps of freeing deleted inodes, and files taken from lost writers, in one go: the lock is held that long.
const FREED_MAX: usize = 1000;
const LEASES_MAX: usize = 100;
/// Directives, files and blocks of the cache that are looked at in one go.
pub(crate) const CACHE_SCAN_MAX: usize = 1000;

/// Runs until it is aborted; never ends by itself.
pub(crate) async fn run(core: Arc<Core>) -> Infallible {
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let mut check_due_ms = 0;
    loop {
        ticks.tick().await;
        let now = core.clock.now();
        if now.mono_ms >= check_due_ms {
            check_due_ms = now.mono_ms + conditions::CHECK_INTERVAL.as_millis() as u64;
            core.events.compare(conditions::present(&core));
        }
        note_safe_mode(&core, now);
        let was_safe = core.read(|namespace| namespace.blocks().safe_mode().is_starting());
        let (is_safe, _) = core.write(|namespace| {
            namespace.tick(now);
            namespace.blocks_mut().datanode_admin().check_leaving();
            namespace.blocks().safe_mode().is_starting()
        });
        if was_safe && !is_safe {
            tracing::info!("STATE* Safe mode is OFF");
        }
        continue_walks(&core).await;
        free_deleted(&core).await;
    }
}

/// How long the safe mode of the start lasted.
fn note_safe_mode(core: &Core, now: Now) {
    let took = &core.activity.safe_mode_ms;
    if took.get() == 0 && !core.read(|namespace| namespace.blocks().safe_mode().is_starting()) {
        took.set(i64::try_from(now.mono_ms).unwrap_or(i64::MAX).max(1));
    }
}

/// What only the active NameNode does: leases of writers that fell silent, and what DataNodes shall hold in memory. Runs until
/// it is aborted.
pub(crate) async fn watch_leases_and_cache(core: Arc<Core>) -> Infallible {
    let mut ticks = tokio::time::interval(TICK);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    let (mut lease_due_ms, mut cache_due_ms) = (0, 0);
    loop {
        ticks.tick().await;
        let now = core.clock.now();
        if now.mono_ms >= lease_due_ms {
            lease_due_ms = now.mono_ms + core.settings.lease_recheck.as_millis() as u64;
            check_leases(&core);
        }
        if core.read(Namespace::cache_changes).is_some() || now.mono_ms >= cache_due_ms {
            cache_due_ms = now.mono_ms + core.settings.cache_refresh.as_millis() as u64;
            scan_cache(&core, now).await;
        }
    }
}

/// The death of a DataNode, one that leaves service, host files that were read again, the end of safe mode: their blocks, a
/// slice at a time.
async fn continue_walks(core: &Core) {
    loop {
        let ((has_more, changes), _) = core.write(|namespace| {
            let has_more = namespace.blocks_mut().continue_walks();
            (has_more, namespace.blocks_mut().take_admin_changes())
        });
        changes.into_iter().for_each(|(node, state)| log_admin_change(&node, state));
        if !has_more {
            return;
        }
        tokio::task::yield_now().await;
    }
}

fn log_admin_change(node: &str, state: AdminState) {
    if state == AdminState::Decommissioned {
        tracing::info!("Decommissioning complete for node {node}");
    } else {
        tracing::info!("Maintenance: node {node} is {}", state.name());
    }
}

/// Which DataNodes shall hold what in memory; not before they have reported what they have.
async fn scan_cache(core: &Core, now: Now) {
    let scan = |namespace: &mut Namespace| {
        let is_used = namespace.cache_changes().is_some() || namespace.has_cache_directives();
        is_used
            && !namespace.blocks().safe_mode().is_on()
            && namespace.cache_scanner().continue_scan(now, CACHE_SCAN_MAX)
    };
    while core.write(scan).0 {
        tokio::task::yield_now().await;
    }
}

/// Files whose writers have been silent beyond the hard limit are recovered; no caller waits for the edits.
fn check_leases(core: &Core) {
    let op = OpContext::internal(core.clock.now());
    let is_on = |core: &Core| core.read(|namespace| namespace.blocks().safe_mode().is_on());
    if !is_on(core) {
        _ = core.write(|namespace| namespace.lease_manager(&op).check_leases(LEASES_MAX));
    }
}

/// Frees what was deleted, a piece at a time so that others get the lock in between.
async fn free_deleted(core: &Core) {
    loop {
        let ((has_more, freed), _) = core.write(|namespace| {
            let before = namespace.stats().inodes;
            let has_more = namespace.free_deleted(FREED_MAX);
            (has_more, before.saturating_sub(namespace.stats().inodes))
        });
        core.activity.files_deleted.add(freed);
        if !has_more {
            return;
        }
        tokio::task::yield_now().await;
    }
}
