//! From active to standby and back, and from standby to observer and back.
//!
//! A transition is carried out to its end, whoever asked for it and may have gone: half of one leaves a NameNode without the jobs
//! of its state.

use crate::call_error::CallError;
use crate::checkpoint;
use crate::core::Core;
use crate::ha::HaState;
use crate::monitor;
use crate::service::Outcome;
use crate::standby;
use crate::storage::{EditLog, JournalFailed, StorageError};
use crate::supervise::supervise;
use crate::trash;
use std::sync::Arc;
use tokio::sync::watch;
use zerohop_journal::log::EditCursor;
use zerohop_wire::TxId;

/// What is told to the process when the edit log has failed.
pub(crate) fn report_failure(
    failed: &watch::Sender<Option<String>>,
) -> impl FnOnce(&JournalFailed) + Send + 'static {
    let failed = failed.clone();
    move |failure| {
        tracing::error!("{failure}");
        _ = failed.send(Some(failure.to_string()));
    }
}

/// Starts what a NameNode does by itself in its state.
pub(crate) fn start_jobs(core: &Arc<Core>) {
    if !core.ha.is_active() {
        return standby::start_jobs(core);
    }
    core.state_jobs.add([
        supervise("watching leases and the cache", monitor::watch_leases_and_cache(core.clone())),
        supervise("rolling the edit log", checkpoint::roll_long_segments(core.clone())),
    ]);
    if let Some(policy) = core.settings.trash.clone() {
        core.state_jobs.add([supervise("emptying the trash", trash::run(core.clone(), policy))]);
    }
    // Where there are standbys, they make them.
    if !core.service.is_ha_enabled() {
        core.state_jobs.add([supervise("making checkpoints", checkpoint::run(core.clone()))]);
    }
}

/// Ends the edit log; from here on clients are sent to another NameNode.
///
/// # Errors
/// [`CallError::Transition`] if the edit log cannot be finished: the process must end then.
pub(crate) async fn to_standby(core: Arc<Core>) -> Outcome<()> {
    to_its_end(&core, become_standby(core.clone())).await
}

async fn become_standby(core: Arc<Core>) -> Outcome<()> {
    match core.ha.state() {
        HaState::Active => end_edit_log(&core).await,
        HaState::Standby => Ok(()),
        HaState::Observer => {
            follow_as(&core, HaState::Standby).await;
            Ok(())
        }
    }
}

/// A standby answers reads from here on.
///
/// # Errors
/// [`CallError::Transition`] for the active NameNode, which must become a standby first.
pub(crate) async fn to_observer(core: Arc<Core>) -> Outcome<()> {
    to_its_end(&core, become_observer(core.clone())).await
}

async fn become_observer(core: Arc<Core>) -> Outcome<()> {
    match core.ha.state() {
        HaState::Active => Err(forbidden(HaState::Active, HaState::Observer)),
        HaState::Observer => Ok(()),
        HaState::Standby => {
            follow_as(&core, HaState::Observer).await;
            Ok(())
        }
    }
}

/// Carries out a transition in a task of the NameNode, one at a time. It goes on where its caller is dropped.
async fn to_its_end(
    core: &Arc<Core>,
    transition: impl Future<Output = Outcome<()>> + Send + 'static,
) -> Outcome<()> {
    let core = core.clone();
    let done = tokio::spawn(async move {
        let _one_at_a_time = core.transition.lock().await;
        transition.await
    });
    done.await.map_err(|error| failed(&error)).and_then(|outcome| outcome)
}

fn forbidden(from: HaState, to: HaState) -> CallError {
    CallError::Transition(format!("Cannot transition from '{}' to '{}'", from.name(), to.name()))
}

/// From standby to observer or back: the same edits are followed on.
async fn follow_as(core: &Arc<Core>, state: HaState) {
    tracing::info!("Stopping services started for {} state", core.ha.state().name());
    core.state_jobs.stop().await;
    core.write(|_| core.ha.set(state, core.clock.now().wall_ms));
    // Calls that wait for edits are carried out, or refused by the new state.
    core.served.wake();
    start_jobs(core);
}

async fn end_edit_log(core: &Arc<Core>) -> Outcome<()> {
    tracing::info!("Stopping services started for active state");
    core.state_jobs.stop().await;
    on_blocking_thread(core, |core| {
        let log = core.log();
        core.write(|namespace| {
            core.served.set_applied(log.last_txid());
            core.ha.set(HaState::Standby, core.clock.now().wall_ms);
            namespace.become_standby();
        });
        log.close().map_err(|failure| failed(&failure))?;
        // The end of the segment is a transaction, too.
        core.served.set_applied(log.last_txid());
        Ok(())
    })
    .await?;
    start_jobs(core);
    Ok(())
}

/// Finalizes what the active one before left in progress, applies what is left of its edits, and begins to write.
///
/// # Errors
/// [`CallError::Transition`] if the edits cannot be read to their end, or a new segment not be begun, and for an observer. The
/// NameNode stays what it is then.
pub(crate) async fn to_active(core: Arc<Core>) -> Outcome<()> {
    to_its_end(&core, become_active(core.clone())).await
}

async fn become_active(core: Arc<Core>) -> Outcome<()> {
    match core.ha.state() {
        HaState::Active => return Ok(()),
        HaState::Observer => return Err(forbidden(HaState::Observer, HaState::Active)),
        HaState::Standby => {}
    }
    tracing::info!("Starting services required for active state");
    core.state_jobs.stop().await;
    let taken_over = on_blocking_thread(&core, |core| {
        standby::look_once(core);
        // A look for edits that has begun may wait for a download, and applies nothing from here on.
        let _taking_over = core.following.take_over();
        if core.state_jobs.have_ended() {
            return Err(failed(&"the NameNode has been stopped"));
        }
        let log = take_over_edits(core).map_err(|error| failed(&error))?;
        core.write(|namespace| {
            core.set_log(log);
            namespace.become_active(core.clock.now());
            core.ha.set(HaState::Active, core.clock.now().wall_ms);
        });
        core.following.set_gap(None);
        Ok(())
    })
    .await;
    core.served.wake();
    // Also where it stays a standby.
    start_jobs(&core);
    taken_over
}

fn take_over_edits(core: &Core) -> Result<EditLog, StorageError> {
    let reached = core.storage.recover_unfinalized_segments()?;
    let mut edits = EditCursor::new(&*core.storage, TxId(core.served.applied().0 + 1), false);
    core.served.catch_up(&mut edits, TxId(i64::MAX))?;
    core.storage.history().check_complete(reached, edits.next_txid())?;
    // A crash may have kept the end of a rolling upgrade from its images.
    if !core.read(|namespace| namespace.rolling_upgrade().is_under_way()) {
        core.keep_rollback_images();
    }
    EditLog::start(core.storage.clone(), edits.next_txid().0, report_failure(&core.log_failed))
}

fn failed(error: &impl std::fmt::Display) -> CallError {
    CallError::Transition(error.to_string())
}

async fn on_blocking_thread(
    core: &Arc<Core>,
    work: impl FnOnce(&Core) -> Outcome<()> + Send + 'static,
) -> Outcome<()> {
    let core = core.clone();
    let done = tokio::task::spawn_blocking(move || work(&core)).await;
    done.map_err(|error| failed(&error)).and_then(|outcome| outcome)
}
