//! Quotas set and shown.

use crate::blocks::StorageType;
use crate::error::{Denied, Error, QuotaError, refuse};
use crate::quota::{Counts, QUOTA_DONT_SET, QUOTA_RESET, QUOTA_TYPES, to_edit_type};
use crate::resolve::DirOp;
use crate::views::TypeQuota;
use crate::walk::Located;
use crate::{Namespace, OpContext, Result};
use zerohop_journal::EditOp;
use zerohop_journal::op::{SetQuota, SetQuotaByStorageType};

impl Namespace {
    /// Sets limits on a directory: `i64::MAX` leaves one as it is, -1 clears it. With a storage type, `space` is its limit.
    ///
    /// # Errors
    /// As Hadoop's `setQuota`: only the superuser may, and the owner of the directory above where
    /// `dfs.permissions.allow.owner.set.quota` says so.
    pub fn set_quota(
        &mut self,
        ctx: &OpContext,
        path: &str,
        names: i64,
        space: i64,
        kind: Option<StorageType>,
    ) -> Result<()> {
        if !self.params.owner_sets_quota {
            self.check_superuser(ctx, quota_command(names, space))?;
        }
        self.begin(ctx, || format!("Cannot set quota on {path}"))?;
        let located = self.resolve(ctx, path, DirOp::Write)?;
        self.check_owner_above(ctx, &located)?;
        self.check_quota_values(names, space, kind)?;
        let slot = self.directory_at(located.last(), &located.path)?;
        let is_root = slot == self.state.tree().root();
        let old = self.state.ledger().limit_at(slot);
        let new = old.with(names, space, kind, is_root);
        if new != old {
            self.commit(quota_op(located.path.into_owned(), &new, kind, is_root))?;
        }
        Ok(())
    }

    /// Where owners may set quotas it is the owner of the directory above: else a quota would bind nobody.
    fn check_owner_above(&self, ctx: &OpContext, located: &Located<'_>) -> Result<()> {
        if ctx.superuser || !self.params.permissions_enabled {
            return Ok(());
        }
        let denial = || Denied::NotOwnerAbove { user: ctx.user().clone() }.into();
        let above = located.above().ok_or_else(denial)?;
        self.check_owner(ctx, &above).map_err(|e| match e {
            Error::Denied(_) => denial(),
            other => other,
        })
    }

    fn check_quota_values(&self, names: i64, space: i64, kind: Option<StorageType>) -> Result<()> {
        if names < QUOTA_RESET || space < QUOTA_RESET {
            return refuse(QuotaError::IllegalValue { names, space });
        }
        let enabled = self.params.quota_by_type_enabled;
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
        Some(kind) => SetQuotaByStorageType {
            path,
            storage_type: to_edit_type(kind),
            quota: limit.types[kind as usize],
        }
        .into(),
    }
}

/// Limit and use of all types, if any of them has a limit or is used (`isTypeQuotaSet`, `isTypeConsumedAvailable`).
pub(crate) fn type_quotas(limit: &Counts, used: &Counts) -> Vec<TypeQuota> {
    if limit.types.iter().chain(&used.types).all(|bytes| *bytes <= 0) {
        return Vec::new();
    }
    let of = |kind: StorageType| TypeQuota {
        kind,
        quota: limit.types[kind as usize],
        consumed: used.types[kind as usize],
    };
    QUOTA_TYPES.into_iter().map(of).collect()
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
