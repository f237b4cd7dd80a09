//! Checkpoints: when they are due, and how an image is saved while the NameNode serves.
//!
//! The edit log is rolled, and a second namespace is loaded from the newest image and the finished segments: the way of
//! Apache's SecondaryNameNode, in a thread of this process. Nothing is read from the live namespace, so its lock is not
//! held at all.

use crate::Error;
use crate::call_error::CallError;
use crate::core::Core;
use crate::ha::OperationCategory;
use crate::loader::{CheckpointLoader, image_info};
use crate::storage::{LoadReport, PendingSync, StorageError};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::{Interval, MissedTickBehavior};
use zerohop_conf::{Conf, keys};
use zerohop_namespace::Namespace;
use zerohop_namespace::blocks::BlockManager;
use zerohop_system::clock;
use zerohop_wire::TxId;

/// What an image is saved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImageKind {
    /// To start from.
    Checkpoint,
    /// To roll back to, should a rolling upgrade fail.
    Rollback,
}

/// Deleted inodes freed at a time.
const FREED_MAX: usize = 10_000;

/// Whether an image is to be saved at the start because the loaded one is old, in time or in edits
/// (`FSImage.needsResaveBasedOnStaleCheckpoint`): else nothing bounds the time the next start takes. With no
/// edits behind it the image is as good as a new one.
pub(crate) fn is_due_at_start(
    conf: &Conf,
    loaded: &LoadReport,
    now_ms: u64,
) -> Result<bool, Error> {
    let period_ms = conf.get(&keys::DFS_NAMENODE_CHECKPOINT_PERIOD)?.as_millis() as u64;
    let edits_max = conf.get(&keys::DFS_NAMENODE_CHECKPOINT_TXNS)?;
    let age_ms = now_ms.saturating_sub(loaded.image_written_ms);
    let is_long = i64::try_from(loaded.edits).is_ok_and(|edits| edits > edits_max);
    Ok(loaded.edits > 0 && (age_ms > period_ms || is_long))
}

/// Saves an image whenever one is due; never ends by itself.
pub(crate) async fn run(core: Arc<Core>) -> Infallible {
    let mut ticks = ticks(core.checkpoints.schedule.check_interval);
    loop {
        ticks.tick().await;
        if !core.is_checkpoint_due() {
            continue;
        }
        let begun = clock::now();
        match in_background(core.clone(), Core::save_checkpoint).await {
            Ok(txid) => tracing::info!(
                "Saved an image of transaction {txid} in {} ms",
                clock::since(begun).as_millis()
            ),
            Err(error) => tracing::error!("no checkpoint was made: {error}"),
        }
    }
}

/// Ends segments of the edit log that have become long; never ends by itself.
pub(crate) async fn roll_long_segments(core: Arc<Core>) -> Infallible {
    let schedule = core.checkpoints.schedule;
    let mut ticks = ticks(schedule.roll_check_interval);
    loop {
        ticks.tick().await;
        let log = core.log().stats();
        if log.last_txid - log.segment_first_txid < schedule.segment_max {
            continue;
        }
        // In safe mode nothing is added to the segment.
        if let Ok((ended, sync)) = core.roll_edits()
            && sync.synced().await.is_ok()
        {
            tracing::info!(
                "NameNode rolling its own edit log because number of edits in open segment exceeds threshold of {}: it \
                 ended with transaction {ended}",
                schedule.segment_max
            );
        }
    }
}

/// The first one comes after an interval: a start has other things to do, and has saved an image if that was due.
pub(crate) fn ticks(interval: Duration) -> Interval {
    let mut ticks = tokio::time::interval_at(clock::runtime_now() + interval, interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    ticks
}

/// A thread of its own, which gives way to those that serve.
pub(crate) async fn in_background<T: Send + 'static>(
    core: Arc<Core>,
    work: impl FnOnce(&Core) -> Result<T, CallError> + Send + 'static,
) -> Result<T, CallError> {
    let (done, result) = oneshot::channel();
    let work = move || {
        // Threads that it starts inherit this. Without it, it is only less polite.
        _ = rustix::process::setpriority_process(Some(rustix::thread::gettid()), 19);
        _ = done.send(work(&core));
    };
    let thread = std::thread::Builder::new().name("checkpoint".to_owned()).spawn(work);
    thread.map_err(|error| CallError::Failed(format!("cannot start a thread: {error}")))?;
    result.await.unwrap_or_else(|_| Err(CallError::failed("its thread panicked")))
}

impl Core {
    /// An image is due when enough edits came, or enough time went by with any; not in safe mode, in which the log is not
    /// rolled.
    fn is_checkpoint_due(&self) -> bool {
        // One of them begins the segment in progress.
        let edits = self.last_txid().0 - self.checkpoints.last_txid() - 1;
        let age_ms = self.checkpoints.age_ms(self.clock.now());
        edits > 0
            && self.checkpoints.schedule.is_due(edits, age_ms)
            && !self.read(|namespace| namespace.blocks().safe_mode().is_on())
    }

