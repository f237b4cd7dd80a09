//! Content summaries and quota usage, from the sums that directories keep.

use super::View;
use crate::answers::TypeQuota;
use crate::blocks::StorageType;
use crate::commit::DurableState;
use crate::quota::{Counts, QUOTA_TYPES};
use crate::subtree::Subtrees;
use crate::tree::{Body, Slot};
use crate::{ContentSummary, QuotaUsage, Result, SubtreeWalk};

/// The sums of subtrees whose permissions were checked.
#[derive(Clone, Copy)]
pub struct Summaries<'n> {
    pub(crate) state: &'n DurableState,
}

impl Summaries<'_> {
    /// The content summary of what a walk has checked.
    ///
    /// # Errors
    /// `Error::NotFound` if it was deleted meanwhile.
    pub fn content_summary(self, walk: &SubtreeWalk) -> Result<ContentSummary> {
        walk.top(self.state.tree()).map(|top| self.summary_at(top))
    }

    fn summary_at(self, top: Slot) -> ContentSummary {
        let total = self.state.ledger().total_of(top);
        let (limit, used) =
            (self.state.ledger().limit_at(top), total.counts(self.state.effective_policy(top)));
        let is_file = matches!(self.state.tree().get(top).body, Body::File(_));
        ContentSummary {
            length: total.length.max(0) as u64,
            files: total.files.max(0) as u64,
            directories: total.directories.max(0) as u64,
            space_consumed: used.space.max(0) as u64,
            quota: limit.names,
            space_quota: limit.space,
            types: type_quotas(&limit, &used),
            // The name of what takes the place of erasure coding, as `ls -e` prints it.
            erasure_coding_policy: if is_file { "Replicated".to_owned() } else { String::new() },
        }
    }

    /// Quota and use of what a walk has checked.
    ///
    /// # Errors
    /// `Error::NotFound` if it was deleted meanwhile.
    pub fn quota_usage(self, walk: &SubtreeWalk) -> Result<QuotaUsage> {
        let top = walk.top(self.state.tree())?;
        let (limit, used) =
            (self.state.ledger().limit_at(top), self.state.ledger().usage_here(top));
        Ok(QuotaUsage {
            names: used.names,
            quota: limit.names,
            space_consumed: used.space,
            space_quota: limit.space,
            types: type_quotas(&limit, &used),
        })
    }
}

impl View<'_> {
    /// Files, directories, lengths and space at and below a path.
    ///
    /// # Errors
    /// As Hadoop's `getContentSummary`: every directory below must be readable; with
    /// `dfs.permissions.ContentSummary.subAccess` what lies in sticky ones must be the caller's as well.
    pub fn content_summary(self, path: &str) -> Result<ContentSummary> {
        let mut walk = self.subtrees().begin_summary_walk(path)?;
        self.subtrees().walk_on(&mut walk, usize::MAX)?;
        self.summaries().content_summary(&walk)
    }

    /// Quota and use of a path.
    ///
    /// # Errors
    /// As Hadoop's `getQuotaUsage`.
    pub fn quota_usage(self, path: &str) -> Result<QuotaUsage> {
        let mut walk = self.subtrees().begin_quota_walk(path)?;
        self.subtrees().walk_on(&mut walk, usize::MAX)?;
        self.summaries().quota_usage(&walk)
    }

    fn subtrees(&self) -> Subtrees<'_> {
        Subtrees { access: self.access() }
    }

    fn summaries(&self) -> Summaries<'_> {
        Summaries { state: self.state }
    }
}

/// Limit and use of all types, if any of them has a limit or is used (`isTypeQuotaSet`, `isTypeConsumedAvailable`).
fn type_quotas(limit: &Counts, used: &Counts) -> Vec<TypeQuota> {
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
