//! Edits of the active NameNode, read and applied as they come.

use crate::core::Core;
use crate::storage::StorageError;
use std::convert::Infallible;
use std::sync::Arc;
use zerohop_journal::log::EditCursor;
use zerohop_system::clock;
use zerohop_wire::TxId;

/// Runs until it is aborted; never ends by itself. A look for edits that has begun then goes on: see
/// [`Following::alone`](crate::following::Following::alone).
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
    let _alone = core.following.alone();
    // It may have become active while this waited.
    if core.ha.is_active() {
        return Ok(0);
    }
    let (before, begun) = (core.served.applied(), clock::now());
    let from = TxId(before.0 + 1);
    let mut edits = EditCursor::new(&*core.storage, from, core.following.in_progress);
    let is_upgrading = || core.read(|namespace| namespace.rolling_upgrade().is_under_way());
    let was_upgrading = is_upgrading();
    let caught_up = core.served.catch_up(&mut edits, TxId(i64::MAX));
    if was_upgrading && !is_upgrading() {
        core.keep_rollback_images();
    }
    caught_up?;
    let count = core.served.applied().0 - before.0;
    core.activity.tails.add_ms(clock::since(begun));
    core.activity.edits_loaded.add(u64::try_from(count).unwrap_or(0));
    // Out of JournalNodes' memory edits come without a gap, and it is asked often.
    if count == 0 && !core.following.in_progress {
        core.storage.history().check_no_gap(edits.next_txid())?;
    }
    Ok(count)
}
