//! Sums over a subtree.

use super::quota::type_quotas;
use crate::access::{Check, READ_EXECUTE};
use crate::fail::not_found;
use crate::quota::Quota;
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
        let mut summary = self.count_below(top);
        if matches!(self.tree.get(top).body, Body::File(_)) {
            // The name of what takes the place of erasure coding, as `ls -e` prints it.
            summary.erasure_coding_policy = "Replicated".to_owned();
        }
        let usage = self.usage_here(top);
        summary.space_consumed = usage.space.max(0) as u64;
        let quota =
            self.tree.get(top).as_directory().and_then(|directory| directory.quota.as_deref());
        let quota =
            Quota { limit: quota.copied().unwrap_or(Quota::unlimited()).limit, used: usage };
        summary.quota = quota.limit.names;
        summary.space_quota = quota.limit.space;
        summary.types = type_quotas(&quota);
        Ok(summary)
    }

    fn count_below(&self, top: Slot) -> ContentSummary {
        let mut summary = ContentSummary::default();
        let mut open = vec![top];
        while let Some(slot) = open.pop() {
            match &self.tree.get(slot).body {
                Body::Directory(directory) => {
                    summary.directories += 1;
                    open.extend(directory.children.iter());
                }
                Body::File(_) => {
                    summary.files += 1;
                    summary.length = summary.length.saturating_add(self.file_len(slot));
                }
                _ => {}
            }
        }
        summary
    }
}
