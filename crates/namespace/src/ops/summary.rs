//! Content summaries and what quotas count: sums that directories keep.

use super::quota::type_quotas;
use crate::tree::{Body, Slot};
use crate::{ContentSummary, Namespace, OpContext, QuotaUsage, Result, SubtreeWalk};

impl Namespace {
    /// Files, directories, lengths and space at and below a path.
    ///
    /// # Errors
    /// As Hadoop's `getContentSummary`: every directory below must be readable; with
    /// `dfs.permissions.ContentSummary.subAccess` what lies in sticky ones must be the caller's as well.
    pub fn content_summary(&self, ctx: &OpContext, path: &str) -> Result<ContentSummary> {
        let mut walk = self.begin_summary_walk(ctx, path)?;
        self.walk_on(ctx, &mut walk, usize::MAX)?;
        self.content_summary_of(&walk)
    }

    /// The content summary of what a walk has checked.
    ///
    /// # Errors
    /// `Error::NotFound` if it was deleted meanwhile.
    pub fn content_summary_of(&self, walk: &SubtreeWalk) -> Result<ContentSummary> {
        self.top_of(walk).map(|top| self.summary_at(top))
    }

    fn summary_at(&self, top: Slot) -> ContentSummary {
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

    /// Quota and use of a path.
    ///
    /// # Errors
    /// As Hadoop's `getQuotaUsage`.
    pub fn quota_usage(&self, ctx: &OpContext, path: &str) -> Result<QuotaUsage> {
        let mut walk = self.begin_quota_walk(ctx, path)?;
        self.walk_on(ctx, &mut walk, usize::MAX)?;
        self.quota_usage_of(&walk)
    }

    /// Quota and use of what a walk has checked.
    ///
    /// # Errors
    /// `Error::NotFound` if it was deleted meanwhile.
    pub fn quota_usage_of(&self, walk: &SubtreeWalk) -> Result<QuotaUsage> {
        let top = self.top_of(walk)?;
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
