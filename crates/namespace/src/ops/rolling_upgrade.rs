//! Rolling upgrades: prepared and finalized.

use crate::{Namespace, OpContext, Result, RollingUpgrade};
use zerohop_journal::EditOp;
use zerohop_journal::op;

impl Namespace {
    /// The last rolling upgrade, and how far it is.
    pub fn rolling_upgrade(&self) -> RollingUpgrade {
        self.state.rolling_upgrade()
    }

    /// Notes that an image to roll back to was saved and a rolling upgrade begins. Without high availability the NameNode
    /// is in safe mode until then, so safe mode does not refuse it.
    ///
    /// # Errors
    /// If one is under way.
    pub fn start_rolling_upgrade(&mut self, ctx: &OpContext) -> Result<RollingUpgrade> {
        self.change_rolling_upgrade(op::RollingUpgradeStart { time_ms: ctx.now.wall_ms as i64 })
    }

    /// Gives up the way back. Changes nothing if no rolling upgrade is under way.
    ///
    /// # Errors
    /// `Error::SafeMode`.
    pub fn finalize_rolling_upgrade(&mut self, ctx: &OpContext) -> Result<RollingUpgrade> {
        if !self.state.rolling_upgrade().is_under_way() {
            return Ok(self.state.rolling_upgrade());
        }
        self.check_safe_mode(|| "Failed to finalize rolling upgrade".to_owned())?;
        self.change_rolling_upgrade(op::RollingUpgradeFinalize { time_ms: ctx.now.wall_ms as i64 })
    }

    fn change_rolling_upgrade(&mut self, op: impl Into<EditOp>) -> Result<RollingUpgrade> {
        self.commit(op)?;
        Ok(self.state.rolling_upgrade())
    }

    /// An upgrade that is recorded in the image but has no image to roll back to counts as not under way.
    pub fn forget_rolling_upgrade(&mut self) {
        self.state.forget_rolling_upgrade();
    }
}
