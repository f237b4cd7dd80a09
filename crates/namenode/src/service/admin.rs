//! Administration: safe mode, images, edits, upgrades.

use super::answer::{Answer, synced};
use super::call::{ServiceCall, audit, on_blocking_thread};
use super::metasave::metasave;
use crate::audit::Line;
use crate::call_error::CallError;
use crate::ha::OperationCategory as Category;
use crate::rolling_upgrade::RollingUpgradeReport;
use crate::safe_mode::leave_safe_mode;
use zerohop_namespace::error::ArgumentError;
use zerohop_wire::TxId;

/// What `setSafeMode` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SafeModeAction {
    Get,
    Enter,
    Leave,
    ForceExit,
}

impl SafeModeAction {
    /// Its name in the audit log.
    fn command(self) -> &'static str {
        match self {
            Self::Get => "safemode_get",
            Self::Enter => "safemode_enter",
            Self::Leave => "safemode_leave",
            Self::ForceExit => "safemode_force_exit",
        }
    }
}

/// What `rollingUpgrade` does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RollingUpgradeAction {
    Query,
    Prepare,
    Finalize,
}

impl RollingUpgradeAction {
    /// Its name in the audit log.
    fn command(self) -> &'static str {
        match self {
            Self::Query => "queryRollingUpgrade",
            Self::Prepare => "startRollingUpgrade",
            Self::Finalize => "finalizeRollingUpgrade",
        }
    }

    fn category(self) -> Category {
        match self {
            Self::Query => Category::Read,
            Self::Prepare | Self::Finalize => Category::Write,
        }
    }
}

/// Safe mode, images, edits, upgrades.
pub(crate) struct Administration<'s> {
    pub(super) call: &'s ServiceCall<'s>,
}

impl Administration<'_> {
    /// Whether safe mode is on afterwards. Every caller may ask; changing it is for the superuser.
    pub(crate) fn set_safe_mode(&self, action: SafeModeAction) -> Answer<bool> {
        self.call.change_as(Category::Unchecked, Line::of(action.command()), |namespace, op| {
            if action != SafeModeAction::Get {
                self.call.core.check_superuser(op)?;
            }
            let safe_mode = namespace.blocks_mut().safe_mode_mut();
            match action {
                SafeModeAction::Get => {}
                SafeModeAction::Enter => {
                    tracing::info!("STATE* Safe mode is ON.");
                    safe_mode.enter();
                }
                SafeModeAction::Leave => leave_safe_mode(safe_mode, false),
                SafeModeAction::ForceExit => leave_safe_mode(safe_mode, true),
            }
            Ok(safe_mode.is_on())
        })
    }

    /// Writes an image, unless the last one is younger than `window_s` seconds and fewer than `gap` transactions came since;
    /// true if one was written. Needs safe mode: nothing changes then, so readers are served meanwhile.
    pub(crate) fn save_namespace(&self, window_s: u64, gap: u64) -> Answer<bool> {
        if let Err(error) = self.call.check_superuser() {
            return Answer::Ready(Err(error));
        }
        if !self.call.core.read(|namespace| namespace.blocks().safe_mode().is_on()) {
            return Answer::Ready(Err(CallError::NeedsSafeMode));
        }
        let core = self.call.core.clone();
        Answer::later(async move {
            let save = move || core.save_namespace_if_due(window_s, gap);
            on_blocking_thread(save).await?
        })
    }

    /// Queries, prepares or finalizes a rolling upgrade. Saving or renaming an image takes time.
    pub(crate) fn rolling_upgrade(
        &self,
        action: RollingUpgradeAction,
    ) -> Answer<Option<RollingUpgradeReport>> {
        if let Err(error) = self
            .call
            .check_superuser()
            .and_then(|()| Ok(self.call.core.ha.check(action.category())?))
        {
            return Answer::Ready(Err(error));
        }
        let (core, caller) = (self.call.core.clone(), self.call.caller.clone());
        Answer::later(async move {
            let (op, for_work) = (caller.op_context(&core), core.clone());
            let work = move || match action {
                RollingUpgradeAction::Query => Ok(for_work.query_rolling_upgrade()),
                RollingUpgradeAction::Prepare => for_work.prepare_rolling_upgrade(&op),
                RollingUpgradeAction::Finalize => for_work.finalize_rolling_upgrade(&op),
            };
            let outcome = on_blocking_thread(work).await.and_then(|done| done);
            audit(&core, &caller, &outcome, Line::of(action.command()));
            outcome
        })
    }

    /// Ends the edit log's segment; gives the last transaction of the ended one.
    pub(crate) fn roll_edits(&self) -> Answer<TxId> {
        let rolled = self.call.check_superuser().and_then(|()| self.call.core.roll_edits());
        match rolled {
            Err(error) => Answer::Ready(Err(error)),
            Ok((ended, sync)) => Answer::later(async move {
                synced(sync).await?;
                Ok(ended)
            }),
        }
    }

    /// Reads the host files again. Names in them are looked up, which may take a while.
    pub(crate) fn refresh_nodes(&self) -> Answer<()> {
        if let Err(error) = self.call.check_superuser() {
            return Answer::Ready(Err(error));
        }
        let core = self.call.core.clone();
        Answer::later(async move {
            let refresh = move || {
                core.hosts.refresh()?;
                _ = core.write(|namespace| {
                    namespace.blocks_mut().datanode_admin().apply_hosts(|id| core.hosts.judge(id))
                });
                std::io::Result::Ok(())
            };
            let done = on_blocking_thread(refresh).await?;
            done.map_err(CallError::failed)
        })
    }

    /// The bandwidth of the balancer's copies on each DataNode, bytes a second.
    pub(crate) fn set_balancer_bandwidth(&self, bytes_per_s: i64) -> Answer<()> {
        self.call.change(Line::of("setBalancerBandwidth"), |namespace, op| {
            self.call.core.check_superuser(op)?;
            let bandwidth =
                u64::try_from(bytes_per_s).map_err(|_| ArgumentError::NegativeBandwidth)?;
            namespace.blocks_mut().datanode_manager().set_balancer_bandwidth(bandwidth);
            Ok(())
        })
    }

    /// Writes what the NameNode has still to do to the file `name` in its log directory.
    pub(crate) fn metasave(&self, name: &str) -> Answer<()> {
        metasave(self.call, name)
    }
}
