//! Starts and finalizes rolling upgrades.

use crate::call::Call;
use crate::{Result, RollingUpgrade};
use zerohop_journal::EditOp;
use zerohop_journal::op;

/// Starts and finalizes rolling upgrades.
pub struct RollingUpgrades<'n> {
    pub(crate) call: Call<'n>,
}

impl RollingUpgrades<'_> {
    /// Notes that an image to roll back to was saved and a rolling upgrade begins. Without high availability the NameNode
    /// is in safe mode until then, so safe mode does not refuse it.
    ///
    /// # Errors
    /// If one is under way.
    pub fn start(&mut self) -> Result<RollingUpgrade> {
        self.commit(op::RollingUpgradeStart { time_ms: self.call.ctx.now.wall_ms as i64 })
    }

    /// As [`RollingUpgrades::start`], by a NameNode of several, which serves on.
    ///
    /// # Errors
    /// `Error::SafeMode`, and if one is under way.
    pub fn start_while_serving(&mut self) -> Result<RollingUpgrade> {
        self.call.check_safe_mode(|| "Failed to start rolling upgrade".to_owned())?;
        self.start()
    }

    /// Ends the upgrade: it can no longer be rolled back. Changes nothing if no rolling upgrade is under way.
    ///
    /// # Errors
    /// `Error::SafeMode`.
    pub fn finalize(&mut self) -> Result<RollingUpgrade> {
        if !self.call.state.rolling_upgrade().is_under_way() {
            return Ok(self.call.state.rolling_upgrade());
        }
        self.call.check_safe_mode(|| "Failed to finalize rolling upgrade".to_owned())?;
        self.commit(op::RollingUpgradeFinalize { time_ms: self.call.ctx.now.wall_ms as i64 })
    }

    fn commit(&mut self, op: impl Into<EditOp>) -> Result<RollingUpgrade> {
        self.call.commit(op)?;
        Ok(self.call.state.rolling_upgrade())
    }
}