    /// Ends the segment of the edit log and begins the next; the end, and what must be synced before the answer leaves.
    ///
    /// # Errors
    /// The namespace's `Error::SafeMode`.
    pub(crate) fn roll_edits(&self) -> Result<(TxId, PendingSync), CallError> {
        self.read(|namespace| {
            self.ha.check(OperationCategory::Journal)?;
            namespace.check_safe_mode(|| "Log not rolled".to_owned())?;
            Ok(self.log().roll())
        })
    }

    /// Saves an image in safe mode, unless the last one is younger than `window_s` seconds and fewer than `gap`
    /// transactions came since; with both zero always. Blocks.
    pub(crate) fn save_namespace_if_due(&self, window_s: u64, gap: u64) -> Result<bool, CallError> {
        if window_s > 0 || gap > 0 {
            let age_ms = self.checkpoints.age_ms(self.clock.now());
            let edits = self.last_txid().0 - self.checkpoints.last_txid();
            if age_ms <= window_s.saturating_mul(1000) && edits <= gap as i64 {
                return Ok(false);
            }
        }
        if !self.read(|namespace| namespace.blocks().safe_mode().is_on()) {
            return Err(CallError::NeedsSafeMode);
        }
        if !self.ha.is_active() {
            // What the active one has not finished yet comes with the next image.
            self.save_from_finished_segments()?;
            return Ok(true);
        }
        if let Err(error) = self.save_checkpoint() {
            // The operator may be after just that: an image in place of what the disk has no more.
            tracing::warn!("the image is made from memory, for: {error}");
            self.save_from_memory()?;
        }
        Ok(true)
    }

    fn save_checkpoint(&self) -> Result<TxId, CallError> {
        let _one_at_a_time = self.checkpoints.saving.lock();
        self.save_from_disk(ImageKind::Checkpoint)
    }

    /// Rolls the edit log and saves the image of what the disk has up to there. Blocks; the namespace's lock is free. The
    /// caller saves no other image meanwhile.
    pub(crate) fn save_from_disk(&self, kind: ImageKind) -> Result<TxId, CallError> {
        let (ended, sync) = self.log().roll();
        sync.wait()?;
        let mut namespace = self.namespace_for_checkpoint();
        let mut loader = self.checkpoint_loader(&mut namespace);
        self.storage.load_until(ended.0, &mut loader).map_err(CallError::failed)?;
        while namespace.free_deleted(FREED_MAX) {}
        self.save(kind, ended, &namespace).map_err(CallError::failed)?;
        Ok(ended)
    }

    /// Saves the image of the newest one with all finished segments behind it; none if there are none. Blocks; the
    /// namespace's lock is free, and nothing is written to the edit log.
    pub(crate) fn save_from_finished_segments(
        &self,
    ) -> Result<Option<(ImageKind, TxId)>, CallError> {
        let _one_at_a_time = self.checkpoints.saving.lock();
        let mut namespace = self.namespace_for_checkpoint();
        let mut loader = self.checkpoint_loader(&mut namespace);
        let loaded = self.storage.load_finished(&mut loader).map_err(CallError::failed)?;
        if loaded.last_txid <= loaded.image_txid {
            return Ok(None);
        }
        while namespace.free_deleted(FREED_MAX) {}
        // The first image behind the begin of a rolling upgrade is the one that it can be rolled back to.
        let kind = match namespace.rolling_upgrade().is_under_way() {
            true if !self.storage.rollback_images().exist() => ImageKind::Rollback,
            _ => ImageKind::Checkpoint,
        };
        let last = TxId(loaded.last_txid);
        self.save(kind, last, &namespace).map_err(CallError::failed)?;
        Ok(Some((kind, last)))
    }

    fn namespace_for_checkpoint(&self) -> Namespace {
        let blocks = BlockManager::new(self.settings.block_params.clone());
        Namespace::new(self.settings.namespace_params.clone(), blocks)
    }

    fn checkpoint_loader<'a>(&self, namespace: &'a mut Namespace) -> CheckpointLoader<'a> {
        let has_rollback_image = self.storage.rollback_images().exist();
        CheckpointLoader { namespace, now: self.clock.now(), has_rollback_image }
    }

    /// Saves the live namespace. Changes wait for that long: it is for a NameNode in safe mode whose disks have lost
    /// what they had.
    fn save_from_memory(&self) -> Result<(), CallError> {
        let _one_at_a_time = self.checkpoints.saving.lock();
        self.read(|namespace| {
            if !namespace.blocks().safe_mode().is_on() {
                return Err(CallError::NeedsSafeMode);
            }
            let (ended, sync) = self.log().roll();
            sync.wait()?;
            self.save(ImageKind::Checkpoint, ended, namespace).map_err(CallError::failed)
        })
    }

    fn save(
        &self,
        kind: ImageKind,
        ended: TxId,
        namespace: &Namespace,
    ) -> Result<(), StorageError> {
        let info = image_info(self.storage.info(), ended);
        match kind {
            ImageKind::Checkpoint => {
                self.storage.save_image(ended.0, |image| namespace.save_image(image, info))?;
                self.checkpoints.note(ended.0, self.clock.now());
                Ok(())
            }
            ImageKind::Rollback => {
                self.storage.save_rollback_image(ended.0, |image| namespace.save_image(image, info))
            }
        }
    }
}
