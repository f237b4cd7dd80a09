//! Saving the namespace: on request, and at the start when the last image is old.

use crate::Error;
use crate::core::Core;
use crate::loader::image_info;
use crate::storage::{LoadReport, Ticket};
use std::sync::atomic::Ordering;
use zerohop_conf::{Conf, keys};
use zerohop_journal::image::ImageWriter;
use zerohop_wire::{JavaException, RemoteException, TxId};

/// The text Hadoop refuses with.
pub(crate) const NEEDS_SAFE_MODE: &str =
    "Safe mode should be turned ON in order to create namespace image.";

/// Whether an image is to be saved at the start because the loaded one is old, in time or in edits
/// (`FSImage.needsResaveBasedOnStaleCheckpoint`): else nothing bounds the edits that are kept, and the time the next start takes. With no
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

impl Core {
    /// The transaction of the newest image.
    pub(crate) fn last_checkpoint_txid(&self) -> i64 {
        self.checkpoint_txid.load(Ordering::Relaxed)
    }

    /// Ends the segment of the edit log and begins the next; the end, and what must be synced before anybody hears of it.
    ///
    /// # Errors
    /// `SafeModeException`.
    pub(crate) fn roll_edits(&self) -> Result<(TxId, Ticket), RemoteException> {
        self.read(|namespace| {
            namespace.check_safe_mode(|| "Log not rolled".to_owned())?;
            Ok(self.log.roll())
        })
    }

    /// Saves an image, unless the last one is younger than `window_s` seconds and fewer than `gap` transactions came
    /// since; with both zero always. Blocks.
    pub(crate) fn save_namespace_if_due(
        &self,
        window_s: u64,
        gap: u64,
    ) -> Result<bool, RemoteException> {
        let _one_at_a_time = self.saving.lock();
        if window_s > 0 || gap > 0 {
            let now_ms = self.clock.now().wall_ms;
            let age_ms = now_ms.saturating_sub(self.checkpoint_ms.load(Ordering::Relaxed));
            let edits = self.log.last_txid().0 - self.last_checkpoint_txid();
            if age_ms <= window_s.saturating_mul(1000) && edits <= gap as i64 {
                return Ok(false);
            }
        }
        self.save_namespace().map(|()| true)
    }

    /// The image is made in memory under the read lock, together with the end of the segment: so it
    /// is exactly what that segment leads to. The disks are waited for without any lock.
    fn save_namespace(&self) -> Result<(), RemoteException> {
        let failed = |error: &dyn std::fmt::Display| JavaException::Io.with(error.to_string());
        let info = self.storage.info();
        let mut bytes = Vec::new();
        let made = self.read(|namespace| {
            if !namespace.blocks.safe_mode().is_on() {
                return Err(JavaException::Io.with(NEEDS_SAFE_MODE));
            }
            let (ended, ticket) = self.log.roll();
            let mut image = ImageWriter::new(&mut bytes);
            let digest = namespace
                .save_image(&mut image, image_info(info, ended))
                .and_then(|()| image.finish());
            Ok((ended, ticket, digest))
        });
        let (ended, ticket, digest) = made?;
        ticket.wait().map_err(|error| failed(&error))?;
        let digest = digest.map_err(|error| failed(&error))?;
        let saved = self.storage.save_made_image(ended.0, &bytes, &digest);
        saved.map_err(|error| failed(&error))?;
        self.checkpoint_txid.store(ended.0, Ordering::Relaxed);
        self.checkpoint_ms.store(self.clock.now().wall_ms, Ordering::Relaxed);
        Ok(())
    }
}
