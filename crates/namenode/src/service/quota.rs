//! Content summaries and quotas.

use super::answer::Answer;
use super::call::ServiceCall;
use crate::audit::Line;
use zerohop_namespace::blocks::StorageType;
use zerohop_namespace::{ContentSummary, QuotaUsage, quota_command};

/// Content summaries and quotas.
pub(crate) struct Quotas<'s> {
    pub(super) call: &'s ServiceCall<'s>,
}

impl Quotas<'_> {
    pub(crate) fn content_summary(&self, path: &str) -> Answer<ContentSummary> {
        self.call.walk(
            "contentSummary",
            path,
            |namespace, op| namespace.subtrees(op).begin_summary_walk(path),
            |namespace, walk| namespace.summaries().content_summary(walk),
        )
    }

    pub(crate) fn quota_usage(&self, path: &str) -> Answer<QuotaUsage> {
        self.call.walk(
            "quotaUsage",
            path,
            |namespace, op| namespace.subtrees(op).begin_quota_walk(path),
            |namespace, walk| namespace.summaries().quota_usage(walk),
        )
    }

    /// Sets quotas of names and of bytes, the latter of one storage type if `kind` is given.
    pub(crate) fn set_quota(
        &self,
        path: &str,
        names: i64,
        space: i64,
        kind: Option<StorageType>,
    ) -> Answer<()> {
        self.call.change(Line::path(quota_command(names, space), path), |namespace, op| {
            namespace.quotas(op).set_quota(path, names, space, kind)
        })
    }
}
