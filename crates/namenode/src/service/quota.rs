//! Content summaries and quotas.

use super::{Answer, ClientService};
use crate::audit::Line;
use zerohop_namespace::blocks::StorageType;
use zerohop_namespace::{ContentSummary, QuotaUsage, quota_command};

impl ClientService<'_> {
    pub(crate) fn content_summary(&self, path: &str) -> Answer<ContentSummary> {
        self.walk(
            "contentSummary",
            path,
            |namespace, op| namespace.begin_summary_walk(op, path),
            |namespace, walk| namespace.content_summary_of(walk),
        )
    }

    pub(crate) fn quota_usage(&self, path: &str) -> Answer<QuotaUsage> {
        self.walk(
            "quotaUsage",
            path,
            |namespace, op| namespace.begin_quota_walk(op, path),
            |namespace, walk| namespace.quota_usage_of(walk),
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
        self.change(Line::path(quota_command(names, space), path), |namespace, op| {
            namespace.set_quota(op, path, names, space, kind)
        })
    }
}
