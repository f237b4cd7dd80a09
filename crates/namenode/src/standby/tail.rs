//! Edits of the active NameNode, read and applied as they come.

use crate::core::Core;
use crate::storage::StorageError;
use std::convert::Infallible;
use std::sync::Arc;
use zerohop_journal::log::EditCursor;
use zerohop_system::clock;
use zerohop_wire::TxId;

/// Follows edits until it is aborted. A pass that has begun continues after that, but applies no edits once a later one or a takeover
/// has begun: see [`Pass`](crate::following::Pass).
pub(super) async fn run(core: Arc<Core>) -> Infallible {
    let mut wait = core.following.period;
    loop {
        let looking = core.clone();
        let found_any = match tokio::task::spawn_blocking(move || look(&looking)).await {
            Ok(Ok(count)) => count > 0,
            Ok(Err(StorageError::Replay { what, source })) => {
                // As when a start meets such an edit: what this namespace would become is not what the active one has.
                let reason = format!(
                    "Unknown error encountered while tailing edits: cannot apply {what}: {source}"
                );
                tracing::error!("{reason}");
                _ = core.log_failed.send(Some(reason));
                std::future::pending().await
            }
            Ok(Err(gap @ StorageError::Gap { .. })) => {
                core.following.set_gap(Some(gap.to_string()));
                false
            }
            Ok(Err(error)) => {
                tracing::warn!("Edits could not be read, and are tried again: {error}");
                false
            }
            Err(error) => {
                tracing::error!("a look for edits ended: {error}");
                false
            }
        };
        wait = core.following.next_wait(wait, found_any);
        clock::sleep(wait).await;
    }
}

/// Applies the edits that there are; how many.
pub(super) fn look(core: &Core) -> Result<i64, StorageError> {
    let following = &core.following;
    // It may have become active since this look was planned.
    let Some(pass) = following.begin_pass().filter(|_| !core.ha.is_active()) else { return Ok(0) };
    let (before, begun) = (core.served.applied(), clock::now());
    let from = TxId(before.0 + 1);
    let mut edits = EditCursor::new(&*core.storage, from, following.in_progress);
    let is_upgrading = || core.read(|namespace| namespace.rolling_upgrade().is_under_way());
    let was_upgrading = is_upgrading();
    let caught_up = core.served.catch_up_while(&mut edits, TxId(i64::MAX), || pass.hold());
    if was_upgrading && !is_upgrading() {
        core.keep_rollback_images();
    }
    caught_up?;
    let count = core.served.applied().0 - before.0;
    core.activity.tails.add_ms(clock::since(begun));
    core.activity.edits_loaded.add(u64::try_from(count).unwrap_or(0));
    if count > 0 {
        following.set_gap(None);
    } else if following.is_gap_check_due() {
        core.storage.history().check_reachable(edits.next_txid())?;
        following.set_gap(None);
    }
    Ok(count)
}
