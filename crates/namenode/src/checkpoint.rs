//! Saving the namespace on request.

use crate::core::Core;
use crate::loader::image_info;
use std::sync::atomic::Ordering;
use zerohop_wire::{JavaException, RemoteException};

impl Core {
    /// The transaction of the newest image.
    pub(crate) fn last_checkpoint_txid(&self) -> i64 {
        self.checkpoint_txid.load(Ordering::Relaxed)
    }

    /// Saves an image, unless the last one is younger than `window_s` seconds and fewer than `gap` transactions came
    /// since; with both zero always. Blocks.
    pub(crate) fn save_namespace_if_due(
        &self,
        window_s: u64,
        gap: u64,
    ) -> Result<bool, RemoteException> {
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

    /// The caller has made sure of safe mode: nothing changes meanwhile, and readers go on.
    fn save_namespace(&self) -> Result<(), RemoteException> {
        let failed = |error: &dyn std::fmt::Display| JavaException::Io.with(error.to_string());
        let (ended, ticket) = self.log.roll();
        ticket.wait().map_err(|error| failed(&error))?;
        let info = self.storage.info();
        let saved = self.read(|namespace| {
            self.storage
                .save_image(ended.0, |image| namespace.save_image(image, image_info(info, ended)))
        });
        saved.map_err(|error| failed(&error))?;
        self.checkpoint_txid.store(ended.0, Ordering::Relaxed);
        self.checkpoint_ms.store(self.clock.now().wall_ms, Ordering::Relaxed);
        Ok(())
    }
}
