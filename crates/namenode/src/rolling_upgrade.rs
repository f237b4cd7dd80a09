//! `dfsadmin -rollingUpgrade`: the image to roll back to on the disk, and the upgrade in the namespace and its log.
//!
//! Prepare saves the image first and logs the start after, finalize logs the end first and renames the image after: a crash
//! in between leaves an image that no upgrade needs, which the next start makes an ordinary one, but never an upgrade that
//! cannot be rolled back.
//!
//! Where there are several NameNodes, the active one serves on: the start is logged, its segment is ended, and the standby that
//! finds the start saves the image to roll back to, at once, and sends it to the others.

use crate::call_error::CallError;
use crate::checkpoint::ImageKind;
use crate::core::Core;
use crate::ha::OperationCategory;
use crate::safe_mode::leave_safe_mode;
use zerohop_namespace::{OpContext, RollingUpgrade};
use zerohop_wire::TxId;

/// How far a rolling upgrade is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RollingUpgradeReport {
    pub(crate) upgrade: RollingUpgrade,
    /// Whether it can be rolled back; true for one that is finalized, as Apache has it.
    pub(crate) has_rollback_image: bool,
}

impl Core {
    /// The rolling upgrade under way, if there is one. Looks into the name directories.
    pub(crate) fn query_rolling_upgrade(&self) -> Option<RollingUpgradeReport> {
        let upgrade = self.read(|namespace| namespace.rolling_upgrade());
        if upgrade.is_under_way() { self.describe_rolling_upgrade(upgrade) } else { None }
    }

    /// Saves an image to roll back to, leaves safe mode and begins a rolling upgrade; one that is under way already is
    /// only told of. Blocks until the start is on disk.
    ///
    /// # Errors
    /// [`CallError::NeedsSafeMode`] outside safe mode, and a failure if no image could be saved
    /// (`FSNamesystem.startRollingUpgradeInternalForNonHA`).
    pub(crate) fn prepare_rolling_upgrade(
        &self,
        op: &OpContext,
    ) -> Result<Option<RollingUpgradeReport>, CallError> {
        let _one_at_a_time = self.checkpoints.saving.lock();
        if let Some(known) = self.query_rolling_upgrade() {
            return Ok(Some(known));
        }
        if self.service.is_ha_enabled() {
            return self.start_rolling_upgrade(op);
        }
        if !self.read(|namespace| namespace.blocks().safe_mode().is_on()) {
            return Err(CallError::NeedsSafeMode);
        }
        let ended = self.save_from_disk(ImageKind::Rollback)?;
        let (started, sync) = self.write(|namespace| -> Result<RollingUpgrade, CallError> {
            self.check_unchanged_since(ended, namespace.blocks().safe_mode().is_on())?;
            leave_safe_mode(namespace.blocks_mut().safe_mode_mut(), false);
            Ok(namespace.rolling_upgrades(op).start()?)
        });
        let started = started.inspect_err(|_| self.storage.rollback_images().discard())?;
        sync.map_or(Ok(()), |sync| sync.wait())?;
        tracing::info!("a rolling upgrade begins: it can be rolled back to transaction {ended}");
        Ok(self.describe_rolling_upgrade(started))
    }

    /// Logs the start, and ends the segment so that standbys find it.
    fn start_rolling_upgrade(
        &self,
        op: &OpContext,
    ) -> Result<Option<RollingUpgradeReport>, CallError> {
        let (started, _) = self.write(|namespace| -> Result<RollingUpgrade, CallError> {
            self.ha.check(OperationCategory::Write)?;
            Ok(namespace.rolling_upgrades(op).start_while_serving()?)
        });
        let started = started?;
        self.roll_edits()?.1.wait()?;
        tracing::info!("a rolling upgrade begins: a standby saves the image to roll back to");
        Ok(self.describe_rolling_upgrade(started))
    }

    /// What a NameNode does that found the end of a rolling upgrade in another one's edits.
    pub(crate) fn keep_rollback_images(&self) {
        if let Err(error) = self.storage.rollback_images().finalize() {
            // The next start tries again.
            tracing::warn!("an image to roll back to is left over: {error}");
        }
    }

    /// Whether this standby is the one to save the image to roll back to.
    pub(crate) fn needs_rollback_image(&self) -> bool {
        self.read(|namespace| namespace.rolling_upgrade().is_under_way())
            && !self.storage.rollback_images().exist()
    }

    /// The image holds everything only if nothing was logged but the begin of the segment behind it.
    fn check_unchanged_since(&self, ended: TxId, is_safe_mode_on: bool) -> Result<(), CallError> {
        if is_safe_mode_on && self.last_txid().0 == ended.0 + 1 {
            return Ok(());
        }
        Err(CallError::SafeModeLeft)
    }

    /// Ends the rolling upgrade: there is no way back from here on. Blocks until the end is on disk.
    ///
    /// # Errors
    /// The namespace's `Error::SafeMode`.
    pub(crate) fn finalize_rolling_upgrade(
        &self,
        op: &OpContext,
    ) -> Result<Option<RollingUpgradeReport>, CallError> {
        let _one_at_a_time = self.checkpoints.saving.lock();
        if !self.read(|namespace| namespace.rolling_upgrade().is_under_way()) {
            return Ok(None);
        }
        let (ended, sync) = self.write(|namespace| namespace.rolling_upgrades(op).finalize());
        let ended = ended?;
        sync.map_or(Ok(()), |sync| sync.wait())?;
        if self.service.is_ha_enabled() {
            self.roll_edits()?.1.wait()?;
        }
        self.keep_rollback_images();
        tracing::info!("the rolling upgrade is finalized");
        Ok(self.describe_rolling_upgrade(ended))
    }

    fn describe_rolling_upgrade(&self, upgrade: RollingUpgrade) -> Option<RollingUpgradeReport> {
        let has_rollback_image = !upgrade.is_under_way() || self.storage.rollback_images().exist();
        Some(RollingUpgradeReport { upgrade, has_rollback_image })
    }
}
