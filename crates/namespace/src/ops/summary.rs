//! Sums over a subtree.

use super::quota::type_quotas;
use crate::access::{Check, READ_EXECUTE};
use crate::fail::not_found;
use crate::resolve::DirOp;
use crate::tree::{Body, Slot};
use crate::{ContentSummary, Namespace, OpContext, Result};

impl Namespace {
    /// Files, folders, lengths and space at and below a path.
    ///
    /// # Errors
    /// As Hadoop's `getContentSummary`: every folder below must be readable; with `dfs.permissions.ContentSummary.subAccess`
    /// what lies in sticky folders must be the caller's as well.
    pub fn content_summary(&self, ctx: &OpContext, path: &str) -> Result<ContentSummary> {
        let located = self.resolve(ctx, path, DirOp::ReadLink)?;
        let check = Check {
            below: Some(READ_EXECUTE),
            ignore_sticky_below: !self.params.content_summary_sub_access,
            ..Check::default()
        };
        self.check(ctx, &located, check)?;
        let Some(top) = located.last() else {
            return not_found(format!("File does not exist: {}", located.path));
        };
        Ok(self.summary_of(top))
    }

    /// The content summary of an inode, from the sums that directories keep.
    fn summary_of(&self, top: Slot) -> ContentSummary {
        let total = self.total_of(top);
        let (limit, used) = (self.limit_at(top), total.counts(self.effective_policy(top)));
        let is_file = matches!(self.tree.get(top).body, Body::File(_));
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
}
