//! Storage policies.

use super::answer::Answer;
use super::call::ServiceCall;
use crate::audit::Line;
use zerohop_namespace::blocks::policy::{DEFAULT, StoragePolicy};

/// Storage policies.
pub(crate) struct StoragePolicies<'s> {
    pub(super) call: &'s ServiceCall<'s>,
}

impl StoragePolicies<'_> {
    pub(crate) fn set_storage_policy(&self, path: &str, policy: &str) -> Answer<()> {
        self.call.change(Line::path("setStoragePolicy", path), |namespace, op| {
            namespace.storage_policies(op).set_storage_policy(path, policy)
        })
    }

    pub(crate) fn unset_storage_policy(&self, path: &str) -> Answer<()> {
        self.call.change(Line::path("unsetStoragePolicy", path), |namespace, op| {
            namespace.storage_policies(op).unset_storage_policy(path)
        })
    }

    /// The policy in force at a path.
    pub(crate) fn storage_policy(&self, path: &str) -> Answer<&'static StoragePolicy> {
        self.call.view(Line::path("getStoragePolicy", path), |view| {
            let id = view.storage_policy(path)?;
            Ok(StoragePolicy::by_id(id).unwrap_or(DEFAULT))
        })
    }
}
