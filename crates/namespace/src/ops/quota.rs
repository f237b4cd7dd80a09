//! Changes of quotas.

use crate::Result;
use crate::blocks::StorageType;
use crate::call::Call;
use crate::error::{Denied, Error, QuotaError, refuse};
use crate::quota::{Counts, QUOTA_DONT_SET, QUOTA_RESET};
use crate::resolve::DirOp;
use crate::walk::Located;
use zerohop_journal::EditOp;
use zerohop_journal::op::{SetQuota, SetQuotaByStorageType};

/// Changes of quotas.
pub struct Quotas<'n> {
    pub(crate) call: Call<'n>,
}

impl Quotas<'_> {
    /// Sets limits on a directory: `i64::MAX` leaves one as it is, -1 clears it. With a storage type, `space` is its limit.
    ///
    /// # Errors
    /// As Hadoop's `setQuota`: only the superuser may, and the owner of the directory above where
    /// `dfs.permissions.allow.owner.set.quota` says so.
    pub fn set_quota(
        &mut self,
        path: &str,
        names: i64,
        space: i64,
        kind: Option<StorageType>,
    ) -> Result<()> {
        if !self.call.params.owner_sets_quota {
            self.call.access().check_superuser(quota_command(names, space))?;
        }
        self.call.begin(|| format!("Cannot set quota on {path}"))?;
        let located = self.call.access().resolve(path, DirOp::Write)?;
        self.check_owner_above(&located)?;
        self.check_quota_values(names, space, kind)?;
        let slot = self.call.access().directory_at(located.last(), &located.path)?;
        let is_root = slot == self.call.state.tree().root();
        let old = self.call.state.ledger().limit_at(slot);
        let new = old.with(names, space, kind, is_root);
        if new != old {
            self.call.commit(quota_op(located.path.into_owned(), &new, kind, is_root))?;
        }
        Ok(())
    }

    /// If owners may set quotas, the owner of the parent directory may: otherwise an owner could lift their own quota.
    fn check_owner_above(&self, located: &Located<'_>) -> Result<()> {
        if self.call.ctx.superuser || !self.call.params.permissions_enabled {
            return Ok(());
        }
        let denial = || Denied::NotOwnerAbove { user: self.call.ctx.user().clone() }.into();
        let above = located.above().ok_or_else(denial)?;
        self.call.access().check_owner(&above).map_err(|e| match e {
            Error::Denied(_) => denial(),
            other => other,
        })
    }

    fn check_quota_values(&self, names: i64, space: i64, kind: Option<StorageType>) -> Result<()> {
        if names < QUOTA_RESET || space < QUOTA_RESET {
            return refuse(QuotaError::IllegalValue { names, space });
        }
        let enabled = self.call.params.quota_by_type_enabled;
        if kind.is_some() && (!enabled || names != QUOTA_DONT_SET) {
            return refuse(QuotaError::NotByType { enabled, names });
        }
        Ok(())
    }
}

/// The edit that sets a directory's limits to these.
fn quota_op(path: String, limit: &Counts, kind: Option<StorageType>, is_root: bool) -> EditOp {
    // The root's largest value would be read as "leave it": the log says that it is cleared.
    let is_unlimited = is_root && limit.names == QUOTA_DONT_SET;
    let names = if is_unlimited { QUOTA_RESET } else { limit.names };
    match kind {
        None => SetQuota { path, ns_quota: names, ds_quota: limit.space }.into(),
        Some(kind) => {
            SetQuotaByStorageType { path, storage_type: kind, quota: limit.types[kind as usize] }
                .into()
        }
    }
}

/// What refusals and the audit log call a change of quotas (`FSNamesystem.getQuotaCommand`).
pub fn quota_command(names: i64, space: i64) -> &'static str {
    if names == QUOTA_RESET && space == QUOTA_DONT_SET {
        "clearQuota"
    } else if names == QUOTA_DONT_SET && space == QUOTA_RESET {
        "clearSpaceQuota"
    } else if space == QUOTA_DONT_SET {
        "setQuota"
    } else {
        "setSpaceQuota"
    }
}
