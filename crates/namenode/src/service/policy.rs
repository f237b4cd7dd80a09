//! Storage policies.

use super::{Answer, ClientService};
use crate::audit::Line;
use zerohop_namespace::blocks::policy::{DEFAULT, StoragePolicy};

impl ClientService<'_> {
    pub(crate) fn set_storage_policy(&self, path: &str, policy: &str) -> Answer<()> {
        self.change(Line::path("setStoragePolicy", path), |namespace, op| {
            namespace.set_storage_policy(op, path, policy)
        })
    }

    pub(crate) fn unset_storage_policy(&self, path: &str) -> Answer<()> {
        self.change(Line::path("unsetStoragePolicy", path), |namespace, op| {
            namespace.unset_storage_policy(op, path)
        })
    }

    /// The policy in force at a path.
    pub(crate) fn storage_policy(&self, path: &str) -> Answer<&'static StoragePolicy> {
        self.read(Line::path("getStoragePolicy", path), |namespace, op| {
            let id = namespace.storage_policy(op, path)?;
            Ok(StoragePolicy::by_id(id).unwrap_or(DEFAULT))
        })
    }
}
